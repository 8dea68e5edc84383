"""Makes a release in a copy of the repository, by packaging/release.py.

    release_test.py SOURCE TYPES WORK

The exit status is 77 if SOURCE is not a clone of the repository, or without abigail-tools.
"""
import pathlib
import re
import shutil
import subprocess
import sys

USER = ["-c", "user.name=test", "-c", "user.email=test@localhost"]


def run(*words, cwd, fails=False):
    done = subprocess.run([str(word) for word in words], cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if (done.returncode != 0) != fails:
        sys.exit(f"{' '.join(map(str, words))}: status {done.returncode}\n{done.stdout}")
    return done.stdout


def expect(text, output):
    if text not in output:
        sys.exit(f"expected '{text}', got:\n{output}")


def main():
    source, types, work = map(pathlib.Path, sys.argv[1:4])
    if subprocess.run(["git", "-C", source, "rev-parse", "--git-dir"], capture_output=True, check=False).returncode != 0:
        print("skipped: no clone of the repository")
        return 77
    if not shutil.which("abidw"):
        print("skipped: no abidw: apt-get install abigail-tools")
        return 77
    shutil.rmtree(work, ignore_errors=True)
    clone = work / "clone"
    work.mkdir(parents=True)
    # The files as they are now, committed or not.
    names = run("git", "ls-files", "--cached", "--others", "--exclude-standard", cwd=source).split("\n")
    for name in filter(None, names):
        if (source / name).is_file() and not name.startswith("docs/notes/"):
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source / name, clone / name)
    run("git", "init", "-q", cwd=clone)
    run("git", "add", "-A", "-f", cwd=clone)
    run("git", *USER, "commit", "-q", "-m", "before", cwd=clone)

    release = [sys.executable, "-B", clone / "packaging/release.py"]
    run(*release, "check", cwd=clone)
    expect("is not a version", run(*release, "prepare", "1.2", types, cwd=clone, fails=True))
    changelog = clone / "CHANGELOG.md"
    text = changelog.read_text()
    changelog.write_text(text + "\n")
    expect("not committed", run(*release, "prepare", "7.2.3", types, cwd=clone, fails=True))
    changelog.write_text(text)

    run(*release, "prepare", "7.2.3", types.resolve(), cwd=clone)
    changed = run("git", "diff", "--name-only", cwd=clone).split()
    for name in ("CHANGELOG.md", "CITATION.cff", "include/pgas/version.h", "packaging/conda/recipe.yaml"):
        if name not in changed:
            sys.exit(f"the release does not change {name}: {changed}")
    expect("#define PGAS_VERSION 70203\n", (clone / "include/pgas/version.h").read_text())
    if not re.search(r"^## Unreleased\n\n## 7\.2\.3 \(\d{4}-\d\d-\d\d\)\n", changelog.read_text(), re.M):
        sys.exit("CHANGELOG.md has no section of the release")
    run("git", *USER, "commit", "-q", "-a", "-m", "release: 7.2.3", cwd=clone)
    expect("is empty", run(*release, "prepare", "7.2.4", types, cwd=clone, fails=True))
    expect("is not newer", run(*release, "prepare", "7.2.3", types, cwd=clone, fails=True))

    # The check finds files that do not agree with the header.
    citation = clone / "CITATION.cff"
    text = citation.read_text()
    citation.write_text(text.replace("version: 7.2.3", "version: 7.2.2"))
    expect("CITATION.cff: version 7.2.2", run(*release, "check", cwd=clone, fails=True))
    citation.write_text(text + "url: https://pgas.example.org\n")
    expect("CITATION.cff: 'pgas.example.org' is the address of a draft", run(*release, "check", cwd=clone, fails=True))
    citation.write_text(text)

    run(*release, "archive", work / "dist", cwd=clone)
    archive = work / "dist/pgas-7.2.3.tar.gz"
    run("sha256sum", "-c", archive.name + ".sha256", cwd=work / "dist")
    run("tar", "-xf", archive, cwd=work)
    if (work / "pgas-7.2.3/.git").exists():
        sys.exit("the archive contains the repository")
    # CMake configures the archive, which is outside every repository, and finds the version.
    output = run("cmake", "-S", work / "pgas-7.2.3", "-B", work / "build", "-DPGAS_BUILD_TESTS=OFF", "-DPGAS_BUILD_EXAMPLES=OFF",
                 "-DPGAS_CUDA=OFF", cwd=work)
    expect("Build files have been written", output)
    expect("CMAKE_PROJECT_VERSION:STATIC=7.2.3", (work / "build/CMakeCache.txt").read_text())
    expect('"7.2.3"', (work / "build/pgas-config-version.cmake").read_text())
    print("passed: a release in a copy of the repository")
    return 0


sys.exit(main())
