# SPDX-FileCopyrightText: 2026 The SERAC authors
# SPDX-License-Identifier: BSD-3-Clause
"""scripts/pipeline: what it computes, on models made by hand, and half of the
sample survey from features to poses.  SERAC_COLMAP is the tool's path."""
import json
import os
import shutil
import signal
import sqlite3
import unittest
from contextlib import closing

from script_test import SCRIPTS, ScriptTest

SAMPLE = SCRIPTS.parent / "data/sample"
TOOL = os.environ.get("SERAC_COLMAP")
IMAGES = """# comment
1 1 0 0 0 -1 0 0 1 a.png
10 10 1 20 20 2
2 1 0 0 0 0 -2 0 1 b c.png

3 1 0 0 0 0 0 -3 1 d.png

"""
POINTS = """# comment
1 0 0 0 9 9 9 0.5 1 0 2 0
2 0 0 0 9 9 9 2 1 1 2 1 3 0 1 5 3 7 2 4
"""


class Pipeline(ScriptTest):
    script = "pipeline"
    needs = ("numpy",)

    def test_a_model_is_read(self):
        (self.folder / "images.txt").write_text(IMAGES)
        (self.folder / "points3D.txt").write_text(POINTS)
        counts, poses = self.module.read_model(self.folder)
        self.assertEqual(counts, {
            "images": 3, "points": 2, "observations": 8, "track_length": 4,
            "error": (0.5 * 2 + 2 * 6) / 8})
        self.assertEqual({name: centre.tolist()
                          for name, (_, centre) in poses.items()},
                         {"a.png": [1, 0, 0], "b c.png": [0, 2, 0],
                          "d.png": [0, 0, 3]})

    def test_poses_differ_by_what_no_similarity_explains(self):
        import numpy as np
        generator = np.random.default_rng(2026)

        def rotation():
            q, r = np.linalg.qr(generator.normal(size=(3, 3)))
            q *= np.sign(np.diag(r))
            return q * np.linalg.det(q)

        known = {n: (rotation(), generator.normal(size=3)) for n in range(8)}
        turn, shift = rotation(), generator.normal(size=3)
        same = {n: (r @ turn.T, 3 * turn @ c + shift)
                for n, (r, c) in known.items()}
        found = self.module.pose_difference([(same, known)])
        self.assertEqual(found["images"], 8)
        self.assertLess(found["centre_largest_percent"], 1e-9)
        self.assertLess(found["turn_largest_degrees"], 1e-5)

        s, c = np.sin(np.radians(2)), np.cos(np.radians(2))
        same[3] = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]) @ same[3][0], \
            same[3][1]
        found = self.module.pose_difference([(same, known)])
        self.assertAlmostEqual(found["turn_largest_degrees"], 2)
        self.assertLess(found["centre_largest_percent"], 1e-9)
        same[5] = same[5][0], same[5][1] + 1
        found = self.module.pose_difference([(same, known)])
        self.assertGreater(found["centre_largest_percent"], 1)
        self.assertIsNone(self.module.pose_difference(
            [({1: known[1], 2: known[2]}, known)]))

    def test_few_runs_are_never_told_apart(self):
        apart = self.module.apart
        self.assertEqual(apart([1], [9]), 0)
        self.assertEqual(apart([1, 2, 3], [9, 9, 9]), 0)
        self.assertEqual(apart([1, 2, 3, 4], [9, 9, 9, 9]), 1)
        self.assertEqual(apart([9, 9, 9, 9], [1, 2, 3, 4]), -1)
        self.assertEqual(apart([1, 2, 3, 9], [9, 9, 9, 9]), 0)

    def test_error_is_read_with_observations(self):
        for error, observations, sentence in (
                (0, 0, "error and observations are not told apart"),
                (-1, -1, "less error on fewer observations: that says nothing "
                         "about which is better"),
                (-1, 0, "less error on as many observations"),
                (-1, 1, "less error on more observations"),
                (1, 1, "more error on more observations: that says nothing "
                       "about which is better")):
            self.assertEqual(self.module.reading(
                {"error": {"apart": error},
                 "observations": {"apart": observations}}), sentence)

    def test_wrong_usage_is_named(self):
        features = SAMPLE / "sample.db"
        for arguments, complaint in (
                ((), "a folder of images is needed"),
                (("/no/folder",), "/no/folder is no folder"),
                (("--database", "/no/file"), "/no/file is no file"),
                (("--database", features, "--poses", "/none"), "/none is no"),
                (("--database", features, "--runs", 0), "--runs 0"),
                (("--database", features, "--Mapper.x"), "needs a value"),
                (("--database", features, "--Map.x", 1), "--Map.x"),
                (("--database", features, "--matcher", "a", "--matcher", "a"),
                 "given twice"),
                (("--database", features, "--matcher", "/no/tool"),
                 "no program /no/tool" if shutil.which("colmap")
                 else "no program"),
                (("--database", features, "--keep", self.folder),
                 "exists already" if shutil.which("colmap")
                 else "no program")):
            with self.subTest(arguments):
                _, err = self.run_script(*arguments, code=2)
                self.assertIn(complaint, err)

    @unittest.skipUnless(shutil.which("colmap"), "colmap is missing")
    def test_what_goes_wrong_is_named(self):
        junk = self.folder / "junk"
        junk.write_text("no database, and no poses either\n")
        _, err = self.run_script("--database", junk, code=2)
        self.assertIn(f"{junk}: file is not a database", err)
        _, err = self.run_script("--database", SAMPLE / "sample.db", "--poses",
                                 junk, code=2)
        self.assertIn(f"{junk} is no list of poses", err)
        _, err = self.run_script("--database", SAMPLE / "sample.db",
                                 "--SiftMatching.no_such_option", 1, code=2)
        self.assertIn("colmap exhaustive_matcher ended with", err)
        self.assertIn("no_such_option", err)

    @unittest.skipUnless(TOOL, "SERAC_COLMAP is not set")
    @unittest.skipUnless(shutil.which("colmap"), "colmap is missing")
    def test_half_of_the_sample_survey(self):
        features, report = self.folder / "half.db", self.folder / "report.json"
        shutil.copyfile(SAMPLE / "sample.db", features)
        with closing(sqlite3.connect(features)) as db:
            for table in ("images", "keypoints", "descriptors"):
                db.execute(f"DELETE FROM {table} WHERE image_id > 6")
            db.commit()
        out, _ = self.run_script(
            "--database", features, "--matcher", TOOL, "--runs", 2,
            "--poses", SAMPLE / "poses.txt", "--json", report,
            "--SiftMatching.use_gpu", 0, "--Mapper.min_model_size", 3,
            "--Mapper.ba_refine_focal_length", 0,
            "--Mapper.ba_refine_extra_params", 0)
        result = json.loads(report.read_text())
        self.assertEqual(len(result["runs"]), 2)
        for run in result["runs"]:
            self.assertEqual(run["images"], 6)
            self.assertGreater(run["points"], 500)
            self.assertGreater(run["observations"], 2 * run["points"])
            self.assertLess(run["error"], 1)
        known = result["poses"]["known"][TOOL]
        self.assertEqual(known["images"], 6)
        self.assertLess(known["centre_largest_percent"], 0.5)
        self.assertIn("to the known poses", out)

    @unittest.skipUnless(TOOL, "SERAC_COLMAP is not set")
    @unittest.skipUnless(shutil.which("colmap"), "colmap is missing")
    def test_runs_before_a_failure_are_reported(self):
        # Also where this test runs in the background, which ignores interrupts.
        self.addCleanup(signal.signal, signal.SIGINT, signal.signal(
            signal.SIGINT, signal.default_int_handler))
        failing = self.folder / "failing"
        failing.touch(0o755)
        features = self.folder / "two.db"
        shutil.copyfile(SAMPLE / "sample.db", features)
        with closing(sqlite3.connect(features)) as db:
            for table in ("images", "keypoints", "descriptors"):
                db.execute(f"DELETE FROM {table} WHERE image_id > 2")
            db.commit()
        report = self.folder / "report.json"
        for end, said in (
                ("exit 3", f"{failing} exhaustive ended with 3:\nout of luck"),
                ("kill -INT $PPID; exec sleep 9", "pipeline: interrupted")):
            with self.subTest(end):
                failing.write_text(f"#!/bin/sh\necho out of luck\n{end}\n")
                _, err = self.run_script(
                    "--database", features, "--matcher", TOOL, "--matcher",
                    failing, "--json", report, "--SiftMatching.use_gpu", 0,
                    code=2)
                self.assertIn(said, err)
                result = json.loads(report.read_text())
                self.assertEqual([run["matcher"] for run in result["runs"]],
                                 [TOOL])
                _, err = self.run_script(
                    "--database", features, "--matcher", failing,
                    "--SiftMatching.use_gpu", 0, code=2)
                self.assertIn(said, err)
