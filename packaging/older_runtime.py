#!/usr/bin/env python3
"""Makes the libraries with which g++ of Debian 12 links programs for glibc 2.28 and libstdc++ of GCC 8 (manylinux_2_28).

    older_runtime.py DIR COMPILER      COMPILER: g++, or a cross compiler such as aarch64-linux-gnu-g++

glibc and libstdc++ keep the old versions of their symbols, and the linker takes the newest one. For each library of the
compiler, DIR gets a stub of the same name. The stub defines each symbol in the newest version that the older release has. A symbol that the older release lacks comes from libstdc++.a or older_runtime.c, or is an error of the linker.
`COMPILER @DIR/options` links with these libraries. Before glibc 2.34, the functions for threads and dlopen() were in other
libraries than libc, so each file needs libpthread.so.0, libdl.so.2 and librt.so.1, which later releases have, too.
"""
import pathlib
import re
import subprocess
import sys

NEWEST = {"GLIBC": (2, 28), "GLIBCXX": (3, 4, 24), "CXXABI": (1, 3, 11), "GCC": (7, 0, 0)}
LIBRARIES = ["libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "libgcc_s.so.1", "libstdc++.so.6"]
LOADERS = {"x86_64": "ld-linux-x86-64.so.2", "aarch64": "ld-linux-aarch64.so.1"}
WORD = re.compile(r"(\S+?)@@?([A-Z]+)_([0-9.]+)$")


def output(*words):
    return subprocess.run([str(word) for word in words], check=True, stdout=subprocess.PIPE, text=True).stdout


def newest_allowed(library):
    """Returns the versions of a library that the older release has, and the symbols with their kind, size and version."""
    versions, symbols = set(), {}
    for line in output("readelf", "-W", "--dyn-syms", library).splitlines():
        words = line.split()
        found = WORD.match(words[7]) if len(words) == 8 and words[6] != "UND" else None
        if not found or found[2] not in NEWEST:
            continue
        number = tuple(map(int, found[3].split(".")))
        if number > NEWEST[found[2]]:
            continue
        versions.add((found[2], number, f"{found[2]}_{found[3]}"))
        if words[6] == "ABS":  # the name of a version itself
            continue
        kind, size = words[3], int(words[2], 0)
        if found[1] not in symbols or symbols[found[1]][0] < number:
            symbols[found[1]] = (number, kind, size, f"{found[2]}_{found[3]}")
    return [name for _, _, name in sorted(versions)], symbols


def make(to, library, compiler):
    """Makes to/NAME. The linker reads names, kinds, sizes and versions; the symbols have neither code nor values."""
    versions, symbols = newest_allowed(library)
    sections = {"function": ".text", "object": ".data", "tls_object": '.section .tdata,"awT",@progbits'}
    kinds = {"FUNC": "function", "IFUNC": "function", "OBJECT": "object", "TLS": "tls_object"}
    text, of_version = [], {version: [] for version in versions}
    for name, (_, kind, size, version) in sorted(symbols.items()):
        kind = kinds[kind]
        of_version[version].append(name)
        text += [sections[kind], f".globl {name}", f".type {name}, %{kind}", f"{name}:", f".zero {max(size, 1)}", f".size {name}, {max(size, 1)}"]
    source, script = to / f"{library.name}.s", to / f"{library.name}.map"
    source.write_text("\n".join(text) + '\n.section .note.GNU-stack,"",%progbits\n')
    script.write_text("".join(f"{version} {{ {''.join(f'{name}; ' for name in names)}}};\n" for version, names in of_version.items()))
    output(compiler, "-shared", "-nostdlib", f"-Wl,-soname,{library.name}", f"-Wl,--version-script={script}", source, "-o", to / library.name)
    source.unlink()
    script.unlink()


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    to, compiler = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    to.mkdir(parents=True, exist_ok=True)

    def found(name):
        return pathlib.Path(output(compiler, f"-print-file-name={name}").strip())

    loader = LOADERS[output(compiler, "-dumpmachine").partition("-")[0]]
    for name in [*LIBRARIES, loader]:
        make(to, found(name), compiler)
    # The functions that the older release lacks: each part is an object, so the linker adds only the parts that are used.
    added = []
    for part in ("CONSTRUCTORS", "FILES", "ONE_THREAD", "CLOCKS"):
        added.append(to / f"{part.lower()}.o")
        output(compiler, "-x", "c", f"-D{part}", "-O2", "-fPIC", "-c", pathlib.Path(__file__).with_suffix(".c"), "-o", added[-1])
    output("ar", "crs", to / "libadded.a", *added)
    # What the linker finds for -lc, -lstdc++ and the others.
    links = {name.partition(".so")[0]: [to / name] for name in LIBRARIES}
    links["libstdc++"] += [found("libstdc++.a")]
    links["libgcc_s"] += [found("libgcc.a")]
    links["libc"] += [to / "libadded.a", found("libc_nonshared.a"), f"AS_NEEDED({to / loader})"]
    (to / "options").write_text(f"-L{to} -Wl,--exclude-libs,libstdc++.a:libadded.a -Wl,--wrap=__libc_start_main\n"
                                "-Wl,--push-state,--no-as-needed -lpthread -ldl -lrt -Wl,--pop-state\n")
    for name, files in links.items():
        (to / f"{name}.so").write_text(f"GROUP({' '.join(map(str, files))})\n")


if __name__ == "__main__":
    main()
