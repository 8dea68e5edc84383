/// @file
/// The table of error codes, with the usual cause and the remedy of each code. `pgas-info --errors` and docs/errors.md
/// are printed from the table.
#include <array>

#include "pgas/error.hpp"

namespace pgas {

namespace {

constexpr std::array rows{
    error_info{code::bootstrap_unavailable, "bootstrap_unavailable",
               "The bootstrap is not available: no launcher started this process, the bootstrap's library could not be "
               "loaded, or the address is missing.",
               "Start the program with mpirun, srun --mpi=pmix, torchrun or pgasrun, or set PGAS_BOOTSTRAP to another "
               "bootstrap. PGAS_BOOTSTRAP=singleton makes a world of one PE."},
    error_info{code::bootstrap_timeout, "bootstrap_timeout",
               "Some PEs did not join within PGAS_JOIN_TIMEOUT: they crashed, were never started, or cannot reach the "
               "address.",
               "Look at the output of the PEs that the message names. Over TCP, check the address, the firewall and "
               "PGAS_SOCKET_IFNAME. If start-up is slow but works, raise PGAS_JOIN_TIMEOUT."},
    error_info{code::bootstrap_protocol, "bootstrap_protocol",
               "An answer from another PE or from the launcher was malformed, truncated or contradictory, for "
               "example a rank that is not smaller than the size.",
               "Check that all processes run the same program and the same pgas library, and that no other "
               "program listens on the port."},
    error_info{code::authentication, "authentication",
               "A process connected and could not prove that it belongs to this job, or another PE refused this "
               "process for the same reason.",
               "Give all PEs the same PGAS_UNIQUE_ID or PGAS_SECRET, and start them as the same user."},
    error_info{code::peer_unreachable, "peer_unreachable",
               "A PE is on another host and none of its network addresses answers, its memory cannot be mapped "
               "from there, or no link between the GPUs allows loads and stores.",
               "Where the message lists addresses, check the firewall between the hosts and PGAS_SOCKET_IFNAME. "
               "Otherwise choose GPUs with peer access (`nvidia-smi topo -p2p r`), let every process see all GPUs, or "
               "use the host heap (PGAS_HEAP=host)."},
    error_info{code::version_mismatch, "version_mismatch",
               "PEs run different versions of the library, a kernel was compiled with headers of another version, or a "
               "program sets a member of an option struct that the installed library does not have.",
               "Rebuild the program with the headers of the installed version, or install the version that the message "
               "names, and make sure that every host loads the same libpgas.so."},
    error_info{code::mixed_heaps, "mixed_heaps",
               "Some PEs chose the GPU heap and some the host heap, usually because only some of them see a GPU.",
               "Make a GPU visible to every PE, or set PGAS_HEAP=host (or cuda) for all of them."},
    error_info{code::out_of_memory, "out_of_memory",
               "A PE has too little memory for the allocation, or the allocation exceeds PGAS_HEAP_LIMIT. On the host "
               "heap it may also exceed the file size limit (`ulimit -f`), because the system counts shared memory as "
               "a file. Nothing was allocated on any PE.",
               "Free memory that other programs use on the GPU, request less, or raise the limit that the message "
               "names. A registration keeps its memory until all members of the team have released it."},
    error_info{code::address_space, "address_space",
               "The virtual layout, stride times number of PEs, could not be reserved: `ulimit -v` is set, or the "
               "stride is too large.",
               "Remove the limit on virtual memory, or set a smaller PGAS_HEAP_STRIDE."},
    error_info{code::handle_exchange, "handle_exchange",
               "No kind of handle works between all PEs of the host: sockets between them are blocked, or the "
               "driver refuses every kind of handle.",
               "In containers that do not share a network namespace, set PGAS_SOCKET_DIR to a directory that all of "
               "them share. With PGAS_MEM_HANDLE set, try PGAS_MEM_HANDLE=auto."},
    error_info{code::handle_invalid, "handle_invalid",
               "A memory handle from another PE was truncated, came from another version of the library, or does not "
               "have the announced size.",
               "Check that all PEs run the same library. If they do, please report this defect with the output of "
               "PGAS_LOG=debug."},
    error_info{code::asymmetric_call, "asymmetric_call",
               "PEs called different collective functions, or the same function with different arguments.",
               "Make the same collective calls in the same order with the same sizes on every PE. The message "
               "shows what each PE passed."},
    error_info{code::invalid_free, "invalid_free",
               "A pointer was freed or unregistered twice, or it is not the start of an allocation of this world or of "
               "a registration of this team.",
               "Free each pointer from allocate() once on every PE. Unregister each pointer from register_symmetric() "
               "with the team that registered it."},
    error_info{
        code::pe_out_of_range, "pe_out_of_range", "A PE number is not in 0..n_pes-1.",
        "Compare with context::n_pes() or world::n_pes(); the usual cause is a neighbour beyond the edge of a grid."},
    error_info{code::outside_heap, "outside_heap",
               "A pointer, or the end of the range that starts there, is not in the symmetric heap of this world.",
               "Pass memory that came from allocate() or register_symmetric(), and check the count, which is in "
               "elements, not in bytes."},
    error_info{code::misaligned, "misaligned", "An address does not have the alignment that the operation needs.",
               "Align the address to the size of the element type; signals need 8 bytes."},
    error_info{code::invalid_argument, "invalid_argument", "An argument has a value that the function does not accept.",
               "The message names the argument, its value and the accepted values."},
    error_info{
        code::not_joined, "not_joined", "The world was left, moved from, or never joined.",
        "Join before all other calls and leave after them. Keep the world object alive as long as its memory is used."},
    error_info{code::forked_process, "forked_process",
               "A child of fork() uses its parent's world. Only the process that joined can use a world, because the "
               "child has none of the parent's threads.",
               "Join another world in the child (PGAS_BOOTSTRAP=singleton, or a unique id), or exec another program. "
               "The child may exit normally: its copies of the parent's objects do nothing."},
    error_info{code::peer_lost, "peer_lost",
               "A PE died, its process ended without leaving the world, or it is on another host and was silent "
               "for PGAS_HEARTBEAT_TIMEOUT.",
               "Look at the output of the PE that the message names: its error is the cause. Its part of the heap can "
               "still be read. If its process is alive, check the network between the hosts."},
    error_info{code::aborted, "aborted", "A PE aborted the world; the message carries its reason.",
               "Fix the cause that the message of that PE gives."},
    error_info{code::wait_timeout, "wait_timeout",
               "A wait took longer than PGAS_WAIT_TIMEOUT: the awaited signal or value was never sent, was sent to "
               "another address, or its sender is blocked.",
               "The message shows the operation, the PE, the heap offset, the expected value and the last value read. "
               "If the wait is legitimately long, raise PGAS_WAIT_TIMEOUT; 0 means no limit."},
    error_info{
        code::transport_failed, "transport_failed",
        "The network library of the transport reported an error, or does not work on this machine.",
        "The message carries the text of the library. UCX's variables (UCX_TLS, UCX_NET_DEVICES) and "
        "PGAS_SOCKET_IFNAME choose another device; `ucx_info -d` lists them. Between hosts UCX may use TCP only if "
        "PGAS_PRIVATE_NETWORK=1 declares the network private."},
    error_info{code::device_unavailable, "device_unavailable",
               "The configuration requests a GPU, but there is no usable GPU, driver or CUDA runtime, or this library "
               "was built without the GPU backend.",
               "Check `nvidia-smi` and CUDA_VISIBLE_DEVICES inside the job, or use the host heap "
               "(PGAS_HEAP=host)."},
    error_info{code::device_failed, "device_failed",
               "The driver or the GPU reported an error; the message carries its name. Often a kernel that ran "
               "earlier read or wrote outside its memory.",
               "Run with PGAS_CHECKS=1, or under compute-sanitizer, to find the faulty access."},
    error_info{code::launch_failed, "launch_failed",
               "A kernel could not be launched: it has too many threads or too much shared memory per block, it needs "
               "all blocks resident and has more than fit on the GPU, or it was compiled for the CPU while the heap is "
               "on a GPU, or for the GPU while the heap is on the host.",
               "Ask for fewer blocks or threads; the message shows the limit. A kernel compiled by a C++ compiler "
               "needs PGAS_HEAP=host where there is a GPU."},
    error_info{code::capturing, "capturing",
               "A stream is being captured into a CUDA graph, and the call would wait for this stream, copy pageable "
               "host memory at each replay, or use CUDA's default stream, for which the captured stream waits. The "
               "capture is unchanged, unless the message names an error of the CUDA driver.",
               "Make the call outside the capture; for buffers, use pinned host memory (cudaHostAlloc, "
               "cudaHostRegister) or GPU memory. In place of the default stream, use a pgas::stream or a stream with "
               "cudaStreamNonBlocking."},
    error_info{code::config_value, "config_value", "A variable holds a value that its option does not allow.",
               "The message names the variable, its value and the allowed values; `pgas-info --config` lists all "
               "options."},
    error_info{code::system, "system", "A system call failed; the message names it and its errno.",
               "Usually a limit of the host or the container: open files (`ulimit -n`), locked memory (`ulimit "
               "-l`), address space, or memory of the cgroup."},
};

consteval bool ascending() {
  for (std::size_t i = 1; i < rows.size(); ++i)
    if (rows[i - 1].code >= rows[i].code) return false;
  return true;
}
static_assert(ascending(), "keep the table in ascending order of codes");

}  // namespace

std::span<const error_info> error_table() noexcept { return rows; }

}  // namespace pgas
