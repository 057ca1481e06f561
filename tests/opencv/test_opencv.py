# SPDX-FileCopyrightText: 2026 The SERAC authors
# SPDX-License-Identifier: BSD-3-Clause
"""Binary descriptors of rendered images, matched by this library on the host
and by OpenCV's brute-force matcher: the same neighbours, distances and lists."""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts/sample"))

try:
    import cv2
    import numpy as np
    import render
except ImportError as error:
    missing = error.name
else:
    missing = None


def rendered_images():
    """Two overlapping frames of the sample survey, in grey; small, coarse and
    without the terrain's stones and bushes, for time's sake."""
    render.HEIGHT_CELLS, render.TEXTURE_CELLS = 256, 1024
    render.scatter = lambda *_: None
    render.WIDTH, render.HEIGHT, render.FOCAL = 500, 375, 450.0
    render.SUPERSAMPLES = 1
    terrain = render.make_terrain()
    frames = list(render.survey())[1:3]
    return [cv2.cvtColor(render.render(*terrain, turn, centre,
                                       np.random.default_rng(k)),
                         cv2.COLOR_RGB2GRAY)
            for k, (_, turn, centre) in enumerate(frames)]


def serac(left, right):
    """best, index, second of every row; mutual pairs; pairs by the ratio."""
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, name) for name in ("left", "right", "lists")]
        for file, descriptors in zip(files, (left, right)):
            file.write_bytes(descriptors.tobytes())
        subprocess.run([os.environ["BINARY_LISTS"], files[0], files[1],
                        str(left.shape[1]), "0.7", files[2]], check=True)
        numbers = np.fromfile(files[2], np.int32)
    states, numbers = np.split(numbers, [3 * len(left)])
    lists = []
    while len(numbers):
        pairs, numbers = np.split(numbers[1:], [2 * numbers[0]])
        lists.append([tuple(pair) for pair in pairs.reshape(-1, 2)])
    return (states.reshape(-1, 3), *lists)


@unittest.skipIf(missing, f"there is no {missing}")
class BinaryDescriptors(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.images = rendered_images()

    def check(self, detector, bytes_in_opencv, width):
        left, right = (detector.detectAndCompute(image, None)[1]
                       for image in self.images)
        self.assertEqual(left.shape[1], bytes_in_opencv)
        self.assertGreater(min(len(left), len(right)), 300)
        # Ties, of rows and of columns.
        left, right = np.vstack((left, left[:20])), np.vstack((right, right[7:9]))
        states, mutual, passed = serac(*(
            np.pad(d, ((0, 0), (0, width - bytes_in_opencv)))
            for d in (left, right)))

        neighbours = cv2.BFMatcher(cv2.NORM_HAMMING).knnMatch(left, right, k=2)
        self.assertEqual([first.trainIdx for first, _ in neighbours],
                         states[:, 1].tolist())
        self.assertEqual([[first.distance, second.distance]
                          for first, second in neighbours],
                         (4097 - states[:, [0, 2]]).tolist())
        self.assertEqual([(first.queryIdx, first.trainIdx)
                          for first, second in neighbours
                          if np.float32(first.distance)
                          < np.float32(0.7) * np.float32(second.distance)], passed)
        self.assertGreater(len(passed), 30)

        matches = cv2.BFMatcher(cv2.NORM_HAMMING, True).match(left, right)
        matches = [(m.queryIdx, m.trainIdx) for m in matches]
        self.assertEqual(sorted(matches), mutual)
        self.assertGreater(len(mutual), 30)

    def test_orb(self):
        self.check(cv2.ORB_create(2000), 32, 32)

    def test_brisk(self):
        self.check(cv2.BRISK_create(), 64, 64)

    def test_akaze_without_its_last_two_bits(self):
        self.check(cv2.AKAZE_create(threshold=2e-4), 61, 64)


if __name__ == "__main__":
    unittest.main()
