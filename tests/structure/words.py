"""Rules of check.py for words and pages: words that docs/glossary.md gave up, and paths that pages name."""

import pathlib
import re
from typing import Iterator, NamedTuple

GLOSSARY = "docs/glossary.md"


class GivenUp(NamedTuple):
    """A word of the glossary's tables of words that were given up."""

    pattern: re.Pattern
    word: str
    allowed: re.Pattern | None


def given_up_words(root: pathlib.Path) -> list[GivenUp]:
    page = root / GLOSSARY
    if not page.is_file():
        return []
    rows = []
    for line in page.read_text(encoding="utf-8").partition("\n## Words given up")[2].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        words = re.findall(r"`([^`]+)`", cells[0])
        if line.startswith("| `") and len(cells) == 3:
            idioms = "|".join(re.escape(idiom) for idiom in re.findall(r"`([^`]+)`", cells[2]))
            allowed = re.compile(idioms, re.I) if idioms else None
            new = cells[1].split(", ")
            for word, instead in zip(words, new if len(new) == len(words) else [cells[1]] * len(words)):
                any_of = re.escape(word).replace(r"\*", r"\w*").replace(r"\ ", "[ _]")
                rows.append(GivenUp(re.compile(rf"\b{any_of}\b", re.I), instead, allowed))
    return rows


def given_up(file, words: list[GivenUp]) -> Iterator[tuple[int, str]]:
    """The words that docs/glossary.md gave up do not come back, neither in code nor in comments."""
    if file.path == GLOSSARY:
        return
    for line, text in enumerate(file.lines, 1):
        for pattern, word, allowed in words:
            if found := pattern.search(allowed.sub("", text) if allowed else text):
                yield line, f"`{found.group(0)}` was given up, docs/glossary.md says: {word}"


PATH_IN_PAGE = re.compile(r"`((?:include|src|bootstrap|tests|examples|docs)/[\w./*-]+)`")


def dead_path(root: pathlib.Path) -> Iterator[tuple[str, int, str]]:
    """Paths that a page names in backticks exist; a `*` stands for at least one file."""
    pages = [root / "README.md", root / "CONTRIBUTING.md", root / "bootstrap/README.md", *sorted((root / "docs").glob("*.md"))]
    for page in (p for p in pages if p.is_file() and p.name != "glossary.md"):
        for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
            for path in PATH_IN_PAGE.findall(line):
                if not any(root.glob(path.rstrip("/"))):
                    yield page.relative_to(root).as_posix(), number, f"{path} does not exist"
