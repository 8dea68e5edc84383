// Measures the time to open 2 MiB of another process on a GPU, step by step: with the driver's calls, and with tickets.
// Then compares the bandwidth of copies from an opened ticket with that of copies from local memory.
//
//     open_costs [TIMES]     starts itself as the exporter; ends with 1 if a ticket costs over 1.2 times the
//     driver's way
//
// The steps of tickets are those that the log reports at level debug.
#include <cuda.h>
#include <cuda_runtime.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "party.hpp"
#include "pgas/error.hpp"

extern char** environ;

namespace {

constexpr std::size_t unit = std::size_t{2} << 20;
constexpr std::size_t large = std::size_t{256} << 20;
constexpr int with_descriptor = 3;  // the number of the file descriptor that is the exporter's end of the socket pair

void check(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  std::printf("%s: %d\n", what, static_cast<int>(result));
  std::exit(3);
}

void need(bool holds, const char* what) {
  if (holds) return;
  std::printf("%s: %s\n", what, std::strerror(errno));
  std::exit(3);
}

/// The driver's functions, looked up at run time, so that the program loads on machines without a driver.
struct driver_calls {
#define PGAS_CALL(name) decltype(&name) name##_ = find<decltype(&name)>(#name)
  template <class Function>
  static Function find(const char* name) {
    void* address = nullptr;
    cudaDriverEntryPointQueryResult found{};
    party::check(cudaGetDriverEntryPointByVersion(name, &address, 12000, cudaEnableDefault, &found));
    return reinterpret_cast<Function>(address);
  }
  PGAS_CALL(cuMemCreate);
  PGAS_CALL(cuMemExportToShareableHandle);
  PGAS_CALL(cuMemImportFromShareableHandle);
  PGAS_CALL(cuMemAddressReserve);
  PGAS_CALL(cuMemMap);
  PGAS_CALL(cuMemSetAccess);
  PGAS_CALL(cuMemUnmap);
  PGAS_CALL(cuMemAddressFree);
  PGAS_CALL(cuMemRelease);
#undef PGAS_CALL
};

const driver_calls& driver() {
  static const driver_calls calls;
  return calls;
}

// ---- the socket of the two processes: a request is one byte, and an answer is bytes with or without a descriptor

void send(int to, const void* bytes, std::size_t count, int fd = -1) {
  iovec part{const_cast<void*>(bytes), count};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (fd >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* const head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof fd);
    std::memcpy(CMSG_DATA(head), &fd, sizeof fd);
  }
  need(::sendmsg(to, &message, MSG_NOSIGNAL) == static_cast<ssize_t>(count), "sendmsg");
}

std::string receive(int from, int* fd = nullptr) {
  char bytes[2048];
  iovec part{bytes, sizeof bytes};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t count = ::recvmsg(from, &message, MSG_CMSG_CLOEXEC);
  need(count > 0, "recvmsg (did the other side end?)");
  if (cmsghdr* const head = CMSG_FIRSTHDR(&message); head != nullptr && fd != nullptr)
    std::memcpy(fd, CMSG_DATA(head), sizeof *fd);
  return {bytes, static_cast<std::size_t>(count)};
}

CUmemGenericAllocationHandle create() {
  CUmemAllocationProp wanted{};
  wanted.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  wanted.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  wanted.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  CUmemGenericAllocationHandle result = 0;
  check(driver().cuMemCreate_(&result, unit, &wanted, 0), "cuMemCreate");
  return result;
}

int exported(CUmemGenericAllocationHandle which) {
  int fd = -1;
  check(driver().cuMemExportToShareableHandle_(&fd, which, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0), "export");
  return fd;
}

int export_for(int socket) {
  party::check(cudaFree(nullptr));
  const CUmemGenericAllocationHandle own = create();
  const int kept = exported(own);
  pgas::shared_memory small = pgas::shared_memory::make(party::place, unit);
  pgas::shared_memory wide = pgas::shared_memory::make(party::place, large);
  pgas::shared_memory by_legacy =
      pgas::shared_memory::share(party::allocate(unit), unit, {.block = pgas::whole_block::allow});
  for (;;) {
    const std::string asked = receive(socket);
    if (asked == "e") {  // the exporter exports the memory for this importer only
      int fd = -1;
      const double took = party::time([&] { fd = exported(own); });
      send(socket, &took, sizeof took, fd);
      ::close(fd);
    } else if (asked == "k") {
      const double none = 0;
      send(socket, &none, sizeof none, kept);
    } else if (asked == "t" || asked == "w" || asked == "l") {
      const std::string text = (asked == "t" ? small : asked == "w" ? wide : by_legacy).ticket();
      send(socket, text.data(), text.size());
    } else {
      return 0;
    }
  }
}

// ---- the importer

/// The times of each step, by name, in the order of the steps.
class steps {
 public:
  void add(const std::string& name, double us) {
    if (!times_.contains(name)) order_.push_back(name);
    times_[name].push_back(us);
  }
  [[nodiscard]] double median(const std::string& name) {
    std::vector<double>& all = times_[name];
    if (all.empty()) return 0;
    std::sort(all.begin(), all.end());
    return all[all.size() / 2];
  }
  void print(const char* title) {
    if (order_.empty()) return static_cast<void>(std::printf("%s: nothing was measured\n", title));
    std::printf("%s (us, medians of %zu)\n", title, times_[order_.front()].size());
    for (const std::string& name : order_) std::printf("    %-24s %9.1f\n", name.c_str(), median(name));
    std::fflush(stdout);
  }

 private:
  std::vector<std::string> order_;
  std::map<std::string, std::vector<double>> times_;
};

/// Measures steps. Each call of lap() ends a step and adds its time to `into`.
class stopwatch {
 public:
  explicit stopwatch(steps& into) : into_(into) {}
  void lap(const char* name) {
    const auto now = std::chrono::steady_clock::now();
    into_.add(name, std::chrono::duration<double, std::micro>(now - last_).count());
    last_ = now;
  }
  [[nodiscard]] double total() const { return std::chrono::duration<double, std::micro>(last_ - begin_).count(); }

 private:
  steps& into_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point last_ = begin_;
};

/// Opens memory with the driver's calls. Returns the median time of all steps from the request to the mapped memory.
double driver_way(int socket, const char* request, const char* title, int times) {
  steps opening;
  steps closing;
  for (int i = 0; i < times; ++i) {
    int fd = -1;
    CUmemGenericAllocationHandle handle = 0;
    CUdeviceptr at = 0;
    stopwatch open(opening);
    send(socket, request, 1);
    const std::string answer = receive(socket, &fd);
    open.lap("ask and receive");
    check(driver().cuMemImportFromShareableHandle_(&handle, reinterpret_cast<void*>(static_cast<std::intptr_t>(fd)),
                                                   CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
          "import");
    open.lap("import");
    check(driver().cuMemAddressReserve_(&at, unit, 0, 0, 0), "reserve");
    open.lap("reserve");
    check(driver().cuMemMap_(at, unit, 0, handle, 0), "map");
    open.lap("map");
    CUmemAccessDesc access{};
    access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    check(driver().cuMemSetAccess_(at, unit, &access, 1), "access");
    open.lap("access");
    ::close(fd);
    open.lap("close descriptor");
    opening.add("= open", open.total());
    double exporting = 0;
    std::memcpy(&exporting, answer.data(), sizeof exporting);
    opening.add("(of it the export)", exporting);
    stopwatch close(closing);
    check(driver().cuMemUnmap_(at, unit), "unmap");
    close.lap("unmap");
    check(driver().cuMemAddressFree_(at, unit), "free");
    close.lap("free addresses");
    check(driver().cuMemRelease_(handle), "release");
    close.lap("release");
    closing.add("= close", close.total());
  }
  opening.print(title);
  closing.print("  and back");
  return opening.median("= open");
}

/// Adds the steps of log lines about `what`, such as "...: total 91.3 us: connect 12.0, answer 30.1".
void read_log(const std::string& file, const std::string& what, steps& into) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t begin = line.find(": total ");
    if (line.find(what) == std::string::npos || begin == std::string::npos) continue;
    const std::size_t list = line.find("us:", begin) + 3;
    std::size_t at = list;
    while (at < line.size()) {
      const std::size_t end = std::min(line.find(',', at), line.size());
      const std::string step = line.substr(at + 1, end - at - 1);
      const std::size_t blank = step.rfind(' ');
      if (blank != std::string::npos) into.add(step.substr(0, blank), std::stod(step.substr(blank)));
      at = end + 1;
    }
  }
}

double ticket_way(int socket, const char* request, const char* title, int times, const std::string& log) {
  send(socket, request, 1);
  const std::string ticket = receive(socket);
  static_cast<void>(pgas::opened_memory::open(ticket));  // the first call contains the work that a process does once
  if (::truncate(log.c_str(), 0) != 0) std::printf("no log at %s\n", log.c_str());
  steps whole;
  for (int i = 0; i < times; ++i) {
    pgas::opened_memory opened;
    whole.add("open", party::time([&] { opened = pgas::opened_memory::open(ticket); }));
    whole.add("open again", party::time([&] { static_cast<void>(pgas::opened_memory::open(ticket)); }));
    whole.add("close", party::time([&] { opened = pgas::opened_memory(); }));
  }
  whole.print(title);
  steps here;
  read_log(log, ": opening ", here);
  here.print("  importer's steps");
  steps remote;
  read_log(log, ": answering ", remote);
  remote.print("  exporter's steps");
  return whole.median("open");
}

__global__ void copy_words(uint4* to, const uint4* from, std::size_t count) {
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    to[i] = from[i];
}

/// The bandwidth in GB/s of copies by a kernel or by the copy engines: the best of 5 runs of 4 copies each.
double bandwidth(void* to, const void* from, bool by_kernel) {
  cudaEvent_t begin = nullptr;
  cudaEvent_t end = nullptr;
  party::check(cudaEventCreate(&begin));
  party::check(cudaEventCreate(&end));
  float best = 1e9F;
  for (int i = 0; i < 5; ++i) {
    party::check(cudaEventRecord(begin));
    for (int copies = 0; copies < 4; ++copies) {
      if (by_kernel)
        copy_words<<<2048, 256>>>(static_cast<uint4*>(to), static_cast<const uint4*>(from), large / sizeof(uint4));
      else
        party::check(cudaMemcpyAsync(to, from, large, cudaMemcpyDeviceToDevice));
    }
    party::check(cudaEventRecord(end));
    party::check(cudaEventSynchronize(end));
    float ms = 0;
    party::check(cudaEventElapsedTime(&ms, begin, end));
    best = std::min(best, ms);
  }
  party::check(cudaEventDestroy(begin));
  party::check(cudaEventDestroy(end));
  return 4 * static_cast<double>(large) / best / 1e6;
}

void bandwidths(int socket) {
  send(socket, "w", 1);
  const pgas::opened_memory opened = pgas::opened_memory::open(receive(socket));
  void* const to = party::allocate(large);
  void* const local = party::allocate(large);
  party::check(cudaMemset(local, 1, large));
  for (const bool by_kernel : {true, false}) {
    double here = 0;
    double remote = 0;
    for (int turn = 0; turn < 5; ++turn) {
      here = std::max(here, bandwidth(to, local, by_kernel));
      remote = std::max(remote, bandwidth(to, opened.data(), by_kernel));
    }
    std::printf("256 MiB %s: from local memory %.1f GB/s, from the ticket's %.1f GB/s: %.4f times\n",
                by_kernel ? "by a kernel" : "by cudaMemcpyAsync", here, remote, remote / here);
  }
  party::check(cudaFree(to));
  party::check(cudaFree(local));
}

pid_t start_exporter(int theirs) {
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, theirs, with_descriptor);
  char name[] = "open_costs";
  char role[] = "export";
  char* arguments[] = {name, role, nullptr};
  pid_t pid = -1;
  need(::posix_spawn(&pid, "/proc/self/exe", &actions, nullptr, arguments, environ) == 0, "posix_spawn");
  ::posix_spawn_file_actions_destroy(&actions);
  return pid;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc > 1 && std::string(argv[1]) == "export") return export_for(with_descriptor);
  const int times = argc > 1 ? std::stoi(argv[1]) : 200;
  std::string log = std::filesystem::temp_directory_path() / "open_costs.XXXXXX";
  const int file = ::mkstemp(log.data());
  need(file >= 0, "mkstemp");
  ::close(file);
  ::setenv("PGAS_LOG", "debug", 1);
  ::setenv("PGAS_LOG_FILE", log.c_str(), 1);
  int sockets[2];
  need(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) == 0, "socketpair");
  const int socket = sockets[0];
  const pid_t exporter = start_exporter(sockets[1]);
  ::close(sockets[1]);

  party::check(cudaFree(nullptr));
  driver_way(socket, "e", "driver, first runs", 5);
  const double driver_exports = driver_way(socket, "e", "driver, exported at each request", times);
  const double driver_keeps = driver_way(socket, "k", "driver, the exporter keeps its descriptor", times);
  const double ticket = ticket_way(socket, "t", "ticket of make()", times, log);
  const double legacy = ticket_way(socket, "l", "ticket of 2 MiB of cudaMalloc", times, log);
  double beside = 0;
  {
    send(socket, "w", 1);
    const pgas::opened_memory neighbour = pgas::opened_memory::open(receive(socket));
    beside = driver_way(socket, "k", "driver, as before, while other imported memory stays mapped", times);
    ticket_way(socket, "t", "ticket of make(), while other imported memory stays mapped", times, log);
  }
  bandwidths(socket);
  std::printf(
      "open: driver %.1f us (exporting), %.1f us (descriptor kept), %.1f us (kept, other memory mapped); ticket %.1f "
      "us, legacy ticket %.1f us: %.2f times the driver's\n",
      driver_exports, driver_keeps, beside, ticket, legacy, ticket / driver_exports);
  send(socket, "q", 1);
  ::waitpid(exporter, nullptr, 0);
  ::unlink(log.c_str());
  return ticket <= 1.2 * driver_exports ? 0 : 1;
} catch (const pgas::error& failed) {
  std::printf("failed: %s\n", failed.what());
  return 3;
}
