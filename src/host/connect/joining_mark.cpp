#include "host/connect/joining_mark.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <exception>
#include <filesystem>
#include <functional>

#include "common/deadline.hpp"
#include "common/unforked_fd.hpp"
#include "common/unique_fd.hpp"

namespace pgas::detail {

namespace {

constexpr int may_look = 1024;  // the number of programs that can connect at the same time

std::string text_of(int number) { return number < 0 ? "x" : std::to_string(number); }

/// Whether the file is a socket without a listener. If the file is new, the process that made it can be about to
/// listen.
bool is_dead_socket(const std::string& folder, const std::string& name, const struct stat& about) {
  constexpr time_t young = 10;
  return S_ISSOCK(about.st_mode) && ::time(nullptr) - about.st_mtime > young &&
         connect_to(unix_address(folder, name)).error == ECONNREFUSED;
}

/// Whether no process, of any container, has the file open or mapped. Linux grants a lease for writing only in this
/// case. UCX keeps a file open while it creates, maps and removes the file.
bool is_unused(const std::string& path, const struct stat& about) {
  if (!S_ISREG(about.st_mode)) return false;
  const unique_fd file(::open(path.c_str(), O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  return file && ::fcntl(file.get(), F_SETLEASE, F_WRLCK) == 0;
}

void sweep(const std::string& folder, std::string_view prefix,
           const std::function<bool(const std::string&, const struct stat&)>& dead) {
  std::error_code none;
  for (auto one = std::filesystem::directory_iterator(folder, none); one != std::filesystem::directory_iterator();
       one.increment(none)) {
    const std::string name = one->path().filename().string();
    struct stat about {};
    if (!name.starts_with(prefix) || ::lstat(one->path().c_str(), &about) != 0 || about.st_uid != ::geteuid()) continue;
    if (dead(name, about)) ::unlink(one->path().c_str());
  }
}

}  // namespace

joining_mark::joining_mark(const std::string& directory, int pe, int n) noexcept {
  static std::atomic<int> made{0};
  if (n == 1) return;
  try {
    const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(clock::now().time_since_epoch());
    listener_.emplace(unix_address(directory, fmt::format("{}{}-{}-{}-{}.{}", joining_socket_prefix, text_of(n),
                                                          text_of(pe), now.count(), ::getpid(), made.fetch_add(1))),
                      may_look);
    close_after_fork(listener_->fd());
  } catch (const std::exception&) {
    listener_.reset();  // the mark is optional; if joining itself lacks a socket, joining reports the cause
  }
}

joining_mark::~joining_mark() {
  if (listener_) keep_after_fork(listener_->fd());
}

void remove_stale_files(const std::string& directory) noexcept {
  try {
    if (!directory.empty())
      sweep(directory, "pgas-",
            [&](const std::string& name, const struct stat& about) { return is_dead_socket(directory, name, about); });
    const std::string shared = "/dev/shm";
    sweep(shared, "ucx_shm_posix_",
          [&](const std::string& name, const struct stat& about) { return is_unused(shared + "/" + name, about); });
  } catch (const std::exception&) {
    // The next start of a world tries again to remove the files.
  }
}

}  // namespace pgas::detail
