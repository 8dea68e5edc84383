#!/usr/bin/env python3
"""Prints random comments, and random sentences of pages and public headers, so that a reader can judge them.

Usage: reading_sample.py ROOT [--seed N] [--count N]

The same seed and the same files give the same sample. A reader who needs a second look at a sentence marks it; its
pattern is then searched for in all files, because the sample shows a small part of them.
"""

import argparse
import pathlib
import random
import re
from typing import Iterator, NamedTuple

SOURCE_FOLDERS = ("include", "src", "bootstrap", "integrations", "tests", "examples", "python")
SOURCE_SUFFIXES = {".hpp", ".h", ".cuh", ".cpp", ".cu", ".inc"}
PAGE_FOLDERS = ("docs", "include", "examples", "bootstrap", "python")
PUBLIC_HEADERS = ("*.hpp", "*.h", "device/*.hpp")
NO_PAGES = {"configuration.md", "errors.md"}  # printed from tables
LEAST_WORDS = 5
SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z`*])")


class Text(NamedTuple):
    """A comment or a sentence, and where it starts."""

    path: str
    line: int
    text: str


def long_enough(text: str) -> bool:
    return len(re.findall(r"[A-Za-z]{2,}", text)) >= LEAST_WORDS


def comments(root: pathlib.Path, path: pathlib.Path) -> Iterator[Text]:
    """Each comment of a source file: neighbouring lines that start in one column are one text."""
    mark = r"(\s*)#(?!!)\s?(.*)" if path.suffix == ".py" else r"(\s*)///?<?\s?(.*)"
    trailing = r"(?!)" if path.suffix == ".py" else r"(.*[;,{})]\s+)//[/<]*\s?(.*)"
    name = path.relative_to(root).as_posix()
    lines: list[str] = []
    start = column = 0
    for number, line in enumerate([*path.read_text(encoding="utf-8").splitlines(), ""], 1):
        found = re.match(mark, line)
        if lines and found and len(found.group(1)) == column:
            lines.append(found.group(2))
            continue
        if lines:
            yield Text(name, start, " ".join(lines))
            lines = []
        if found := found or re.match(trailing, line):
            lines, start, column = [found.group(2)], number, len(found.group(1))


def sentences(text: Text) -> Iterator[Text]:
    for sentence in SENTENCE_END.split(text.text):
        yield text._replace(text=sentence.strip())


def page_paragraphs(root: pathlib.Path, path: pathlib.Path) -> Iterator[Text]:
    """The paragraphs and list items of a page, without tables, headings and code blocks."""
    name = path.relative_to(root).as_posix()
    lines: list[str] = []
    start = 0
    in_code = False
    for number, line in enumerate([*path.read_text(encoding="utf-8").splitlines(), ""], 1):
        if line.startswith("```"):
            in_code = not in_code
        plain = line.strip() and not in_code and not line.startswith(("```", "#", "|", "<", "    "))
        if lines and (not plain or re.match(r"\s*([*-]|\d+\.) ", line)):
            yield Text(name, start, " ".join(lines))
            lines = []
        if plain:
            start = start if lines else number
            lines.append(line.strip())


def all_comments(root: pathlib.Path) -> list[Text]:
    paths = (p for folder in SOURCE_FOLDERS for p in sorted((root / folder).rglob("*")) if p.suffix in SOURCE_SUFFIXES | {".py"})
    return [text for path in paths for text in comments(root, path) if long_enough(text.text)]


def all_sentences(root: pathlib.Path) -> list[Text]:
    pages = [*root.glob("*.md"), *(page for folder in PAGE_FOLDERS for page in (root / folder).rglob("*.md"))]
    paragraphs = [text for page in sorted(pages) if page.name not in NO_PAGES for text in page_paragraphs(root, page)]
    headers = sorted({path for pattern in PUBLIC_HEADERS for path in (root / "include/pgas").glob(pattern)})
    paragraphs += [text for header in headers for text in comments(root, header)]
    return [sentence for text in paragraphs for sentence in sentences(text) if long_enough(sentence.text)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=60, help="of comments, and of sentences")
    options = parser.parse_args()
    for title, texts in (("comments", all_comments(options.root)), ("sentences", all_sentences(options.root))):
        sample = random.Random(options.seed).sample(texts, min(options.count, len(texts)))
        print(f"== {len(sample)} of {len(texts)} {title}, seed {options.seed} ==")
        for number, text in enumerate(sample, 1):
            print(f"{number:3} {text.path}:{text.line}: {text.text}")


if __name__ == "__main__":
    main()
