# SPDX-FileCopyrightText: 2026 The SERAC authors
# SPDX-License-Identifier: BSD-3-Clause
"""scripts/ab on commands whose times are known, and its statistics against
simulations."""
import json
import random

from script_test import ScriptTest

SEED = 2026
PRINTED = ("--value", "^seconds ([0-9.]+)$", "--warmup", 0)


class Ab(ScriptTest):
    script = "ab"
    needs = ("numpy", "scipy")

    def command(self, name, values):
        """A command that prints the next of the values at each run."""
        queue = self.folder / name
        queue.write_text("".join(f"seconds {value!r}\n" for value in values))
        return f"sh -c 'head -n 1 \"$0\" && sed -i 1d \"$0\"' '{queue}'"

    def normal(self, seed, mean, deviation, count=10):
        draw = random.Random(seed)
        return [draw.gauss(mean, deviation) for _ in range(count)]

    def compare(self, a, b, *options, code):
        report = self.folder / "report.json"
        out, _ = self.run_script(
            *PRINTED, "--runs", len(a), "--json", report, *options,
            self.command("a", a), self.command("b", b), code=code)
        result = json.loads(report.read_text())
        self.assertEqual(result["values"], {"A": a, "B": b})
        return result, out

    def test_equal_commands_are_not_told_apart(self):
        result, out = self.compare(self.normal(SEED, 2, 0.1),
                                   self.normal(SEED + 1, 2, 0.1), code=1)
        self.assertEqual(result["verdict"], "not resolved")
        self.assertIn("NOT RESOLVED", out)
        self.assertNotIn("faster", out)
        from scipy import stats
        test = result["welch"]
        self.assertAlmostEqual(test["p"], 2 * stats.t.sf(
            abs(test["t"]), test["degrees_of_freedom"]), places=12)
        self.assertLess(result["ratio"]["lower"], 1)
        self.assertGreater(result["ratio"]["upper"], 1)

    def test_a_difference_far_above_the_noise_is_resolved(self):
        for mean, verdict in ((1.6, "B is faster"), (2.4, "B is slower")):
            with self.subTest(verdict):
                result, out = self.compare(self.normal(SEED, 2, 0.1),
                                           self.normal(SEED + 1, mean, 0.2),
                                           code=0)
                self.assertEqual(result["verdict"], verdict)
                self.assertIn(f"RESOLVED: {verdict}", out)
                ratio = result["ratio"]
                self.assertLess(ratio["lower"], mean / 2)
                self.assertGreater(ratio["upper"], mean / 2)
                self.assertLess(result["detectable"]["relative"], 0.2)

    def test_a_small_difference_is_refused_until_there_are_runs_enough(self):
        values, report = self.folder / "values.json", self.folder / "report"
        for runs, verdict in ((4, "not resolved"), (400, "B is faster")):
            values.write_text(json.dumps({"values": {
                "A": self.normal(SEED, 2, 0.1, 400)[:runs],
                "B": self.normal(SEED + 1, 1.95, 0.1, 400)[:runs]}}))
            self.run_script("--read", values, "--json", report,
                            code=verdict == "not resolved")
            result = json.loads(report.read_text())
            self.assertEqual(result["verdict"], verdict)
            self.assertEqual(result["detectable"]["relative"] < 0.025,
                             verdict == "B is faster")

    def test_wall_time(self):
        out, _ = self.run_script("--runs", 4, "sleep 0.01", "sleep 0.06")
        self.assertIn("B is slower", out)

    def test_order_warmup_and_preparation(self):
        log = self.folder / "log"
        self.run_script(
            "--runs", 4, "--warmup", 1, "--prepare",
            f"echo prepare $SIDE >> '{log}'", "--measure-only",
            "--json", self.folder / "report.json",
            f"sh -c 'echo run A >> {log}'", f"sh -c 'echo run B >> {log}'")
        self.assertEqual(log.read_text().splitlines(), [
            f"{what} {side}" for side in "AB" "ABBA" "ABBA"
            for what in ("prepare", "run")])

    def test_values_can_be_analysed_later_and_elsewhere(self):
        values = self.folder / "values.json"
        a, b = self.normal(SEED, 2, 0.1), self.normal(SEED + 1, 1, 0.1)
        self.run_script(*PRINTED, "--measure-only", "--json", values,
                        self.command("a", a), self.command("b", b))
        again = self.folder / "again.json"
        self.run_script("--read", values, "--json", again)
        at_once, _ = self.compare(a, b, code=0)
        for key in ("summary", "welch", "ratio", "verdict"):
            self.assertEqual(json.loads(again.read_text())[key], at_once[key])

    def test_end_to_end(self):
        a, b = [3.5, 4.5] * 5, [1.75, 2.25] * 5
        result, out = self.compare(a, b, "--share", 0.25, code=0)
        whole, ratio = result["end_to_end"], result["ratio"]
        self.assertAlmostEqual(whole["value"], 0.875)
        self.assertAlmostEqual(whole["lower"], 0.75 + 0.25 * ratio["lower"])
        self.assertAlmostEqual(whole["upper"], 0.75 + 0.25 * ratio["upper"])
        self.assertEqual(whole["bound"], 0.75)
        self.assertIn("not below 0.75", out)
        result, _ = self.compare(a, b, "--total", 16, code=0)
        self.assertEqual(result["end_to_end"], whole)

    def test_interval_and_test_agree(self):
        import numpy as np
        from scipy import stats
        draw = np.random.default_rng(SEED)
        for runs, alpha in ((2, 0.1), (4, 0.05), (10, 0.01), (40, 0.05)):
            a = draw.normal(10, 0.1, runs)
            b = draw.normal(9, 0.4, runs)
            for end in self.module.ratio_interval(a, b, alpha):
                p = stats.ttest_ind(b, end * a, equal_var=False).pvalue
                self.assertAlmostEqual(p, alpha, places=7)

    def test_interval_covers_the_true_ratio_as_often_as_it_says(self):
        import numpy as np
        draw = np.random.default_rng(SEED)
        covered = 0
        for _ in range(300):
            lower, upper = self.module.ratio_interval(
                draw.normal(10, 0.5, 6), draw.normal(8, 1.5, 6), 0.1)
            covered += lower <= 0.8 <= upper
        # 270 expected, standard deviation 5.2
        self.assertGreater(covered, 250)
        self.assertLess(covered, 290)

    def test_interval_without_upper_end(self):
        import numpy as np
        lower, upper = self.module.ratio_interval(
            np.array([0.01, 10]), np.array([4, 4.1]), 0.05)
        self.assertEqual(upper, float("inf"))
        self.assertLess(lower, 4.05 / 5.005)

    def test_what_is_called_detectable_is_detected(self):
        import numpy as np
        from scipy import stats

        def sample(mean, deviation, runs):  # of exactly these moments
            x = np.arange(runs, dtype=float)
            return mean + deviation * (x - x.mean()) / x.std(ddof=1)

        for runs, power in ((6, 0.8), (12, 0.9)):
            shift = self.module.detectable(
                sample(10, 0.2, runs), sample(10, 0.3, runs), 0.05, power)
            draw = np.random.default_rng(SEED)
            a = draw.normal(10, 0.2, (4000, runs))
            b = draw.normal(10 - shift, 0.3, (4000, runs))
            found = stats.ttest_ind(a, b, axis=1, equal_var=False).pvalue < 0.05
            self.assertAlmostEqual(found.mean(), power, delta=0.025)

    def test_values_that_never_vary_resolve_nothing(self):
        a, b = self.command("a", [1.0] * 4), self.command("b", [2.0] * 4)
        _, err = self.run_script(*PRINTED, "--runs", 4, a, b, code=2)
        self.assertIn("do not vary", err)

    def test_what_goes_wrong_with_a_command_is_named(self):
        for command, complaint in (
                ("sh -c 'echo broken; exit 3'", "B ended with 3"),
                ("/no/such/program", "B cannot be run: /no/such/program"),
                ("echo fast", "B printed 0 values that match"),
                ("printf 'seconds 1\\nseconds 2\\n'", "B printed 2 values"),
                ("echo seconds .", "B's value is no number"),
                ("echo seconds 0", "B's value is not positive")):
            with self.subTest(command):
                _, err = self.run_script(*PRINTED, "echo seconds 1", command,
                                         code=2)
                self.assertIn(complaint, err)
        _, err = self.run_script("--prepare", "echo no room; exit 4", "true",
                                 "true", code=2)
        self.assertIn("--prepare before A ended with 4", err)
        self.assertIn("no room", err)

    def test_what_was_measured_before_a_failure_is_kept(self):
        report = self.folder / "report.json"
        a = self.command("a", [1.5, 2.5, 3.5, 4.5])
        _, err = self.run_script(*PRINTED, "--runs", 4, "--json", report, a,
                                 self.command("b", [5.5, 6.5]), code=2)
        self.assertIn("B printed 0 values", err)
        self.assertEqual(json.loads(report.read_text())["values"],
                         {"A": [1.5, 2.5, 3.5], "B": [5.5, 6.5]})

    def test_a_failure_in_a_warm_up_run_leaves_a_file_without_values(self):
        report = self.folder / "report.json"
        a = self.command("a", [1.5, 2.5])
        _, err = self.run_script(*PRINTED, "--runs", 2, "--warmup", 1, "--json",
                                 report, a, "false", code=2)
        self.assertIn("B ended with 1", err)
        self.assertEqual(json.loads(report.read_text())["values"],
                         {"A": [], "B": []})
        _, err = self.run_script("--read", report, code=2)
        self.assertIn("two values of each", err)

    def test_wrong_usage_is_named(self):
        for arguments, complaint in (
                ((), "two commands are needed"),
                (("true",), "not 1"),
                (("true", "true", "true"), "not 3"),
                (("true", "' '"), "B cannot be run"),
                (("true", ""), "B is empty"),
                (("true", "'"), "B: No closing quotation"),
                (("--runs", 3, "true", "true"), "--runs 3: must be even"),
                (("--runs", 0, "true", "true"), "--runs 0"),
                (("--warmup", -1, "true", "true"), "--warmup -1"),
                (("--confidence", 95, "true", "true"), "--confidence 95"),
                (("--power", 1, "true", "true"), "--power 1"),
                (("--share", 1.5, "true", "true"), "--share 1.5"),
                (("--share", 1, "--total", 1, "true", "true"), "give one"),
                (("--total", 0, "true", "true"), "--total 0"),
                (("--measure-only", "true", "true"), "--json"),
                (("--value", "(", "true", "true"), "--value '('"),
                (("--value", "x", "true", "true"), "needs one group"),
                (("--json", self.folder / "no/file", "true", "true"), "no/file"),
                (("--read", self.folder / "none"), "cannot read"),
                (("--read", "x", "true", "true"), "--read takes no commands")):
            with self.subTest(arguments):
                _, err = self.run_script(*arguments, code=2)
                self.assertIn(complaint, err)

    def test_wrong_files_are_named(self):
        path = self.folder / "values.json"
        for text, complaint in (
                ("{", "cannot read"), ("[]", "holds no lists"),
                ('{"values": {"A": [1, 2]}}', "holds no lists"),
                ('{"values": {"A": "12", "B": [1, 2]}}', "holds no lists"),
                ('{"values": {"A": [1, 2], "B": [1]}}', "two values of each"),
                ('{"values": {"A": [1, 2], "B": [1, -2]}}', "not positive")):
            with self.subTest(text):
                path.write_text(text)
                _, err = self.run_script("--read", path, code=2)
                self.assertIn(complaint, err)
                self.assertIn(str(path), err)

    def test_a_total_below_its_part_is_refused(self):
        path = self.folder / "values.json"
        path.write_text('{"values": {"A": [1, 2], "B": [1, 3]}}')
        _, err = self.run_script("--read", path, "--total", 1, code=2)
        self.assertIn("--total 1 is less than A's mean", err)
