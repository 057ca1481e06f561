#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The SERAC authors
# SPDX-License-Identifier: BSD-3-Clause
"""Compares a reconstruction's camera poses with the known ones.

Usage: check_poses.py MODEL POSES [--max-error PERCENT]

MODEL is a COLMAP text model's folder, or its images.txt; POSES is a file in
the format of images.txt.  The reconstructed camera centres are brought onto
the known ones by the best similarity (Umeyama 1991).  Fails when a frame is
missing, or when a centre is off by more than PERCENT (default 0.5) of the
survey's extent, which is the largest distance between two known centres.
"""
import argparse
import sys
from pathlib import Path

import numpy as np


def read_poses(path):
    """Name -> (world-to-camera rotation, camera centre)."""
    poses = {}
    lines = [line.strip() for line in Path(path).read_text().splitlines()
             if not line.startswith("#")]
    for line in lines[::2]:     # every other line lists an image's points
        if not line:
            continue
        _, *numbers, _, name = line.split(maxsplit=9)
        w, x, y, z = np.array(numbers[:4], float)
        w, x, y, z = np.array((w, x, y, z)) / np.sqrt(w*w + x*x + y*y + z*z)
        turn = np.array((
            (1 - 2 * (y*y + z*z), 2 * (x*y - w*z), 2 * (x*z + w*y)),
            (2 * (x*y + w*z), 1 - 2 * (x*x + z*z), 2 * (y*z - w*x)),
            (2 * (x*z - w*y), 2 * (y*z + w*x), 1 - 2 * (x*x + y*y))))
        poses[name] = turn, -turn.T @ np.array(numbers[4:], float)
    return poses


def umeyama(source, target):
    """Scale, rotation and shift that best map points `source` to `target`."""
    mean_s, mean_t = source.mean(0), target.mean(0)
    s, t = source - mean_s, target - mean_t
    u, d, vt = np.linalg.svd(t.T @ s)
    sign = np.array((1, 1, np.sign(np.linalg.det(u @ vt))))
    turn = (u * sign) @ vt
    scale = (d * sign).sum() / (s ** 2).sum()
    return scale, turn, mean_t - scale * turn @ mean_s


def extent(poses):
    """The largest distance between two camera centres."""
    centres = np.array([centre for _, centre in poses.values()])
    return np.linalg.norm(centres[:, None] - centres, axis=-1).max()


def differences(model, known):
    """The frames of both, how far the centres of `model` are off when brought
    onto those of `known`, and by how many degrees its cameras are turned."""
    names = sorted(known.keys() & model.keys())
    target = np.array([known[name][1] for name in names])
    source = np.array([model[name][1] for name in names])
    scale, turn, shift = umeyama(source, target)
    errors = np.linalg.norm(scale * source @ turn.T + shift - target, axis=1)
    cosines = [(np.trace(known[name][0].T @ model[name][0] @ turn.T) - 1) / 2
               for name in names]
    return names, errors, np.degrees(np.arccos(np.clip(cosines, -1, 1)))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("poses", type=Path)
    parser.add_argument("--max-error", type=float, default=0.5,
                        metavar="PERCENT")
    args = parser.parse_args()

    known = read_poses(args.poses)
    model = read_poses(args.model / "images.txt" if args.model.is_dir()
                       else args.model)
    missing = sorted(known.keys() - model.keys())
    registered = len(known) - len(missing)
    print(f"registered frames: {registered} of {len(known)}")
    for name in missing:
        print(f"missing: {name}")
    if registered < 3:
        sys.exit("FAILED: fewer than three frames to align")

    names, errors, angles = differences(model, known)
    for name, error, angle in zip(names, errors, angles):
        print(f"{name}: {error:.4f} off, turned by {angle:.4f} degrees")
    rms, worst = np.sqrt((errors ** 2).mean()), errors.max()
    size = extent(known)
    print(f"survey extent: {size:.4f}")
    print(f"centre error: rms {rms:.4f} ({100 * rms / size:.4f} %), "
          f"largest {worst:.4f} ({100 * worst / size:.4f} %)")
    print(f"rotation error: largest {angles.max():.4f} degrees")

    bound = args.max_error / 100 * size
    if missing or not worst <= bound:
        sys.exit(f"FAILED: every frame must be there, within {bound:.4f} "
                 f"({args.max_error:g} %)")
    print(f"OK: every frame is within {bound:.4f} ({args.max_error:g} %)")


if __name__ == "__main__":
    main()
