"""Programs that end in one way or another; run by tests/test_python.sh on several ranks."""
import os
import sys

import numpy as np

import osla

case = sys.argv[1]
w = osla.world()
a = osla.Matrix(8, 8, block=2)
if case == "uncaught":  # on one rank, while the others wait
    if w.rank == w.size - 1:
        raise KeyError("on one rank")
    w.barrier()
    w.barrier()
elif case == "uncaught in the library":  # where the others are already beyond the door
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
elif case == "drops":
    if w.rank == 0:
        del a
elif case == "caught":
    try:
        osla.potrf(a, "x" if w.rank == 0 else "lower")
    except osla.ArgumentError as refusal:
        assert "uplo = 'x'" in str(refusal)
    assert a.norm() == 0.0
elif case == "late":  # what Python calls at its end, when the library is closed

    class Late:
        view = a.local

        write = os.write

        def __del__(self):
            if self.view.size == 0 or self.view.item(0) == 0.0:
                Late.write(1, b"seen late\n")

    late = Late()
elif case == "destroyed":
    del a
    w.destroy()
else:
    sys.exit(f"no case {case}")
print("end", w.rank)
