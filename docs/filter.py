# SPDX-FileCopyrightText: 2026 The SERAC authors
# SPDX-License-Identifier: BSD-3-Clause
"""Doxygen's filter for Markdown pages: their links lead through the
repository, those that it prints lead through the built documents. A link to
a page stays, one to a source file becomes a reference and one to recorded
data leads to the copy of it; of any other only the text is left."""
import re
import sys
from pathlib import Path

page = Path(sys.argv[1])
root = Path(__file__).resolve().parent.parent


def link(match):
    text, target = match.groups()
    path = (page.resolve().parent / target.split("#")[0]).resolve()
    if "://" in target or path.suffix == ".md" or not path.exists():
        return match[0]
    if path.suffix in (".svg", ".csv"):
        return f"[{text}]({path.name})"
    if path.suffix in (".hpp", ".cuh", ".cu", ".cpp") and (
            path.parent.name != "detail"):
        return f"[{text}](@ref {path.relative_to(root).as_posix()})"
    return text


sys.stdout.write(re.sub(r"(?<!!)\[([^]]*)\]\(([^)\s]+)\)", link,
                        page.read_text()))
