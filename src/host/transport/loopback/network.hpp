/// @file
/// What connects transports of PEs that are threads of one process: for tests of everything above a transport.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "host/transport/transport.hpp"

namespace pgas::detail {

/// The wire between `n_pes` loopback transports. Puts and gets are copies within the process, made by the side that
/// issued them. Whatever goes through here is ordered by one mutex, so a PE that is told of a put by a message sees it
/// by the rules of C++ too.
///
/// *Callers* any thread.
class loopback_network : public std::enable_shared_from_this<loopback_network> {
 public:
  /// @param n_pes at least 1. To be held by shared_ptr: the transports keep it alive.
  explicit loopback_network(int n_pes);

  /// The transport of PE `pe`, 0..n_pes-1; each once.
  [[nodiscard]] std::unique_ptr<transport> join(int pe);

  /// From now on nothing goes to or comes from `pe`. All others are told that it is lost, and it of all others, as when
  /// its host fails.
  void cut(int pe);

  // ---- for the transports

  /// What a PE finds in its inbox: a message of `from`, or the news that `from` is lost.
  struct parcel {
    int from;
    bool lost;
    blob bytes;
    std::string why;
  };
  /// Whether something reached the other side, and why not: `cut` is also in the inbox, `left` is for the caller to
  /// tell.
  enum class outcome { arrived, cut, left };
  enum class direction { put, get };

  [[nodiscard]] int n_pes() const noexcept { return static_cast<int>(pes_.size()); }
  [[nodiscard]] std::uint64_t expose(int pe, std::byte* address, std::size_t bytes);
  void withdraw(int pe, std::uint64_t id);
  /// Whether `pe` exposes `bytes` bytes under this number.
  [[nodiscard]] bool exposes(int pe, std::uint64_t id, std::size_t bytes);
  /// Between `bytes` bytes at `local` of PE `from` and those `offset` behind the start of what `to` exposed. Memory
  /// that was withdrawn counts as `left`.
  [[nodiscard]] outcome copy(direction way, int from, int to, std::uint64_t id, std::uint64_t offset, std::byte* local,
                             std::size_t bytes);
  [[nodiscard]] outcome send(int from, int to, std::span<const std::byte> message);
  /// Empties the inbox.
  [[nodiscard]] std::deque<parcel> take(int pe);
  /// Until the inbox has something, wake(), or `limit`.
  void wait(int pe, std::chrono::milliseconds limit);
  void wake(int pe) noexcept;
  /// `pe` has said goodbye: no loss, but who sends to it is told.
  void leave(int pe) noexcept;
  /// The transport is gone. One that has not left counts as cut.
  void gone(int pe) noexcept;

 private:
  enum class presence { here, left, cut };

  struct pe_state {
    presence now = presence::here;
    bool woken = false;
    std::deque<parcel> inbox;
    std::map<std::uint64_t, std::span<std::byte>> exposed;
    std::condition_variable news;
  };

  [[nodiscard]] pe_state& at(int pe) { return *pes_[static_cast<std::size_t>(pe)]; }
  [[nodiscard]] outcome way_to(int from, int to);

  std::mutex mutex_;  ///< guards all below
  std::vector<std::unique_ptr<pe_state>> pes_;
  std::vector<bool> joined_;
  std::uint64_t next_id_ = 1;
};

}  // namespace pgas::detail
