# SPDX-FileCopyrightText: 2026 The SERAC authors
# SPDX-License-Identifier: BSD-3-Clause
"""Lists of GPUs: the same rows on one GPU, on two and on the host."""
import random
import shutil
import subprocess
import unittest

from support import ToolTest


def gpu_count():
    if shutil.which("nvidia-smi") is None:
        return 0
    text = subprocess.run(["nvidia-smi", "-L"], capture_output=True,
                          text=True, check=False).stdout
    return sum(line.startswith("GPU") for line in text.splitlines())


class Gpus(ToolTest):

    use_gpu = "1"

    def survey(self, name):
        draw = random.Random(4)
        database = self.database(name=name)
        for number in range(1, 61):
            database.add_image(number, tokens=draw.sample(range(900), 400))
        return database

    def test_a_gpu_that_is_not_there(self):
        database = self.survey("none.db")
        result = self.run_tool("exhaustive", database,
                               "--SiftMatching.gpu_index", 99, code=2)
        self.assertIn("no GPU is usable", result.stderr)
        self.assertEqual(database.matches(), {})

    def test_lists(self):
        if gpu_count() < 2:
            self.skipTest("there is one GPU: nothing is shared out")
        host = self.survey("host.db")
        self.run_any([self.tool, "exhaustive", "--database_path", host.path,
                      "--SiftMatching.use_gpu", 0])
        for gpus in ("0", "1", "0,1", "1,0", "-1"):
            with self.subTest(gpus=gpus):
                database = self.survey(f"gpus{gpus}.db")
                result = self.run_tool("exhaustive", database,
                                       "--SiftMatching.gpu_index", gpus)
                for gpu in gpus.strip("-").split(","):
                    self.assertIn(f"GPU {gpu}", result.stdout)
                self.assertEqual(database.dump(but=()), host.dump(but=()))


if __name__ == "__main__":
    unittest.main()
