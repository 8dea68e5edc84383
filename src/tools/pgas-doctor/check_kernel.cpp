#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "common/net/unix_socket.hpp"
#include "common/process_identity.hpp"
#include "common/system_error.hpp"
#include "common/thread.hpp"
#include "host/connect/peer_descriptor.hpp"
#include "pgas/error.hpp"
#include "tools/pgas-doctor/local_checks.hpp"

namespace pgas::doctor {

namespace {

constexpr const char* seccomp_mend =
    "a newer container runtime, whose seccomp profile knows the call; or docker run --security-opt seccomp=unconfined";

/// The value of a line of /proc/self/status, such as "2" for the line "Seccomp: 2". Empty if the file has no such line.
std::string status_of(const std::string& key) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(key + ":")) return line.substr(line.find_first_not_of(" \t", key.size() + 1));
  return {};
}

std::string first_line(const std::string& path) {
  std::string line;
  std::getline(std::ifstream(path), line);
  return line;
}

}  // namespace

row check_proc(const config& settings) {
  if (detail::process_start(::getpid()) != 0) return {"/proc", verdict::ok, "there, with this process in it"};
  const char* const found = "there is none, or it does not show this process";
  const char* const fix = "mount -t proc proc /proc";
  if (settings.mem_handle == handle_kind::named)
    return {"/proc", verdict::fails, found, "PGAS_MEM_HANDLE=named shares memory through it", fix};
  if (settings.p2p != "all")
    return {"/proc", verdict::fails, found, "UCX can't identify hosts without it, and connects no proxied PEs", fix};
  return {"/proc", verdict::slow, found,
          "only closed sockets show that a PE has died, memory limits of the container are not seen, hosts are "
          "identified by their names",
          fix};
}

row check_memory_files(const config& settings) {
  row result{"memory files", verdict::fails, "",
             "the host heap consists of such files: no world on the host heap can be joined", seccomp_mend};
  // A GPU heap does not consist of memory files, so a world on this heap can still run.
  if (settings.heap == heap_kind::cuda) result.is = verdict::slow;
  const std::size_t bytes = 2 * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const detail::unique_fd file(::memfd_create("pgas-doctor", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file) {
    result.found = fmt::format("memfd_create: {}", std::strerror(errno));
    if (errno == EMFILE || errno == ENFILE) result.fix = "ulimit -n 1024";
    return result;
  }
  if (::ftruncate(file.get(), static_cast<off_t>(bytes)) != 0) {
    result.found = fmt::format("ftruncate of a memory file: {}", std::strerror(errno));
    if (errno == EFBIG) result.fix = "ulimit -f unlimited";
    return result;
  }
  void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (at == MAP_FAILED) {
    result.found = fmt::format("mmap of a memory file: {}", std::strerror(errno));
    result.fix = "ulimit -v unlimited";
    return result;
  }
  std::memset(at, 1, bytes);
  ::munmap(at, bytes);
  if (::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    result.found = fmt::format("sealing a memory file: {}", std::strerror(errno));
    return result;
  }
  return {"memory files", verdict::ok, "memfd_create, sealed and mapped"};
}

row check_descriptor_passing(const config& settings) {
  const std::string& directory = settings.socket_directory;
  const std::string where = directory.empty() ? "abstract UNIX sockets" : "UNIX sockets in " + directory;
  row result{"sockets", verdict::fails, "", "PEs of a host exchange everything over such sockets: joining fails",
             directory.empty()
                 ? seccomp_mend
                 : "PGAS_SOCKET_DIR=/a/directory that this user may write to, the same for all PEs of the host"};
  try {
    const detail::unix_address address(directory, detail::random_name("pgas-doctor-"));
    const detail::unix_listener listener(address, 1);
    const detail::connect_result calling = detail::connect_to(address);
    if (!calling.fd) throw error(code::system, fmt::format("connecting: {}", detail::errno_text(calling.error)));
    const detail::connect_result called = listener.accept();
    if (!called.fd) throw error(code::system, fmt::format("accepting: {}", detail::errno_text(called.error)));
    const std::array<std::byte, 1> byte{};
    const int sent = listener.fd();
    if (const int failed = detail::send_packet(calling.fd.get(), byte, {}, std::span(&sent, 1)); failed != 0)
      throw error(code::system, fmt::format("sending a descriptor: {}", detail::errno_text(failed)));
    std::array<std::byte, 16> room{};
    const detail::received_packet got = detail::receive_packet(called.fd.get(), room);
    if (got.fds.size() != 1)
      throw error(code::system, got.descriptors_lost
                                    ? "a descriptor was lost: this process can't open more files (ulimit -n)"
                                    : "a descriptor that was sent did not arrive");
    const std::optional<detail::socket_owner> owner = detail::peer_credentials(called.fd.get());
    if (!owner || owner->uid != ::geteuid()) throw error(code::system, "the kernel does not report the peer process");
  } catch (const error& why) {
    result.found = fmt::format("{}: {}", where, why.what());
    if (result.found.find("ulimit -n") != std::string::npos || result.found.find("open files") != std::string::npos)
      result.fix = "ulimit -n 1024";
    return result;
  }
  return {"sockets", verdict::ok, where + " pass descriptors"};
}

row check_process_handles() {
  bool gone = false;
  if (detail::process_of(::getppid(), gone)) return {"process handles", verdict::ok, "pidfd_open"};
  return {"process handles", verdict::slow, fmt::format("pidfd_open: {}", std::strerror(errno)),
          "only closed sockets show that a PE has died, and not immediately if a child process still has them open",
          seccomp_mend};
}

row check_threads() {
  constexpr int needed = 3;  // the number of threads of a PE: the reader, the proxy, and UCX's thread
  std::atomic<int> ran{0};
  std::vector<std::thread> all;
  row result{"threads", verdict::ok, fmt::format("{} more can be started", needed)};
  try {
    for (int i = 0; i < needed; ++i) all.push_back(detail::start_thread("pgas-doctor", [&] { ++ran; }));
  } catch (const error& why) {
    result = {"threads", verdict::fails, why.what(), "a PE has 2 to 4 threads of the library: joining fails",
              "ulimit -u unlimited; in a container a higher limit of processes (docker run --pids-limit)"};
  }
  for (std::thread& each : all) each.join();
  return result;
}

row check_container() {
  std::vector<std::string> found;
  const std::string seccomp = status_of("Seccomp");
  if (seccomp == "2") found.push_back("a seccomp filter");
  if (status_of("NoNewPrivs") == "1") found.push_back("no new privileges");
  for (const char* file : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    const std::string limit = first_line(file);
    if (!limit.empty() && limit != "max" && limit.size() < 16) found.push_back("memory of at most " + limit + " bytes");
  }
  const std::string pids = first_line("/sys/fs/cgroup/pids.max");
  if (!pids.empty() && pids != "max") found.push_back("at most " + pids + " processes and threads");
  const std::string cpus = first_line("/sys/fs/cgroup/cpu.max");
  if (!cpus.empty() && !cpus.starts_with("max")) found.push_back("a share of the CPUs (cpu.max " + cpus + ")");
  return {
      "container", verdict::ok,
      found.empty() ? "no limits of a container are in force" : fmt::format("in force: {}", fmt::join(found, ", "))};
}

}  // namespace pgas::doctor
