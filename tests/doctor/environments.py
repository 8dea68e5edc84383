"""Environments with an error: the row of the doctor that reports the error, and whether programs run in spite of it."""
import os
from typing import NamedTuple

import jobs

MOUNTS = ["unshare", "--mount", "true"]
ROOT_TOOLS = ["setpriv", "--reuid", "65534", "--clear-groups", "true"]


OF_UCX = None  # versions of UCX differ: some find another route


class Environment(NamedTuple):
    """`verdict`: one word, or several with | between them. `runs`: whether the program runs; with OF_UCX both are
    allowed, but the doctor must have reported the error. `needs`: a command without which the environment cannot be
    made on this machine. `says`: a part of the error of a program that fails."""
    row: str
    verdict: str
    fix: str = ""
    runs: bool | None = True
    variables: dict = {}
    wrap: str = ""  # a shell command that PE 1 runs before the program
    all_pes: tuple = ()  # a command by which each PE is started
    mounts: str = ""  # a script that runs in a separate mount namespace of the job
    needs: tuple = ()
    gpu: bool = False
    says: str = ""


def limited(*limits):
    return ("prlimit", *limits, "--")


def fewest_addresses():
    """Returns an amount of addresses, in bytes, with which the doctor and the program start, and which is too small for
    a heap."""
    for megabytes in range(30, 400, 10):
        limit = limited(f"--as={megabytes}000000:{megabytes}000000")
        if all(jobs.allowed([*limit, program, "--version"]) for program in (jobs.DOCTOR, jobs.PROGRAM)):
            return (megabytes + 30) * 1_000_000
    return 60_000_000


def environments(directory):
    """Returns the environments by name. `directory`: an empty directory, which the test removes afterwards."""
    def folder(name):
        path = os.path.join(directory, name)
        os.makedirs(path, exist_ok=True)
        return path

    def empty_library(*names):
        path = folder(names[0])
        for name in names:
            with open(os.path.join(path, name), "w", encoding="utf-8"):
                pass
        return path

    def library(change):
        path = folder(f"library-{change.__name__}")
        linked = jobs.run(["sh", "-c", f"ldd {jobs.PROGRAM} | awk '/libpgas.so/ {{print $3}}'"]).stdout.strip()
        with open(linked, "rb") as original:
            contents = original.read()
        with open(os.path.join(path, os.path.basename(linked)), "wb") as copy:
            copy.write(change(contents))
        return path

    def another_version(contents):
        return contents.replace(b"\x000.1.0\x00", b"\x000.1.9\x00").replace(b"@(#)pgas 0.1.0", b"@(#)pgas 0.1.9")

    def another_build(contents):
        return contents + b"\0" * 16

    sockets, private, old_ucx = folder("sockets"), folder("private"), folder("old-ucx")
    mad_ucx = folder("mad-ucx")
    os.symlink(jobs.OLD_UCP, os.path.join(old_ucx, "libucp.so.0"))
    os.symlink(jobs.MAD_UCP, os.path.join(mad_ucx, "libucp.so.0"))
    no_ucx = empty_library("libucp.so.0")
    proxied = {"PGAS_P2P": "0"}
    fewest = fewest_addresses()
    one_cpu = str(min(os.sched_getaffinity(0)))
    infiniband = ("mount -t tmpfs none /sys/class && mkdir -p /sys/class/infiniband/mlx5_0/ports/1 && "
                  "echo '4: ACTIVE' > /sys/class/infiniband/mlx5_0/ports/1/state")
    all_of_them = {
        "no_proc": Environment("/proc", "slow", "mount -t proc", mounts="mount -t tmpfs none /proc"),
        "no_proc_and_named_handles": Environment("/proc", "fails", "mount -t proc", False, {"PGAS_MEM_HANDLE": "named"},
                                                 mounts="mount -t tmpfs none /proc"),
        "no_proc_and_proxied_pes": Environment("/proc", "fails|unknown", "mount -t proc", OF_UCX, proxied, mounts="mount -t tmpfs none /proc",
                                               says="mount -t proc"),
        "another_network_namespace": Environment("hosts", "slow", "PGAS_SOCKET_DIR=", False, {"PGAS_JOIN_TIMEOUT": "5s"},
                                                 'exec unshare --net "$@"', needs=("unshare", "--net", "true")),
        "no_way_between_namespaces": Environment("ports", "fails", "ip -br address", False, {"PGAS_JOIN_TIMEOUT": "5s"},
                                                 'exec unshare --net "$@"', needs=("unshare", "--net", "true")),
        "another_network_namespace_with_a_directory": Environment(
            "joining", "ok", "", True, {"PGAS_SOCKET_DIR": sockets}, 'exec unshare --net "$@"', needs=("unshare", "--net", "true")),
        "another_ipc_namespace": Environment("namespaces", "slow", "--ipc=host", True, proxied, 'exec unshare --ipc "$@"',
                                             needs=("unshare", "--ipc", "true")),
        "another_pid_namespace": Environment("namespaces", "fails", "--pid=host", False, {"PGAS_MEM_HANDLE": "named"},
                                             'exec unshare --pid --fork --mount-proc "$@"',
                                             needs=("unshare", "--pid", "--fork", "--mount-proc", "true")),
        "another_mount_namespace": Environment(
            "same settings", "fails", "mount the same directory", False, {"PGAS_SOCKET_DIR": private, "PGAS_JOIN_TIMEOUT": "5s"},
            f'exec unshare --mount sh -c \'mount -t tmpfs none {private} && exec "$@"\' sh "$@"', needs=tuple(MOUNTS)),
        "read_only_directory_for_sockets": Environment("sockets", "fails", "PGAS_SOCKET_DIR=", False, {"PGAS_SOCKET_DIR": private},
                                                       mounts=f"mount -t tmpfs -o ro none {private}"),
        "hardly_any_open_files": Environment("open files", "fails", "ulimit -n", False, all_pes=limited("--nofile=10:10")),
        "few_open_files": Environment("open files", "unknown", "ulimit -n", True, all_pes=limited("--nofile=64:64")),
        "hardly_any_addresses": Environment("address space", "fails", "ulimit -v", False, all_pes=limited(f"--as={fewest}:{fewest}")),
        "few_addresses": Environment("address space", "slow", "ulimit -v", True, all_pes=limited("--as=6000000000:6000000000")),
        "small_files": Environment("file size", "fails", "ulimit -f", False, all_pes=limited("--fsize=1000000")),
        "larger_files": Environment("file size", "slow", "ulimit -f", True, all_pes=limited("--fsize=100000000")),
        "no_locked_memory_for_a_network_device": Environment("locked memory", "slow", "ulimit -l", True, mounts=infiniband,
                                                             all_pes=limited("--memlock=65536:65536")),
        "small_heap_limit": Environment("memory", "fails", "PGAS_HEAP_LIMIT=", False, {"PGAS_HEAP_LIMIT": "4M"}),
        "another_user": Environment("same user", "fails", "same user", False, {}, 'exec setpriv --reuid 65534 --clear-groups "$@"',
                                    needs=(*ROOT_TOOLS[:-1], "test", "-x", jobs.DOCTOR)),
        "another_version_of_the_library": Environment("same library", "fails", "LD_LIBRARY_PATH", False, {},
                                                      f"export LD_LIBRARY_PATH={library(another_version)}"),
        "another_build_of_the_library": Environment("same library", "unknown", "LD_LIBRARY_PATH", True, {},
                                                    f"export LD_LIBRARY_PATH={library(another_build)}"),
        "no_ucx": Environment("UCX", "fails", "libucx0", False, proxied | {"LD_LIBRARY_PATH": no_ucx}),
        "no_ucx_where_none_is_needed": Environment("UCX", "ok", "", True, {"LD_LIBRARY_PATH": no_ucx}),
        "old_ucx": Environment("UCX", "fails", "1.13 or newer", False, proxied | {"LD_LIBRARY_PATH": old_ucx}),
        "ucx_that_ends_the_process": Environment("UCX", "fails", "ucx_info -d", False, proxied | {"LD_LIBRARY_PATH": mad_ucx}),
        "ucx_without_the_device": Environment("UCX", "fails", "unset UCX_TLS", False,
                                              proxied | {"UCX_TLS": "tcp", "UCX_NET_DEVICES": "eth9"}),
        "ucx_over_tcp_on_one_host": Environment("proxied PEs", "slow", "unset PGAS_P2P", True, proxied | {"UCX_TLS": "tcp"}),
        "proxied_on_one_host": Environment("proxied PEs", "slow", "unset PGAS_P2P", True, proxied),
        "no_such_interface": Environment("interfaces", "fails", "PGAS_SOCKET_IFNAME", False, proxied | {"PGAS_SOCKET_IFNAME": "eth9"}),
        "no_such_interface_where_none_is_needed": Environment("interfaces", "unknown", "PGAS_SOCKET_IFNAME", True,
                                                              {"PGAS_SOCKET_IFNAME": "eth9"}),
        "read_only_shared_memory": Environment("shared memory", "fails|unknown", "--shm-size", OF_UCX, proxied,
                                               mounts="mount -t tmpfs -o ro none /dev/shm", says="no file can be made in /dev/shm"),
        "small_shared_memory": Environment("shared memory", "fails|unknown", "--shm-size", OF_UCX, proxied,
                                           mounts="mount -t tmpfs -o size=64k none /dev/shm", says="of the 64.0 KiB of /dev/shm are free"),
        "seccomp_without_memfd": Environment("memory files", "fails", "seccomp", False, all_pes=(jobs.WITHOUT_CALLS, "memfd_create"),
                                             needs=(jobs.WITHOUT_CALLS, "memfd_create", "true")),
        "seccomp_without_pidfd": Environment("process handles", "slow", "seccomp", True, all_pes=(jobs.WITHOUT_CALLS, "pidfd_open"),
                                             needs=(jobs.WITHOUT_CALLS, "pidfd_open", "true")),
        "one_cpu_for_two": Environment("CPUs", "slow", "--bind-to none", True, all_pes=("taskset", "-c", one_cpu),
                                       needs=("taskset", "-c", one_cpu, "true")),
        "a_setting_that_is_not_allowed": Environment("settings", "fails", "pgas-info --config", False, {"PGAS_HEAP": "gpu"}),
        "a_setting_that_is_none": Environment("settings", "unknown", "pgas-info --config", True, {"PGAS_HEEP": "host"}),
        "different_routes": Environment("same settings", "fails", "PGAS_P2P", False, {}, "export PGAS_P2P=0"),
        "different_heaps": Environment("same settings", "fails", "PGAS_HEAP", False, {}, "export PGAS_HEAP=auto"),
        "a_directory_for_one": Environment("same settings", "fails", "PGAS_SOCKET_DIR", False, {}, f"export PGAS_SOCKET_DIR={sockets}"),
        "each_its_own_world": Environment("launcher", "fails", "PGAS_BOOTSTRAP", False, {"PGAS_BOOTSTRAP": "singleton"}),
        "a_launchers_socket_that_is_closed": Environment("launcher", "fails", "wrapper", False, {},
                                                         all_pes=("sh", "-c", 'eval "exec $PGAS_LOCAL_FD>&-"; exec "$@"', "sh")),
        "a_pe_that_never_comes": Environment("launcher", "fails", "output of the PE", False, {}, "exit 3"),
        "no_gpu": Environment("GPUs", "fails", "PGAS_HEAP=host", False, {"PGAS_HEAP": "cuda", "CUDA_VISIBLE_DEVICES": ""}),
        "a_hidden_gpu": Environment("same GPUs", "slow", "CUDA_VISIBLE_DEVICES", True, {"PGAS_HEAP": "auto"},
                                    "export CUDA_VISIBLE_DEVICES=", gpu=True),
        "a_hidden_gpu_that_is_needed": Environment("same GPUs", "fails", "CUDA_VISIBLE_DEVICES", False, {"PGAS_HEAP": "cuda"},
                                                   "export CUDA_VISIBLE_DEVICES=", gpu=True),
        "a_share_of_a_gpu_without_mps": Environment("MPS", "unknown", "nvidia-cuda-mps-control", True,
                                                    {"PGAS_HEAP": "cuda", "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE": "50"}, gpu=True),
        "fabric_handles_without_a_channel": Environment("GPU fabric", "fails", "PGAS_MEM_HANDLE", False,
                                                        {"PGAS_HEAP": "cuda", "PGAS_MEM_HANDLE": "fabric"}, gpu=True),
    }
    return all_of_them
