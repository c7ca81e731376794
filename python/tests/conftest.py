"""The tests run on every rank of an MPI job; a failure of any rank fails the job."""
import numpy as np
import pytest

import osla


@pytest.fixture
def world():
    return osla.world()


@pytest.fixture
def rng():
    """Random numbers, the same on all ranks."""
    return np.random.default_rng(20)
