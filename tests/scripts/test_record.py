# SPDX-FileCopyrightText: 2026 The SERAC authors
# SPDX-License-Identifier: BSD-3-Clause
"""bench/record: what it writes is what scripts/check_docs reads. bench/json:
every record in JSON, and what is said of input that is none."""
import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from script_test import SCRIPTS, load

ROOT = SCRIPTS.parent


class Record(unittest.TestCase):
    """bench/record with programs that stand for the benchmarks and tools."""

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="serac_record_"))
        self.addCleanup(shutil.rmtree, self.folder)
        for program in ("nvidia-smi", "nvcc", *(f"bench/bench_{name}" for name
                                                in ("pair", "batch", "survey",
                                                    "guided", "binary",
                                                    "sizes"))):
            path = self.folder / program
            path.parent.mkdir(exist_ok=True)
            path.write_text('#!/bin/sh\ncase $1 in -L) echo GPU 0;; '
                            '--query*) echo A GPU, 1.2;; '
                            '--version) echo release 3.4, V3.4.5;; '
                            '*) echo name,arguments; echo "$0","$*";; esac\n')
            path.chmod(0o755)
        self.out = self.folder / "out"
        self.out.mkdir()

    def record(self, *arguments, options=()):
        return subprocess.run(
            [ROOT / "bench/record", *options, self.folder, self.out,
             *arguments],
            env={**os.environ, "PATH": ":".join((
                str(self.folder), str(Path(sys.executable).parent),
                os.environ["PATH"]))},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def test_records_say_when_where_and_how(self):
        done = self.record("some/real", "pair", "batch", "survey", "guided",
                           "binary", "sizes")
        self.assertEqual(done.returncode, 0, done.stderr)
        evidence = load("check_docs").Evidence(self.out)
        for name, arguments in (("pair", " 0.bin 1.bin 0.bin 7.bin"),
                                ("batch", " 0.bin 1.bin 0.bin 7.bin"),
                                ("survey", ""), ("guided", " real"),
                                ("binary", ""), ("sizes", "")):
            head, rows = evidence.rows(f"bench_{name}")
            self.assertEqual(head["#command"], f"bench_{name}{arguments}")
            self.assertEqual((head["#GPU"], head["#driver"], head["#toolkit"]),
                             ("A GPU", "1.2", "3.4.5"))
            self.assertRegex(head["#date"], r"^20\d\d-\d\d-\d\d$")
            self.assertRegex(head["#include"], r"^[0-9a-f]{64}$")
            self.assertTrue(rows[0]["name"].endswith(f"/bench_{name}"))
        self.assertNotIn(str(self.folder), "".join(head.values()))

    def test_peers_are_judged(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("numpy is missing")
        # Two images of which the first half is the same; bench_peers leaves
        # them where peers.py says.
        left, right = (numpy.random.default_rng(seed).integers(
            0, 91, (64, 128), numpy.uint8) for seed in (1, 2))
        right[:32] = left[:32]
        scores = left.astype(numpy.int32) @ right.astype(numpy.int32).T
        states = []
        for side in (scores, scores.T):
            order = numpy.argsort(-side, axis=1, kind="stable")
            best, second = (numpy.take_along_axis(side, order[:, k:k + 1], 1)
                            for k in (0, 1))
            states.append(numpy.concatenate([best, order[:, :1], second], 1))
        stem = str(self.folder / "64 random half match")
        left.tofile(f"{stem}.left")
        right.tofile(f"{stem}.right")
        numpy.repeat(numpy.arange(32, dtype=numpy.uint32), 2).tofile(
            f"{stem}.pairs")
        numpy.concatenate(states).astype(numpy.int32).tofile(f"{stem}.top2")
        program = self.folder / "bench/bench_peers"
        program.write_text("#!/bin/sh\necho peer,data,rows,columns,median_us,"
                           "low_us,high_us,peak_mib,exact,note\n"
                           f'cp "{stem}".* "$2"\n')
        program.chmod(0o755)
        done = self.record("", "peers")
        self.assertEqual(done.returncode, 0, done.stderr)
        head, rows = load("check_docs").Evidence(self.out).rows("bench_peers")
        self.assertEqual(head["#command"], "peers.py bench_peers")
        self.assertGreater(len(rows), 5)
        for row in rows:
            self.assertTrue(row["note"].startswith("left out: ") or
                            row["exact"] in ("yes", "list"), row)
            self.assertEqual(row["exact"] == "", row["median_us"] == "", row)

        program.write_text("#!/bin/sh\necho peer\n")
        self.assertEqual(self.record("", "peers").returncode, 1)
        program.write_text("#!/bin/sh\nexit 3\n")
        self.assertEqual(self.record("", "peers").returncode, 1)

    def test_what_is_left_out_or_fails(self):
        done = self.record("", "pair", "guided")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([path.name for path in self.out.iterdir()],
                         ["bench_pair.csv"])
        kept = (self.out / "bench_pair.csv").read_text()
        (self.folder / "bench/bench_pair").write_text("#!/bin/sh\nexit 3\n")
        done = self.record("", "pair", "survey")
        self.assertEqual(done.returncode, 1)
        self.assertIn("bench_pair failed", done.stderr)
        self.assertEqual((self.out / "bench_pair.csv").read_text(), kept)
        self.assertEqual(len(list(self.out.iterdir())), 2)
        self.assertEqual(self.record("", "pears").returncode, 2)

    def test_records_in_json_beside_them(self):
        program = self.folder / "bench/bench_survey"
        program.write_text("#!/bin/sh\necho gpus,seconds,lists,note\n"
                           "echo 1,2.50,7cd3632a64fa4941,\n")
        done = self.record("", "survey", options=["--json"])
        self.assertEqual(done.returncode, 0, done.stderr)
        made = json.loads((self.out / "bench_survey.json").read_text())
        self.assertEqual(list(made), ["date", "GPU", "driver", "toolkit",
                                      "include", "command", "rows"])
        self.assertEqual((made["GPU"], made["driver"], made["command"]),
                         ("A GPU", "1.2", "bench_survey"))
        self.assertEqual(made["rows"], [
            {"gpus": 1, "seconds": 2.5, "lists": "7cd3632a64fa4941",
             "note": None}])

        program.write_text("#!/bin/sh\necho gpus,seconds\necho 1\n")
        done = self.record("", "survey", "pair", options=["--json"])
        self.assertEqual(done.returncode, 1)
        self.assertIn("bench_survey.csv:8: cells: 1, columns: 2",
                      done.stderr)
        self.assertEqual(sorted(path.name for path in self.out.iterdir()),
                         ["bench_pair.csv", "bench_pair.json",
                          "bench_survey.csv"])
        done = subprocess.run([ROOT / "bench/record", "--json"],
                              stderr=subprocess.PIPE, text=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("usage: bench/record [--json] BUILD", done.stderr)


class Json(unittest.TestCase):
    """bench/json on what was recorded, and on what is no record."""

    def run_json(self, *arguments, text=None):
        return subprocess.run([sys.executable, ROOT / "bench/json", *arguments],
                              input=text, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)

    def test_every_record(self):
        files = sorted((ROOT / "docs/evidence").glob("bench_*.csv"))
        self.assertGreater(len(files), 5)
        for path in files:
            done = self.run_json(path)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.run_json(text=path.read_text()).stdout,
                             done.stdout)
            made = json.loads(done.stdout)
            rows = made.pop("rows")
            lines = path.read_text().splitlines()
            self.assertEqual([f"# {key}: {text}" for key, text in made.items()],
                             lines[:len(made)])
            recorded = list(csv.DictReader(lines[len(made):]))
            self.assertEqual(len(rows), len(recorded))
            for row, cells in zip(rows, recorded):
                self.assertEqual(list(row), list(cells))
                for name, cell in cells.items():
                    try:
                        right = float(cell)
                    except ValueError:
                        right = cell or None
                    self.assertEqual(row[name], right, (path, name))
                    self.assertIs(type(row[name]) is float,
                                  "." in cell and right != cell)

    def test_cells(self):
        for cell, right in (("0", 0), ("-12", -12), ("-0.50", -0.5),
                            ("123456789012345", 123456789012345),
                            ("1234567890123456", "1234567890123456"),
                            ("1234567890.12345", 1234567890.12345),
                            ("012", "012"), ("12e45", "12e45"), (".5", ".5"),
                            ("nan", "nan"), ('"a ""b"", c"', 'a "b", c'),
                            ("\u0661", "\u0661"), ("", None)):
            with self.subTest(cell):
                done = self.run_json(text=f"a,b\n1,{cell}\n")
                self.assertEqual(json.loads(done.stdout),
                                 {"rows": [{"a": 1, "b": right}]})
        self.assertEqual(json.loads(self.run_json(text="a,b\n").stdout),
                         {"rows": []})

    def test_bad_input_is_named(self):
        for text, said in (
                ("", "1: this is no header"),
                ("# k: 1\n# k: 2\na\n1\n", "2: the key k stands twice"),
                ("# date: today\n", "2: this is no header"),
                ("1.5,1.4,1.6\n", "1: this is no header"),
                ("# date: today\n\na,b\n", "2: this is no header"),
                ("a,b,a\n", "1: two columns"),
                ("# a remark\na,b\n", "1: this is not '# key: value'"),
                ("# k: v\na,b\n1,2\n1,2,3\n", "4: cells: 3, columns: 2"),
                ("a,b\n1\n", "2: cells: 1, columns: 2"),
                ("a,b\n\n", "2: cells: 0, columns: 2"),
                ('a,b\n1,"2\n', "2: unexpected end of data")):
            with self.subTest(text):
                done = self.run_json(text=text)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertIn(f"json: standard input:{said}", done.stderr)
                self.assertEqual(len(done.stderr.splitlines()), 1)

        with tempfile.TemporaryDirectory() as folder:
            bytes_ = Path(folder) / "bytes.csv"
            bytes_.write_bytes(b"a,b\n\xff,2\n")
            for path, said in ((folder, "Is a directory"),
                               (f"{folder}/none.csv", "No such file"),
                               (bytes_, "this is not text")):
                done = self.run_json(path)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertIn(f"json: {path}: {said}", done.stderr)
        self.assertEqual(self.run_json("a.csv", "b.csv").returncode, 2)


if __name__ == "__main__":
    unittest.main()
