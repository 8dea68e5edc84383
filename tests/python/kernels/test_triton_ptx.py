"""Tests the PTX of the functions of pgas.triton: memory orders and scopes, vector accesses, and a context that loops
do not read again. Needs no GPU."""

import re

import pytest

triton = pytest.importorskip("triton", minversion="3.6")

import pgas.triton as shm  # noqa: E402
import triton_kernels  # noqa: E402
from triton.backends.compiler import GPUTarget  # noqa: E402
from triton.compiler import ASTSource  # noqa: E402

POINTERS = {"ctx": "*i64", "dst": "*i32", "src": "*i32", "arrived": "*i64", "taken": "*i64", "word": "*i64", "words": "*i64",
            "wrong": "*i64", "out": "*i64"}


@triton.jit
def send(ctx, dst, src, arrived, count):
    shm.put_signal(ctx, dst, src, count, arrived, 1, "set", 1)


@triton.jit
def fetch(ctx, dst, src, count):
    shm.get(ctx, dst, src, count, 1)


@triton.jit
def wrong(ctx, word):
    shm.wait_until(ctx, word, ">=", 1)


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRITON_CACHE_DIR", str(tmp_path_factory.mktemp("triton")))
        yield


@pytest.fixture(scope="module", params=[80, 90, 100])
def arch(request):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(triton.language.target_info, "current_target", lambda: GPUTarget("cuda", request.param, 32))
        yield request.param


def compiled(kernel, arch, divisible=frozenset()):
    names = kernel.arg_names
    source = ASTSource(fn=kernel, signature={name: POINTERS.get(name, "i32") for name in names},
                       attrs={(i,): [["tt.divisibility", 16]] for i, name in enumerate(names)
                              if name in POINTERS or name in divisible})
    return triton.compile(source, target=GPUTarget("cuda", arch, 32), options={"num_warps": 4})


def text(kernel, arch, divisible=frozenset()):
    return re.sub(r"^\s*(\.loc|//).*\n", "", compiled(kernel, arch, divisible).asm["ptx"], flags=re.M)


def test_every_kernel_assembles(arch):
    for kernel in triton_kernels.KERNELS.values():
        assert compiled(kernel, arch).asm["cubin"], kernel


def test_a_signal_releases_at_system_scope_after_a_barrier_of_the_threads(arch):
    ptx = text(send, arch)
    release = ptx.index("atom.global.sys.release.exch.b64")
    data = [found.start() for found in re.finditer(r"\sst\.global\.(v\d\.)?b32", ptx[:release])]
    assert data and "bar.sync" in ptx[data[-1]:release], "no barrier between the last store of data and the signal"
    assert "bar.sync" in ptx[:data[0]], "stores to the source by other threads are not sent"
    assert re.search(r"(atom|red)\.global\.sys\.release\.add\.u64", text(triton_kernels.ring, arch))


def test_a_wait_polls_relaxed_and_then_acquires_and_votes(arch):
    ptx = text(triton_kernels.wait, arch)
    fence = "fence.acquire.sys" if arch >= 90 else "fence.acq_rel.sys"
    steps = [ptx.index("ld.relaxed.sys.global.s64"), held := ptx.index("HELD:"), ptx.index(fence, held), ptx.index("bar.red.or.pred"),
             ptx.index("exit;", held)]
    assert sorted(steps) == steps
    assert "ld.acquire" not in ptx


def test_a_wait_is_bounded(arch):
    ptx = text(triton_kernels.wait, arch)
    assert "%globaltimer" in ptx
    assert "atom.relaxed.sys.global.cas.b32" in ptx, "the record's claim"
    assert "trap" not in ptx


def test_a_barrier_releases_and_acquires(arch):
    ptx = text(triton_kernels.barriers, arch)
    fence = "fence.acquire.sys" if arch >= 90 else "fence.acq_rel.sys"
    assert ptx.index("fence.acq_rel.sys") < ptx.index("red.relaxed.sys.global.add.u64") < ptx.index("ALL_HERE:") < ptx.rindex(fence)


def test_copies_are_of_whole_vectors_to_peers_too(arch):
    for kernel in (send, fetch):
        ptx = text(kernel, arch, divisible={"count"})
        assert "ld.global.cg.v4.b32" in ptx, "by way of L2: a line in L1 may be older than what peers have stored"
        assert "st.global.v4.b32" in ptx


def test_loops_do_not_read_the_context_again(arch):
    ptx = text(triton_kernels.ring, arch)
    loop = ptx[ptx.index("bra.uni"):]
    again = re.findall(r"ld\.global\.nc\.\w+ %\w+, \[(%\w+)\]", loop[loop.index("release.exch"):])
    arithmetic = ptx[:ptx.index("bra.uni")].count("ld.global.nc")
    assert arithmetic >= 8, "the fields are read before the loop"
    assert len(again) <= 12, "only the slow path, for lists and proxied PEs, reads more"


def test_nothing_is_linked_and_nothing_is_global(arch):
    ptx = text(triton_kernels.ring, arch)
    assert ".extern .func" not in ptx
    assert not re.search(r"^\s*(\.visible )?\.global ", ptx, flags=re.M)


def test_a_wrong_comparison_is_named():
    with pytest.raises(Exception) as raised:
        compiled(wrong, 90)
    causes = []
    cause = raised.value
    while cause is not None:
        causes.append(str(cause))
        cause = cause.__cause__
    assert any("no comparison '>=': one of eq, ne, gt, le, lt, ge" in each for each in causes), causes
