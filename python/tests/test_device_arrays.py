"""Tests of star forests and the accumulator with arrays in device memory, as CuPy, torch and numba
export them: the results must equal those with arrays in host memory. OSLA_TEST_DEVICE is the kind
of the device. The arrays are in the memory of matrices, and with CUDA also in memory that the
program has allocated."""
import ctypes
import gc
import os

import numpy as np
import pytest

import osla

KIND = os.environ.get("OSLA_TEST_DEVICE", "fake")


@pytest.fixture(autouse=True)
def device(world):
    try:
        device = osla.Device(KIND)
    except osla.UnsupportedError as reason:
        pytest.skip(str(reason))
    yield device
    del device
    gc.collect()
    world.collect()
    world.collect()


class Exported:
    """An object whose only attribute is `__cuda_array_interface__`."""

    def __init__(self, address, shape, dtype, **others):
        dtype = np.dtype(dtype)
        self.__cuda_array_interface__ = {
            "shape": shape, "typestr": dtype.str, "data": (address if np.prod(shape) else 0, False),
            "version": 3, "stream": None, **({"descr": dtype.descr} if dtype.names else {}), **others}


class Memory:
    """`size` bytes of device memory on each rank, in a matrix. The constructor is collective."""

    def __init__(self, device, size):
        self.rank, self.rows = device.transport.rank, -(-size // 8)
        grid = osla.Grid(device.transport.size, 1, order="rows")
        self.matrix = osla.Matrix(self.rows * device.transport.size, 1, block=(self.rows, 1), grid=grid,
                                  device=device)
        self.address = self.matrix._device_array()["data"][0]

    def _part(self):
        return slice(self.rank * self.rows, (self.rank + 1) * self.rows), slice(0, 1)

    def array(self, values, **others):
        """Copies values to the device in their order in memory, and returns the array there.
        others: other entries of `__cuda_array_interface__`."""
        values = np.asarray(values)
        words = np.zeros(8 * self.rows, np.uint8)
        words[:values.nbytes] = np.frombuffer(values.tobytes("A"), np.uint8)
        self.matrix[self._part()] = words.view(np.float64)[:, None]
        if values.flags.f_contiguous and not values.flags.c_contiguous:
            others = {"strides": values.strides, **others}
        return Exported(self.address, values.shape, values.dtype, **others)

    def get(self, like):
        """The current values in device memory, as a numpy array with shape and dtype of `like`."""
        words = np.ascontiguousarray(self.matrix[self._part()][:, 0])
        return words.view(np.uint8)[:like.nbytes].view(like.dtype).reshape(like.shape)


def ring(world):
    """A forest of two roots on each rank. The roots of leaves 4 and 2 are on the next rank, that of
    leaf 0 is on the same rank."""
    after = (world.rank + 1) % world.size
    return osla.Forest(2, np.array([0, 0, 1]), np.array([4, 0, 2]),
                       rank=np.array([after, world.rank, after]))


DTYPES = [np.float64, np.complex64, np.int64, np.int32, np.dtype([("value", "<f8"), ("at", "<i8")])]


def numbers(world, rows, dtype, factor):
    """[rows, 3] values of the dtype that differ between ranks."""
    flat = factor * (np.arange(3 * rows) + 100 * world.rank + 1)
    if np.dtype(dtype).names is None:
        return flat.reshape(rows, 3).astype(dtype)
    out = np.zeros((rows, 3), dtype)
    out["value"], out["at"] = flat.reshape(rows, 3), 5
    return out


@pytest.mark.parametrize("places", ["rl", "r", "l"])  # arrays in device memory: roots, leaves
@pytest.mark.parametrize("dtype", DTYPES)
def test_transfers(world, device, dtype, places):
    f, bytes_each = ring(world), np.dtype(dtype).itemsize
    combine = "sum" if np.dtype(dtype).names is None else "maxloc"
    roots, leaves = numbers(world, 2, dtype, 3), numbers(world, 5, dtype, 7)
    of_roots, of_leaves = Memory(device, 6 * bytes_each), Memory(device, 15 * bytes_each)
    for call in ("bcast", "reduce"):
        r, l = roots.copy(), leaves.copy()
        given = {"bcast": (r, l), "reduce": (l, r)}[call]
        expected = getattr(f, call)(*given, combine).copy()
        r, l = roots.copy(), leaves.copy()
        there = (of_roots.array(r) if "r" in places else r, of_leaves.array(l) if "l" in places else l)
        given = {"bcast": there, "reduce": there[::-1]}[call]
        if dtype == np.int64:
            with getattr(f, call + "_begin")(*given, combine) as transfer:
                assert repr(transfer) == f"<osla.Transfer into {expected.shape} int64>"
            got = transfer.result
        else:
            got = getattr(f, call)(*given, combine)
        assert got is given[1]
        if isinstance(got, Exported):
            got = (of_leaves if call == "bcast" else of_roots).get(expected)
        assert np.array_equal(got, expected)


def test_fetch(world, device):
    f = ring(world)
    roots, leaves = np.arange(2) + 10 * world.rank, np.arange(5) + 1
    on_host = roots.copy()
    expected = f.fetch(on_host, leaves)
    memory = [Memory(device, 64) for _ in range(3)]
    there = memory[0].array(roots), memory[1].array(leaves)
    assert np.array_equal(f.fetch(*there), expected)
    assert np.array_equal(memory[0].get(roots), on_host)
    there = memory[0].array(roots), memory[1].array(leaves), memory[2].array(np.zeros(5, np.int64))
    assert f.fetch(*there) is there[2]
    assert np.array_equal(memory[2].get(leaves), expected)


def test_each_rank_for_itself(world, device):
    f, memory = osla.Forest.allgather(2), Memory(device, 16 * world.size)
    roots = np.array([1.0, 2.0]) + 10 * world.rank
    here = memory.array(roots) if world.rank % 2 == 0 else roots
    leaves = f.bcast(here, np.zeros(2 * world.size))
    assert np.array_equal(leaves, [10 * r + i for r in range(world.size) for i in (1, 2)])


def test_one_array(world, device):
    """Roots and leaves are parts of one array on the device, and two transfers read the roots at
    the same time."""
    f, memory = osla.Forest.allgather(1), Memory(device, 8 * (world.size + 1))
    whole = np.zeros(world.size + 1)
    whole[0] = world.rank + 1
    memory.array(whole)
    roots = Exported(memory.address, (1,), np.float64)
    leaves = Exported(memory.address + 8, (world.size,), np.float64)
    other = np.zeros(world.size)
    first, second = f.bcast_begin(roots, leaves), f.bcast_begin(roots, other)
    second.end()
    while not first.test():
        pass
    assert memory.get(whole)[1:].tolist() == list(range(1, world.size + 1)) == other.tolist()


def test_what_forests_refuse(world, device):
    f, memory = osla.Forest.allgather(2), Memory(device, 16 * world.size + 32)
    leaves = np.zeros(2 * world.size)
    roots = memory.array(np.ones(2))
    address = memory.address
    wrong = {"an array of float64 is needed": Exported(address, leaves.shape, np.float32),
             r"shape \(1,\) where": Exported(address, (1,), np.float64),
             "contiguous in C order": Exported(address, leaves.shape, np.float64, strides=(16,)),
             "cannot be written to": Exported(address, leaves.shape, np.float64, data=(address, True)),
             "masked": Exported(address, leaves.shape, np.float64, mask=roots),
             "stream = 0 is ambiguous": Exported(address, leaves.shape, np.float64, stream=0),
             "not aligned|multiples of": Exported(address + 4, leaves.shape, np.float64),
             "lies in no memory of this device": Exported(leaves.ctypes.data, leaves.shape, np.float64)}
    for text, array in wrong.items():  # the array is wrong on one rank, and all ranks refuse it
        given = array if world.rank == world.size - 1 else leaves
        with pytest.raises(osla.Error, match=text):
            f.bcast(np.ones(2), given)
    long = Exported(address, (2,), np.longdouble), np.zeros(2 * world.size, np.longdouble)
    with pytest.raises(osla.UnsupportedError, match="devices have no long double"):
        f.bcast(*long)
    if KIND == "fake":
        with pytest.raises(osla.ArgumentError, match="has no streams"):
            f.bcast(memory.array(np.ones(2), stream=2), leaves)
    else:
        f.bcast(memory.array(np.ones(2), stream=2), leaves)
    f.bcast(roots, leaves)
    assert leaves.tolist() == [1] * (2 * world.size)


def test_devices_of_the_transport(world, device):
    other = osla.Transport()
    f, memory = osla.Forest.allgather(1, transport=other), Memory(device, 8)
    with pytest.raises(osla.ArgumentError, match="no Device of this transport is open"):
        f.bcast(memory.array(np.ones(1)), np.zeros(world.size))
    f.destroy()
    other.destroy()


def test_lives_of_devices_and_transfers(world, device):
    f, memory, own = osla.Forest.allgather(1), Memory(device, 8), osla.Device(KIND)
    on_own = Memory(own, 8)
    leaves = [np.zeros(world.size), np.zeros(world.size)]
    transfer = f.bcast_begin(on_own.array(np.ones(1)), leaves[0])
    with pytest.raises(osla.StateError, match="1 matrices lie on|1 transfer or array uses memory"):
        own.destroy()
    transfer.end()
    del transfer, on_own
    gc.collect()
    world.collect()
    world.collect()
    own.destroy()
    f.bcast_begin(memory.array(np.full(1, 2.0)), leaves[1])  # dropped; `collect` ends the transfer
    world.collect()
    world.collect()
    assert leaves[0].tolist() == [1] * world.size and leaves[1].tolist() == [2] * world.size


def test_empty_arrays(world, device):
    f = osla.Forest(0, np.array([], np.int64))
    nothing = Exported(0, (0, 2), np.float64)
    assert f.bcast(nothing, nothing) is nothing


# ---- the accumulator ----

def accumulated(world, device, update, dtype=np.float64):
    """Elements of a matrix of order 6 in device memory, after update(H) with an accumulator H on
    the matrix."""
    matrix = osla.Matrix(6, 6, block=2, dtype=dtype, device=device)
    with osla.Hessian(on=matrix, uplo="whole") as H:
        update(H)
    out = matrix.to_numpy()
    H.destroy()
    return out


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_accumulator(world, device, dtype):
    ix, G = np.array([4, 0, 3]), np.arange(12).reshape(4, 3).astype(dtype)
    U = np.asfortranarray(np.arange(6).reshape(3, 2), dtype)
    memory = Memory(device, 8 * 12)

    def update(H):
        H.update(ix, memory.array(np.asfortranarray(G)))
        H.update([4, 0, 3], memory.array(np.asfortranarray(G)), copy=True)
        H.update(ix, memory.array(G[1]))
        H.update_block(ix, np.array([1, 5]), memory.array(U))
        assert H.update_once(7, ix, memory.array(G[2]))
        assert not H.update_once(7, ix, memory.array(G[2]))

    expected = np.zeros((6, 6))
    for rows in (G, G, G[1:2], G[2:3]):
        expected[np.ix_(ix, ix)] += rows.T @ rows
    expected[np.ix_(ix, [1, 5])] += U
    assert np.array_equal(accumulated(world, device, update, dtype), world.size * expected)


def test_what_the_accumulator_refuses(world, device):
    ix, memory = np.array([4, 0, 3]), Memory(device, 8 * 12)
    G = np.ones((4, 3), order="F")

    def update(H):
        for text, array in {"elements of float32 where float64": G.astype(np.float32),
                            "not by columns": np.ascontiguousarray(G),
                            "4 x 2 where 4 x 3": G[:, :2], "3 dimensions": G[None]}.items():
            with pytest.raises(osla.ArgumentError, match=text):
                H.update(ix, memory.array(array))
        outside = Exported(G.ctypes.data, (3,), np.float64)
        with pytest.raises(osla.ArgumentError, match="G: .*lies in no memory of this device") as wrong:
            H.update(ix, outside)
        assert wrong.value.__context__ is None  # the message shows one traceback only
        between = Exported(memory.address + 4, (3,), np.float64)
        with pytest.raises(osla.ArgumentError, match="G: its memory is not aligned to 8 bytes"):
            H.update(ix, between)
        with pytest.raises(osla.ArgumentError, match="U: its memory is not aligned to 8 bytes"):
            H.update_block(ix, ix[:1], between)

    assert not accumulated(world, device, update).any()
    with osla.Hessian(6) as H:
        with pytest.raises(osla.ArgumentError, match="G: the array lies on a device"):
            H.update(ix, memory.array(G))
    H.destroy()


# ---- device memory that the program has allocated ----

def test_memory_of_the_program(world, device):
    if KIND != "cuda":
        with pytest.raises(osla.ArgumentError, match="lies in no memory of this device"):
            osla._core.device_register(device._handle, None, 4096, 8)
        return
    cuda = ctypes.CDLL("libosla_cuda.so")  # has loaded the CUDA runtime, which has cudaMalloc
    address, count = ctypes.c_void_p(), ctypes.c_int()
    assert cuda.cudaGetDeviceCount(ctypes.byref(count)) == 0
    assert cuda.cudaSetDevice(world.rank % count.value) == 0  # the device that osla.Device has opened
    assert cuda.cudaMalloc(ctypes.byref(address), ctypes.c_size_t(8 * (world.size + 1))) == 0
    f = osla.Forest.allgather(1)
    there = Exported(address.value, (1,), np.float64)
    all_there = Exported(address.value + 8, (world.size,), np.float64)
    own = osla.Forest(1, np.array([0]), rank=np.array([world.rank]))
    own.reduce(np.array([world.rank + 1.0]), there, "replace")
    f.bcast(there, all_there)
    back = osla.Forest(world.size, np.arange(world.size), rank=np.full(world.size, world.rank))
    expected = list(range(1, world.size + 1))
    assert back.bcast(all_there, np.zeros(world.size)).tolist() == expected

    def update(H):
        H.update(np.arange(min(world.size, 6)), Exported(address.value + 8, (min(world.size, 6),), np.float64))

    ones = np.zeros(6)
    ones[:min(world.size, 6)] = expected[:6]
    assert np.array_equal(accumulated(world, device, update), world.size * np.outer(ones, ones))
    assert cuda.cudaFree(address) == cuda.cudaSetDevice(0) == 0
