#!/usr/bin/env bash
# A separate Slurm, with two hosts of tests/hosts, runs the job script of doc/clusters.md: by srun,
# by mpiexec, and by an srun that does not belong to the MPI; and bench/scripts/run by srun. The
# script for PBS is run with a node file, without PBS.
# Daemons, mounts and files are in name spaces of the test and end with them, however it ends.
set -u
: "${SRCDIR:?}" "${BUILDDIR:?}" "${OSLA:?}"
export SRCDIR BUILDDIR OSLA
fail() { echo "test_slurm: $*"; exit 1; }

# The test continues in name spaces whose first process ends with this one, and with it all others.
enter_name_spaces() {
  local tool
  [ "$(id -u)" = 0 ] || { echo "not root: cannot run a Slurm"; exit 77; }
  for tool in slurmctld slurmd sbatch srun munged ip unshare setpriv; do
    command -v $tool >/dev/null || { echo "no $tool: cannot run a Slurm"; exit 77; }
  done
  . "$BUILDDIR/tests/config.env"
  "$MPIEXEC" --version 2>&1 | grep -q HYDRA || { echo "not MPICH, for which the script is"; exit 77; }
  unshare --mount --pid --fork true 2>/dev/null || { echo "no name spaces: cannot run a Slurm"; exit 77; }
  setpriv --pdeathsig KILL unshare --mount --pid --fork --kill-child --mount-proc "$0" make_hosts &
  trap 'kill -KILL $!; exit 143' TERM INT
  wait $!
}

# /run is private from here on; cgroups, which `ip netns exec` hides, are mounted where the hosts
# find them.
make_hosts() {
  mount -t tmpfs -o mode=755 none /run && mkdir /run/cgroup && mount --rbind /sys/fs/cgroup /run/cgroup &&
    printf '%s\n' '127.0.0.1 localhost' '10.77.0.1 host0' '10.77.0.2 host1' >/run/hosts &&
    mount --bind /run/hosts /etc/hosts || fail "cannot mount"
  export TMPDIR=/run
  exec "$SRCDIR/tests/hosts" -b "$BUILDDIR" 2 "$0" run_jobs
}

on() { # HOST COMMAND...
  local host=$1
  shift
  "$HOSTS_ENTER" "$host" sh -c 'mount --rbind /run/cgroup /sys/fs/cgroup && exec "$@"' sh "$@"
}

start_munge() {
  mkdir munge && head -c 64 /dev/urandom >munge/key && chmod 600 munge/key && chown -R munge munge &&
    on 0 setpriv --reuid munge --regid munge --clear-groups munged --key-file=/run/munge/key \
      --socket=/run/munge/socket --pid-file=/run/munge/pid --log-file=/run/munge/log \
      --seed-file=/run/munge/seed || { cat munge/log; fail "munged does not start"; }
}

start_slurm() {
  mkdir state
  cat >slurm.conf <<'EOT'
ClusterName=osla
SlurmctldHost=host0
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=/run/munge/socket
CredType=cred/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/linear
SchedulerType=sched/builtin
SwitchType=switch/none
StateSaveLocation=/run/state
SlurmdSpoolDir=/run/spool-%n
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd-%n.pid
SlurmdParameters=config_overrides
NodeName=host0 NodeAddr=10.77.0.1 CPUs=2
NodeName=host1 NodeAddr=10.77.0.2 CPUs=2
PartitionName=all Nodes=ALL Default=YES
EOT
  export SLURM_CONF=/run/slurm.conf
  on 0 slurmctld -D &>slurmctld.log &
  on 0 slurmd -D -N host0 &>slurmd0.log &
  on 1 slurmd -D -N host1 &>slurmd1.log &
  for _ in $(seq 100); do
    [ "$(on 0 sinfo -h -t idle -o %D 2>/dev/null)" = 2 ] && return
    sleep 0.2
  done
  tail -n 5 slurmctld.log slurmd?.log
  fail "the hosts do not come up"
}

# shown NUMBER WORD: writes the guide's script of that number, which must have a line with that word
shown() {
  awk -v number="$1" '/^```/ {fence = /^```sh/; on = 0; next} fence && /^#!/ {on = ++n == number} on {print}
    {fence = 0}' "$SRCDIR/doc/clusters.md" >script
  grep -q "^#$2 " script || fail "script $1 of doc/clusters.md is not the one with $2"
}

new_job() {
  rm -rf job && mkdir job && cp "$SRCDIR/data/sample_stations.csv" job/STATIONS &&
    cp "$SRCDIR/data/sample_events.csv" job/events.csv || exit 1
}

# job LAUNCHER RANKS: runs the script by Slurm on both hosts
job() {
  local state=JobState=PENDING id
  id=$(cd job && LAUNCHER=$1 on 0 sbatch --parsable --output=log --ntasks-per-node=$(($2 / 2)) ../script \
    --mesh 6 --max-paths 300) || fail "sbatch takes no script"
  while [[ $state =~ JobState=(PENDING|RUNNING|COMPLETING) ]]; do
    sleep 0.2
    state=$(on 0 scontrol --oneliner show job "$id")
  done
  [[ $state =~ JobState=COMPLETED.*ExitCode=0:0 ]]
}

inverted() { # RANKS
  [ -s job/model.h5 ] && [ ! -e job/run.ckpt ] && grep -q '"nodes": 2' job/report.json &&
    grep -q "\"ranks\": $1" job/report.json
}

# inverts_by LAUNCHER RANKS: checks an inversion
inverts_by() {
  new_job
  job "$@" && inverted "$2" || { cat job/log; fail "no inversion by $1 on 2 nodes, $2 ranks"; }
}

# Runs the script for PBS, which provides an mpiexec that knows the nodes.
run_for_pbs() {
  new_job
  printf 'host%s\n' 0 1 >nodes
  mkdir bin && printf '#!/bin/sh\nexec %s "$@"\n' "$hosts_mpiexec" >bin/mpiexec && chmod +x bin/mpiexec
  sed 's/ --checkpoint/ --mesh 6 --max-paths 300&/' script >script.short
  PATH=$PWD/bin:$PATH PBS_O_WORKDIR=$PWD/job PBS_NODEFILE=$PWD/nodes bash script.short >job/log 2>&1 &&
    inverted 2 || { cat job/log; fail "no inversion by the script for PBS"; }
}

measure() { # ARGUMENT... of bench/scripts/run
  on 0 timeout "$JOB_LIMIT" bench/scripts/run -b "$BUILDDIR" --launcher "srun --nodes=2 --mpi=pmi2" "$@" >out 2>err
  status=$?
}

measure_by_srun() {
  local folder
  mkdir -p results bench/scripts && cp "$SRCDIR"/bench/scripts/{run,host,environment.sh} bench/scripts || exit 1
  measure tiny 2 gemm --n 60 --reps 2 --ref none
  folder=$(echo results/*-tiny)
  [ $status = 0 ] && grep -q '"ranks":2,"nodes":2' "$folder/results.jsonl" &&
    grep -qx 'hosts: 2' "$folder/environment.txt" &&
    grep -qxF '$ srun --nodes=2 --mpi=pmi2 -n 2 osla-bench gemm --n 60 --reps 2 --ref none' "$folder/runs.txt" ||
    { cat out err "$folder"/*; fail "bench/scripts/run by srun"; }
  measure -f tiny 2 gemm --n 60
  [ $status = 2 ] && [ "$(cat err)" = "bench/scripts/run: -f: two fake nodes need one host, and the ranks are on 2" ] ||
    { cat out err; fail "fake nodes on two hosts: exit status $status"; }
  measure -t 2 tiny 2 gemm --n 400 --reps 1000000 --ref none
  for _ in $(seq 20); do pgrep -x osla-bench >/dev/null || break; sleep 0.2; done
  [ $status = 124 ] && ! pgrep -x -l osla-bench || { cat out err; fail "at its time limit: exit status $status"; }
}

run_jobs() {
  local line hosts_mpiexec=$MPIEXEC
  cd /run || exit 1
  . "$BUILDDIR/tests/config.env"
  PATH=$(dirname "$OSLA"):$PATH
  start_munge
  start_slurm
  shown 1 SBATCH
  inverts_by "srun --mpi=pmi2" 4
  inverts_by "$MPIEXEC" 2
  job false 2 && [ ! -s job/log ] || { cat job/log; fail "what is done is done again"; }
  new_job
  job "srun --mpi=none" 2 && fail "two jobs of one rank end with 0"
  line='^osla invert: this job has 1 rank, and OSLA_EXPECT_RANKS asks for 2: .*srun: --mpi=pmi2'
  [ "$(grep -c "$line" job/log)" = 2 ] && [ "$(grep -c '^osla' job/log)" = 2 ] && [ ! -e job/model.h5 ] ||
    { cat job/log; fail "not one line from each of two jobs of one rank"; }
  measure_by_srun
  shown 2 PBS
  run_for_pbs
  echo "the job scripts of doc/clusters.md invert on 2 nodes"
}

"${1:-enter_name_spaces}"
