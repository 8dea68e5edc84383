"""Rules of check.py for words and pages: words that docs/glossary.md has replaced, paths and links of pages, and
lengths of pages for users."""

import pathlib
import re
from typing import Iterator, NamedTuple

GLOSSARY = "docs/glossary.md"
COLUMNS_OF_MEANINGS = 5  # the meaning, and the words of four other libraries


class GivenUp(NamedTuple):
    """A word of the glossary's tables of replaced words."""

    pattern: re.Pattern
    literal: str  # a part of every match, in lower case, for a fast test of whole files
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
                literal = max(re.split(r"[* ]", word.lower()), key=len)
                rows.append(GivenUp(re.compile(rf"\b{any_of}\b", re.I), literal, instead, allowed))
    return rows


COMMENT_MARK = re.compile(r"^\s*(///?<?|#|\*)?\s*")


def blank(found: re.Match) -> str:
    return "." * len(found.group(0))


def given_up(file, words: list[GivenUp]) -> Iterator[tuple[int, str]]:
    """Neither code nor comments use the words that docs/glossary.md has replaced."""
    if file.path == GLOSSARY:
        return
    whole = "\n".join(file.lines).lower()
    possible = [(pattern, word, allowed) for pattern, literal, word, allowed in words if literal in whole]
    for line, text in enumerate(file.lines, 1):
        with_next = f"{text} {COMMENT_MARK.sub('', file.lines[line]).lstrip()}" if line < len(file.lines) else text
        for pattern, word, allowed in possible:
            for found in pattern.finditer(allowed.sub(blank, with_next) if allowed else with_next):
                if found.start() < len(text):  # otherwise the match is in the next line, and is found there
                    yield line, f"`{found.group(0)}` was given up, docs/glossary.md says: {word}"
                    break


def one_row_per_word(root: pathlib.Path) -> Iterator[tuple[str, int, str]]:
    """The glossary defines a word in one row."""
    page = root / GLOSSARY
    rows: dict[str, int] = {}
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines() if page.is_file() else [], 1):
        word, *meanings = (cell.strip() for cell in line.strip("|").split("|"))
        if len(meanings) == COLUMNS_OF_MEANINGS and rows.setdefault(word, number) != number:
            yield GLOSSARY, number, f"{word}: line {rows[word]} defines this word, too"


PATH_IN_PAGE = re.compile(r"`((?:include|src|bootstrap|integrations|tests|examples|docs)/[\w./*-]+)`")


def dead_path(root: pathlib.Path) -> Iterator[tuple[str, int, str]]:
    """Paths that a page names in backticks exist; a `*` stands for at least one file."""
    pages = [root / "README.md", root / "CONTRIBUTING.md", root / "bootstrap/README.md", *sorted((root / "docs").rglob("*.md"))]
    for page in (p for p in pages if p.is_file() and p.name != "glossary.md"):
        for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
            for path in PATH_IN_PAGE.findall(line):
                if not any(root.glob(path.rstrip("/"))):
                    yield page.relative_to(root).as_posix(), number, f"{path} does not exist"


PAGE_FOLDERS = ("docs", "bootstrap", "examples", "include", "integrations", "python", "src", "tests")
LINK = re.compile(r"\]\(([^()\s]+)\)")


def without_code(text: str) -> str:
    """The text with code blocks and code spans blanked; lines keep their numbers."""
    text = re.sub(r"^```.*?^```$", lambda block: "\n" * block.group(0).count("\n"), text, flags=re.M | re.S)
    return re.sub(r"`[^`\n]*`", "", text)


def anchors(page: pathlib.Path) -> set[str]:
    """The anchors that GitHub gives the headings of a page."""
    found: set[str] = set()
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    for heading in re.findall(r"^#+ +(.*?) *$", text, re.M):
        heading = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        found.add(next(name for name in [slug, *(f"{slug}-{n}" for n in range(1, 100))] if name not in found))
    return found


def dead_link(root: pathlib.Path) -> Iterator[tuple[str, int, str]]:
    """Links of a page to files of the project, and to headings of its pages, have a target."""
    pages = [*sorted(root.glob("*.md")), *(page for folder in PAGE_FOLDERS for page in sorted((root / folder).rglob("*.md")))]
    for page in pages:
        for number, line in enumerate(without_code(page.read_text(encoding="utf-8")).splitlines(), 1):
            for link in LINK.findall(line):
                if re.match(r"[a-z]+:", link):
                    continue
                path, _, anchor = link.partition("#")
                target = page.parent / path if path else page
                if not target.exists():
                    yield page.relative_to(root).as_posix(), number, f"{link}: there is no such file"
                elif anchor and target.suffix == ".md" and anchor not in anchors(target):
                    yield page.relative_to(root).as_posix(), number, f"{link}: the page has no such heading"


MOST_WORDS = {"docs/performance.md": 1200, "docs/applications.md": 1200}


def page_length(root: pathlib.Path) -> Iterator[tuple[str, int, str]]:
    """Pages for users describe results; docs/notes describes attempts. Words are counted as by `wc -w`."""
    for name, most in MOST_WORDS.items():
        words = len((root / name).read_text(encoding="utf-8").split()) if (root / name).is_file() else 0
        if words > most:
            yield name, 1, f"{words} words, at most {most}: move what was tried into docs/notes"
