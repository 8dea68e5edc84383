#!/usr/bin/env python3
"""Writes a program that calls every function of an interface before its initialization, with a bad configuration.

Usage: every_function.py shmem|nvshmem OUTPUT HEADER COMPILER OPTIONS...

Each function must fail in the way of its kind: it returns a status or null, or it ends the process and logs its name.
"""

import pathlib
import re
import subprocess
import sys

DECLARATION = re.compile(
    r'(?:^|[;}{]|extern "C" \{?)\s*(?:__attribute__ ?\(\([^;{]*?\)\)\)?\s*)*(?:\[\[noreturn\]\] )?(?:static |inline )*'
    r"((?:const )?[A-Za-z_][\w ]*?[\w>][ *]+?)"
    r"\b((?:nvshmemx?|shmem)_\w+|start_pes|_my_pe|_num_pes|shmalloc|shmemalign|shrealloc|shfree)\s*\(([^(){}]*)\)\s*(?=[;{])")

# Functions that are not called: they succeed without initialization, or end the process themselves, or call CUDA.
FINE = re.compile(r"nvshmemx?_(finalize|hostlib_finalize|info_get_\w+|vendor_get_\w+|query_thread|init_status|flush_on_stream"
                  r"|buffer_unregister_all|set_attr_\w+|team_get_uniqueid|status_string|ask_smem)|shmem_(finalize|info_get_\w+|query_\w+|\w*cache\w*|udcflush\w*)")
LEFT_OUT = re.compile(r"(nv)?shmem_global_exit|shmem_pcontrol|nvshmemx_collective_launch\w*")
STATUS = re.compile(
    r"nvshmemx?_(team_(?!destroy|get_config)\w+|barrier(_on_stream)?|sync|\w*(broadcast|fcollect|alltoall|reduce|reducescatter)"
    r"(mem)?(_on_stream)?|init_\w+|hostlib_init_\w+|get_uniqueid|buffer_\w+|region_\w+|qp_create|cu(module|library)_\w+)"
    r"|shmem_(team_(?!destroy)\w+|ctx_create|ctx_get_team|init_thread|\w+_(broadcast|collect|fcollect|alltoall|alltoalls|reduce|inscan"
    r"|exscan)|(broadcast|collect|fcollect|alltoall|alltoalls)mem)")
RENAMED = {"start_pes": "shmem_init", "_my_pe": "shmem_my_pe", "_num_pes": "shmem_n_pes", "shfree": "shmem_free"}


def kind(name: str, result: str) -> str:
    if FINE.fullmatch(name):
        return "returns"
    if result.endswith("*"):
        return "gives_null"
    if STATUS.fullmatch(name) and result == "int":
        return "gives_status"
    return "ends"


def value(parameter: str) -> str:
    if "*" in parameter:
        return f"PLACE({parameter[: parameter.rindex('*') + 1]})"
    c_type = parameter.rsplit(maxsplit=1)[0]
    return f"VALUE({c_type})"


def main() -> int:
    interface, output, header, *compiler = sys.argv[1:]
    text = subprocess.run([*compiler, "-E", "-P", "-x", "c++" if interface == "nvshmem" else "c", "-"], input=f"#include <{header}>\n",
                          check=True, capture_output=True, text=True).stdout
    text = re.sub("^#pragma.*$", "", text, flags=re.M)
    functions = {}
    for result, name, parameters in DECLARATION.findall(text):
        if not LEFT_OUT.fullmatch(name) and not result.startswith("return"):
            functions[name] = (" ".join(result.split()), [p.strip() for p in parameters.split(",") if p.strip() not in ("", "void")])
    called = set(re.findall(r"\b(?:nvshmemx?|shmem)_\w+(?=\()", text))
    if overlooked := {name for name in called - functions.keys() if not LEFT_OUT.fullmatch(name)}:
        print("not understood:", *sorted(overlooked))
        return 1
    lines = [f"#include <{header}>", '#include "every_function.h"', ""]
    rows = []
    for name, (result, parameters) in sorted(functions.items()):
        what = kind(name, result.replace(" *", "*"))
        call = f"{name}({', '.join(value(p) for p in parameters)})"
        body = {"gives_null": f"return {call} == 0;", "gives_status": f"return {call} != 0;"}.get(what, f"IGNORE({call}); return 1;")
        lines.append(f"static int call_{name}(void) {{ {body} }}")
        rows.append(f'  {{"{RENAMED.get(name, name)}", {what}, call_{name}}},')
    lines += ["", "static const struct function all[] = {", *rows, "};", "",
              f"int main(void) {{ return try_all(all, {len(rows)}); }}", ""]
    pathlib.Path(output).write_text("\n".join(lines), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
