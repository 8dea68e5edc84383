#include "host/config/option_table.hpp"

#include <array>

namespace pgas::config_detail {
namespace {

constexpr std::string_view bootstrap_words[] = {"auto", "pmix", "tcp", "local", "singleton"};
constexpr translation former_bootstrap_words[] = {{"alone", "singleton"}};
constexpr std::string_view heap_words[] = {"auto", "cuda", "host"};
constexpr std::string_view handle_words[] = {"auto", "fabric", "posix_fd", "named", "cuda_ipc"};
constexpr translation former_handle_words[] = {{"fd", "posix_fd"}};
constexpr std::string_view log_words[] = {"error", "warn", "info", "debug"};

constexpr translation heap_kinds[] = {{"DEVICE", "cuda"}, {"VIDMEM", "cuda"}, {"SYSMEM", "host"}};
constexpr translation handle_types[] = {{"FILE_DESCRIPTOR", "posix_fd"}, {"FABRIC", "fabric"}};
constexpr translation debug_levels[] = {
    {"VERSION", "info"}, {"WARN", "warn"}, {"INFO", "info"}, {"ABORT", "error"}, {"TRACE", "debug"}};
/// A boolean of NVSHMEM or OpenSHMEM: all but a no is a yes.
constexpr std::array<translation, 6> boolean(std::string_view no, std::string_view yes) {
  return {{{"0", no}, {"n", no}, {"no", no}, {"f", no}, {"false", no}, {"*", yes}}};
}
constexpr std::array debugging = boolean("warn", "debug");
constexpr std::array checking = boolean("0", "1");
constexpr translation nvtx_ranges[] = {{"off", "0"}, {"0", "0"}, {"*", "1"}};

constexpr alias interface_aliases[] = {{"NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME"}};
constexpr alias heap_aliases[] = {{"NVSHMEM_HEAP_KIND", heap_kinds}, {"SHMEM_HEAP_KIND", heap_kinds}};
constexpr alias handle_aliases[] = {{"NVSHMEM_CUMEM_HANDLE_TYPE", handle_types}};
constexpr alias segment_aliases[] = {{"NVSHMEM_SYMMETRIC_SIZE", {}, true},
                                     {"SHMEM_SYMMETRIC_SIZE", {}, true},
                                     {"SMA_SYMMETRIC_SIZE", {}, true},
                                     {"NVSHMEM_CUMEM_GRANULARITY"}};
constexpr alias stride_aliases[] = {{"NVSHMEM_MAX_MEMORY_PER_GPU"}};
constexpr alias checks_aliases[] = {{"NVSHMEM_ENABLE_ERROR_CHECKS", checking}};
constexpr translation tma_policies[] = {{"DISABLE", "0"}, {"ENABLE", "1"}, {"FORCE", "1"}};
constexpr alias lent_memory_aliases[] = {{"NVSHMEM_TMA_POLICY", tma_policies}};
constexpr alias nvtx_aliases[] = {{"NVSHMEM_NVTX", nvtx_ranges}};
constexpr alias log_aliases[] = {{"NVSHMEM_DEBUG", debug_levels}, {"SHMEM_DEBUG", debugging}, {"SMA_DEBUG", debugging}};
constexpr alias log_file_aliases[] = {{"NVSHMEM_DEBUG_FILE"}};

constexpr std::array rows{
    option{.name = "PGAS_BOOTSTRAP",
           .field = &config::bootstrap,
           .help = "How the PEs find one another. auto takes the first that is there: the socket of pgasrun, "
                   "PGAS_UNIQUE_ID, PMIx (mpirun, srun), MASTER_ADDR with RANK and WORLD_SIZE (torchrun), a world "
                   "of one.",
           .former_words = former_bootstrap_words,
           .choices = bootstrap_words},
    option{.name = "PGAS_UNIQUE_ID",
           .field = &config::unique_id,
           .help = "The id that make_unique_id() returned in one process, the same on all PEs. It holds the address "
                   "to join at and the secret of the job.",
           .secret = true},
    option{.name = "PGAS_SECRET",
           .field = &config::secret,
           .help = "A secret of the job, the same on all PEs. It proves over TCP that a process belongs to the job.",
           .secret = true},
    option{.name = "PGAS_SOCKET_IFNAME",
           .field = &config::socket_ifname,
           .help = "The network interface, such as eth0, for joining and for connections from PEs of other hosts. "
                   "Empty: the one that reaches the peer.",
           .former = "PGAS_INTERFACE",
           .aliases = interface_aliases},
    option{.name = "PGAS_JOIN_TIMEOUT",
           .field = &config::join_timeout,
           .help = "How long joining waits for the other PEs. In leaving, how long the streams of a PE may work once "
                   "all PEs have come; PEs without such work wait for this time and PGAS_WAIT_TIMEOUT together. "
                   "Also how long a collective that the host waits for continues after a member has left instead.",
           .least = 1},
    option{.name = "PGAS_HEAP",
           .field = &config::heap,
           .help = "Where the symmetric heap lies: GPU memory, or host memory for PEs without a GPU. auto: on the "
                   "GPU where there is one.",
           .aliases = heap_aliases,
           .choices = heap_words},
    option{.name = "PGAS_MEM_HANDLE",
           .field = &config::mem_handle,
           .help = "The kind of handle by which processes share memory. auto takes the first that works between all "
                   "PEs. cuda_ipc, the legacy handles of cudaMalloc, is for drivers without the others: each PE makes "
                   "its whole heap at once, PGAS_HEAP_LIMIT or else the larger of 1G and PGAS_SEGMENT_SIZE, and a "
                   "quarter as much (at least 32M) for memory of teams; the program's own memory can't be registered. "
                   "On the host heap it gives such a heap of named handles, for tests.",
           .former = "PGAS_HANDLE",
           .former_words = former_handle_words,
           .aliases = handle_aliases,
           .choices = handle_words},
    option{.name = "PGAS_DEVICE",
           .field = &config::device,
           .help = "The ordinal of the GPU to use. -1: the GPU that the application has made current, else by local "
                   "rank.",
           .least = -1,
           .most = 1023},
    option{.name = "PGAS_HEAP_LIMIT",
           .field = &config::heap_limit,
           .help = "The largest size of the symmetric heap, per PE. The library's own 11 MiB count, so less than "
                   "12M is too little. 0: the memory of the device. Memory of teams comes on top."},
    option{.name = "PGAS_SEGMENT_SIZE",
           .field = &config::segment_size,
           .help = "The least size of the first segment, with the library's own 11 MiB in it. The heap grows on "
                   "demand; one large segment at the start saves the growing.",
           .former = "PGAS_SEGMENT",
           .aliases = segment_aliases,
           .least = 4096},
    option{.name = "PGAS_HEAP_STRIDE",
           .field = &config::heap_stride,
           .help = "The address range of a PE's slot, rounded up to a power of two. As many addresses again are "
                   "reserved for memory of teams and registered memory. 0: the largest device memory among the PEs.",
           .former = "PGAS_STRIDE",
           .aliases = stride_aliases,
           .power_of_two = true},
    option{.name = "PGAS_P2P",
           .field = &config::p2p,
           .help = "Which PEs of a host access one another's memory directly, by load and store: all; 0 for none; "
                   "or sets such as 0,2/1,3. The others are proxied, as PEs of different hosts are.",
           .former = "PGAS_DIRECT"},
    option{.name = "PGAS_SOCKET_DIR",
           .field = &config::socket_directory,
           .help = "A directory for the UNIX sockets of the control plane, for containers that share a file system "
                   "but no network namespace: with it they are one host, without it each is a host of its own. "
                   "Also for memory shared by ticket: the exporter's setting counts. "
                   "Empty: abstract sockets."},
    option{.name = "PGAS_HEARTBEAT_TIMEOUT",
           .field = &config::heartbeat_timeout,
           .help = "How long a PE of another host may be silent before it counts as lost, because its host lost "
                   "power or the network is cut. A process that a debugger stops for that long counts as lost too. "
                   "The smallest of all PEs' values applies.",
           .former = "PGAS_PEER_TIMEOUT",
           .least = 1000},
    option{.name = "PGAS_CHECKS",
           .field = &config::checks,
           .help = "Check the arguments of device operations, and that all PEs call collectives alike.",
           .aliases = checks_aliases},
    option{.name = "PGAS_WAIT_TIMEOUT",
           .field = &config::wait_timeout,
           .help = "How long a wait inside a kernel or on the host may last before it fails and reports the awaited "
                   "condition; in leaving, the wait until all PEs have come. 0: no limit, or 60 s with PGAS_CHECKS."},
    option{.name = "PGAS_WAIT_WARNING",
           .field = &config::wait_warning,
           .help = "How long a wait for other PEs may last before the library logs a warning. Each wait gets one. The "
                   "warning says what waits, since when, which PE is the cause, and what ends the wait. If the limit "
                   "of the wait (PGAS_JOIN_TIMEOUT while joining, then PGAS_WAIT_TIMEOUT) is 10 s or more and half of "
                   "it is shorter than this time, the warning comes after that half. 0: no warning."},
    option{.name = "PGAS_DEFAULT_STREAM_WAIT",
           .field = &config::default_stream_wait,
           .help = "How long host-called barriers, syncs, allocations and frees of nvshmem.h wait for work on "
                   "CUDA's legacy default stream, such as a cudaMemset. Then they go on without it and say so: a "
                   "kernel there may wait for a later call of this PE. 0: they do not look at it."},
    option{.name = "PGAS_HOST_BLOCK_THREADS",
           .field = &config::host_block_threads,
           .help = "Threads per block on the host heap, where blocks run on CPU threads.",
           .former = "PGAS_CREW",
           .least = 1,
           .most = 1024},
    option{.name = "PGAS_LENT_MEMORY",
           .field = &config::lent_memory,
           .help =
               "Copies of NVSHMEM programs go through the GPU's copy unit (TMA) where their block has lent shared "
               "memory by nvshmemx_give_smem(), on GPUs from sm_90 on. All other operations of kernels take a little "
               "longer then.",
           .aliases = lent_memory_aliases},
    option{.name = "PGAS_NVTX",
           .field = &config::nvtx,
           .help = "Mark host calls as ranges for profilers.",
           .aliases = nvtx_aliases},
    option{.name = "PGAS_LOG",
           .field = &config::log,
           .help = "How much the library logs; each level includes those before it.",
           .aliases = log_aliases,
           .choices = log_words},
    option{.name = "PGAS_LOG_FILE",
           .field = &config::log_file,
           .help = "The file that log lines are appended to; %h stands for the host, %p for the process. Empty: "
                   "standard error.",
           .aliases = log_file_aliases},
    option{.name = "PGAS_SIGUSR1",
           .field = &config::sigusr1,
           .help = "The signal SIGUSR1 has a PE log what it waits for, as world::waits() tells a program. A handler "
                   "that the program has set before joining stays, and that is a warning; one that it sets later "
                   "replaces the library's."},
    option{.name = "PGAS_TRACE",
           .field = &config::trace,
           .help = "Record a time line of host calls, streams and the proxy, and write it when the world is left: a "
                   "file for each PE, in Perfetto's trace format. pgas-trace joins them and draws arrows from signals "
                   "to the waits that they end. %r stands for the number of the PE, %h for the host, %p for the "
                   "process; without %r or %p, a dot and the PE's number are added. Empty: nothing is recorded."},
    option{.name = "PGAS_TRACE_SAMPLE",
           .field = &config::trace_sample,
           .help = "Kernels that are compiled with PGAS_TRACE record what they do in one millisecond of so many.",
           .least = 1,
           .most = 1'000'000},
};

constexpr other_variable from_pgasrun[] = {
    {"PGAS_RANK", "the number of this process in its job"},
    {"PGAS_SIZE", "how many processes the job has"},
    {"PGAS_LOCAL_FD", "the inherited socket through which the processes meet"},
};

constexpr other_variable of_interfaces[] = {
    {"SHMEM_VERSION", "PE 0 of a program in OpenSHMEM prints the version of the library as it begins"},
    {"SHMEM_INFO", "the same with all variables, and their values now"},
    {"SMA_VERSION", "as SHMEM_VERSION, where that is not set"},
    {"SMA_INFO", "as SHMEM_INFO, where that is not set"},
    {"NVSHMEM_VERSION", "as SHMEM_VERSION, for programs in NVSHMEM"},
    {"NVSHMEM_INFO", "as SHMEM_INFO, for programs in NVSHMEM"},
};

}  // namespace

std::span<const option> options() { return rows; }

std::span<const other_variable> launcher_variables() { return from_pgasrun; }
std::span<const other_variable> startup_text_variables() { return of_interfaces; }

}  // namespace pgas::config_detail
