#!/usr/bin/env python3
"""Makes a release: the version in all files, the ABI reference, the source archive.

Usage: release.py check                    fails unless all files have the version of include/pgas/version.h, and no
                                           file for users contains the address of a draft, such as example.org
       release.py prepare VERSION TYPES    sets the version and the date, and makes the ABI reference of TYPES
       release.py archive FOLDER           writes FOLDER/pgas-VERSION.tar.gz of the last commit, and its SHA-256

A release takes these steps:

1. ./run test --full --all, and ./run gpu-test on a machine with GPUs
2. release.py prepare VERSION build/cuda/tests/abi/types/libpgas.so (or build/cpu/...), of the build of step 1
3. Read the changes, commit them, and run ./run test
4. git tag -a vVERSION -m "pgas VERSION"
5. release.py archive dist; packaging/deb.sh dist; packaging/wheels.sh dist; packaging/wheels.sh dist --arch aarch64
6. git push --follow-tags, and publish the files of dist

The script needs no network, and neither tags nor publishes anything.
"""

import argparse
import datetime
import hashlib
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEADER = ROOT / "include/pgas/version.h"
CHANGELOG = ROOT / "CHANGELOG.md"
# Files whose readers cannot take the version from the header, and the line that states it.
STATED = {ROOT / "CITATION.cff": "version: {}", ROOT / "packaging/conda/recipe.yaml": '  version: "{}"'}
# Addresses that only drafts have: no file for users may contain them.
DRAFT = re.compile(r"[\w.-]*\bexample\.(?:com|net|org)\b|[\w.-]+\.example\b|\S+@localhost\b")
READ = ["*.md", "*.cff", "pyproject.toml", "python/*.md", "docs/**/*.md", "packaging/**/*", "cmake/*.cmake", "examples/**/*.md"]
REFERENCE = ROOT / "tests/abi/released.abi.xz"
ACCEPTED = ROOT / "tests/abi/accepted.abignore"
UNRELEASED = "## Unreleased"


def number_of(version: str) -> int:
    major, minor, patch = map(int, version.split("."))
    return 10000 * major + 100 * minor + patch


def stated(path: pathlib.Path, pattern: str) -> str:
    found = re.search(pattern, path.read_text(encoding="utf-8"), re.M)
    if not found:
        sys.exit(f"{path.relative_to(ROOT)} has no line {pattern}")
    return found.group(1)


def version_text() -> str:
    return stated(HEADER, r'^#define PGAS_VERSION_TEXT "(\d+\.\d+\.\d+)"$')


def check() -> list[str]:
    """Returns what is wrong."""
    version = version_text()
    wrong = []
    if int(stated(HEADER, r"^#define PGAS_VERSION (\d+)$")) != number_of(version):
        wrong.append(f"include/pgas/version.h: PGAS_VERSION of {version} is {number_of(version)}")
    for path, line in STATED.items():
        if (found := stated(path, f"^{line.format('([0-9.]+)')}$")) != version:
            wrong.append(f"{path.name}: version {found}, but include/pgas/version.h has {version}")
    headings = re.findall(r"^## (.+)$", CHANGELOG.read_text(encoding="utf-8"), re.M)
    if not headings or headings[0] != "Unreleased":
        wrong.append("CHANGELOG.md: the first section is not 'Unreleased'")
    released = [heading.split(" ")[0] for heading in headings[1:]]
    if released and released[0] != version:
        wrong.append(f"CHANGELOG.md: the newest release is {released[0]}, but include/pgas/version.h has {version}")
    for heading in headings[1:]:
        if not re.fullmatch(r"\d+\.\d+\.\d+ \(\d{4}-\d{2}-\d{2}\)", heading):
            wrong.append(f"CHANGELOG.md: '{heading}' is not a version with a date")
    # No other file that is built or installed states the version.
    for name in ("CMakeLists.txt", "pyproject.toml", "python/CMakeLists.txt"):
        if re.search(rf'[^\d.]{re.escape(version)}[^\d.]', (ROOT / name).read_text(encoding="utf-8")):
            wrong.append(f"{name} states the version {version}: read it from include/pgas/version.h")
    for path in sorted({path for pattern in READ for path in ROOT.glob(pattern)} - {pathlib.Path(__file__).resolve()}):
        if path.is_file() and (found := DRAFT.search(path.read_text(encoding="utf-8", errors="replace"))):
            wrong.append(f"{path.relative_to(ROOT)}: '{found.group()}' is the address of a draft")
    return wrong


def replace(path: pathlib.Path, pattern: str, text: str) -> None:
    changed, count = re.subn(pattern, text, path.read_text(encoding="utf-8"), count=1, flags=re.M)
    if count != 1:
        sys.exit(f"{path.relative_to(ROOT)} has no line {pattern}")
    path.write_text(changed, encoding="utf-8")


def git(*words: str) -> str:
    return subprocess.run(["git", "-C", ROOT, *words], check=True, capture_output=True, text=True).stdout


def prepare(version: str, types: pathlib.Path) -> None:
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        sys.exit(f"{version} is not a version such as 1.2.3")
    changelog = CHANGELOG.read_text(encoding="utf-8")
    news = changelog.split(UNRELEASED, 1)[1].split("\n## ", 1)[0]
    released = re.search(r"^## (\d+\.\d+\.\d+) ", changelog, re.M)
    if released and number_of(version) <= number_of(released.group(1)):
        sys.exit(f"{version} is not newer than the last release, {released.group(1)}")
    if not re.search(r"^\* ", news, re.M):
        sys.exit("CHANGELOG.md: the section 'Unreleased' is empty: there is nothing to release")
    if git("status", "--porcelain", "--untracked-files=no").strip():
        sys.exit("the working tree has changes that are not committed: commit or remove them first")
    today = datetime.date.today().isoformat()
    replace(HEADER, r"^#define PGAS_VERSION \d+$", f"#define PGAS_VERSION {number_of(version)}")
    replace(HEADER, r'^#define PGAS_VERSION_TEXT ".*"$', f'#define PGAS_VERSION_TEXT "{version}"')
    for path, line in STATED.items():
        replace(path, f"^{line.format('[0-9.]+')}$", line.format(version))
    replace(CHANGELOG, rf"^{UNRELEASED}$", f"{UNRELEASED}\n\n## {version} ({today})")
    subprocess.run([sys.executable, "-B", ROOT / "tests/abi/abi.py", "write", types, REFERENCE, ROOT / "include"], check=True)
    accepted = ACCEPTED.read_text(encoding="utf-8").splitlines(keepends=True)
    ACCEPTED.write_text("".join(line for line in accepted if line.startswith("#")), encoding="utf-8")
    print(git("diff", "--stat"), end="")
    print(f"read the changes and commit them as 'release: {version}'")


def archive(folder: pathlib.Path) -> None:
    version = version_text()
    name = f"pgas-{version}"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.tar.gz"
    git("archive", "--format=tar.gz", f"--prefix={name}/", "-o", str(path.resolve()), "HEAD")
    code = hashlib.sha256(path.read_bytes()).hexdigest()
    path.with_name(path.name + ".sha256").write_text(f"{code}  {path.name}\n", encoding="utf-8")
    print(f"{path}: {path.stat().st_size} bytes, SHA-256 {code}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("check")
    preparing = commands.add_parser("prepare")
    preparing.add_argument("version")
    preparing.add_argument("types", type=pathlib.Path)
    archiving = commands.add_parser("archive")
    archiving.add_argument("folder", type=pathlib.Path)
    asked = parser.parse_args()
    if asked.command == "prepare":
        prepare(asked.version, asked.types)
    elif asked.command == "archive":
        archive(asked.folder)
    wrong = check()
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
