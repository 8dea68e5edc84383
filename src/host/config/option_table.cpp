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
/// A boolean of NVSHMEM or OpenSHMEM. Every value that does not mean "no" means "yes".
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
           .help =
               "How the PEs find one another. auto takes the first of these that is available: the socket of pgasrun, "
               "PGAS_UNIQUE_ID, PMIx (mpirun, srun), MASTER_ADDR with RANK and WORLD_SIZE (torchrun), a world of one.",
           .former_words = former_bootstrap_words,
           .choices = bootstrap_words},
    option{.name = "PGAS_UNIQUE_ID",
           .field = &config::unique_id,
           .help = "The id from make_unique_id(), the same on all PEs. It contains the address of rank 0 and the "
                   "secret of the job.",
           .secret = true},
    option{.name = "PGAS_SECRET",
           .field = &config::secret,
           .help = "The secret of the job, the same on all PEs. Over TCP it proves that a process belongs to the job.",
           .secret = true},
    option{.name = "PGAS_SOCKET_IFNAME",
           .field = &config::socket_ifname,
           .help = "The network interface, such as eth0, for joining and for connections from PEs of other hosts. "
                   "Empty: the interface that reaches the peer.",
           .former = "PGAS_INTERFACE",
           .aliases = interface_aliases},
    option{.name = "PGAS_PRIVATE_NETWORK",
           .field = &config::private_network,
           .help =
               "Whether only trusted hosts and users can connect to the PEs over the network between the hosts. UCX "
               "does not authenticate TCP connections, so it may use TCP between hosts only with this setting, or "
               "if UCX_TLS names transports. InfiniBand and RoCE need no setting."},
    option{
        .name = "PGAS_JOIN_TIMEOUT",
        .field = &config::join_timeout,
        .help =
            "How long joining waits for the other PEs. Also how long leaving waits for the streams of a PE once all "
            "PEs have called leave(); PEs without such work wait for the sum of this time and PGAS_WAIT_TIMEOUT. Also "
            "how long a collective of the host continues after a member has left the world instead of calling it.",
        .least = 1},
    option{.name = "PGAS_HEAP",
           .field = &config::heap,
           .help = "Where the symmetric heap is: in GPU memory, or in host memory for PEs without a GPU. auto: in GPU "
                   "memory if every PE has a GPU.",
           .aliases = heap_aliases,
           .choices = heap_words},
    option{
        .name = "PGAS_MEM_HANDLE",
        .field = &config::mem_handle,
        .help =
            "The kind of handle by which processes share memory. auto takes the first kind that works between all "
            "PEs. cuda_ipc, the legacy handles of cudaMalloc, is for drivers without the other kinds: each PE "
            "creates its whole heap in one step. The heap then has PGAS_HEAP_LIMIT bytes, by default the larger of 1G "
            "and PGAS_SEGMENT_SIZE, and a quarter as much (at least 32M) for memory of teams; external memory "
            "can't be registered. On the host heap cuda_ipc makes such a heap of named handles, for tests.",
        .former = "PGAS_HANDLE",
        .former_words = former_handle_words,
        .aliases = handle_aliases,
        .choices = handle_words},
    option{.name = "PGAS_DEVICE",
           .field = &config::device,
           .help = "The ordinal of the GPU to use. -1: the application's current GPU, otherwise chosen by local rank.",
           .least = -1,
           .most = 1023},
    option{.name = "PGAS_HEAP_LIMIT",
           .field = &config::heap_limit,
           .help = "The largest size of the symmetric heap, per PE. It includes 11 MiB of the library, so less than "
                   "12M is too little. 0: the memory of the device. Memory of teams is not included."},
    option{.name = "PGAS_SEGMENT_SIZE",
           .field = &config::segment_size,
           .help = "The minimum size of the first segment, including 11 MiB of the library. The heap grows on demand; "
                   "a large first segment avoids growth.",
           .former = "PGAS_SEGMENT",
           .aliases = segment_aliases,
           .least = 4096},
    option{.name = "PGAS_HEAP_STRIDE",
           .field = &config::heap_stride,
           .help =
               "The address range of a PE's slot, rounded up to a power of two. The library reserves a second range "
               "of this size for memory of teams and registered memory. 0: the largest device memory among the PEs.",
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
           .help = "A directory for the UNIX sockets of the control plane, for containers that share a file system but "
                   "no network namespace: with this setting the containers count as one host, without it as several. "
                   "Also for memory shared by ticket, where the exporter's setting applies. Empty: abstract sockets."},
    option{.name = "PGAS_TEST_HOST",
           .field = &config::test_host,
           .help =
               "For tests of several hosts on one machine: the name of the host that this PE believes it is on. PEs "
               "with different names connect by TCP, and are proxied unless PGAS_MEM_HANDLE=named. Empty: the host "
               "of the process."},
    option{.name = "PGAS_HEARTBEAT_TIMEOUT",
           .field = &config::heartbeat_timeout,
           .help = "How long a PE of another host may be silent before the library declares it lost, for example "
                   "because its host or the network is down. A process that a debugger stops for this time counts as "
                   "lost too. The smallest value of all PEs applies.",
           .former = "PGAS_PEER_TIMEOUT",
           .least = 1000},
    option{.name = "PGAS_CHECKS",
           .field = &config::checks,
           .help = "Check the arguments of device operations, and check that all PEs call the same collectives with "
                   "the same sizes.",
           .aliases = checks_aliases},
    option{.name = "PGAS_WAIT_TIMEOUT",
           .field = &config::wait_timeout,
           .help = "How long a wait inside a kernel or on the host may last before it fails and reports the awaited "
                   "condition; also how long leave() waits for the other PEs. 0: no limit, or 60 s with PGAS_CHECKS."},
    option{.name = "PGAS_WAIT_WARNING",
           .field = &config::wait_warning,
           .help = "The time that a wait for other PEs may last before the library logs a warning, once for each wait. "
                   "The warning names the call, the time, the PE that causes the wait, and the limit of the wait. A "
                   "limit of 10 s or more (PGAS_JOIN_TIMEOUT while joining, otherwise PGAS_WAIT_TIMEOUT) moves the "
                   "warning to half of the limit if that is earlier. 0: no warning."},
    option{.name = "PGAS_DEFAULT_STREAM_WAIT",
           .field = &config::default_stream_wait,
           .help = "How long host-called barriers, syncs, allocations and frees of nvshmem.h wait for work on CUDA's "
                   "legacy default stream, such as a cudaMemset. Then they continue and log a warning, because a "
                   "kernel on that stream may wait for a later call of this PE. 0: they do not wait."},
    option{.name = "PGAS_HOST_BLOCK_THREADS",
           .field = &config::host_block_threads,
           .help = "Threads per block on the host heap, where blocks run on CPU threads.",
           .former = "PGAS_CREW",
           .least = 1,
           .most = 1024},
    option{.name = "PGAS_LENT_MEMORY",
           .field = &config::lent_memory,
           .help =
               "Copies of NVSHMEM programs use the GPU's copy unit (TMA) if their block has lent shared memory by "
               "nvshmemx_give_smem(), on sm_90 and later. All other operations of kernels then take slightly longer.",
           .aliases = lent_memory_aliases},
    option{.name = "PGAS_NVTX",
           .field = &config::nvtx,
           .help = "Annotate host calls as NVTX ranges for profilers.",
           .aliases = nvtx_aliases},
    option{.name = "PGAS_LOG",
           .field = &config::log,
           .help = "How much the library logs; each level includes the previous levels.",
           .aliases = log_aliases,
           .choices = log_words},
    option{.name = "PGAS_LOG_FILE",
           .field = &config::log_file,
           .help = "The file that log lines are appended to; %h stands for the host, %p for the process. Empty: "
                   "standard error.",
           .aliases = log_file_aliases},
    option{.name = "PGAS_SIGUSR1",
           .field = &config::sigusr1,
           .help = "On SIGUSR1 a PE logs what it waits for, the same information as world::waits(). If the program has "
                   "set a handler before joining, the library keeps that handler and logs a warning; a handler that "
                   "the program sets later replaces the library's."},
    option{.name = "PGAS_TRACE",
           .field = &config::trace,
           .help = "Record a trace of host calls, streams and the proxy, and write it when the world is left: a "
                   "file for each PE, in Perfetto's trace format. pgas-trace joins them and draws arrows from signals "
                   "to the waits that they end. %r stands for the number of the PE, %h for the host, %p for the "
                   "process; without %r or %p, a dot and the PE's number are added. Empty: nothing is recorded."},
    option{
        .name = "PGAS_TRACE_SAMPLE",
        .field = &config::trace_sample,
        .help =
            "Kernels that are compiled with PGAS_TRACE record their operations in one millisecond out of this number.",
        .least = 1,
        .most = 1'000'000},
};

constexpr other_variable from_pgasrun[] = {
    {"PGAS_RANK", "the rank of this process in its job"},
    {"PGAS_SIZE", "how many processes the job has"},
    {"PGAS_LOCAL_FD", "the inherited socket to pgasrun, over which the processes join"},
};

constexpr other_variable of_interfaces[] = {
    {"SHMEM_VERSION", "PE 0 of an OpenSHMEM program prints the version of the library when it starts"},
    {"SHMEM_INFO", "the same with all variables and their current values"},
    {"SMA_VERSION", "as SHMEM_VERSION, if that is not set"},
    {"SMA_INFO", "as SHMEM_INFO, if that is not set"},
    {"NVSHMEM_VERSION", "as SHMEM_VERSION, for NVSHMEM programs"},
    {"NVSHMEM_INFO", "as SHMEM_INFO, for NVSHMEM programs"},
};

}  // namespace

std::span<const option> options() { return rows; }

std::span<const other_variable> launcher_variables() { return from_pgasrun; }
std::span<const other_variable> startup_text_variables() { return of_interfaces; }

}  // namespace pgas::config_detail
