# SPDX-FileCopyrightText: 2026 The SERAC authors
# SPDX-License-Identifier: BSD-3-Clause
"""Binary and float descriptors of rendered images, matched by this library on
the host and by OpenCV's brute-force matcher: the same neighbours, distances and
lists."""
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


RATIO = 0.75  # whose square is exact
NEAREST = 5  # of each row, as lists.cpp writes them


def serac(left, right):
    """best, index, second of every row; score and index of the nearest of every
    row; mutual pairs; pairs by the ratio."""
    element = "bits" if left.dtype == np.uint8 else "floats"
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, name) for name in ("left", "right", "lists")]
        for file, descriptors in zip(files, (left, right)):
            file.write_bytes(descriptors.tobytes())
        subprocess.run([os.environ["OPENCV_LISTS"], element, files[0], files[1],
                        str(left.shape[1]), str(RATIO), files[2]], check=True)
        numbers = np.fromfile(files[2], np.int32)
    states, nearest, numbers = np.split(
        numbers, np.cumsum([3 * len(left), 2 * NEAREST * len(left)]))
    lists = []
    while len(numbers):
        pairs, numbers = np.split(numbers[1:], [2 * numbers[0]])
        lists.append([tuple(pair) for pair in pairs.reshape(-1, 2)])
    return (states.reshape(-1, 3), nearest.reshape(-1, NEAREST, 2), *lists)


def hamming(scores):
    return 4097 - scores


def euclidean(scores):
    squared = (np.float32(np.inf).view(np.int32) - scores).astype(np.int32)
    return np.sqrt(squared.view(np.float32))


@unittest.skipIf(missing, f"there is no {missing}")
class Descriptors(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.images = rendered_images()

    def check(self, detector, width_in_opencv, width):
        left, right = (detector.detectAndCompute(image, None)[1]
                       for image in self.images)
        norm, distance = ((cv2.NORM_HAMMING, hamming) if left.dtype == np.uint8
                          else (cv2.NORM_L2, euclidean))
        self.assertEqual(left.shape[1], width_in_opencv)
        self.assertGreater(min(len(left), len(right)), 300)
        # Ties, of rows and of columns.
        left, right = np.vstack((left, left[:20])), np.vstack((right, right[7:9]))
        states, nearest, mutual, passed = serac(*(
            np.pad(d, ((0, 0), (0, width - width_in_opencv)))
            for d in (left, right)))

        neighbours = cv2.BFMatcher(norm).knnMatch(left, right, k=NEAREST)
        self.assertEqual([[m.trainIdx for m in row] for row in neighbours],
                         nearest[:, :, 1].tolist())
        self.assertEqual([[m.distance for m in row] for row in neighbours],
                         distance(nearest[:, :, 0]).tolist())
        self.assertEqual([row[0].trainIdx for row in neighbours],
                         states[:, 1].tolist())
        self.assertEqual([[m.distance for m in row[:2]] for row in neighbours],
                         distance(states[:, [0, 2]]).tolist())
        self.assertEqual([(row[0].queryIdx, row[0].trainIdx)
                          for row in neighbours
                          if self.square(row[0]) < RATIO * RATIO * self.square(row[1])
                          ], passed)
        self.assertGreater(len(passed), 30)

        matches = cv2.BFMatcher(norm, True).match(left, right)
        matches = [(m.queryIdx, m.trainIdx) for m in matches]
        self.assertEqual(sorted(matches), mutual)
        self.assertGreater(len(mutual), 30)

    @staticmethod
    def square(match):
        """Of whole numbers, as they are here, or square roots of such."""
        return round(match.distance * match.distance)

    def test_orb(self):
        self.check(cv2.ORB_create(2000), 32, 32)

    def test_brisk(self):
        self.check(cv2.BRISK_create(), 64, 64)

    def test_sift_as_floats(self):
        self.check(cv2.SIFT_create(1000), 128, 128)

    def test_akaze_without_its_last_two_bits(self):
        self.check(cv2.AKAZE_create(threshold=2e-4), 61, 64)


if __name__ == "__main__":
    unittest.main()
