"""Runs a command under a time limit, and parses the output of a program of suites
(tests/osla_test.h)."""

import os
import re
import selectors
import signal
import subprocess
import time

from . import leftovers

KILL_AFTER = 10  # seconds between SIGTERM and SIGKILL
POLL = 1.0  # seconds after which the output of an ended process counts as closed
COUNT = 0
RUNNING = set()


def end_processes(processes):
    """Sends SIGTERM to process groups, and SIGKILL after KILL_AFTER seconds."""
    for sent in signal.SIGTERM, signal.SIGKILL:
        for process in processes:
            try:
                os.killpg(process.pid, sent)
            except OSError:  # it has ended
                pass
        deadline = time.monotonic() + KILL_AFTER
        while any(process.poll() is None for process in processes):
            if time.monotonic() > deadline:
                break
            time.sleep(0.02)
        else:
            return


class Job:
    """A running command. next_line returns its output."""

    def __init__(self, command, environment):
        global COUNT
        COUNT += 1
        self.mark = f"OSLA_TEST_RUN={os.getpid()}.{COUNT}"
        name, value = self.mark.split("=")
        self.orphans = leftovers.orphans()
        self.process = subprocess.Popen(command, env={**environment, name: value}, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
        RUNNING.add(self.process)
        self.waiting = selectors.DefaultSelector()
        self.waiting.register(self.process.stdout, selectors.EVENT_READ)
        self.rest = b""
        self.closed = False

    def next_line(self, deadline):
        """Returns the next line of output, or None at its end. Raises TimeoutError at the deadline."""
        while b"\n" not in self.rest and not self.closed:
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError
            if self.waiting.select(min(left, POLL)):
                data = os.read(self.process.stdout.fileno(), 65536)
                self.rest += data
                self.closed = not data
            elif self.process.poll() is not None:  # a process that it left may hold the output open
                self.closed = True
        if not self.rest:
            return None
        line, end, self.rest = self.rest.partition(b"\n")
        return line.decode(errors="replace") + ("\n" if end else "")

    def end(self, deadline=None):
        """Waits for the end until the deadline, or ends the job at once if there is none. Returns
        (exit status, left-over files and processes)."""
        timed_out = deadline is None
        if not timed_out:
            try:
                self.process.wait(max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                timed_out = True
        if timed_out:
            end_processes([self.process])
        RUNNING.discard(self.process)
        self.waiting.close()
        self.process.stdout.close()
        left = [f"a process: {line}" for line in leftovers.end_processes(self.mark.encode())]
        if timed_out:
            left = []  # the job had no time to end its processes
        left += [f"in shared memory: {name}" for name in sorted(leftovers.new_orphans(self.orphans))]
        return self.process.returncode, left


class Result:
    """Result of a run: status is "ok", "FAIL" or "skipped"; late is true if it reached its time
    limit."""

    def __init__(self, run, status, seconds, log, why="", late=False):
        self.run, self.status, self.seconds, self.log, self.why, self.late = run, status, seconds, log, why, late


def run_command(run, command, environment, limit):
    """Runs a script, or a program with its own main; its exit status is the result."""
    begin = time.monotonic()
    log, late = [], False
    job = Job(command, environment)
    try:
        while (line := job.next_line(begin + limit)) is not None:
            log.append(line)
        status, left = job.end(begin + limit)
        late = time.monotonic() - begin >= limit
    except TimeoutError:
        late = True
        status, left = job.end()
    seconds = time.monotonic() - begin
    if late:
        log.append(f"time limit of {limit} s reached\n")
    log += [f"left {what}\n" for what in left]
    if status == 77 and not left and not late:
        return Result(run, "skipped", seconds, log, log[-1].strip() if log else "")
    if status == 0 and not left and not late:
        return Result(run, "ok", seconds, log)
    return Result(run, "FAIL", seconds, log, f"exit status {status}", late)


def run_suites(runs, command, environment, limit):
    """Runs suites in one job until it ends or one of them reaches its time limit. `limit` maps a
    run to seconds.

    Returns (results, rest, problem): the results of runs that ended, or that ended the job; the
    runs that did not begin; and the failure of the job after its last suite, or None.
    """
    results, log, current = [], [], None
    waiting = list(runs)
    begin = time.monotonic()
    deadline = begin + limit(waiting[0])
    job = Job(command + [run.name for run in runs], environment)
    try:
        while (line := job.next_line(deadline)) is not None:
            found = re.match(r"== (begin|end) (\S+)(?: (ok|FAIL))?$", line)
            if found and found[1] == "begin" and waiting and found[2] == waiting[0].name:
                current = waiting.pop(0)
                begin = time.monotonic()
                deadline = begin + limit(current)
            elif found and found[1] == "end" and current and found[2] == current.name:
                results.append(Result(current, found[3], time.monotonic() - begin, log, "failed cases"))
                current, log = None, []
                begin = time.monotonic()
                deadline = begin + (limit(waiting[0]) if waiting else 120)
            else:
                log.append(line)
        status, left = job.end(deadline)
        late = time.monotonic() >= deadline
    except TimeoutError:
        late = True
        status, left = job.end()
    if status == 77 and not results and current is None:  # jobs of this kind cannot run on this machine
        return [Result(run, "skipped", 0, log, log[-1].strip() if log else "") for run in runs], [], None
    log += [f"left {what}\n" for what in left]
    if late:
        log.append(f"time limit of {deadline - begin:.0f} s reached\n")
    if current is None and waiting:  # the job ended before the next suite began
        current = waiting.pop(0)
    if current is not None:
        results.append(Result(current, "FAIL", time.monotonic() - begin, log, f"exit status {status}", late))
        return results, waiting, None
    failed = any(result.status == "FAIL" for result in results)
    if late or left or (status != 0 and not failed):
        return results, [], Result(runs[0], "FAIL", time.monotonic() - begin, log, f"exit status {status} at its end")
    return results, [], None
