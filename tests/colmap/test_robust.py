# SPDX-FileCopyrightText: 2026 The SERAC authors
# SPDX-License-Identifier: BSD-3-Clause
"""Kills, locks and several writers: never half a pair, nothing lost."""
import os
import random
import resource
import signal
import sqlite3
import subprocess
import threading
import time
import unittest
from pathlib import Path

import reference
from support import ToolTest, pair_id, row_of, token_matches


class Robust(ToolTest):

    def survey(self, images=40, features=30, name="survey.db", mode=None):
        draw = random.Random(1)
        database = self.database(name=name)
        if mode:
            with database.open() as db:
                db.execute(f"PRAGMA journal_mode = {mode}")
        tokens = {}
        for number in range(1, images + 1):
            tokens[number] = draw.sample(range(2 * features), features)
            database.add_image(number, tokens=tokens[number])
        return database, {pair_id(a, b): row_of(a, b, token_matches(
            tokens[a], tokens[b])) for a, b in reference.exhaustive(tokens, 3)}

    def command_of(self, database, *options):
        return self.command("exhaustive", database,
                            "--ExhaustiveMatching.block_size", 3, *options)

    def test_killed_at_any_moment(self):
        seed = random.randrange(1 << 32)
        print("seed", seed)
        draw = random.Random(seed)
        database, expected = self.survey(images=70, features=150)
        whole, _ = self.survey(images=70, features=150, name="whole.db")
        start = time.monotonic()
        self.run_any(self.command_of(whole))
        duration = time.monotonic() - start
        self.assertEqual(whole.matches(), expected)

        killed_midway, before = 0, 0
        for _ in range(200):
            process = subprocess.Popen(self.command_of(database),
                                       stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
            time.sleep(draw.uniform(0, duration / 3))
            process.kill()
            if process.wait() == 0:
                break
            self.assertEqual(process.returncode, -signal.SIGKILL)
            database.check()
            stored = database.matches()
            for key, row in stored.items():
                self.assertEqual(row, expected[key])
            self.assertGreaterEqual(len(stored), before)
            killed_midway += before < len(stored) < len(expected)
            before = len(stored)
        print(killed_midway, "kills between the first and the last pair")
        self.assertGreater(killed_midway, 1)
        self.run_any(self.command_of(database))
        self.assertEqual(database.matches(), expected)
        self.assertEqual(database.dump(but=()), whole.dump(but=()))

    def test_interrupted(self):
        """The first interrupt stores what is matched and says how to go on."""
        whole, expected = self.survey(images=70, features=150)
        start = time.monotonic()
        self.run_any(self.command_of(whole))
        duration = time.monotonic() - start
        midway = 0
        for attempt in range(12):
            database, _ = self.survey(70, 150, name=f"interrupted{attempt}.db")
            process = subprocess.Popen(
                self.command_of(database), stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE, text=True)
            time.sleep(duration * (0.3 + 0.05 * attempt))
            process.send_signal((signal.SIGINT, signal.SIGTERM)[attempt % 2])
            _, text = process.communicate(timeout=60)
            stored = database.matches()
            self.assertLessEqual(stored.items(), expected.items())
            if "interrupted" in text:
                self.assertEqual(process.returncode, 2)
                self.assertIn(f"the {len(stored)} pairs", text)
                midway += 0 < len(stored) < len(expected)
            self.run_any(self.command_of(database))
            self.assertEqual(database.matches(), expected)
        print(midway, "interrupts between the first and the last pair")
        self.assertGreater(midway, 0)

    def locked(self, database, seconds, after=0):
        """Holds the write lock of a database for a while, in a thread."""
        held = threading.Event()

        def hold():
            time.sleep(after)
            db = sqlite3.connect(database.path, timeout=60,
                                 isolation_level=None)
            db.execute("BEGIN IMMEDIATE")
            held.set()
            time.sleep(seconds)
            db.execute("COMMIT")
            db.close()

        thread = threading.Thread(target=hold)
        thread.start()
        self.addCleanup(thread.join)
        return held

    def test_case_28_waits_for_the_write_lock(self):
        for mode in ("DELETE", "WAL"):
            with self.subTest(mode=mode):
                database, expected = self.survey(8, name=mode, mode=mode)
                self.locked(database, 2).wait()
                start = time.monotonic()
                self.run_any(self.command_of(database))
                self.assertGreater(time.monotonic() - start, 1)
                self.assertEqual(database.matches(), expected)

    def test_case_28_gives_up(self):
        for mode in ("DELETE", "WAL"):
            with self.subTest(mode=mode):
                database, _ = self.survey(8, name=mode, mode=mode)
                self.locked(database, 2).wait()
                result = self.run_any(self.command_of(
                    database, "--lock_timeout", 0.3), 2)
                self.assertIn("another process has locked it for more than"
                              " 0.3 s", result.stderr)
                self.assertIn(str(database.path), result.stderr)
                self.assertEqual(database.matches(), {})

    def test_case_28_lock_taken_midway(self):
        database, expected = self.survey(70, 150)
        self.locked(database, 2, after=0.2)
        self.run_any(self.command_of(database))
        self.assertEqual(database.matches(), expected)

    def test_database_that_is_taken_away(self):
        """What is stored in a file under another name is no success."""
        database, expected = self.survey(8, mode="WAL")
        locker = sqlite3.connect(database.path, isolation_level=None)
        locker.execute("BEGIN IMMEDIATE")
        run = subprocess.Popen(self.command_of(database), text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertIn("are to be matched", run.stdout.readline())
        time.sleep(0.5)  # until it waits for the lock, or nearly
        aside = self.folder / "aside.db"
        for end in ("", "-wal", "-shm"):
            Path(f"{database.path}{end}").rename(f"{aside}{end}")
        locker.execute("COMMIT")
        _, errors = run.communicate()
        locker.close()
        self.assertEqual(run.returncode, 2, errors)
        self.assertRegex(errors, f"{database.path}: (it was deleted, moved or "
                         "replaced|unable to open database file)")
        self.assertFalse(database.path.exists())
        database.path = aside
        stored = database.matches()
        self.assertEqual(stored, {key: expected[key] for key in stored})

    def test_names_do_not_drive_the_terminal(self):
        database = self.database()
        for number in (1, 2):
            database.add_image(number, data=bytes(1), rows=1,
                               name=f"a\x1b[2Jb{number}\n.jpg")
        result = self.run_any(self.command("exhaustive", database), 2)
        self.assertIn("a\\x1b[2Jb1\n.jpg", result.stderr)
        self.assertNotIn("\x1b", result.stderr)

    def test_folders_that_cannot_be_written(self):
        user = []
        if os.geteuid() == 0:   # whom modes stop only without capabilities
            user = ["setpriv", "--bounding-set=-all"]
        for mode, command, code in (("DELETE", "exhaustive", 2),
                                    ("DELETE", "info", 0),
                                    ("WAL", "exhaustive", 2),
                                    ("WAL", "info", 2)):
            with self.subTest(mode=mode, command=command):
                database, _ = self.survey(8, name="locked.db", mode=mode)
                self.folder.chmod(0o555)
                try:
                    result = self.run_any(
                        [*user, self.tool, command, "--database_path",
                         database.path], code)
                finally:
                    self.folder.chmod(0o755)
                if code:
                    self.assertIn(f"{database.path}: ", result.stderr)
                    self.assertIn("folder that can be written", result.stderr)
                self.assertEqual(database.matches(), {})
                database.path.unlink()

    def test_threads_that_the_system_denies(self):
        """A stack that does not fit into the address space is refused."""
        def limit():
            resource.setrlimit(resource.RLIMIT_STACK, (1 << 42, hard))
            resource.setrlimit(resource.RLIMIT_AS, (1 << 40, 1 << 40))

        _, hard = resource.getrlimit(resource.RLIMIT_STACK)
        if hard != resource.RLIM_INFINITY and hard < 1 << 42:
            self.skipTest("stacks are limited")
        database, _ = self.survey(8)
        result = subprocess.run(
            self.command_of(database), text=True, capture_output=True,
            check=False, preexec_fn=limit)
        self.assertEqual(result.returncode, 2)
        self.assertIn("a thread of the run: out of memory", result.stderr)
        self.assertEqual(database.matches(), {})

    def test_readers_do_not_stop_it(self):
        database, expected = self.survey(8, mode="WAL")
        db = sqlite3.connect(database.path, isolation_level=None)
        db.execute("BEGIN")
        db.execute("SELECT count(*) FROM matches").fetchall()
        self.run_any(self.command_of(database, "--lock_timeout", 1))
        self.assertEqual(db.execute("SELECT count(*) FROM matches")
                         .fetchall(), [(0,)])
        db.close()
        self.assertEqual(database.matches(), expected)

    def test_two_runs_at_once(self):
        database, expected = self.survey(70, 150)
        runs = [subprocess.Popen(self.command_of(database),
                                 stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
                for _ in range(2)]
        self.assertEqual([run.wait() for run in runs], [0, 0])
        self.assertEqual(database.matches(), expected)

    def test_counts_beyond_the_data(self):
        """What a damaged database states is not added up."""
        database = self.database()
        for number in (1, 2):
            database.add_image(number, data=bytes(1), rows=1)
        with database.open() as db:
            db.execute("UPDATE descriptors SET rows = ?", (2 ** 63 - 1,))
        info = self.run_any([self.tool, "info", "--database_path",
                             database.path]).stdout
        self.assertIn("features: 2, at most 1 in an image", info)
        database.store(1, 2, [(0, 0)])
        with database.open() as db:
            db.execute("UPDATE matches SET rows = ?", (2 ** 63 - 1,))
        info = self.run_any([self.tool, "info", "--database_path",
                             database.path]).stdout
        self.assertIn("1 with matches, 1 matches\n", info)
        with database.open() as db:
            db.execute("DELETE FROM matches")
        refused = self.run_any(self.command("exhaustive", database), 2)
        self.assertIn("are damaged: 1 bytes stored for 9223372036854775807"
                      " x 128", refused.stderr)


if __name__ == "__main__":
    unittest.main()
