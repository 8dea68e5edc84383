#!/usr/bin/env python3
"""Makes the site of the documentation: build/site/html/index.html, which opens in a browser without a server.

Usage: build.py [--python PYTHON] [--out DIR] [--with PACKAGE...]

DIR (build/site) then contains `env`, an environment with the packages of requirements.txt; `xml`, what doxygen reads in
the headers; `source`, the pages as Sphinx reads them; and `html`, the site. --with adds
packages to the environment. Without the package index the exit status is 77.

The pages of the project stay where they are, with links that also work in a repository's web view. This program copies
them, and rewrites each link to the place of the copy. A link to a file that is no page leads to a page that shows the
file. docs/index.md lists the pages, in the order of the navigation.
"""

import argparse
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys

from reference import Reference

ROOT = pathlib.Path(__file__).resolve().parents[2]
SITE = pathlib.Path("docs/site")
PACKAGES = ["furo", "myst-parser", "sphinx-copybutton"]  # requirements.txt has their versions
SKIPPED = 77

# Pages that are not in docs/, and their places on the site.
ELSEWHERE = {
    "README.md": "overview.md",
    "CONTRIBUTING.md": "contribute/contributing.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "security-policy.md",
    "include/pgas/README.md": "reference/which-call.md",
    "include/pgas/device/README.md": "reference/device-operations.md",
    "include/pgas/device/MEMORY_MODEL.md": "concepts/memory-model-rules.md",
    "bootstrap/README.md": "contribute/bootstraps.md",
    "integrations/nixl/README.md": "guides/nixl.md",
    "examples/08_from_nvshmem.md": "coming/nvshmem-example.md",
    "examples/09_from_openshmem.md": "coming/openshmem-example.md",
    "tests/perf/RESULTS.md": "performance-results.md",
}
# Pages that this program writes. docs/index.md names them without a link.
WRITTEN = {"Every call": "reference/calls/index.md", "Source files": "files/index.md"}
# Words that a user may search for, and that the titles of these pages do not contain.
WORDS = {
    "docs/debugging.md": ["hang", "deadlock", "how to see why a job hangs", "why does my job hang", "stuck job", "freeze", "pgas-why", "timeout"],
    "docs/sharing.md": ["share a tensor", "tensor", "share memory", "share memory between processes", "IPC", "two processes"],
    "docs/hosts.md": ["mpirun", "UCX", "InfiniBand", "network"],
    "docs/trace.md": ["pgas-trace", "Perfetto"],
    "docs/metrics.md": ["pgas-info", "Prometheus", "statistics"],
    "docs/tuning.md": ["MPS"],
    "docs/torch.md": ["torchrun"],
    "docs/graphs.md": ["stream capture", "cudaGraph", "MemPool", "get_mem_pool", "cudaStreamCaptureModeGlobal"],
    "docs/guides/slurm.md": ["srun", "sbatch", "start on Slurm"],
    "docs/guides/kubernetes.md": ["pod", "container", "k8s"],
    "docs/guides/moe.md": ["MoE", "all-to-all", "experts"],
    "docs/guides/profiling.md": ["Nsight", "NVTX", "slow"],
    "docs/support.md": ["GPU", "GPUs", "supported GPUs", "is my GPU supported", "which GPU is supported", "hardware", "driver", "CUDA version", "H100", "H200", "A100", "L40S", "T4", "V100",
                        "B200", "RTX 4090", "RTX 5090", "RTX 3090"],
    "docs/stability.md": ["maturity", "experimental", "stable", "ABI", "SONAME", "version"],
    "docs/start/cpp.md": ["install", "getting started", "quick start"],
    "docs/start/python.md": ["pip install", "wheel"],
    "docs/python.md": ["NumPy", "CuPy", "JAX"],
    "include/pgas/README.md": ["all-reduce", "allreduce"],
}
FILE_PAGE = 400  # the longest file that is shown as a whole, in lines

CODE = re.compile(r"^ *```.*?^ *```$|`[^`\n]+`", re.M | re.S)
LINK = re.compile(r"(\[[\w./-]+\.md)?\]\(([^()\s]+)\)")  # the text only if it is the name of a page's file
ERROR = re.compile(r"(?<![\w`/\[(])PGAS-E\d{4}(?![\w\]`])")
LANGUAGES = {".cpp": "cpp", ".hpp": "cpp", ".h": "c", ".c": "c", ".cu": "cpp", ".cuh": "cpp", ".py": "python", ".sh": "bash", ".cmake": "cmake"}


class Pages:
    """The pages of the project, copied with rewritten links."""

    def __init__(self, source: pathlib.Path):
        self.source = source
        self.places = {name: place for name, place in ELSEWHERE.items() if (ROOT / name).exists()}
        for page in sorted((ROOT / "docs").rglob("*.md")):
            name = page.relative_to(ROOT)
            if SITE not in name.parents:
                self.places[name.as_posix()] = name.relative_to("docs").as_posix()
        self.files: set[str] = set()  # files and folders that a page links to

    def place(self, target: pathlib.Path, anchor: str) -> str:
        """Returns the place on the site of a file of the project."""
        name = target.relative_to(ROOT).as_posix()
        if name in self.places:
            return self.places[name] + (f"#{anchor}" if anchor else "")
        if target.suffix in (".svg", ".png"):
            self.copy(target, f"pictures/{name}")
            return f"pictures/{name}"
        self.files.add(name)
        return f"files/{name}.md"

    def copy(self, file: pathlib.Path, place: str) -> None:
        (self.source / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, self.source / place)

    def rewritten(self, name: str, place: str, text: str) -> str:
        """Returns the text of a page with each link as its copy needs it. Titles take the place of the names of files."""
        here = (ROOT / name).parent

        def link(found: re.Match) -> str:
            path, _, anchor = found[2].partition("#")
            target = (here / path).resolve()
            if not path or re.match(r"[a-z]+:", found[2]) or not target.is_relative_to(ROOT) or not target.exists():
                return found[0]
            words = found[1] or ""
            if words and target.relative_to(ROOT).as_posix() in self.places:
                words = "[" + re.search(r"^# (.*)$", target.read_text(), re.M)[1]
            return f"{words}]({os.path.relpath(self.place(target, anchor), pathlib.PurePath(place).parent)})"

        hidden = CODE.sub(lambda code: re.sub(r"[^\n]", "\0", code[0]), text)  # keeps the positions
        changes = [(each.start(), each.end(), link(each)) for each in LINK.finditer(hidden)]
        if name != "docs/errors.md":
            errors = os.path.relpath("errors.md", pathlib.PurePath(place).parent)
            inside_links = [each.span() for each in re.finditer(r"\[[^\]]*\]\(|^#.*$", hidden, re.M)]
            changes += [(each.start(), each.end(), f"[{each[0]}]({errors}#{each[0].lower()})") for each in ERROR.finditer(hidden)
                        if not any(start <= each.start() < end for start, end in inside_links)]
        for start, end, words in sorted(changes, reverse=True):
            text = text[:start] + words + text[end:]
        return text

    def write(self, place: str, text: str) -> None:
        (self.source / place).parent.mkdir(parents=True, exist_ok=True)
        (self.source / place).write_text(text)

    def write_all(self) -> None:
        for name, place in self.places.items():
            text = (ROOT / name).read_text()
            if name == "docs/errors.md":
                # An anchor for the code alone, and an entry of the index, which the search shows first.
                text = re.sub(r"^## (PGAS-E\d{4}) (\w+)", r"```{index} ! \1\n```\n\n(\1)=\n## \1 \2", text, flags=re.M)
            if name == "docs/index.md":
                text = re.sub(rf"^\* ({'|'.join(WRITTEN)}):", lambda found: f"* [{found[1]}]({WRITTEN[found[1]]}):", text, flags=re.M)
            if name in WORDS:
                entries = "\n".join(f"```{{index}} ! {word}\n```" for word in WORDS[name])
                text = re.sub(r"^(# .*)$", lambda found: f"{found[1]}\n\n{entries}", text, count=1, flags=re.M)
            text = self.rewritten(name, place, text)
            self.write(place, text + (self.navigation(text) if name == "docs/index.md" else ""))

    def navigation(self, index: str) -> str:
        """Returns the lists of pages that Sphinx makes the navigation of: one for each section of docs/index.md."""
        listed, parts = set(), []
        for section in re.split(r"^## ", index, flags=re.M)[1:]:
            heading = section.splitlines()[0]
            links = re.findall(r"^\* \[([^\]]+)\]\(([^()#\s]+)\.md\)", section, re.M)
            if not links:
                continue
            listed |= {link for _, link in links}
            entries = "\n".join(f"{title} <{link}>" for title, link in links)
            parts.append(f"```{{toctree}}\n:hidden:\n:caption: {heading}\n\n{entries}\n```\n")
        missing = {place.removesuffix(".md") for place in self.places.values()} - listed - {"index"}
        if missing:
            raise SystemExit(f"docs/index.md does not list {', '.join(sorted(missing))}")
        return "\n" + "\n".join(parts)

    def write_files(self) -> None:
        """Writes a page for each file that a page links to, and a list of these pages."""
        for name in sorted(self.files):
            if (ROOT / name).is_dir():
                shown = sorted(child.name for child in (ROOT / name).iterdir() if child.is_file() and not child.name.startswith("."))
                self.write(f"files/{name}.md", f"---\norphan: true\nnosearch: true\n---\n# {name}\n\nThis folder of the source code contains these files:\n\n"
                           + "\n".join(f"* `{each}`" for each in shown) + "\n")
                continue
            lines = (ROOT / name).read_text(errors="replace").splitlines()
            fence = "`" * 6
            cut = f"The first {FILE_PAGE} of {len(lines)} lines of this file of the source code:\n\n" if len(lines) > FILE_PAGE else ""
            body = "\n".join(lines[:FILE_PAGE])
            self.write(f"files/{name}.md", f"---\norphan: true\nnosearch: true\n---\n# {name}\n\n{cut}{fence}{LANGUAGES.get((ROOT / name).suffix, 'text')}\n{body}\n{fence}\n")
        entries = "\n".join(f"* [{name}]({name}.md)" for name in sorted(self.files))
        self.write("files/index.md", "# Source files\n\nPages of this site refer to these files of the source code.\n\n" + entries + "\n")


def call(*command, **options) -> subprocess.CompletedProcess:
    return subprocess.run([str(word) for word in command], text=True, **options)


def prepare(where: pathlib.Path, python: str, packages: list[str]) -> pathlib.Path:
    """Returns the interpreter of an environment with these packages in the versions of requirements.txt."""
    versions = ROOT / SITE / "requirements.txt"
    wanted = hashlib.sha256(repr((python, versions.read_text())).encode()).hexdigest()
    stamp, found = where / "packages", where / "bin" / "python"
    has = stamp.read_text().split() if stamp.exists() else []
    if has and has[0] == wanted and set(packages) <= set(has[1:]):
        return found
    if not has or has[0] != wanted:
        shutil.rmtree(where, ignore_errors=True)
        has = [wanted]
    done = call(python, "-m", "venv", where, capture_output=True)
    if done.returncode == 0:
        pip = [found, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--retries", 1, "--timeout", 20, "-c", versions]
        done = call(*pip, *packages, capture_output=True)
    if done.returncode != 0:
        shutil.rmtree(where, ignore_errors=True)
        print(f"skipped: pip can't install {', '.join(packages)} here\n{(done.stdout + done.stderr)[-500:]}")
        raise SystemExit(SKIPPED)
    stamp.write_text(" ".join([*has, *(each for each in packages if each not in has)]))
    return found


def read_headers(xml: pathlib.Path) -> None:
    """Runs doxygen on the public headers. The test structure.reference checks the doc blocks of C++; in sharing.h, for C,
    one block describes several functions."""
    if not shutil.which("doxygen"):
        print("skipped: there is no doxygen")
        raise SystemExit(SKIPPED)
    xml.mkdir(parents=True, exist_ok=True)
    settings = {"OUTPUT_DIRECTORY": xml.parent, "XML_OUTPUT": xml.name, "GENERATE_XML": "YES", "GENERATE_HTML": "NO", "XML_PROGRAMLISTING": "NO",
                "FILE_PATTERNS": "*.hpp sharing.h", "USE_MDFILE_AS_MAINPAGE": "", "WARN_IF_UNDOCUMENTED": "NO", "WARN_IF_DOC_ERROR": "NO"}
    text = "@INCLUDE = docs/Doxyfile\n" + "".join(f"{name} = {value}\n" for name, value in settings.items())
    if call("doxygen", "-", input=text, cwd=ROOT).returncode != 0:
        raise SystemExit("doxygen finds faults in the doc blocks")


def finish(html: pathlib.Path) -> None:
    """Adds attributes for keyboards and screen readers that Sphinx and furo leave out: code and tables that scroll get
    the focus, and the headings of the navigation a level."""
    changes = (("<pre>", '<pre tabindex="0">'), ('<div class="table-wrapper', '<div tabindex="0" class="table-wrapper'),
               ('<p class="caption" role="heading">', '<p class="caption" role="heading" aria-level="2">'))
    for page in html.rglob("*.html"):
        text = page.read_text()
        for old, new in changes:
            text = text.replace(old, new)
        page.write_text(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build/site")
    parser.add_argument("--with", nargs="*", default=[], dest="more")
    given = parser.parse_args()
    out = given.out.resolve()
    python = prepare(out / "env", given.python, PACKAGES + given.more)
    for name in ("source", "xml", "html"):
        shutil.rmtree(out / name, ignore_errors=True)
    read_headers(out / "xml")
    pages = Pages(out / "source")
    pages.write_all()
    Reference(out / "xml").write(out / "source/reference/calls")
    pages.write_files()
    done = call(python, "-B", "-m", "sphinx", "-W", "--keep-going", "-q", "-E", "-j", "auto", "-d", out / "doctrees", "-c", ROOT / SITE, out / "source", out / "html")
    if done.returncode != 0:
        raise SystemExit(done.returncode)
    finish(out / "html")
    print(out / "html/index.html")


if __name__ == "__main__":
    main()
