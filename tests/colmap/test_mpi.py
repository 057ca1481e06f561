# SPDX-FileCopyrightText: 2026 The SERAC authors
# SPDX-License-Identifier: BSD-3-Clause
"""serac_colmap_mpi: the same rows whatever the number of ranks, and a rank
that dies loses nothing that was stored.  Needs Open MPI's mpirun."""
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import time
import unittest
from pathlib import Path

import reference
from support import Database, ToolTest, pair_id, row_of, token_matches

TOOL = os.environ.get("SERAC_COLMAP_MPI")


def has_open_mpi():
    if TOOL is None or shutil.which("mpirun") is None:
        return False
    text = subprocess.run(["mpirun", "--version"], capture_output=True,
                          text=True, check=False).stdout
    return "Open MPI" in text


def ranks_of(launcher):
    """rank -> process id, of the ranks that an mpirun has started."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rsplit(")", 1)[1]
                         .split()[1])
            if parent != launcher:
                continue
            for entry in (folder / "environ").read_bytes().split(b"\0"):
                if entry.startswith(b"OMPI_COMM_WORLD_RANK="):
                    found[int(entry.split(b"=")[1])] = int(folder.name)
        except (OSError, IndexError):   # it has ended meanwhile
            pass
    return found


@unittest.skipUnless(has_open_mpi(), "there is no Open MPI")
class Mpi(ToolTest):

    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1",
                   "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}

    def survey(self, images, features, name="survey.db"):
        draw = random.Random(images)
        database, tokens = self.database(name=name), {}
        for number in range(1, images + 1):
            count = draw.choice((0, features // 2, features, features))
            tokens[number] = draw.sample(range(2 * features), count)
            database.add_image(number, tokens=tokens[number])
        return database, {pair_id(a, b): row_of(a, b, token_matches(
            tokens[a], tokens[b])) for a, b in reference.exhaustive(tokens, 7)}

    def launch(self, ranks, command, database, *options):
        return ["mpirun", "--oversubscribe", "-n", str(ranks), TOOL, command,
                "--database_path", str(database.path),
                "--SiftMatching.use_gpu", self.use_gpu, *map(str, options)]

    def run_ranks(self, ranks, command, database, *options, code=0):
        result = subprocess.run(
            self.launch(ranks, command, database, *options), text=True,
            env=self.environment, capture_output=True, check=False,
            timeout=300)
        self.assertEqual(result.returncode, code,
                         result.stdout + result.stderr)
        return result

    def copy_of(self, database, name):
        copy = Database.__new__(Database)
        copy.path, copy.layout = self.folder / name, database.layout
        shutil.copyfile(database.path, copy.path)
        return copy

    def test_any_number_of_ranks(self):
        database, expected = self.survey(40, 60)
        for command, options in (
                ("exhaustive", ("--ExhaustiveMatching.block_size", 7)),
                ("sequential", ("--overlap", 6))):
            single = self.copy_of(database, f"{command}.db")
            self.run_tool(command, single, *options)
            if command == "exhaustive":
                self.assertEqual(single.matches(), expected)
            for ranks in (1, 2, 4):
                with self.subTest(command=command, ranks=ranks):
                    several = self.copy_of(database, f"{command}{ranks}.db")
                    result = self.run_ranks(ranks, command, several, *options,
                                            "--hash")
                    self.assertEqual(several.dump(but=()),
                                     single.dump(but=()))
                    self.assertIn("sha256 of all matches", result.stdout)
                    self.assertEqual(ranks > 1,
                                     f"on {ranks} ranks" in result.stdout)

    def test_shares_and_lists_that_cross(self):
        """Messages too long to be sent before somebody receives them."""
        single, _ = self.survey(210, 16)
        several = self.copy_of(single, "several.db")
        options = ("--ExhaustiveMatching.block_size", 7,
                   "--SiftMatching.min_num_inliers", 1)
        self.run_tool("exhaustive", single, *options)
        self.run_ranks(2, "exhaustive", several, *options)
        self.assertEqual(several.dump(but=()), single.dump(but=()))

    def test_an_error_while_lists_come_in(self):
        """Another program takes the database's write lock for good."""
        database, expected = self.survey(210, 16)
        lock = sqlite3.connect(database.path, isolation_level=None)
        self.addCleanup(lock.close)
        lock.execute("PRAGMA journal_mode = WAL")
        lock.execute("BEGIN IMMEDIATE")
        result = self.run_ranks(
            2, "exhaustive", database, "--lock_timeout", 0.3,
            "--ExhaustiveMatching.block_size", 7, code=2)
        self.assertIn("another process has locked it", result.stderr)
        lock.execute("ROLLBACK")
        self.run_ranks(2, "exhaustive", database,
                       "--ExhaustiveMatching.block_size", 7)
        self.assertEqual(database.matches(), expected)

    def test_it_goes_on_where_another_run_was(self):
        database, expected = self.survey(20, 40)
        with database.open() as db:
            for number, (key, row) in enumerate(expected.items()):
                if number % 3 == 0:
                    db.execute("INSERT INTO matches VALUES(?, ?, ?, ?)",
                               (key, *row))
        result = self.run_ranks(3, "exhaustive", database,
                                "--ExhaustiveMatching.block_size", 7)
        self.assertIn("64 are matched already", result.stdout)
        self.assertEqual(database.matches(), expected)
        result = self.run_ranks(3, "exhaustive", database)
        self.assertIn("0 are to be matched", result.stdout)

    def test_dry_run_and_info(self):
        database, _ = self.survey(9, 30)
        before = database.path.read_bytes()
        result = self.run_ranks(2, "exhaustive", database, "--dry_run")
        self.assertEqual(result.stdout.count("36 are to be matched"), 1)
        self.assertEqual(database.path.read_bytes(), before)

    def test_errors_end_all_ranks(self):
        database, _ = self.survey(9, 30)
        result = self.run_ranks(3, "exhaustive", database,
                                "--SiftMatching.max_ratio", "nan", code=2)
        self.assertEqual(result.stderr.count("max_ratio"), 1)
        database.add_image(10, "bad.jpg", data=b"12", rows=1)
        result = self.run_ranks(3, "exhaustive", database, code=2)
        self.assertIn("rank 0: image 'bad.jpg'", result.stderr)
        self.assertEqual(database.matches(), {})
        large = self.database(name="large.db")
        for number in (1, 2, 3):
            large.add_image(number, tokens=range(9000))
        result = self.run_ranks(3, "exhaustive", large, "--memory_budget", 2,
                                code=2)
        self.assertIn("the largest pair of images needs", result.stderr)

    def test_a_rank_that_dies(self):
        whole, expected = self.survey(60, 400)
        empty = self.copy_of(whole, "empty.db")
        options = ("--ExhaustiveMatching.block_size", 7)
        start = time.monotonic()
        self.run_ranks(4, "exhaustive", whole, *options)
        duration = time.monotonic() - start
        self.assertEqual(whole.matches(), expected)

        midway, seed = 0, random.randrange(1 << 32)
        print("seed", seed)
        draw = random.Random(seed)
        for attempt in range(40):
            if attempt >= 12 and midway > 2:
                break
            database = self.copy_of(empty, f"killed{attempt}.db")
            victim = attempt % 4
            process = subprocess.Popen(
                self.launch(4, "exhaustive", database, *options),
                env=self.environment, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL)
            time.sleep(duration * draw.uniform(0.4, 0.9))
            rank = ranks_of(process.pid).get(victim)
            if rank is not None:
                os.kill(rank, signal.SIGKILL)
            code = process.wait(timeout=180)
            database.check()
            stored = database.matches()
            for key, row in stored.items():
                self.assertEqual(row, expected[key])
            if len(stored) < len(expected):
                self.assertNotEqual(code, 0)
            midway += 0 < len(stored) < len(expected)
            self.run_ranks(2, "exhaustive", database, *options)
            self.assertEqual(database.dump(but=()), whole.dump(but=()))
        print(midway, "deaths between the first and the last pair")
        self.assertGreater(midway, 2)


if __name__ == "__main__":
    unittest.main()
