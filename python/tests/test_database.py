# SPDX-FileCopyrightText: 2026 The SERAC authors
# SPDX-License-Identifier: BSD-3-Clause
"""COLMAP databases: rows as COLMAP writes them, progress, interrupts, resuming."""
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest

import serac

ID_LIMIT = 2147483647


def rows(path):
    """pair_id -> (rows, cols, data)"""
    with sqlite3.connect(path) as db:
        return {key: tuple(rest) for key, *rest in db.execute("SELECT pair_id, rows, cols, data FROM matches")}


def names(path):
    with sqlite3.connect(path) as db:
        return dict(db.execute("SELECT image_id, name FROM images"))


def pair_id(i, j):
    return ID_LIMIT * min(i, j) + max(i, j)


def stored(matches):
    return (len(matches), 2, matches.tobytes()) if len(matches) >= 15 else (0, 2, None)


class Bar:
    """What tqdm makes, as far as it is used."""
    last = None

    def __init__(self, total):
        self.total, self.done, self.closed = total, 0, False
        Bar.last = self

    def update(self, n):
        assert not self.closed and n >= 0
        self.done += n

    def close(self):
        self.closed = True


def test_exhaustive_stores_the_lists_of_match(sample_db, sample, device):
    summary = serac.match_exhaustive(sample_db, device=device, progress=Bar)
    assert (Bar.last.total, Bar.last.done, Bar.last.closed) == (66, 66, True)
    pairs = [(i, j) for i in range(12) for j in range(i + 1, 12)]
    lists = serac.match_batch(sample, pairs, device=device)
    assert rows(sample_db) == {pair_id(i + 1, j + 1): stored(m) for (i, j), m in zip(pairs, lists)}
    long = [m for m in lists if len(m) >= 15]
    assert (summary.pairs, summary.skipped, summary.matched) == (66, 0, 66)
    assert (summary.nonempty, summary.matches) == (len(long), sum(map(len, long)))
    assert repr(summary).startswith("MatchSummary(pairs=66, skipped=0, matched=66, nonempty=")
    again = serac.match_exhaustive(str(sample_db), device=device)
    assert (again.pairs, again.skipped, again.matched) == (66, 66, 0)


def test_pairs_of_a_list_and_of_a_file(sample_db, tmp_path, device):
    name = names(sample_db)
    other = shutil.copy(sample_db, tmp_path / "other.db")
    wanted = [(name[2], name[1]), (name[3], name[7]), (name[1], name[2]), (name[5], name[5])]
    assert serac.match_pairs(sample_db, wanted, device=device).matched == 2
    file = tmp_path / "pairs.txt"
    file.write_text("".join(f"{first} {second}\n" for first, second in wanted))
    assert serac.match_pairs(bytes(other), file, device=device).matched == 2
    assert rows(sample_db) == rows(other)
    assert set(rows(other)) == {pair_id(1, 2), pair_id(3, 7)}
    assert rows(other)[pair_id(1, 2)][0] > 100


def test_options_reach_the_matcher(sample_db, sample):
    name = names(sample_db)
    options = {"max_ratio": 0.6, "max_distance": 0.3, "cross_check": False, "device": "cpu"}
    serac.match_pairs(sample_db, [(name[1], name[2])], min_num_inliers=0, num_threads=1, **options)
    wanted = serac.match(sample[0], sample[1], **options)
    assert 0 < len(wanted) < len(serac.match(sample[0], sample[1], device="cpu"))
    assert rows(sample_db)[pair_id(1, 2)] == (len(wanted), 2, wanted.tobytes())


def test_limits_warn(sample_db):
    with pytest.warns(RuntimeWarning, match="only the first 64 are looked at"):
        summary = serac.match_exhaustive(sample_db, max_num_matches=64, device="cpu")
    assert summary.matched == 66
    assert all(count <= 64 for count, _, _ in rows(sample_db).values())


def test_a_warning_made_an_error_ends_the_call(sample_db):
    with warnings.catch_warnings(), pytest.raises(RuntimeWarning):
        warnings.simplefilter("error")
        serac.match_exhaustive(sample_db, max_num_matches=64, device="cpu")
    assert rows(sample_db) == {}


@pytest.mark.parametrize("pairs, error, text", [
    ([("strip1_frame1.png", "nobody.png")], serac.Error, "no image is named 'nobody.png'"),
    ([("strip1_frame1.png",)], ValueError, r"pairs\[0\]: is no pair of names"),
    ([(1, 2)], TypeError, r"pairs\[0\]: must be two names"),
    (7, TypeError, "pairs: must be a path"),
    ("nofile.txt", serac.Error, "nofile.txt: cannot be opened"),
])
def test_faults(sample_db, pairs, error, text):
    with pytest.raises(error, match=text):
        serac.match_pairs(sample_db, pairs, device="cpu")


def test_an_image_that_is_no_sift_is_named(sample_db):
    with sqlite3.connect(sample_db) as db:
        db.execute("UPDATE descriptors SET cols = 64 WHERE image_id = 3")
    with pytest.raises(serac.Error, match="image '.*' .id 3.: its descriptors have"):
        serac.match_exhaustive(sample_db, device="cpu")


def test_what_a_bar_throws_ends_the_call_and_nothing_is_lost(sample_db):
    class Broken(Bar):
        def update(self, n):
            super().update(n)
            if self.done >= 3:
                raise KeyError("bar")
    with pytest.raises(KeyError, match="bar"):
        serac.match_exhaustive(sample_db, device="cpu", progress=lambda total: Broken(total))
    assert len(rows(sample_db)) >= min(3, Bar.last.done)
    skipped = len(rows(sample_db))
    assert serac.match_exhaustive(sample_db, device="cpu").skipped == skipped


# A large survey: that of the sample again and again. Prints a line once it is under way.
INTERRUPTED = """
import serac, signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # what began this may ignore it
class Bar:
    def __init__(self, total): pass
    def update(self, n):
        if n > 0: print("under way", flush=True)
    def close(self): pass
try:
    {call}
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def interrupted(call):
    """Runs the call in a Python of its own and sends it SIGINT when it is under way."""
    with subprocess.Popen([sys.executable, "-c", INTERRUPTED.format(call=call)], stdout=subprocess.PIPE,
                          text=True) as process:
        assert process.stdout.readline() == "under way\n"
        process.send_signal(signal.SIGINT)
        start = time.monotonic()
        text = process.stdout.read()
    assert text.splitlines()[-1] == "interrupted"
    return time.monotonic() - start


def test_keyboard_interrupt_of_a_batch(device):
    pairs = 2_000_000 if device == "cuda" else 100_000
    seconds = interrupted("import numpy; image = numpy.zeros((1700, 128), numpy.uint8); "
                          f"serac.match_batch([image], [(0, 0)] * {pairs}, device={device!r}, progress=Bar)")
    assert seconds < 60  # on the host, not the half hour that it would take


def test_keyboard_interrupt_of_a_database(sample_db):
    with sqlite3.connect(sample_db) as db:
        for k in range(100, 200):  # thousands of pairs
            source = k % 12 + 1
            db.execute("INSERT INTO images(image_id, name, camera_id) SELECT ?, ?, camera_id FROM images"
                       " WHERE image_id = ?", (k, f"again{k}.png", source))
            for table in ("keypoints", "descriptors"):
                db.execute(f"INSERT INTO {table} SELECT ?, rows, cols, data FROM {table} WHERE image_id = ?",
                           (k, source))
    db.close()
    interrupted(f"serac.match_exhaustive({str(sample_db)!r}, device='cpu', progress=Bar, num_threads=1)")
    done = rows(sample_db)
    assert 0 < len(done) < 112 * 111 // 2
    with sqlite3.connect(sample_db) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_tqdm(sample_db):
    tqdm = pytest.importorskip("tqdm")
    assert serac.match_exhaustive(sample_db, device="cpu", progress=tqdm.tqdm).matched == 66
