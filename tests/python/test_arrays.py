"""Arrays of one PE: element types, exchange with other libraries, what keeps memory alive."""

import gc
import sys
import threading

import numpy as np
import pytest

import pgas
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
    # What the table can't say, or is wrong, goes the other way.
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
    for dtype in ("int64", "float64"):  # which JAX would copy into smaller ones
        with pytest.raises(TypeError, match="jax_enable_x64"):
            world.zeros(7, dtype, like="jax")
    with pytest.raises(TypeError, match="can't be written"):
        world.full(3, 1.0, like="jax")
    del x, here, made
    world.collect()
    assert world.usage()["arrays"] == world.usage()["dropped"]
