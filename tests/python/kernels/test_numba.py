"""Tests the generated device functions and Numba kernels that call them. The kernels are compiled and linked without a
GPU."""

import re
import types as python_types

import pytest

cuda = pytest.importorskip("numba.cuda")
nvjitlink = pytest.importorskip("cuda.bindings.nvjitlink")

from numba.cuda import dispatcher, types  # noqa: E402

import numba_kernels  # noqa: E402
import pgas.numba as shm  # noqa: E402
from pgas import _numba_operations as table  # noqa: E402
from pgas import _lto, nvrtc  # noqa: E402

CONTEXT, INT32, INT64 = (types.Array(of, 1, "C") for of in (types.uint64, types.int32, types.int64))
ARGUMENTS = {
    "put": (INT32, INT32, types.int64, types.int64),
    "get": (INT32, INT32, types.int64, types.int64),
    "ring": (INT32, INT32, types.int64, INT64, INT64, types.int64),
    "add": (INT64, types.int64, types.int64),
    "barriers": (INT64, INT64, types.int64),
    "wait": (INT64, types.int64),
    "signals": (INT64, INT64, types.int64),
}


@pytest.fixture(scope="module", autouse=True)
def a_gpu_to_compile_for(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dispatcher, "get_current_device", lambda: python_types.SimpleNamespace(compute_capability=(9, 0)))
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("lto")))
        yield


def compiled(kernel, *arguments) -> bytes:
    code, _ = cuda.compile(kernel.py_func, types.none(CONTEXT, *arguments), device=False, abi="numba", output="ltoir", cc=(9, 0))
    return code


def linked(*pieces: bytes) -> bytes:
    handle = nvjitlink.create(2, ["-lto", "-arch=sm_90"])
    try:
        for i, piece in enumerate(pieces):
            nvjitlink.add_data(handle, nvjitlink.InputType.LTOIR, piece, len(piece), str(i))
        nvjitlink.complete(handle)
        cubin = bytearray(nvjitlink.get_linked_cubin_size(handle))
        nvjitlink.get_linked_cubin(handle, cubin)
        return bytes(cubin)
    finally:
        nvjitlink.destroy(handle)


def libraries():
    return [_lto.build(table.source(family), "90") for family in table.FAMILIES]


@pytest.mark.parametrize("name", ARGUMENTS)
def test_a_kernel_links_into_one_function(name):
    cubin = linked(compiled(numba_kernels.KERNELS[name], *ARGUMENTS[name]), *libraries())
    assert name.encode() in cubin
    assert b"pgas_" not in cubin, "operations are in line, and what is not called is left out"


def test_stores_to_peers_are_compiled():
    code, _ = cuda.compile(numba_kernels.barriers.py_func, types.none(CONTEXT, *ARGUMENTS["barriers"]), device=False, abi="numba",
                           output="ptx", cc=(9, 0))
    assert code.count("st.global.u64") == 2, "to the peer, and the count of what is wrong"


def test_the_example_links(monkeypatch):
    pytest.importorskip("cupy")
    from kernel_jobs import kernels_of

    kernel = kernels_of("numba_kernel.py", monkeypatch)["totals_before"]
    numbers = types.Array(types.float64, 1, "C")
    assert b"pgas_" not in linked(compiled(kernel, numbers, numbers, INT64, numbers), *libraries())


def test_what_a_kernel_calls_is_linked_without_being_asked_for():
    from numba.cuda.compiler import compile_cuda

    found = compile_cuda(numba_kernels.ring.py_func, types.void, (CONTEXT, *ARGUMENTS["ring"]), cc=(9, 0))
    assert {each.name for each in found.library._linking_files} == {"pgas_sync.ltoir", "pgas_copy.ltoir"}

    @shm.jit
    def store(ctx, x):
        shm.peer(ctx, x, 1)[3] = 17

    found = compile_cuda(store.py_func, types.void, (CONTEXT, INT64), cc=(9, 0))
    assert {each.name for each in found.library._linking_files} == {"pgas_sync.ltoir"}


def test_without_the_library_it_does_not_link():
    with pytest.raises(Exception):
        linked(compiled(numba_kernels.add, *ARGUMENTS["add"]))


def test_every_operation_is_there_for_every_type_and_group():
    symbols = [row.symbol(*variant) for row in table.OPERATIONS for variant in row.variants()]
    assert len(symbols) == len(set(symbols))
    text = "".join(table.source(family) for family in table.FAMILIES)
    assert re.findall(r"__device__ int (\w+)\(", text) == [row.symbol(*variant) for family in table.FAMILIES
                                                           for row in table.OPERATIONS if row.family == family for variant in row.variants()]
    for row in table.OPERATIONS:
        for group in row.groups:
            assert getattr(shm, row.name + group).__doc__.startswith(row.doc)


@pytest.mark.parametrize("call, complaint", [
    (lambda ctx, x, y: shm.put(ctx, x, y, 1, 0), "arrays of int32 and of int64: both must have the same element type"),
    (lambda ctx, x, y: shm.put(ctx, 1, y, 1, 0), "must be an array of the symmetric heap"),
    (lambda ctx, x, y: shm.atomic_add(ctx, shm.peer(ctx, x, 1)[0], 1, 0), "must be an array of the symmetric heap"),
])
def test_wrong_arguments_are_named(call, complaint):
    with pytest.raises(Exception, match=complaint):
        compiled(shm.jit(call), INT32, INT64)


def test_outside_of_kernels_the_functions_say_so():
    with pytest.raises(TypeError, match="pgas.numba.put_block is called by kernels"):
        shm.put_block(None, None, None, 1, 0)


def test_what_was_compiled_is_kept_under_a_hash_of_what_it_was_made_from(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    made = []
    monkeypatch.setattr(_lto, "_compile", lambda text, options: made.append((text, options)) or b"code of " + text.encode())
    assert _lto.build("one", "90") == _lto.build("one", "90") == b"code of one"
    assert len(made) == 1
    _lto.build("one", "80")
    _lto.build("two", "90")
    assert len(made) == 3
    headers = tmp_path / "include" / "pgas"
    headers.mkdir(parents=True)
    (headers / "device.hpp").write_text("// another version\n")
    monkeypatch.setattr(nvrtc, "_package_include_dirs", lambda: [headers.parent])
    _lto.build("one", "90")
    assert len(made) == 4
    assert len(list((tmp_path / "pgas").glob("*.ltoir"))) == 4 and not list((tmp_path / "pgas").glob("tmp*"))


def test_a_cache_that_can_not_be_written_is_done_without(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr(_lto, "_compile", lambda text, options: b"code")
    assert _lto.build("one", "90") == b"code"


def test_source_that_does_not_compile_shows_the_compilers_words():
    with pytest.raises(RuntimeError, match="no_such_thing"):
        _lto.build("int no_such_thing() { return undeclared_name; }", "90")
