/// @file
/// Sockets that children of fork() do not keep. If a child has a copy of a socket and its parent dies, the peer of the
/// socket does not detect the death of the parent.
#pragma once

#include <atomic>
#include <utility>

#include "common/fork_guard.hpp"
#include "common/unique_fd.hpp"

namespace pgas::detail {

/// Returns the object of type T that belongs to this process. The first call constructs the object. The object is never
/// destroyed. A child of fork() gets a new object, because a thread of the parent can have locked a mutex in the
/// parent's object.
template <class T>
[[nodiscard]] T& of_this_process() {
  struct owned {
    fork_guard process;
    T value;
  };
  static std::atomic<owned*> current{nullptr};
  owned* now = current.load(std::memory_order_acquire);
  while (now == nullptr || !now->process.in_creator()) {
    auto* const result = new owned;
    if (current.compare_exchange_strong(now, result, std::memory_order_acq_rel)) return result->value;
    delete result;
  }
  return now->value;
}

/// Registers `fd`, so that fork() closes it in the child.
void close_after_fork(int fd);
/// Removes the registration of `fd`. Must be called before this process closes `fd`.
void keep_after_fork(int fd) noexcept;

/// Owns a descriptor that fork() closes in the child. Move-only, initially empty.
///
/// *Callers* any thread. A child must neither use nor destroy an object of its parent, because the descriptor of the
/// object can refer to another file in the child.
class unforked_fd {
 public:
  unforked_fd() = default;
  explicit unforked_fd(unique_fd fd) : fd_(std::move(fd)) {
    if (fd_) close_after_fork(fd_.get());
  }
  unforked_fd(unforked_fd&& other) noexcept = default;
  unforked_fd& operator=(unforked_fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  unforked_fd(const unforked_fd&) = delete;
  unforked_fd& operator=(const unforked_fd&) = delete;
  ~unforked_fd() { close(); }

  [[nodiscard]] int get() const noexcept { return fd_.get(); }
  [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(fd_); }
  void close() noexcept {
    if (fd_) keep_after_fork(fd_.get());
    fd_.reset();
  }

 private:
  unique_fd fd_;
};

}  // namespace pgas::detail
