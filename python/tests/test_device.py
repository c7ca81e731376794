"""Tests that matrices in device memory give the results of numpy, and that calls which need host
memory refuse them. OSLA_TEST_DEVICE names the kind of device. The default is the fake device: if
numpy accesses its memory, the program ends."""
import gc
import os

import numpy as np
import pytest

import osla

KIND = os.environ.get("OSLA_TEST_DEVICE", "fake")
DTYPES = [np.float32, np.float64, np.complex64, np.complex128]


@pytest.fixture(autouse=True)
def opened(world):
    try:
        osla.Device(KIND).destroy()
    except osla.UnsupportedError as reason:
        pytest.skip(str(reason))
    yield
    world._devices.clear()  # closes the devices, because other tests count the objects of the transport
    gc.collect()
    world.collect()
    world.collect()


def values(rng, m, n, dtype):
    x = rng.normal(size=(m, n))
    return (x + 1j * rng.normal(size=(m, n)) if np.dtype(dtype).kind == "c" else x).astype(dtype)


@pytest.mark.parametrize("m, n, block", [(0, 0, 3), (1, 1, 1), (7, 5, 2), (5, 9, (3, 4)), (6, 4, 50)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_to_and_from_numpy(world, rng, m, n, block, dtype):
    x = values(rng, m, n, dtype)
    a = osla.Matrix.from_numpy(x, block=block, device=KIND)
    assert a.device.kind == KIND and a.shape == (m, n) and a.dtype == np.dtype(dtype)
    assert np.array_equal(a.to_numpy(), x)
    root = world.size - 1
    b = osla.Matrix.from_numpy(x if world.rank == root else None, root=root, shape=(m, n),
                               dtype=dtype, block=block, device=KIND)
    back = b.to_numpy(root=0)
    assert back is None if world.rank else np.array_equal(back, x)


def test_copies_between_host_and_device(world, rng):
    x = values(rng, 20, 30, np.float64)
    host = osla.Matrix.from_numpy(x, block=(4, 7))
    there = host.copy(device=KIND)
    again, back = there.copy(), there.copy(device="host")
    assert host.device is None and back.device is None and osla.Matrix(2, 2, device="host").device is None
    assert there.device is again.device and f", device {KIND}>" in repr(again)
    assert np.array_equal(again.to_numpy(), x) and np.array_equal(back.local, host.local)
    assert np.array_equal(there[3:8, 5:20], x[3:8, 5:20]) and there[-1, 4] == x[-1, 4]
    world.barrier()
    if world.rank == world.size - 1:
        there[2:5, 3:20] = 7.0
    world.barrier()
    x[2:5, 3:20] = 7
    assert np.array_equal(there.to_numpy(), x)
    turned = osla.Matrix(30, 20, block=5)
    there.copy_to(turned, "t")
    assert np.array_equal(turned.to_numpy(), x.T)


@pytest.mark.parametrize("dtype", DTYPES)
def test_kernels(world, rng, dtype):
    n, tolerance = 40, 1e4 * np.finfo(dtype).eps
    x, y = values(rng, n, n, dtype), values(rng, n, 7, dtype)
    a, b = (osla.Matrix.from_numpy(z, block=6, device=KIND) for z in (x, y))
    c = a @ b
    assert c.device is a.device and np.allclose(c.to_numpy(), x @ y, atol=tolerance)
    assert np.isclose(a.norm("fro"), np.linalg.norm(x), rtol=tolerance)
    spd = osla.Matrix(n, n, block=6, dtype=dtype, device=KIND).fill("spd", seed=3)
    whole = spd.to_numpy()
    factor = osla.potrf(spd)
    solution = factor.solve(y)  # y and the solution are arrays that are equal on all ranks
    assert np.allclose(whole @ solution, y, atol=tolerance)
    factor.solve(b)
    assert np.allclose(b.to_numpy(), solution, atol=tolerance)


@pytest.mark.parametrize("dtype", DTYPES)
def test_lu(world, rng, dtype):
    n, tolerance = 40, 1e4 * np.finfo(dtype).eps
    x, y = values(rng, n, n, dtype), values(rng, n, 7, dtype)
    grid = osla.Grid(1, world.size)  # LU on a device needs each process column on one node
    a, b = (osla.Matrix.from_numpy(z, block=6, grid=grid, device=KIND) for z in (x, y))
    lu = osla.getrf(a)
    solution = lu.solve(y)  # y and the solution are arrays that are equal on all ranks
    assert np.allclose(x @ solution, y, atol=tolerance)
    lu.solve(b)
    assert b.device is a.device and np.allclose(b.to_numpy(), solution, atol=tolerance)
    assert np.allclose(x.T @ lu.solve(y, trans="t"), y, atol=tolerance)


def test_cuda_array_interface(world, rng):
    x = values(rng, 11, 13, np.complex64)
    host = osla.Matrix.from_numpy(x, block=(3, 2))
    there = host.copy(device=KIND)
    facts = there._device_array()
    local = host.local
    assert facts["shape"] == local.shape and facts["typestr"] == local.__array_interface__["typestr"]
    assert facts["version"] == 3 and facts["stream"] is None and facts["data"][1] is False
    assert (facts["data"][0] != 0) == (local.size > 0)
    assert facts["strides"] == (8, 8 * there.lld)
    assert osla.Matrix(0, 5, device=KIND)._device_array()["data"] == (0, False)
    assert not hasattr(host, "__cuda_array_interface__")
    if KIND == "cuda":
        assert there.__cuda_array_interface__ == facts
    else:  # the fake device has no CUDA memory, so a matrix on it lacks the attribute
        assert not hasattr(there, "__cuda_array_interface__")


def test_stream_of_the_program(world):
    for stream in (1, 2):
        if KIND == "cuda":
            device = osla.Device(KIND, ordinal=0, stream=stream)
        else:
            with pytest.raises(osla.ArgumentError, match="fake device has no streams"):
                osla.Device(KIND, ordinal=0, stream=stream)
            device = osla.Device(KIND, ordinal=0)
            device.stream = stream
        a = osla.Matrix(4, 4, device=device)
        assert a.device is device and a._device_array()["stream"] == stream
    with pytest.raises(osla.ArgumentError, match="1 is CUDA's legacy default stream"):
        osla.Device(KIND, stream=0)


def test_local_is_refused(world):
    a = osla.Matrix(6, 6, device=KIND)
    with pytest.raises(osla.UnsupportedError, match=r"device memory.*copy\(device=\"host\"\)"):
        a.local
    a.fill("identity")
    assert a.to_numpy().trace() == 6


def test_what_a_device_does_not_serve(world):
    a, host = osla.Matrix(6, 6, device=KIND).fill("identity"), osla.Matrix(6, 6)
    with pytest.raises(osla.UnsupportedError, match="osla_matrix_mirror"):
        a.mirror("lower")
    with pytest.raises(osla.ArgumentError, match="put all into the memory of one"):
        osla.gemm(a, host, host)
    assert a.norm("fro") == pytest.approx(6 ** 0.5)


def test_wrong_devices(world):
    with pytest.raises(osla.ArgumentError, match="\"tpu\": the kind must be fake or cuda"):
        osla.Matrix(4, 4, device="tpu")
    with pytest.raises(osla.ArgumentError, match="ordinal = 99"):
        osla.Device(KIND, ordinal=99)
    with pytest.raises(osla.ArgumentError, match="a Device is needed, not int"):
        osla.Matrix(4, 4, device=3)
    if world.size > 1:
        with pytest.raises(osla.StateError):
            osla.Matrix(4, 4, device=KIND if world.rank == 0 else None)
    if "OSLA_DEVICE" not in os.environ:
        with pytest.raises(osla.ArgumentError, match="OSLA_DEVICE"):
            osla.Device()
    assert osla.Matrix(4, 4, device=KIND).norm() == 0


def test_life_of_a_device(world):
    first, second = osla.Matrix(4, 4, device=KIND), osla.Matrix(3, 3, device=KIND)
    assert first.device is second.device  # both matrices use the device that the first one opened
    device = osla.Device(KIND)
    a = osla.Matrix(4, 4, device=device)
    with pytest.raises(osla.StateError, match="1 matrices lie on this Device"):
        device.destroy()
    a.destroy()
    device.destroy()
    assert device.destroyed and repr(device) == f"<osla.Device {KIND}, destroyed>"
    with pytest.raises(osla.StateError, match="this Device was destroyed"):
        osla.Matrix(4, 4, device=device)
    b = osla.Matrix(4, 4, device=osla.Device(KIND))  # only the matrix keeps the device open
    world.collect()
    assert b.fill("identity").norm("max") == 1


def test_devices_end_with_their_transport(world):
    other = osla.Transport()
    a = osla.Matrix(4, 4, grid=other.grid, device=KIND)
    with pytest.raises(osla.StateError, match="2 objects of this transport live"):
        other.destroy()
    del a
    other.destroy()
    assert other.destroyed
