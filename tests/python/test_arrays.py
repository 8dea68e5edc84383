"""Arrays of one PE: element types, exchange with other libraries, what keeps memory alive."""

import gc
import sys
import threading

import numpy as np
import pytest

import pgas
from conftest import run
from pgas import _struct_offsets

DTYPES = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64", "complex64",
          "complex128", "bool")


@pytest.mark.parametrize("dtype", DTYPES)
def test_arrays_of_every_type(world, dtype):
    x = world.zeros((2, 3), dtype)
    assert x.dtype == dtype and x.shape == (2, 3) and not x.any()
    x[1] = 1
    y = world.empty((2, 3), np.dtype(dtype), like=x)
    world.put(y, x, 0)
    assert (x == y).all()
    assert (world.full((0, 3), 1, dtype).shape, world.zeros((), dtype).shape) == ((0, 3), ())
    assert np.from_dlpack(world.allocate(32).view((2,), dtype)).dtype == dtype


def test_types_follow_the_value_or_the_array(world):
    assert [world.full(1, value).dtype for value in (1, 1.5, True, 1j)] == ["int64", "float32", "bool", "complex64"]
    assert world.zeros(3).dtype == "float32" and world.empty(3, like=np.zeros(1, "int16")).dtype == "int16"


def test_memory_by_each_protocol(world):
    memory = world.allocate(64, zero=True, alignment=64)
    assert memory.ptr % 64 == 0 and memory.nbytes == 64 and memory.shape == (64,) and memory.device is None
    by_buffer = np.frombuffer(memory, "uint8")
    by_dlpack = np.from_dlpack(memory)
    by_buffer[3] = 9
    assert by_dlpack[3] == 9 == memoryview(memory)[3] == world.g(memory.view((1,), "uint8", 3), 0)
    table = memory.view((2, 3), "int32", 8, (1, 2))
    np.asarray(table)[1, 2] = 5
    assert by_buffer.view("int32")[2 + 1 + 2 * 2] == 5 and table.strides == (1, 2) and memory.__dlpack_device__() == (1, 0)
    with pytest.raises(AttributeError):
        memory.__cuda_array_interface__
    assert '"dltensor_versioned"' in repr(memory.__dlpack__(max_version=(1, 0))) and '"dltensor"' in repr(memory.__dlpack__())
    with pytest.raises(BufferError):
        memory.__dlpack__(copy=True)
    with pytest.raises(BufferError):
        memory.__dlpack__(dl_device=(2, 0))
    for wrong in (((65,), "uint8"), ((2, 3), "int32", 44), ((3,), "int8", 0, (-1,)), ((2,), "int8", -1), ((2,), "float31"), ((-1,), "int8")):
        with pytest.raises((ValueError, pgas.Error)):
            memory.view(*wrong)
    with pytest.raises(BufferError):
        memoryview(memory.view((4,), "bfloat16"))


@pytest.mark.parametrize("hold", [
    lambda x: x[1:], lambda x: x.reshape(2, 50)[:, ::2], lambda x: memoryview(x), lambda x: np.from_dlpack(x.base.obj),
    lambda x: x.base.obj, lambda x: x.base.obj.__dlpack__(), lambda x: x.base.obj.__dlpack__(max_version=(1, 0)), lambda x: [x], lambda x: x.base.obj.view((3,), "int8"),
])
def test_whatever_refers_to_memory_keeps_it(world, hold):
    world.collect()
    before = world.usage()["arrays"]
    x = world.zeros(100, "int32")
    held = hold(x)
    del x
    assert world.collect() == 0 and world.usage()["arrays"] == before + 1
    del held
    gc.collect()
    assert world.usage()["dropped"] == 1 and world.collect() == 1 and world.usage()["arrays"] == before


def test_peers_memory_keeps_the_array(world):
    x = world.full(10, 3, "int32")
    there = world.peer(x, 0)
    del x
    assert world.collect() == 0 and (there == 3).all()
    del there
    assert world.collect() == 1


def test_memory_may_be_dropped_by_any_thread(world):
    world.collect()
    arrays = [world.zeros(10) for _ in range(100)]
    capsules = [array.base.obj.__dlpack__() for array in arrays]
    threads = [threading.Thread(target=list.clear, args=(part,)) for part in (arrays, capsules)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert world.collect() == 100


@pytest.mark.parametrize("call", [
    lambda w, x: w.put(x, np.zeros(4, "float64"), 0), lambda w, x: w.put(x, np.zeros(5, "float32"), 0),
    lambda w, x: w.put(np.zeros(4, "float32"), x, 0), lambda w, x: w.put(x, "text", 0), lambda w, x: w.put(x, x[0], 0),
    lambda w, x: w.put(x, x, -1), lambda w, x: w.put(x, 5.0, 0), lambda w, x: w.wait_until(x, ">=", 1), lambda w, x: w.put(x, x, 0, stream="one"),
    lambda w, x: w.put_signal(x, x, x[:1], 1, 0), lambda w, x: w.zeros((3, -1)), lambda w, x: w.zeros(3, "float31"),
    lambda w, x: w.zeros(3, like="tensorflow"), lambda w, x: w.peer(np.zeros(3), 0), lambda w, x: w.peer(x, 1), lambda w, x: w.wait_until(x[:1], "~", 1),
    lambda w, x: w.put(x.reshape(2, 2).T, np.zeros(4, "float32"), 0), lambda w, x: w.p(x[:1], "a", 0), lambda w, x: w.put(x, x, 0, stream=12345),
])
def test_what_operations_do_not_take(world, call):
    x = world.zeros(4)
    with pytest.raises((pgas.Error, TypeError, ValueError)):
        call(world, x)
    assert not x.any()


WRITES = {
    "get": lambda w, x, d: w.get(d, x, 0), "all_reduce": lambda w, x, d: w.all_reduce(x, out=d), "put": lambda w, x, d: w.put(d, x, 0),
    "p": lambda w, x, d: w.p(d[:1], 1, 0), "atomic_add": lambda w, x, d: w.atomic_add(d[:1], 1, 0),
    "atomic_fetch_add": lambda w, x, d: w.atomic_fetch_add(d[:1], 1, 0), "put_signal": lambda w, x, d: w.put_signal(d, x, w.zeros(1, "uint64"), 1, 0),
}


@pytest.mark.parametrize("call", WRITES)
@pytest.mark.parametrize("make", [lambda x: np.frombuffer(bytes(16), "int32"), lambda x: np.broadcast_to(np.zeros(1, "int32"), 4),
                                  lambda x: np.lib.stride_tricks.as_strided(np.zeros(8, "int32"), (2, 2), (4, 4)).T, lambda x: x])
def test_what_may_not_be_written_is_refused(world, call, make):
    x = world.full(4, 7, "int32")
    own = world.zeros(4, "int32")
    own.flags.writeable = False
    target = make(own)
    if call in ("p", "atomic_add", "atomic_fetch_add") and target.flags.writeable:
        pytest.skip("one element overlaps no other")
    before = target.tobytes()
    source = x.reshape(target.shape)
    with pytest.raises(ValueError, match="read-only|share memory|in C order"):
        WRITES[call](world, source, target)
    assert target.tobytes() == before


@pytest.mark.parametrize("dtype", [">i4", ">f8", ">u8", ">f2", ">c8"])
def test_another_byte_order_is_refused_by_name(world, dtype):
    dtype = np.dtype(dtype)
    other = np.zeros(4, dtype)
    x = world.zeros(4 * dtype.itemsize, "uint8").view(dtype)  # symmetric memory
    plain = world.zeros(4, "uint64")
    calls = [lambda: world.put(x, other, 0), lambda: world.get(other, x, 0), lambda: world.put(plain, other, 0), lambda: world.get(other, plain, 0),
             lambda: world.p(x[:1], 1, 0), lambda: world.g(x[:1], 0), lambda: world.wait_until(x[:1], ">=", 1), lambda: world.test(x[:1], "==", 1),
             lambda: world.wait_until_any(x, "==", 1), lambda: world.atomic_add(x[:1], 1, 0), lambda: world.atomic_fetch_add(x[:1], 1, 0),
             lambda: world.all_reduce(x), lambda: world.all_reduce(plain, out=other), lambda: world.all_gather(x, other),
             lambda: world.put_signal(x, other, plain[:1], 1, 0), lambda: world.put_signal(plain, plain, x[:1], 1, 0),
             lambda: world.signal_set(x[:1], 1, 0), lambda: world.peer(x, 0), lambda: world.zeros(3, dtype), lambda: world.full(3, 1, dtype),
             lambda: pgas.share(x), lambda: pgas.shared_empty(3, dtype)]
    for call in calls:
        with pytest.raises(TypeError, match="byte order"):
            call()
    assert not other.any() and not x.any()


def test_structures_are_copied_as_they_are_and_have_no_numbers(world):
    dtype = np.dtype([("a", ">i4"), ("b", "<f4")])
    x, y = world.zeros(32, "uint8").view(dtype), np.array([(1, 2.0)] * 4, dtype)
    world.put(x, y, 0)
    assert (x == y).all()
    for call in (lambda: world.g(x[:1], 0), lambda: world.p(x[:1], 1, 0), lambda: world.put(x, y.view([("b", "<f4"), ("a", ">i4")]), 0)):
        with pytest.raises(TypeError):
            call()


def test_masked_arrays_are_refused(world):
    with pytest.raises(TypeError, match="mask"):
        world.put(world.zeros(3), np.ma.masked_array(np.ones(3, "float32"), [0, 1, 0]), 0)


def test_views_whose_reach_is_no_64_bit_number_are_refused(world):
    memory = world.allocate(64)
    big = 1 << 60
    for wrong in (((5,), "float32", 0, (big,)), ((5,), "float32", 0, (-big,)), ((2,), "float64", 0, (1 << 61,)), ((2, 2), "int8", 0, (1 << 62, 1 << 62)),
                  ((1,), "float32", 2**63 - 1), ((1,), "float32", -(2**63)), ((1 << 62,), "complex128", 0, (0,)), ((3, 0, 1 << 62, 1 << 62), "int8"),
                  ((1, 2), "float64", 0, (1 << 62, 1))):
        with pytest.raises((ValueError, pgas.Error)):
            memory.view(*wrong)
    assert memory.view((5,), "float32", 16, (-1,)).shape == (5,) and memory.view((4, 4), "int8", 0, (0, 0)).nbytes == 16


def test_numbers_out_of_range_say_what_is_wrong(world):
    word, signed = world.zeros(1, "uint64"), world.zeros(1, "int64")
    for shape in (2**70, (2**40, 2**40), (0, 2**62), 2**62):
        for make in (world.zeros, world.empty, lambda s: world.full(s, 1)):
            with pytest.raises(pgas.Error, match="exceeds any memory"):
                make(shape)
    for wrong in (-1, 2**64):
        with pytest.raises(ValueError, match="allocate: nbytes"):
            world.allocate(wrong)
        with pytest.raises(ValueError, match="allocate: alignment"):
            world.allocate(16, alignment=wrong)
        for call in (world.signal_set, world.signal_add, lambda w, v, pe: world.put_signal(word, word, w, v, pe)):
            with pytest.raises(OverflowError, match="does not fit in uint64"):
                call(word, wrong, 0)
    world.signal_set(signed, -1, 0)
    assert signed[0] == -1
    for timeout in (-1, float("nan")):
        with pytest.raises(ValueError, match="timeout is a number of seconds"):
            world.wait_until(word, ">=", 1, timeout=timeout)


def test_values_that_torch_has_still_to_compute_are_refused(world):
    torch = pytest.importorskip("torch")
    x, f = world.zeros(3, "complex64", like="torch"), world.zeros(3, "float32", like="torch")
    c = torch.tensor([1 + 2j, 3 + 4j, 5 + 6j], dtype=torch.complex64)
    calls = [lambda: world.put(x, c.conj(), 0), lambda: world.put(f, c.conj().imag, 0), lambda: world.put(f[:1], c.conj().imag[:1], 0),
             lambda: world.get(torch.zeros(3, dtype=torch.complex64).conj(), x, 0), lambda: world.all_reduce(x.conj()),
             lambda: pgas.share(pgas.shared_empty(2, "complex64", like="torch").conj()), lambda: world.put(f, torch._neg_view(torch.ones(3)), 0),
             lambda: world.put(f, torch.tensor([0.0, 5.0, 0.0]).to_sparse(), 0), lambda: world.put(f, torch.empty(3, device="meta"), 0)]
    for call in calls:
        with pytest.raises(TypeError, match="torch tensor"):
            call()
    with pytest.raises(ValueError, match="share memory"):
        world.get(torch.zeros(1).expand(3), f, 0)
    assert not x.any() and not f.any()
    world.put(x, c.conj().resolve_conj(), 0)
    assert x.tolist() == [1 - 2j, 3 - 4j, 5 - 6j]


def test_a_number_that_does_not_fit(world):
    with pytest.raises(OverflowError):
        world.p(world.zeros(1, "uint8"), 256, 0)


def test_the_context_is_bytes(world):
    assert len(world.context.bytes) == _struct_offsets.CONTEXT_BYTES and world.context.bytes == world.context.bytes
    argument = np.array([world.context.bytes], dtype=f"V{len(world.context.bytes)}")[0]
    assert argument.tobytes() == world.context.bytes


def test_a_hundred_thousand_calls_leave_nothing(world):
    x, y = world.zeros(16), np.ones(16, "float32")
    word = world.zeros(1, "uint64")

    def calls(count):
        for _ in range(count):
            world.put(x, y, 0)
            world.atomic_fetch_add(word, 1, 0)
            x.base.obj.__dlpack__()
            np.from_dlpack(x.base.obj)
            try:
                world.put(x, y, 7)
            except pgas.Error:
                pass

    calls(200)
    gc.collect()
    blocks = sys.getallocatedblocks()
    calls(20000)
    gc.collect()
    assert sys.getallocatedblocks() - blocks < 500
    assert world.g(word, 0) == 20200


def test_eight_threads_at_once(world):
    word = world.zeros(1, "uint64")
    failed = []

    def work(number):
        try:
            mine = np.full(100, number, "int32")
            for _ in range(500):
                world.put(rows[number], mine, 0)
                world.atomic_add(word, 1, 0)
                assert (rows[number] == number).all()
                world.quiet()
                world.test(word, ">", 0)
        except BaseException as wrong:
            failed.append(wrong)

    rows = world.zeros((8, 100), "int32")
    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed and world.g(word, 0) == 8 * 500


def test_arrays_with_dlpacks_table_are_read_without_python(world):
    torch = pytest.importorskip("torch")
    if not hasattr(torch.Tensor, "__dlpack_c_exchange_api__"):
        pytest.skip("this torch has no table: 2.11 has")
    x, y = world.zeros(12, torch.float32, like="torch"), torch.arange(12.0)
    copy, together = world._core.copy_arrays, world._group.collective_arrays
    assert copy(False, x, y, 0, False) and (x == y).all()
    assert copy(True, y[3:4], x[5:6], 0, False) and y[3] == 5
    assert together("all_reduce", "sum", x, x, 1, 1, 0)
    # The fast functions return False for arrays that the table does not describe, or describes wrongly.
    assert not copy(False, x, y.double(), 0, False) and not copy(False, x, y[:3], 0, False)
    assert not copy(False, x.view(3, 4).T, y.view(4, 3), 0, False) and not copy(False, x, y.numpy(), 0, False)
    assert not copy(False, x.numpy(), y.numpy(), 0, False) and not together("all_gather", "sum", x, x, 1, 2, 0)


def test_torch_on_the_host_heap(world):
    torch = pytest.importorskip("torch")
    x = world.zeros((3, 4), torch.float32, like="torch")
    assert isinstance(x, torch.Tensor) and x.shape == (3, 4)
    world.put(x.T, torch.arange(12.0).reshape(4, 3), 0)
    assert (x.T == torch.arange(12.0).reshape(4, 3)).all()
    half = world.zeros(8, torch.bfloat16, like=torch)
    half += 1.5
    world.all_reduce(half)
    assert (half == 1.5).all() and world.empty(3, like=half).dtype == torch.bfloat16
    signal = world.zeros(4, torch.int64, like=x)
    world.put_signal(x, torch.ones(3, 4), signal[2], 5, 0)
    world.wait_until(signal[2], "==", 5)
    assert world.ptrs(x)[0] == x.data_ptr() and world.peer(x[1:, ::2], 0).stride() == (4, 2)
    view = x[1:]
    del x
    assert world.collect() == 0
    del view, half, signal
    assert world.collect() == 3


def test_jax_on_the_host_heap(world):
    jax = pytest.importorskip("jax")
    import jax.numpy as jnp
    import numpy as np

    x = world.zeros((3, 5), "float32", like="jax")
    assert isinstance(x, jax.Array) and x.shape == (3, 5)
    world.put(x, jnp.arange(15.0).reshape(3, 5), 0)
    assert (np.asarray(x) == np.arange(15).reshape(3, 5)).all()
    world.all_reduce(x, "max")
    assert float(jax.jit(lambda a: a.sum())(x)) == 105
    here = world.empty((3, 5), "float32", like="numpy")
    world.get(here, x, 0)
    assert here[2, 4] == 14 and (np.asarray(world.peer(x, 0)) == here).all()
    low, high = (int(each) for each in np.asarray(world.ptrs(x)).view("uint32"))
    assert high << 32 | low == x.unsafe_buffer_pointer()
    for dtype in ("int8", "uint32", "float16", "bfloat16", "complex64", "bool"):
        made = world.zeros(7, dtype, like="jax")
        assert made.dtype.name == dtype and world.accessible(made, 0)
    for dtype in ("int64", "float64"):  # JAX would copy these types into smaller ones
        with pytest.raises(TypeError, match="jax_enable_x64"):
            world.zeros(7, dtype, like="jax")
    with pytest.raises(TypeError, match="can't be written"):
        world.full(3, 1.0, like="jax")
    del x, here, made
    world.collect()
    assert world.usage()["arrays"] == world.usage()["dropped"]


@pytest.mark.parametrize("call", [
    lambda w, s, x: w.wait_until(s, ">=", 0.5), lambda w, s, x: w.test(s, ">=", 0.5), lambda w, s, x: w.wait_until_any(s, ">=", [0.5]),
    lambda w, s, x: w.atomic_add(s, 0.9, 0), lambda w, s, x: w.atomic_fetch_add(s, 0.9, 0), lambda w, s, x: w.atomic_compare_swap(s, 0.5, 1, 0),
    lambda w, s, x: w.p(x, 1.9, 0), lambda w, s, x: w.put(x, 1.9, 0), lambda w, s, x: w.signal_set(s, 1.5, 0), lambda w, s, x: w.signal_add(s, 0.1, 0),
    lambda w, s, x: w.put_signal(x, x, s, 2.5, 0), lambda w, s, x: w.p(x, "1", 0), lambda w, s, x: w.p(x, 2**31, 0), lambda w, s, x: w.p(x, np.int64(2**40), 0),
    lambda w, s, x: w.p(w.zeros(1), 2**24 + 1, 0), lambda w, s, x: w.p(w.zeros(1, "float64"), 2**53 + 1, 0), lambda w, s, x: w.p(w.zeros(1, "float16"), 2049, 0),
    lambda w, s, x: w.p(w.zeros(1, "bool"), 2, 0), lambda w, s, x: w.p(x, float("nan"), 0), lambda w, s, x: w.p(w.zeros(1), 1e300, 0),
    lambda w, s, x: w.p(s, -1, 0), lambda w, s, x: w.full(2, 1.9, "int32"), lambda w, s, x: w.full(2, 300, "uint8"), lambda w, s, x: w.full(2, np.int64(300), "uint8"),
    lambda w, s, x: w.full(2, 2**24 + 1, "float32"), lambda w, s, x: w.full(2, 0.5, like=np.zeros(1, "int8")), lambda w, s, x: w.zeros("12"),
    lambda w, s, x: w.zeros((5.7,)), lambda w, s, x: w.zeros(5.0), lambda w, s, x: w.zeros(("1", "2")), lambda w, s, x: w.zeros(None), lambda w, s, x: w.zeros([[1]]),
    lambda w, s, x: pgas.shared_empty("12"), lambda w, s, x: w.allocate(5.0), lambda w, s, x: pgas.Timeline().record(0.5), lambda w, s, x: w.wait_until_all(s, ">=", "1"),
])
def test_numbers_that_would_lose_a_part_are_refused(world, call):
    s, x = world.zeros(1, "uint64"), world.zeros(1, "int32")
    with pytest.raises((ValueError, TypeError, OverflowError)) as refused:
        call(world, s, x)
    assert "nanobind" not in str(refused.value) and "std::" not in str(refused.value) and "incompatible" not in str(refused.value)
    assert not s.any() and not x.any()


def test_numbers_of_numpy_go_wherever_those_of_python_do(world):
    five = np.int64(5)
    assert world.zeros(five).shape == (5,) and world.zeros((five, np.uint8(2))).shape == (5, 2) and world.zeros(np.array(3)).shape == (3,)
    assert pgas.shared_empty(np.int32(4)).shape == (4,) and world.allocate(np.int64(32), alignment=np.int32(64)).nbytes == 32
    s, x, f = world.zeros(2, "uint64"), world.zeros(1, "int32"), world.zeros(1)
    pe = np.int64(0)
    for value in (np.uint64(3), np.int8(3), 3.0, np.float32(3), True + 2):
        world.p(x, value, pe)
        assert x[0] == 3
        world.put(x, value, pe)
        world.signal_set(s[:1], value, pe)
        world.wait_until(s[:1], "==", value)
        assert world.test(s[:1], ">=", value) and world.wait_until_any(s, "==", [value, value]) == 0
        world.atomic_add(x, value, pe)
        assert world.atomic_fetch_add(x, np.int32(-3), pe) == 6 and world.g(x, pe) == 3
    world.wait_until(s[1:], ">=", np.uint64(0))
    world.p(f, 0.1, 0)
    assert f[0] == np.float32(0.1)
    for value in (2**24, -2**24, 2**100, 0, -3):  # integers that a float32 represents exactly
        world.p(f, value, 0)
        assert f[0] == value
    assert world.full(2, np.int64(2**40 + 1)).tolist() == [2**40 + 1] * 2 and world.full(1, np.float64(0.1))[0] == 0.1
    assert world.full(1, np.uint8(7)).dtype == "uint8" and world.full(1, np.True_).dtype == "bool"
    assert world.peer(x, pe) is not None and world.info(pe)["pid"] > 0 and world.accessible(x, pe) and world.team.world_pe(pe) == 0
    world.broadcast(x, pe)
    timeline = pgas.Timeline()
    timeline.record(np.uint64(4))
    timeline.wait(np.int8(4), timeout=np.float32(5))


@pytest.mark.parametrize("pe", [None, 0.0, "0", [0], 2**40, -2**70])
def test_what_is_no_number_of_a_pe_is_said_so(world, pe):
    s, x = world.zeros(1, "uint64"), world.zeros(1, "int32")
    calls = [lambda: world.put(x, x, pe), lambda: world.get(x, x, pe), lambda: world.p(x, 1, pe), lambda: world.g(x, pe), lambda: world.put_signal(x, x, s, 1, pe),
             lambda: world.signal_set(s, 1, pe), lambda: world.signal_add(s, 1, pe), lambda: world.atomic_add(s, 1, pe), lambda: world.atomic_fetch(s, pe),
             lambda: world.peer(x, pe), lambda: world.info(pe), lambda: world.accessible(x, pe), lambda: world.team.world_pe(pe), lambda: world.broadcast(x, pe),
             lambda: world.reduce(x, pe), lambda: world.team.translate_pe(pe, world.team)]
    for call in calls:
        with pytest.raises((TypeError, pgas.Error), match="a PE is a whole number|does not exist") as refused:
            call()
        assert "incompatible" not in str(refused.value)
    assert not x.any() and not s.any()


@pytest.mark.parametrize("stream", [-1, 2**64, True, 1.5, "one"])
def test_what_is_no_stream_is_said_so(world, stream):
    x = world.zeros(1)
    for call in (lambda: world.put(x, x, 0, stream=stream), lambda: world.all_reduce(x, stream=stream), lambda: world.synchronize(stream),
                 lambda: world.barrier(stream=stream)):
        with pytest.raises((ValueError, TypeError), match="stream="):
            call()


def test_errors_name_what_there_is_in_python(world):
    x = world.zeros(1)
    with pytest.raises(pgas.Error) as refused:
        world.put(x, x, 0, stream=12345)
    assert "world.stream()" in str(refused.value) and "::" not in str(refused.value)
    with pytest.raises(pgas.Error) as refused:
        pgas.share(np.zeros(4))
    assert "pgas.shared_empty()" in str(refused.value) and "::" not in str(refused.value), refused.value


def test_bfloat16_without_its_package_is_explained():
    code = """
import sys
sys.modules["ml_dtypes"] = None
import pgas
with pgas.join() as world:
    before = world.usage()["arrays"]
    try:
        world.zeros(2, "bfloat16")
    except TypeError as refused:
        print(refused)
    assert world.usage()["arrays"] == before
"""
    assert "pip install ml_dtypes" in run([sys.executable, "-c", code], PGAS_BOOTSTRAP="singleton").check().out


def test_a_library_may_be_given_as_a_module(world):
    made = world.full(3, 1.5, like=np)
    assert made.dtype == np.float32 and (made == 1.5).all()
    assert world.full(2, np.int64(7), like=np).dtype == np.int64


@pytest.mark.parametrize("value", [np.complex64(1 + 2j), np.array(3 - 1j, "complex64"), np.ones(1, "complex64")[0]])
def test_values_that_are_no_real_numbers_are_copied_as_they_are(world, value):
    to = world.zeros((), "complex64")
    world.put(to, value, 0)
    world.quiet()
    assert to == value
