"""Programs that end in different ways; run by tests/adaptors/test_python.sh on several ranks."""
import os
import sys
import threading
import time

import numpy as np

import osla

case = sys.argv[1]
w = osla.world()
a = osla.Matrix(8, 8, block=2)
if case == "uncaught":  # an exception on one rank, while the other ranks wait
    if w.rank == w.size - 1:
        raise KeyError("on one rank")
    w.barrier()
    w.barrier()
elif case == "uncaught in the library":  # an exception on one rank, while the other ranks are in a library call
    H = osla.Hessian(8)
    if w.rank == 0:
        H.update(np.array([9]), np.ones(1))
    H.commit()
elif case == "exit":
    if w.rank == 0:
        sys.exit(3)
    a.norm()
elif case == "views":
    view = a.local
    H = osla.Hessian(8)
    other = H.grid
    array = np.array(view, order="F")
    wrapped = osla.Matrix.wrap(array, 8, 8, block=2)
    adds = osla.Hessian(on=wrapped)
    dropped = osla.Matrix.wrap(np.array(view, order="F"), 8, 8, block=2)
    del dropped, wrapped
elif case == "devices":  # the program ends while matrices on devices and a transfer from one exist
    there, own = osla.Matrix(8, 8, device="fake"), osla.Device("fake")
    other = osla.Matrix.from_numpy(np.eye(8), device=own)

    class Exported:
        __cuda_array_interface__ = {**other._device_array(), "shape": (1,), "strides": None}

    values = Exported() if Exported.__cuda_array_interface__["data"][0] else np.ones(1)
    transfer = osla.Forest.allgather(1).bcast_begin(values, np.zeros(w.size))
    dropped = osla.Forest.allgather(1).bcast_begin(values, np.zeros(w.size))
    del dropped
    if w.rank == 0:
        del there, own
elif case == "drops":
    if w.rank == 0:
        del a
elif case == "caught":
    try:
        osla.potrf(a, "x" if w.rank == 0 else "lower")
    except osla.ArgumentError as refusal:
        assert "uplo = 'x'" in str(refusal)
    assert a.norm() == 0.0
elif case == "late":  # callbacks that run at the end of Python, when the library is closed

    class Late:
        view = a.local

        write = os.write

        def __del__(self):
            if self.view.size == 0 or self.view.item(0) == 0.0:
                Late.write(1, b"seen late\n")

    late = Late()
    H = osla.Hessian(4)

    class Owner:  # makes its imports when Python cannot import any more

        def __init__(self, thing):
            self.thing = thing

        def __del__(self):
            self.thing.destroy()

    def steps():
        with osla.Matrix(3, 3) as m, osla.Hessian(3):
            yield m

    owners = [Owner(H), Owner(osla.Matrix(2, 2)), Owner(w), steps()]
    next(owners[-1])
elif case == "destroyed":
    del a
    w.destroy()
elif case == "daemons":  # the interpreter ends while daemon threads are in calls
    H, column, other = osla.Hessian(400), np.arange(400), osla.Transport()
    local = (w.progress, lambda: a.get(0, 0, 8, 8), lambda: H.update(column, np.ones(400)))

    def repeat(call):
        try:
            while True:
                call()
        except osla.StateError as reason:  # raised by a collective call after another rank has ended
            assert "the end of the program" in str(reason) or "come too late" in str(reason), reason

    for call in (*local, *local, w.barrier, other.barrier):
        threading.Thread(target=repeat, args=(call,), daemon=True).start()
    time.sleep(0.3 if w.rank == 0 else 0.05)
elif case == "forks":
    H = osla.Hessian(8)

    def calls():
        for call in (a.norm, w.progress, w.barrier, lambda: a.get(0, 0, 1, 1), lambda: osla.Matrix(3, 3),
                     lambda: a.local, lambda: H.update(np.arange(2), np.ones(2)), osla.Transport,
                     a.destroy):
            try:
                call()
            except osla.StateError as reason:
                assert "forked child" in str(reason), reason
            else:
                os._exit(5)

    def fails():
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        raise KeyError("in a child")

    for child, status in ((calls, 0), (lambda: sys.exit(3), 3), (fails, 1), (lambda: globals().clear(), 0)):
        pid = os.fork()
        if pid == 0:
            child()
            raise SystemExit(0)
        ended = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        assert ended == status, (child, ended)
    assert a.norm() == 0.0
    H.commit()
elif case == "MPI has ended":  # other code has ended MPI, as mpi4py's MPI.Finalize does
    import ctypes

    H, grid, b, c = osla.Hessian(8), osla.Grid(), osla.Matrix(2, 2), osla.Matrix(2, 2)
    view = a.local
    ctypes.CDLL(osla._core.__file__).MPI_Finalize()
    del grid, b
    for call in (a.norm, w.progress, w.barrier, lambda: a.get(0, 0, 1, 1), lambda: osla.Matrix(3, 3),
                 lambda: a.local, lambda: H.update(np.arange(2), np.ones(2)), osla.Transport, c.destroy,
                 w.destroy, lambda: osla.potrf(a), lambda: H.matrix, osla.Grid):
        try:
            call()
        except osla.StateError as reason:
            assert "MPI has ended" in str(reason), reason
        else:
            os._exit(5)
else:
    sys.exit(f"no case {case}")
print("end", w.rank)
