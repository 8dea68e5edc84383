#include "device/cpu/host_segment.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>

#include "common/process_identity.hpp"
#include "common/resource_limits.hpp"
#include "pgas/error.hpp"

namespace pgas::detail {

namespace {

constexpr int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

error system_failure(const char* call, int why) {
  const bool memory = why == ENOMEM || why == ENOSPC;
  const bool files = why == EMFILE || why == ENFILE;
  return error(memory ? code::out_of_memory : code::system,
               fmt::format("{}: {}{}", call, std::strerror(why), files ? "; raise the limit (ulimit -n)" : ""));
}

/// Retries a call that a signal has interrupted.
template <class Call>
auto retry(Call&& call) {
  for (;;) {
    const auto result = call();
    if (result >= 0 || errno != EINTR) return result;
  }
}

std::string file_name(std::uint64_t nonce) { return fmt::format("pgas-{:016x}", nonce); }

[[noreturn]] void reject(const std::string& why) { throw error(code::handle_invalid, "the handle " + why); }

/// Throws unless the descriptor is a memory file of this user with exactly `bytes` bytes. The file must be sealed
/// against a change of its size, unless `foreign` is true.
void inspect(int fd, std::size_t bytes, bool foreign) {
  struct stat about {};
  if (::fstat(fd, &about) != 0) reject(fmt::format("can't be inspected: {}", std::strerror(errno)));
  if (!S_ISREG(about.st_mode)) reject("is not memory");
  if (about.st_uid != ::geteuid()) reject(fmt::format("belongs to user {}", about.st_uid));
  if (static_cast<std::size_t>(about.st_size) != bytes)
    reject(fmt::format("refers to {} bytes instead of {}", about.st_size, bytes));
  if (foreign) return;
  const int has = ::fcntl(fd, F_GET_SEALS);
  constexpr int needed = F_SEAL_SHRINK | F_SEAL_GROW;
  if (has < 0 || (has & needed) != needed) reject("refers to a file that can still be resized");
  if ((has & F_SEAL_WRITE) != 0) reject("refers to memory that can't be written");
}

unique_fd open_named(const named_handle& name, std::size_t bytes) {
  if (name.magic != named_handle::expected_magic || name.version != named_handle::current_version)
    reject("was not made by this version of the library");
  if (name.bytes != bytes) reject(fmt::format("names {} bytes instead of {}", name.bytes, bytes));
  const std::string path = fmt::format("/proc/{}/fd/{}", name.pid, name.fd);
  // The file is checked before it is opened, because a forged handle can name a device or a pipe. An open of a device
  // or a pipe can have side effects.
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0)
    reject(fmt::format("names {}: {}{}", path, std::strerror(errno),
                       process_start(::getpid()) == 0 ? "; there is no /proc: mount -t proc proc /proc" : ""));
  if (!S_ISREG(about.st_mode)) reject("names something that is not memory");
  char target[64] = {};
  const ssize_t length = ::readlink(path.c_str(), target, sizeof(target) - 1);
  if (length < 0 || !std::string_view(target).starts_with("/memfd:" + file_name(name.nonce)))
    reject("names another file");
  unique_fd fd(retry([&] { return ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK); }));
  if (!fd) reject(fmt::format("names {}: {}", path, std::strerror(errno)));
  // The opened file is checked again, because the name can refer to another file by now.
  if (::fstat(fd.get(), &about) != 0 || about.st_ino != name.inode || about.st_dev != name.device)
    reject("names another file");
  if (process_start(name.pid) != name.process_start) reject("belongs to a process that has ended");
  return fd;
}

constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

/// The number in a file. Empty if the file does not exist or contains "max".
std::optional<std::size_t> number_in(const std::string& path) {
  std::size_t value = 0;
  if (std::ifstream(path) >> value) return value;
  return std::nullopt;
}

/// A row of /proc/meminfo, in bytes.
std::optional<std::size_t> meminfo(std::string_view name) {
  std::ifstream file("/proc/meminfo");
  std::string line;
  while (std::getline(file, line)) {
    if (!line.starts_with(name) || line.size() <= name.size() || line[name.size()] != ':') continue;
    std::size_t kib = 0;
    if (std::istringstream(line.substr(name.size() + 1)) >> kib) return kib * 1024;
  }
  return std::nullopt;
}

std::size_t rest(std::optional<std::size_t> limit, std::optional<std::size_t> used) {
  if (!limit) return unlimited;
  return *limit - std::min(*limit, used.value_or(0));
}

/// The memory that this process's control group can still allocate under its limits. Reads the hierarchies of cgroup v1
/// and v2, including their roots: in a container, the root is the group of the container, even if /proc/self/cgroup
/// contains another name.
std::size_t control_group_rest() {
  std::size_t least = unlimited;
  const auto scan = [&least](const std::string& folder, const char* limit, const char* used) {
    least = std::min(least, rest(number_in(folder + limit), number_in(folder + used)));
  };
  std::ifstream file("/proc/self/cgroup");
  std::string line;
  while (std::getline(file, line)) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (controllers.empty())
      scan("/sys/fs/cgroup" + path, "/memory.max", "/memory.current");
    else if (controllers == "memory")
      scan("/sys/fs/cgroup/memory" + path, "/memory.limit_in_bytes", "/memory.usage_in_bytes");
  }
  scan("/sys/fs/cgroup", "/memory.max", "/memory.current");
  scan("/sys/fs/cgroup/memory", "/memory.limit_in_bytes", "/memory.usage_in_bytes");
  return least;
}

void check_available(std::size_t bytes) {
  if (const std::size_t available = available_memory(); bytes > available)
    throw error(
        code::out_of_memory,
        fmt::format("{} bytes of host memory were requested, {} are available to this process", bytes, available));
}

unique_fd create_sparse_file(const std::string& name, std::size_t bytes) {
  unique_fd fd(::memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) throw system_failure("memfd_create", errno);
  const no_file_limit_signal no_signal;
  if (retry([&] { return ::ftruncate(fd.get(), static_cast<off_t>(bytes)); }) != 0)
    throw errno == EFBIG ? file_limit_reached(bytes) : system_failure("ftruncate", errno);
  return fd;
}

void allocate_pages(int fd, std::size_t offset, std::size_t bytes) {
  if (retry([&] { return ::fallocate(fd, 0, static_cast<off_t>(offset), static_cast<off_t>(bytes)); }) != 0)
    throw system_failure("fallocate", errno);
}

}  // namespace

std::uint64_t random_number() {
  std::uint64_t number = 0;
  retry([&] { return ::getrandom(&number, sizeof(number), 0); });
  return number;
}

std::size_t physical_memory() noexcept {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? static_cast<std::size_t>(pages) * static_cast<std::size_t>(page) : 0;
}

bool strict_overcommit() { return number_in("/proc/sys/vm/overcommit_memory") == std::size_t{2}; }

std::size_t available_memory() {
  std::size_t least = std::min(meminfo("MemAvailable").value_or(physical_memory()), control_group_rest());
  if (strict_overcommit()) least = std::min(least, rest(meminfo("CommitLimit"), meminfo("Committed_AS")));
  return least;
}

unique_fd create_memory_file(const std::string& name, std::size_t bytes) {
  check_available(bytes);
  unique_fd fd = create_sparse_file(name, bytes);
  if (strict_overcommit()) allocate_pages(fd.get(), 0, bytes);
  return fd;
}

void allocate_in_file(int fd, std::size_t offset, std::size_t bytes) {
  check_available(bytes);
  if (strict_overcommit()) allocate_pages(fd, offset, bytes);
}

host_segment host_segment::create(std::size_t bytes) {
  const std::uint64_t nonce = random_number();
  return sealed(create_memory_file(file_name(nonce), bytes), bytes, nonce);
}

host_segment host_segment::create_span(std::size_t bytes) {
  const std::uint64_t nonce = random_number();
  return sealed(create_sparse_file(file_name(nonce), bytes), bytes, nonce);
}

host_segment host_segment::sealed(unique_fd fd, std::size_t bytes, std::uint64_t nonce) {
  if (::fcntl(fd.get(), F_ADD_SEALS, seals) != 0) throw system_failure("fcntl(F_ADD_SEALS)", errno);
  return {std::move(fd), bytes, nonce};
}

exported_handle host_segment::export_as(handle_kind kind) const {
  exported_handle handle;
  handle.kind = kind;
  handle.foreign = foreign_;
  if (kind == handle_kind::posix_fd) {
    handle.fd = unique_fd(::fcntl(fd_.get(), F_DUPFD_CLOEXEC, 0));
    if (!handle.fd) throw system_failure("fcntl(F_DUPFD_CLOEXEC)", errno);
    return handle;
  }
  struct stat about {};
  if (::fstat(fd_.get(), &about) != 0) throw system_failure("fstat", errno);
  named_handle name;
  name.pid = ::getpid();
  name.fd = fd_.get();
  name.process_start = process_start(name.pid);
  name.inode = about.st_ino;
  name.device = about.st_dev;
  name.bytes = bytes_;
  name.nonce = nonce_;
  if (name.process_start == 0) throw error(code::device_failed, "named handles need /proc");
  handle.bytes = std::bit_cast<std::array<std::byte, 64>>(name);
  return handle;
}

host_segment host_segment::import(const exported_handle& handle, std::size_t bytes) {
  unique_fd fd;
  switch (handle.kind) {
    case handle_kind::posix_fd:
      if (!handle.fd) reject("came without its descriptor");
      fd = unique_fd(::fcntl(handle.fd.get(), F_DUPFD_CLOEXEC, 0));
      if (!fd) {
        if (errno == EBADF) reject("is not an open descriptor");
        throw system_failure("fcntl(F_DUPFD_CLOEXEC)", errno);
      }
      break;
    case handle_kind::named:
    case handle_kind::cuda_ipc: fd = open_named(std::bit_cast<named_handle>(handle.bytes), bytes); break;
    default: reject("is of a kind that host memory does not have");
  }
  inspect(fd.get(), bytes, handle.foreign);
  return {std::move(fd), bytes, 0};
}

host_segment host_segment::of_program(unique_fd fd, std::size_t bytes) { return {std::move(fd), bytes, 0, true}; }

}  // namespace pgas::detail
