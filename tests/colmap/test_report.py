# SPDX-FileCopyrightText: 2026 The SERAC authors
# SPDX-License-Identifier: BSD-3-Clause
"""`serac_colmap report`: the page as a browser shows it."""
import re
import shutil
import sqlite3
import struct
import subprocess
import unittest
import zlib
from pathlib import Path

from browser import Browser, find_chromium
from support import ID_LIMIT, V38, ToolTest, pair_id

SAMPLE = Path(__file__).resolve().parents[2] / "data/sample/sample.db"

ODD_NAMES = ["<script>alert(1)</script>", "</script><!--", "\"'&amp;\\.jpg",
             "a b\tc\nd.jpg", "\u202eright to left.jpg", "Ü/ö/日本.jpg",
             "]]>\u2028\u2029", "../up.jpg", "/etc/hostname"]


def png(width, height, pixel):
    """A PNG file; `pixel(x, y)` is (red, green, blue)."""
    def chunk(kind, data):
        return (struct.pack(">I", len(data)) + kind + data
                + struct.pack(">I", zlib.crc32(kind + data)))
    lines = b"".join(b"\0" + bytes(v for x in range(width) for v in pixel(x, y))
                     for y in range(height))
    return (b"\x89PNG\r\n\x1a\n"
            + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2,
                                         0, 0, 0))
            + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b""))


class Report(ToolTest):
    def setUp(self):
        super().setUp()
        self.page = self.folder / "report.html"

    def report(self, database, *options, code=0):
        """Makes the page; the database stays as it is."""
        path = getattr(database, "path", database)
        before = path.read_bytes()
        result = self.run_any([self.tool, "report", "--database_path", path,
                               "--output", self.page, *options], code)
        self.assertEqual(path.read_bytes(), before)
        self.assertEqual(list(self.folder.glob("*.part")), [])
        return result

    def text(self):
        return self.page.read_text(encoding="utf-8")

    def need_images(self, result):
        if "built without stb" in result.stderr:
            self.skipTest("this program was built without stb")


class Page(Report):
    """What the file says, without a browser."""

    def test_the_same_database_gives_the_same_page(self):
        database = self.database()
        for number in (1, 2):
            database.add_image(number, tokens=range(20))
        self.run_tool("exhaustive", database)
        self.report(database)
        first = self.text()
        self.report(database)
        self.assertEqual(self.text(), first)

    def test_nothing_is_loaded_from_elsewhere(self):
        database = self.database()
        for number in (1, 2):
            database.add_image(number, tokens=range(20))
        self.run_tool("exhaustive", database)
        self.report(database)
        self.assertNotIn("://", self.text())
        self.assertNotRegex(self.text(), r"(?i)<link|<iframe| src=")

    def test_what_is_wrong_is_named_and_nothing_is_written(self):
        database = self.database()
        for number in (1, 2):
            database.add_image(number, tokens=range(20))
        image = database.path.read_bytes()
        for options, reason in [
                (["--pair", "image0001.jpg", "nobody"],
                 "--pair: no image has the name 'nobody'"),
                (["--pair", "image0001.jpg"], "--pair"),
                (["--lines", "-1"], "--lines"),
                (["--image_size", "0"], "--image_size"),
                (["--output", database.path], "is the database itself"),
                (["--output", f"{database.path}-wal"],
                 "is the database itself"),
                (["--output", self.folder / "no/such/folder.html"],
                 "no/such/folder.html: cannot be written"),
                (["--image_path", self.folder / "nowhere"], "--image_path")]:
            with self.subTest(options):
                if options[0] == "--output":
                    command = [self.tool, "report", "--database_path",
                               database.path, *options]
                    result = self.run_any(command, 2)
                else:
                    result = self.report(database, *options, code=2)
                self.assertIn(reason, result.stderr)
                self.assertFalse(self.page.exists())
                self.assertEqual(database.path.read_bytes(), image)

    def test_an_old_page_is_replaced_only_by_a_whole_one(self):
        database = self.database()
        self.page.write_text("old")
        self.report(database, "--pair", "a", "b", code=2)
        self.assertEqual(self.text(), "old")
        self.report(database)
        self.assertTrue(self.text().endswith("</html>\n"))

    def test_not_a_database(self):
        path = self.folder / "text.db"
        path.write_text("no database")
        self.assertIn(str(path), self.report(path, code=2).stderr)


class Shown(Report):
    """The page in a browser: never a word in the console."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if not find_chromium():
            raise unittest.SkipTest(
                "there is no Chromium (Debian: chromium): no page was shown")
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.close)

    def show(self, database, *options):
        result = self.report(database, *options)
        self.browser.open(self.page)
        return result

    def tearDown(self):
        self.value("0")  # behind this answer no complaint is on its way
        self.assertEqual(self.browser.complaints, [])

    def value(self, expression):
        return self.browser.evaluate(expression)

    def texts(self, selector):
        return self.value(f"[...document.querySelectorAll('{selector}')]"
                          ".map(e => e.textContent)")

    def rows(self, table):
        return self.value(f"[...document.querySelectorAll('#{table} tr')].map("
                          "r => [...r.children].map(c => c.textContent))")

    def summary(self):
        return dict(self.rows("summary"))

    def cell(self, i, j):
        """What the page says when one points at a pair of the matrix."""
        self.value("document.getElementById('matrix').scrollIntoView()")
        x, y = self.value(f"""(() => {{
          const m = document.getElementById('matrix');
          const box = m.getBoundingClientRect();
          const n = JSON.parse(data.textContent).names.length;
          return [box.x + 1 + (box.width - 2) * ({j} + 0.5) / n,
                  box.y + 1 + (box.height - 2) * ({i} + 0.5) / n];
        }})()""")
        self.browser.point_at(x, y)
        return self.value("document.getElementById('cell').textContent")

    # Colours of places of what can be drawn. (Of a canvas itself one may not
    # read often without a word in the console.)
    COLOURS = """((picture, width, height, places) => {
        const canvas = document.createElement('canvas');
        canvas.width = width;
        canvas.height = height;
        const context = canvas.getContext('2d', {willReadFrequently: true});
        context.drawImage(picture, 0, 0);
        return places.map(p => [...context.getImageData(...p, 1, 1).data]
                               .slice(0, 3));
      })"""

    def colour(self, i, j):
        return tuple(self.value(
            "(m => " + self.COLOURS + f"(m, m.width, m.height, [[{j}, {i}]])[0]"
            ")(document.getElementById('matrix'))"))

    def test_the_browser_hears_complaints(self):
        for script in ("console.error('bad')", "nothing.at.all()",
                       "new Image().src = 'missing.png'"):
            self.page.write_text(f"<!DOCTYPE html><script>{script}</script>")
            self.browser.open(self.page)
            while not self.browser.complaints:  # or no answer comes
                self.browser.receive()
            self.browser.complaints.clear()

    def test_the_sample_survey(self):
        path = self.folder / "sample.db"
        shutil.copyfile(SAMPLE, path)
        self.run_any([self.tool, "exhaustive", "--database_path", path,
                      "--SiftMatching.use_gpu", "0"])
        info = self.run_any([self.tool, "info", "--database_path", path]).stdout
        pairs, nonempty, matches = map(int, re.search(
            r"matched pairs: (\d+) of 66, (\d+) with matches, (\d+) matches",
            info).groups())
        self.show(path)
        summary = self.summary()
        self.assertEqual(summary["images"], "12, 12 with features")
        self.assertEqual(summary["features"], "20,438")
        self.assertEqual(summary["pairs"],
                         f"{pairs} matched of 66, {nonempty} with matches")
        self.assertEqual(summary["matches"], f"{matches:,}")
        self.assertEqual(self.value("document.title"), "sample.db")
        self.assertEqual(self.texts("#problems"), [])

        lists = {k: rows for k, (rows, _, _) in self.stored(path).items()}
        ranked = sorted((n for n in lists.values() if n), reverse=True)
        drawn = [int(re.search(r": ([\d,]+) match", text)[1].replace(",", ""))
                 for text in self.texts("figcaption")]
        self.assertEqual(drawn, [ranked[0], ranked[(len(ranked) - 1) // 2],
                                 ranked[-1]])
        self.assertEqual(self.value(
            "[...document.querySelectorAll('figure')].map("
            "f => f.querySelectorAll('line').length)"),
            [min(n, 300) for n in drawn])
        # The matrix: both halves, and what it says.
        for i, j in ((0, 1), (3, 8), (11, 0)):
            count = lists[pair_id(i + 1, j + 1)]
            self.assertEqual(self.colour(i, j), self.colour(j, i))
            self.assertEqual(self.colour(i, j) == (214, 214, 214), count == 0)
            self.assertTrue(self.cell(i, j).endswith(f": {count:,} matches"),
                            self.cell(i, j))
        self.assertEqual(self.cell(2, 2), "strip1_frame3.png")
        # The histogram counts all pairs.
        counted = self.value("[...document.querySelectorAll('.histogram text')]"
                             ".filter((_, k) => k % 2 === 0)"
                             ".reduce((sum, e) => sum + +e.textContent, 0)")
        self.assertEqual(counted, 66)

    @staticmethod
    def stored(path):
        with sqlite3.connect(path) as db:
            return {key: tuple(row) for key, *row in db.execute(
                "SELECT pair_id, rows, cols, data FROM matches")}

    def test_an_empty_database(self):
        self.show(self.database())
        self.assertEqual(self.summary()["images"], "0, 0 with features")
        self.assertNotIn("parts", self.summary())
        self.assertIn("There are no images.", self.texts("p"))
        self.assertIn("There are no matched pairs.", self.texts("p"))
        self.assertIn("There is no pair with matches.", self.texts("p"))
        self.assertEqual(self.texts("canvas, figure, #problems"), [])

    def test_images_that_nothing_is_matched_of(self):
        database = self.database()
        for number in (1, 2, 3):
            database.add_image(number)
        self.show(database)
        self.assertEqual(self.colour(0, 1), (255, 255, 255))
        self.assertEqual(self.cell(0, 1),
                         "image0001.jpg \u2013 image0002.jpg: not matched")
        self.assertEqual(len(self.rows("few")), 1 + 3)
        self.assertEqual(self.summary()["parts"][:2], "3:")

    def test_odd_names_are_shown_and_do_nothing(self):
        database = self.database()
        for number, name in enumerate(ODD_NAMES, 1):
            database.add_image(number, name, tokens=range(20))
        with database.open() as db:
            db.execute("INSERT INTO images(image_id, name, camera_id) VALUES"
                       "(100, CAST(X'61FF80C0AFEDA08062' AS TEXT), 1)")
        self.run_tool("exhaustive", database)
        options = [o for name in ODD_NAMES[1:]
                   for o in ("--pair", ODD_NAMES[0], name)]
        self.show(database, "--few", "100", *options)

        def visible(name):
            return re.sub(r"[\x00-\x1f\x7f]", "\ufffd", name)

        broken = "a" + 7 * "\ufffd" + "b"
        names = self.value("JSON.parse(data.textContent).names")
        self.assertEqual(names, [*ODD_NAMES, broken])
        few = [row[0] for row in self.rows("few")[1:]]
        self.assertEqual(sorted(few), sorted(map(visible,
                                                 [*ODD_NAMES, broken])))
        self.assertEqual(self.texts("figcaption b"), [
            f"{ODD_NAMES[0]} \u2013 {visible(name)}" for name in ODD_NAMES[1:]])
        self.assertEqual(self.cell(0, 1), f"{ODD_NAMES[0]} \u2013 "
                         f"{ODD_NAMES[1]}: 20 matches")
        self.assertEqual(self.value("document.scripts.length"), 2)

    def test_what_cannot_be_read_is_listed_and_the_rest_is_shown(self):
        database = self.database()
        for number in range(1, 6):
            database.add_image(number, tokens=range(30))
        with database.open() as db:
            insert = "INSERT INTO matches VALUES(?, ?, ?, ?)"
            for first, second, rows, cols, data in [
                    (1, 2, 20, 2, bytes(8 * 19)), (1, 3, 20, 3, bytes(8 * 20)),
                    (1, 4, -1, 2, None), (1, 5, 2**60, 2, bytes(12)),
                    (2, 3, 0, 2, bytes(8)), (1, 77, 1, 2, bytes(8))]:
                db.execute(insert, (pair_id(first, second), rows, cols, data))
            db.execute(insert, (-5, 0, 2, None))
            db.execute(insert, (3 * ID_LIMIT + 3, 0, 2, None))
            db.execute("INSERT INTO matches VALUES(?, 2, 2, ?)",
                       (pair_id(3, 4), "sixteen letters!"))
            db.execute("UPDATE keypoints SET data = X'00' WHERE image_id = 5")
            db.execute("UPDATE descriptors SET rows = ? WHERE image_id = 4",
                       (2**62,))
        # Lists that name features which are not there, and one place at all.
        database.store(2, 4, [(0, 0), (1, 29), (2, 30), (4000000000, 1)])
        database.store(2, 5, [(0, 0)])
        self.show(database, "--pair", "image0002.jpg", "image0004.jpg",
                  "--pair", "image0005.jpg", "image0002.jpg",
                  "--pair", "image0001.jpg", "image0002.jpg",
                  "--pair", "image0004.jpg", "image0005.jpg")
        problems = self.texts("#problems li")
        self.assertEqual(len(problems), 8, problems)
        for key in (pair_id(1, 2), pair_id(1, 3), pair_id(1, 4), pair_id(1, 5),
                    pair_id(2, 3)):
            self.assertEqual(sum(f"pair {key} (image" in p and p.endswith(
                "cannot be read.") for p in problems), 1, problems)
        for key in (pair_id(1, 77), -5, 3 * ID_LIMIT + 3):
            self.assertEqual(sum(f"pair {key}, which is no pair" in p
                                 for p in problems), 1, problems)
        self.assertEqual(self.colour(0, 1), (224, 32, 32))
        self.assertIn("cannot be read", self.cell(1, 2))
        captions = self.texts("figcaption")
        self.assertEqual(captions, [
            "image0002.jpg \u2013 image0004.jpg: 4 matches",
            "image0002.jpg \u2013 image0005.jpg: 1 match",
            "image0001.jpg \u2013 image0002.jpg: its list cannot be read"])
        notes = self.texts("p.problem, figure p.note")
        self.assertEqual(notes, [
            "image0004.jpg \u2013 image0005.jpg: not matched",
            "2 matches of features that have no location.",
            "1 match of features that have no location.",
            "The keypoints of image0005.jpg cannot be read."])
        self.assertEqual(self.value("document.querySelectorAll('line').length"),
                         2)

    def test_images_and_matches_lie_where_they_should(self):
        images = self.folder / "images"
        (images / "sub").mkdir(parents=True)
        (self.folder / "up.jpg").write_bytes(png(8, 8, lambda x, y: (9, 9, 9)))
        (images / "sub/a.png").write_bytes(
            png(400, 100, lambda x, y: (255, 0, 0) if x < 200 else (0, 0, 255)))
        (images / "b.png").write_bytes(png(50, 60, lambda x, y: (0, 255, 0)))
        (images / "damaged.jpg").write_bytes(b"\xff\xd8\xff\xe0 no image")
        database = self.database()
        for number, name in enumerate(
                ["sub/a.png", "b.png", "damaged.jpg", "missing.jpg",
                 "../up.jpg", str(self.folder / "up.jpg")], 1):
            database.add_image(number, name)
            points = [(300, 40), (10, 20), (float("nan"), 1)]
            with database.open() as db:
                db.execute("INSERT INTO keypoints VALUES(?, 3, 2, ?)", (
                    number, b"".join(struct.pack("<2f", *p) for p in points)))
            if number > 1:
                database.store(1, number, [(0, 1), (1, 0), (2, 0)])
        result = subprocess.run(
            [self.tool, "report", "--database_path", database.path, "--output",
             self.page, "--image_path", images], text=True, check=False,
            capture_output=True)
        self.need_images(result)
        self.show(database, "--image_path", images, "--image_size", "200",
                  "--drawings", "5")
        # a is made half as large, b is shown larger: 200 in each case.
        figure = "document.querySelector('figure')"
        self.assertEqual(self.value(
            f"[...{figure}.querySelectorAll('image')].map(e => ['x', 'width',"
            "'height'].map(n => e.getAttribute(n)).join(' '))"),
            ["0.0 200.0 50.0", "210.0 166.7 200.0"])
        self.assertEqual(self.value(
            f"[...{figure}.querySelectorAll('line')].map(e => ['x1', 'y1', "
            "'x2', 'y2'].map(n => e.getAttribute(n)).join(' '))"),
            ["150.0 20.0 243.3 66.7", "5.0 10.0 1210.0 133.3"])
        pictures = self.value("""Promise.all([...document.querySelectorAll(
          'figure:first-of-type image')].map(async e => {
            const image = new Image();
            image.src = e.getAttribute('href');
            await image.decode();
            const [width, height] = [image.naturalWidth, image.naturalHeight];
            return [width, height, ...COLOURS(
              image, width, height, [[5, 20], [width - 5, 20]])];
          }))""".replace("COLOURS", self.COLOURS))

        def near(a, b):
            return all(abs(x - y) < 8 for x, y in zip(a, b))

        self.assertEqual([p[:2] for p in pictures], [[200, 50], [50, 60]])
        self.assertTrue(near(pictures[0][2], (255, 0, 0)), pictures)
        self.assertTrue(near(pictures[0][3], (0, 0, 255)), pictures)
        self.assertTrue(near(pictures[1][2], (0, 255, 0)), pictures)
        notes = self.texts("figure p.note")
        self.assertEqual(len(notes), 4, notes)
        self.assertIn("The image damaged.jpg is not at hand: ", notes[0])
        self.assertIn("missing.jpg is not at hand: there is no such file.",
                      notes[1])
        for note in notes[2:]:
            self.assertIn("its name leads out of the folder of images", note)
        self.assertEqual(self.value("document.images.length + document"
                                    ".querySelectorAll('image').length"), 6)

    def test_options_choose_what_is_drawn_and_listed(self):
        database = self.database()
        for number in range(1, 8):
            database.add_image(number, tokens=range(100))
        for number in range(2, 7):  # image 1 has five others, 7 has none
            database.store(1, number, [(k, k) for k in range(10 * number)])
        self.show(database, "--drawings", "2", "--lines", "7", "--few", "0")
        self.assertEqual(self.texts("figcaption"), [
            "image0001.jpg \u2013 image0006.jpg: 60 matches, 7 of them drawn",
            "image0001.jpg \u2013 image0002.jpg: 20 matches, 7 of them drawn"])
        self.assertEqual(self.value("document.querySelectorAll('line').length"),
                         14)
        self.assertEqual([row[0] for row in self.rows("few")[1:]],
                         ["image0007.jpg"])
        self.assertEqual(self.rows("few")[1][4], "2")
        self.show(database, "--drawings", "0", "--few", "4")
        self.assertEqual(self.texts("figure"), [])
        self.assertEqual([row[:4] for row in self.rows("few")[1:3]],
                         [["image0007.jpg", "100", "0", ""],
                          ["image0002.jpg", "100", "1",
                           "20 with image0001.jpg"]])
        self.show(database, "--drawings", "1")
        self.assertEqual(len(self.texts("figure")), 1)

    def test_more_images_than_the_matrix_has_pixels(self):
        database = self.database(V38)
        count = 2500
        with database.open() as db:
            db.executemany("INSERT INTO images(image_id, name, camera_id) "
                           "VALUES(?, ?, 1)", [(i, f"{i}.jpg")
                                               for i in range(1, count + 1)])
        database.store(1, count, [(0, 0)] * 20)
        database.store(2, count, [])
        self.show(database)
        self.assertEqual(self.value("document.getElementById('matrix').width"),
                         2000)
        self.assertNotIn(self.colour(0, 1999), ((255, 255, 255),
                                                (214, 214, 214)))
        self.assertEqual(self.colour(10, 1000), (255, 255, 255))
        self.assertEqual(len(self.rows("few")), 1 + 200)
        self.assertIn("... and 2300 more.", self.texts("p"))


del ToolTest, Report  # not to be run themselves
