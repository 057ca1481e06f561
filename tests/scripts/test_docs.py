# SPDX-FileCopyrightText: 2026 The SERAC authors
# SPDX-License-Identifier: BSD-3-Clause
"""scripts/check_docs and scripts/plot: wrong figures and plots, planted in a
copy of the documents, are found, and --update mends them."""
import re
import shutil
import unittest

from script_test import SCRIPTS, ScriptTest

ROOT = SCRIPTS.parent
DATA = """# date: 2026-11-30
# gpu: a GPU
path,data,rows,time_us,share
classic,no match,512,12.346,0.5
classic,all match,512,23.4,0.25
wgmma,no match,1024,1234.5,0.125
"""


class NoPlots:
    NEEDS = "another matplotlib"

    @staticmethod
    def is_ready():
        return False


class CheckDocs(ScriptTest):
    script = "check_docs"

    def setUp(self):
        super().setUp()
        self.plot = self.module.load_plot()
        # Drawing takes seconds; the test of plots draws.
        self.addCleanup(setattr, self.module, "load_plot",
                        self.module.load_plot)
        self.module.load_plot = lambda: NoPlots

    def page(self, text, data=DATA):
        """The page as updated, the number of figures and the faults."""
        evidence = self.folder / "evidence"
        evidence.mkdir(exist_ok=True)
        (evidence / "bench.csv").write_text(data)
        return self.module.check_page(text, self.module.Evidence(evidence))

    def copy(self):
        """A copy of the documents whose figures and plots are right."""
        root = self.folder / "copy"
        shutil.copytree(ROOT / "docs", root / "docs")
        shutil.copy(ROOT / "README.md", root)
        self.check(root, "--update")
        self.check(root)
        return root

    def check(self, root, *options, faults=0):
        code = 1 if faults else 77
        out, err = self.run_script("--root", root, *options, code=code)
        self.assertIn(f" {faults} faults", out)
        self.assertIn("another matplotlib is missing", out)
        self.assertEqual(len(err.splitlines()), faults, err)
        return err

    def test_figures_of_a_page(self):
        text = ("Of <!--in bench path=classic rows=512-->\n"
                "a: <!--=data=\"no match\" time_us .1f-->{} us (<!--="
                "data='no match' 100*share .0f-->{} %),\n"
                "| <!--in bench rows=1024.0--> | <!--=time_us ,.2f-->{} us | "
                "<!--=rows ,d-->{} of <!--=path s-->{} | on "
                "<!--=#date s-->{}. |\n")
        right = text.format("12.3", 50, "1,234.50", "1,024", "wgmma",
                            "2026-11-30")
        self.assertEqual(self.page(right), (right, 6, []))
        for figure, wrong in (("12.3", "12.4"), ("1,234.50", "1,234.5"),
                              ("1,024", "1024"), ("50 %", "5 %"),
                              ("wgmma ", "mma "), ("11-30", "11-29")):
            with self.subTest(figure):
                planted = right.replace(figure, wrong)
                updated, _, faults = self.page(planted)
                self.assertEqual(updated, right)
                place = right.index(figure)
                self.assertEqual([line for line, _ in faults],
                                 [right.count("\n", 0, place) + 1])

        # Data without a head say nothing about dates.
        self.assertEqual(self.page("on <!--in bench--><!--=#date s-->2026-11-29",
                                   DATA[DATA.index("path,"):])[2], [])

    def test_marks_that_pick_no_figure(self):
        for mark, said in (
                ("<!--in bench path=classic--><!--=time_us .1f-->12 us",
                 "2 rows of bench.csv have path=classic"),
                ("<!--in bench path=mma--><!--=time_us .1f-->12 us",
                 "0 rows of bench.csv have path=mma"),
                ("<!--in bench way=mma--><!--=time_us .1f-->12 us",
                 "bench.csv has no column way"),
                ("<!--in bank rows=1024--><!--=time_us .1f-->12 us",
                 "no such recorded data: bank.csv"),
                ("<!--in bench rows=1024--><!--=time_ms .1f-->12 us",
                 "time_ms"),
                ("<!--in bench rows=1024--><!--=time_us/0 .1f-->12 us",
                 "zero"),
                ("<!--in bench rows=1024--><!--=time_us .1q-->12 us",
                 "q"),
                ("<!--in bench rows=1024--><!--=time_us-->12 us",
                 "a figure is"),
                ("<!--in bench rows=1024--><!--=time_us .1f-->| us",
                 "a figure is"),
                ("<!--in bench rows=1024--><!--=#driver s-->x",
                 "no line '#driver: ...'"),
                ("<!--=path=wgmma time_us .1f-->12 us", "no <!--in FILE-->"),
                ("<!--in rows=1024-->", "names one file")):
            with self.subTest(mark):
                updated, _, faults = self.page(f"one\n\na {mark}\n")
                self.assertEqual(updated, f"one\n\na {mark}\n")
                self.assertEqual([line for line, _ in faults], [3])
                self.assertIn(said, faults[0][1])

    def test_figures_without_a_mark(self):
        for text in ("takes 42 us", "takes 42us a pair", "about 3.5 ms",
                     "80 % of it", "(80%)", "306, <!--stated x-->73 and 58 us",
                     "a <!--stated x-->42 to 68 us", "1,909 microseconds",
                     "takes 42\nus", "42 to\n68 us",
                     "319.5 s", "a | 3.14 |", "| x | 3.14 (12) |"):
            with self.subTest(text):
                _, _, faults = self.page(f"one\n{text}\n")
                self.assertEqual([line for line, _ in faults], [2])
                self.assertIn("has no mark", faults[0][1])
        for text in ("a <!--stated the paper-->319.5 s", "10,400 x 12,783",
                     "a <!--stated a-->42 to <!--stated b-->68 us", "`42 us`",
                     "```\n42 us\n| 3.14 |\n```", "<!-- 42 us -->", "sm_80 says",
                     "of 128 bytes", "| 10,400 | 4 GiB |", "2^34 scores"):
            with self.subTest(text):
                self.assertEqual(self.page(text), (text, 0, []))

    def test_marks_that_begin_a_line(self):
        for text in ("one\n<!--stated x-->42 us", "one\n  <!--in bench--> two",
                     "one\n<!--in bench rows=1024--> a <!--=rows d-->1024"):
            with self.subTest(text):
                _, _, faults = self.page(text)
                self.assertEqual([line for line, _ in faults], [2])
                self.assertIn("must not begin a line", faults[0][1])

    def test_every_figure_of_the_documents_is_checked(self):
        root = self.copy()
        planted = 0
        for page in [root / "README.md", *root.glob("docs/*.md")]:
            text = page.read_text()
            figures = list(re.finditer(r"<!--=[^>#]*-->([^\s<|]*\d)", text))
            if not figures:
                continue
            # Each of them, with another last digit.
            wrong = text
            for figure in figures:
                end = figure.end() - 1
                other = str((int(text[end]) + 1) % 10)
                wrong = wrong[:end] + other + wrong[end + 1:]
            page.write_text(wrong)
            err = self.check(root, faults=len(figures))
            self.assertEqual(
                err.count(f"{page.relative_to(root)}:"), len(figures))
            self.check(root, "--update")
            self.assertEqual(page.read_text(), text)
            planted += len(figures)
        self.assertGreater(planted, 50)

    def test_new_data(self):
        root = self.copy()
        page = root / "docs/performance.md"
        recorded = root / "docs/evidence/bench_pair.csv"
        text, rows = page.read_text(), recorded.read_text()
        new, count = re.subn(r"(?m)^(classic,random none match,10400,10400,\d+,)"
                             r"[\d.]+", r"\g<1>987.65", rows)
        self.assertEqual(count, 1)
        recorded.write_text(new)
        _, err = self.run_script("--root", root, code=1)
        self.assertIn("is 988 in bench_pair.csv", err)
        self.check(root, "--update")
        self.assertIn("-->988 us", page.read_text())
        self.check(root)
        recorded.write_text(rows)
        self.check(root, "--update")
        self.assertEqual(page.read_text(), text)

        recorded.unlink()
        _, err = self.run_script("--root", root, code=1)
        self.assertIn("no such recorded data: bench_pair.csv", err)

    def test_plots_are_compared_and_drawn_too(self):
        if not self.plot.is_ready():
            self.skipTest(f"{self.plot.NEEDS} is missing")
        root = self.copy()
        self.module.load_plot = lambda: self.plot
        self.plot.PLOTS = {"survey": self.plot.PLOTS["survey"]}
        out, _ = self.run_script("--root", root, "--update")
        self.assertIn("plots written", out)
        recorded = root / "docs/evidence/bench_survey.csv"
        rows = recorded.read_text()
        recorded.write_text(rows[:rows.rstrip().rindex("\n") + 1])
        _, err = self.run_script("--root", root, code=1)
        self.assertIn("docs/plots/survey.svg is not what the recorded data "
                      "give: scripts/plot survey", err)
        recorded.write_text(rows)
        out, _ = self.run_script("--root", root)
        self.assertIn("plots compared", out)


class Plot(ScriptTest):
    script = "plot"

    def setUp(self):
        super().setUp()
        if not self.module.is_ready():
            self.skipTest(f"{self.module.NEEDS} is missing")
        shutil.copytree(ROOT / "docs/evidence", self.folder / "docs/evidence")

    def test_planted_plots(self):
        recorded = self.folder / "docs/evidence/bench_binary.csv"
        recorded.unlink(missing_ok=True)
        self.run_script("--root", self.folder)
        self.assertFalse((self.folder / "docs/plots/binary.svg").exists())
        recorded.write_text("bits,rows,median_us,popc_us\n"
                            "256,2048,9,2\n256,4096,30,8\n"
                            "512,2048,15,4\n512,4096,50,16\n")
        evidence = self.folder / "docs/evidence"
        (evidence / "bench_peers.csv").write_text(
            "peer,data,rows,median_us,peak_mib,exact,note\n"
            "serac (wgmma),random third match,2048,9,4,yes,\n"
            "another,random third match,2048,90,40,list,rounded\n"
            "ceiling (wgmma),random third match,2048,2,,,\n"
            "missing,,,,,,left out: why\n")
        (evidence / "bench_sizes.csv").write_text(
            "path,width,rows,median_us,workspace_mib\n" + "".join(
                f"{path},{width},{rows},{rows / 100},{rows / 1000}\n"
                for path in ("classic", "mma", "wgmma")
                for width in (32, 128) for rows in (512, 1024)))
        self.run_script("--root", self.folder)
        self.run_script("--root", self.folder, "--check")
        for name in self.module.PLOTS:
            path = self.folder / f"docs/plots/{name}.svg"
            drawn = path.read_text()
            self.assertNotRegex(drawn, r"<dc:date>|20\d\d-\d\d-\d\d")
            # A point that stands elsewhere.
            planted, count = re.subn(r'd="M (\d)', r'd="M 9\1', drawn, count=1)
            self.assertEqual(count, 1)
            path.write_text(planted)
        (self.folder / "docs/plots/pair.svg").unlink()
        _, err = self.run_script("--root", self.folder, "--check",
                                 code=len(self.module.PLOTS))
        for name in self.module.PLOTS:
            self.assertIn(f"docs/plots/{name}.svg is not what", err)

    def test_data_that_lack_a_column_are_named(self):
        data = self.folder / "docs/evidence/bench_batch.csv"
        data.write_text(data.read_text().replace("scan_us", "scan_ms"))
        _, err = self.run_script("--root", self.folder, "batch", code=1)
        self.assertIn("plot: batch: no column 'scan_us'", err)
        data.unlink()
        _, err = self.run_script("--root", self.folder, "batch", code=1)
        self.assertIn("bench_batch.csv", err)


if __name__ == "__main__":
    unittest.main()
