"""Tests of tests/run with programs that succeed, fail, crash, hang or leave something behind, and
with wrong lists."""

import os
import subprocess
import tempfile
import unittest

from runner import jobs, leftovers, plan

ENVIRONMENT = dict(os.environ)
leftovers.GRACE = 0.3
jobs.POLL = 0.1


def suite_runs(names, limit=120):
    return [plan.Run(name, "tests/none/suites", "check", 1, "node", limit) for name in names.split()]


def run(script, names, seconds=20):
    """Runs a shell script in place of a program of suites; its arguments are the names."""
    return jobs.run_suites(suite_runs(names), ["bash", "-c", script, "suites"], ENVIRONMENT, lambda one: seconds)


def told(results):
    return [(result.run.name, result.status) for result in results]


SAY = 'begin() { echo "== begin $1"; }; end() { echo "== end $1 ${2:-ok}"; }; '


class Suites(unittest.TestCase):
    def test_all_end_well(self):
        results, rest, problem = run(SAY + 'for n; do begin $n; echo ok case; end $n; done', "a b c")
        self.assertEqual(told(results), [("a", "ok"), ("b", "ok"), ("c", "ok")])
        self.assertEqual((rest, problem), ([], None))
        self.assertEqual(results[1].log, ["ok case\n"])

    def test_one_fails(self):
        results, rest, problem = run(SAY + 'begin a; echo FAIL x; end a FAIL; begin b; end b; exit 1', "a b")
        self.assertEqual(told(results), [("a", "FAIL"), ("b", "ok")])
        self.assertEqual((rest, problem), ([], None))

    def test_one_crashes(self):
        results, rest, problem = run(SAY + 'begin a; end a; begin b; echo going; kill -SEGV $$', "a b c d")
        self.assertEqual(told(results), [("a", "ok"), ("b", "FAIL")])
        self.assertEqual([one.name for one in rest], ["c", "d"])
        self.assertIn("going\n", results[1].log)
        self.assertFalse(results[1].late)
        self.assertIsNone(problem)

    def test_one_exits_with_success(self):
        results, rest, _ = run(SAY + 'begin a; exit 0', "a b")
        self.assertEqual((told(results), [one.name for one in rest]), ([("a", "FAIL")], ["b"]))

    def test_one_hangs(self):
        results, rest, _ = run(SAY + 'begin a; end a; begin b; sleep 100', "a b c", 2)
        self.assertEqual((told(results), [one.name for one in rest]), ([("a", "ok"), ("b", "FAIL")], ["c"]))
        self.assertTrue(results[1].late)
        self.assertLess(results[1].seconds, 8)

    def test_one_hangs_and_ignores_the_request_to_end(self):
        kill_after, jobs.KILL_AFTER = jobs.KILL_AFTER, 1
        try:
            results, _, _ = run(SAY + 'trap "" TERM; begin a; while :; do sleep 1; done', "a", 1)
        finally:
            jobs.KILL_AFTER = kill_after
        self.assertEqual((told(results), results[0].late), ([("a", "FAIL")], True))

    def test_nothing_begins(self):
        results, rest, _ = run("echo no such program; exit 127", "a b")
        self.assertEqual((told(results), [one.name for one in rest]), ([("a", "FAIL")], ["b"]))
        self.assertIn("no such program\n", results[0].log)

    def test_a_job_that_cannot_run_here(self):
        results, rest, problem = run("echo not root; exit 77", "a b")
        self.assertEqual(told(results), [("a", "skipped"), ("b", "skipped")])
        self.assertEqual((rest, problem, results[0].why), ([], None, "not root"))

    def test_a_job_fails_at_its_end(self):
        results, _, problem = run(SAY + 'begin a; end a; begin b; end b; echo not destroyed; exit 3', "a b")
        self.assertEqual(told(results), [("a", "ok"), ("b", "ok")])
        self.assertIn("not destroyed\n", problem.log)

    def test_a_process_is_left(self):
        _, _, problem = run(SAY + 'begin a; setsid sleep 60 >/dev/null 2>&1 & sleep 0.3; end a', "a")
        self.assertIn("left a process: sleep 60\n", problem.log)

    def test_a_file_in_shared_memory_is_left(self):
        name = f"{leftovers.SHARED_MEMORY}/osla-test-runner-{os.getpid()}"
        try:
            _, _, problem = run(SAY + f'begin a; echo x >{name}; end a', "a")
        finally:
            os.remove(name)
        self.assertIn(f"left in shared memory: {name}\n", problem.log)


@unittest.skipUnless(os.geteuid() == 0 and os.path.isdir("/run/netns"), "not root, or no name spaces")
class NameSpaces(unittest.TestCase):
    def test_those_of_a_maker_that_has_ended(self):
        ended = subprocess.Popen(["true"])
        ended.wait()
        names = [f"/run/netns/osla{pid}-test" for pid in (ended.pid, os.getpid())]
        try:
            for name in names:
                open(name, "w").close()
            found = leftovers.mounts_and_name_spaces()
        finally:
            for name in names:
                os.remove(name)
        self.assertEqual([name in found for name in names], [True, False])


class Commands(unittest.TestCase):
    def judge(self, script, limit=20):
        one = plan.Run("check_it.sh", "tests/none/check_it.sh", "check")
        return jobs.run_command(one, ["bash", "-c", script], ENVIRONMENT, limit)

    def test_statuses(self):
        self.assertEqual(self.judge("true").status, "ok")
        self.assertEqual(self.judge("exit 3").status, "FAIL")
        skipped = self.judge("echo why; exit 77")
        self.assertEqual((skipped.status, skipped.why), ("skipped", "why"))

    def test_a_hang(self):
        result = self.judge("sleep 100", 1)
        self.assertEqual((result.status, result.late), ("FAIL", True))

    def test_a_process_that_holds_the_output_open(self):
        result = self.judge("echo said; setsid sleep 30 & sleep 0.3")
        self.assertEqual(result.status, "FAIL")
        self.assertEqual(result.log, ["said\n", "left a process: sleep 30\n"])


class Lists(unittest.TestCase):
    def read(self, text):
        with tempfile.NamedTemporaryFile("w", suffix=".list") as file:
            file.write(text)
            file.flush()
            return plan.read(file.name)

    def test_levels_and_runs(self):
        runs = self.read("[tests/matrix suites]\nx | 1,2-node | 4-fake2 | 3-nolocal | hdf5 limit=300\n[tests/install]\ny.sh | | run | | timing\n")
        self.assertEqual([(one.label, one.level) for one in runs],
                         [("x-1-node", "check"), ("x-2-node", "check"), ("x-4-fake2", "ci"), ("x-3-nolocal", "full"),
                          ("y.sh", "ci")])
        self.assertEqual((runs[0].path, runs[0].limit, runs[0].needs), ("tests/matrix/suites", 300, ("hdf5",)))
        self.assertEqual(runs[4].path, "tests/install/y.sh")

    def test_wrong_lines(self):
        for text, part in (("x | 1-node | | |", "before the first"), ("[a]\nx | 1-node", "2 columns"),
                           ("[a]\nx | 1-nood | | |", "'1-nood' is not RANKS-MODE"), ("[a]\nx | | | |", "no level runs it"),
                           ("[a]\nx | 3-fake2 | | |", "3 ranks cannot run"),
                           ("[a]\nx | 6-fake4 | | |", "6 ranks cannot run"), ("[a]\nx | 1-node | | | quick", "'quick' is no need"),
                           ("[a]\nx.sh | 1-node | | |", "'run' is for scripts"), ("[a]\nx | run | | |", "'run' is for scripts")):
            with self.assertRaisesRegex(plan.ListError, part):
                self.read(text + "\n")


if __name__ == "__main__":
    unittest.main()
