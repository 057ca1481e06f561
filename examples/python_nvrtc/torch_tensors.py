#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The SERAC authors
# SPDX-License-Identifier: BSD-3-Clause
"""Matches PyTorch tensors where they are, on PyTorch's current stream."""
import sys

import sift_matcher


def match(matcher, left, right):
    """The match list of two tensors of descriptors on the current GPU, as a
    tensor. Tensors become CuPy arrays, and the list a tensor, by DLPack:
    nothing is copied."""
    import cupy
    import torch
    stream = cupy.cuda.ExternalStream(torch.cuda.current_stream().cuda_stream)
    with stream:
        pairs = matcher.match(cupy.from_dlpack(left), cupy.from_dlpack(right))
        return torch.from_dlpack(pairs)


def main():
    cupy, torch = sift_matcher.require("cupy", "torch")
    left, right = sift_matcher.overlapping_images(3000, 2500, 700)
    expected = sift_matcher.reference(left, right)
    matcher = sift_matcher.SiftMatcher()

    failures = 0
    for stream in torch.cuda.current_stream(), torch.cuda.Stream():
        with torch.cuda.stream(stream):
            # Work of PyTorch's that the matcher must wait for, and the other
            # way round: the sum is of the list.
            left_gpu = torch.from_numpy(left).cuda()
            right_gpu = torch.from_numpy(right).cuda().flip(0).flip(0)
            pairs = match(matcher, left_gpu, right_gpu)
            total = pairs.sum().item()
            failures += sift_matcher.verdict(pairs.cpu().numpy(), expected,
                                             f"tensors on {stream}")
            failures += total != expected.sum()

    same = cupy.from_dlpack(left_gpu).data.ptr == left_gpu.data_ptr()
    print("tensors were", "not copied" if same else "COPIED")
    return int(failures > 0 or not same)


if __name__ == "__main__":
    sys.exit(main())
