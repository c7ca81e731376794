"""Left-overs of tests: files in shared memory, processes, mounts, network name spaces."""

import os
import re
import signal
import tempfile
import time

SHARED_MEMORY = "/dev/shm"
# Seconds during which late or just created files and processes do not count; tests/run raises them
# on slower machines.
GRACE = 2.0
# LLVM's OpenMP creates this file before main, and does not remove it if the process is killed.
REGISTERED = re.compile(r"__KMP_REGISTERED_LIB_")


def read_proc(pid, name):
    try:
        with open(f"/proc/{pid}/{name}", "rb") as file:
            return file.read()
    except OSError:  # it has ended, or belongs to another user
        return b""


def processes():
    return [entry for entry in os.listdir("/proc") if entry.isdigit()]


def files_in_use():
    """Names in shared memory that a living process maps or has open."""
    used = set()
    for pid in processes():
        for line in read_proc(pid, "maps").splitlines():
            at = line.find(b"/dev/shm/")
            if at >= 0:
                used.add(line[at:].decode())
        try:
            numbers = os.listdir(f"/proc/{pid}/fd")
        except OSError:
            continue
        for number in numbers:
            try:
                used.add(os.readlink(f"/proc/{pid}/fd/{number}"))
            except OSError:
                pass
    return used


def orphans():
    """Files in shared memory that no living process uses."""
    found = {entry.path for entry in os.scandir(SHARED_MEMORY)
             if entry.is_file(follow_symlinks=False) and not REGISTERED.match(entry.name)}
    return found - files_in_use() if found else found


def new_orphans(before):
    """Orphans that were not there before. Waits, since a job that is just starting has some for a
    moment."""
    found = orphans() - before
    if found:
        time.sleep(GRACE)
        found &= orphans()
    return found


def processes_of(mark):
    """Living processes whose environment contains the mark of a run."""
    found = []
    for pid in processes():
        if mark in read_proc(pid, "environ").split(b"\0") and read_proc(pid, "stat").rpartition(b") ")[2][:1] != b"Z":
            found.append(int(pid))
    return found


def end_processes(mark):
    """Command lines of processes that outlive their run by more than GRACE seconds; kills them."""
    deadline = time.monotonic() + GRACE
    while (found := processes_of(mark)) and time.monotonic() < deadline:
        time.sleep(0.05)
    lines = []
    for pid in found:
        lines.append(read_proc(pid, "cmdline").replace(b"\0", b" ").decode(errors="replace").strip())
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            pass
    return lines


def mounts_and_name_spaces():
    """Mounts in temporary folders, and network name spaces of tests/hosts whose creator has ended."""
    with open("/proc/self/mounts", encoding="utf-8", errors="replace") as file:
        targets = {line.split()[1] for line in file}
    found = {target for target in targets if target.startswith((f"{tempfile.gettempdir()}/", f"{SHARED_MEMORY}/"))}
    for name in os.listdir("/run/netns") if os.path.isdir("/run/netns") else ():
        maker = re.match(r"osla(\d+)-", name)  # creator, perhaps of another run of the tests
        if maker and not os.path.exists(f"/proc/{maker[1]}"):
            found.add(f"/run/netns/{name}")
    return found
