/// @file
/// A network of PEs that are threads of one process, for tests of the proxy above a transport.
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

namespace pgas::testing {

/// Connects `n_pes` loopback transports. Puts and gets are copies within the process, made by the PE that issued them.
/// One mutex orders all operations, so a PE that learns of a put from a message also sees the put, by the rules of C++.
///
/// *Callers* any thread.
class loopback_network : public std::enable_shared_from_this<loopback_network> {
 public:
  /// @param n_pes at least 1. The network must be owned by a shared_ptr, because the transports keep it alive.
  explicit loopback_network(int n_pes);

  /// The transport of PE `pe`, 0..n_pes-1. Called once for each PE.
  [[nodiscard]] std::unique_ptr<detail::transport> join(int pe);

  /// Ends all traffic to and from `pe`, like a failure of its host: every other PE loses `pe`, and `pe` loses all other
  /// PEs.
  void cut(int pe);

  // ---- for the transports

  /// An entry of an inbox: a message of `from`, or the report that `from` is lost.
  struct inbox_entry {
    int from;
    bool lost;
    blob bytes;
    std::string why;
  };
  /// Whether an operation reached its target. For `cut`, the inbox also contains a report. For `left`, the caller has
  /// to report the loss.
  enum class outcome { arrived, cut, left };
  enum class direction { put, get };

  [[nodiscard]] int n_pes() const noexcept { return static_cast<int>(pes_.size()); }
  [[nodiscard]] std::uint64_t expose(int pe, std::byte* address, std::size_t bytes);
  void withdraw(int pe, std::uint64_t id);
  /// Whether `pe` exposes `bytes` bytes under the number `id`.
  [[nodiscard]] bool exposes(int pe, std::uint64_t id, std::size_t bytes);
  /// Copies `bytes` bytes between `local` of PE `from` and `offset` of the memory that `to` exposed. Withdrawn memory
  /// counts as `left`.
  [[nodiscard]] outcome copy(direction which, int from, int to, std::uint64_t id, std::uint64_t offset,
                             std::byte* local, std::size_t bytes);
  [[nodiscard]] outcome send(int from, int to, std::span<const std::byte> message);
  /// Empties the inbox.
  [[nodiscard]] std::deque<inbox_entry> take(int pe);
  /// Waits until the inbox has an entry, until wake() is called, or for at most `limit`.
  void wait(int pe, std::chrono::nanoseconds limit);
  void wake(int pe) noexcept;
  /// Called when `pe` has disconnected. Only a PE that sends to `pe` loses it.
  void leave(int pe) noexcept;
  /// Called when the transport is destroyed. A transport that has not left counts as cut.
  void gone(int pe) noexcept;

 private:
  enum class presence { here, left, cut };

  struct pe_state {
    presence now = presence::here;
    bool woken = false;
    std::deque<inbox_entry> inbox;
    std::map<std::uint64_t, std::span<std::byte>> exposed;
    std::condition_variable changed;
  };

  [[nodiscard]] pe_state& at(int pe) { return *pes_[static_cast<std::size_t>(pe)]; }
  [[nodiscard]] outcome route_state(int from, int to);

  std::mutex mutex_;  ///< guards all members below
  std::vector<std::unique_ptr<pe_state>> pes_;
  std::vector<bool> joined_;
  std::uint64_t next_id_ = 1;
};

/// The transport of one PE, made by loopback_network::join(). Long puts and gets take several progress() calls, so that
/// the code above has to handle incomplete operations.
class loopback_transport final : public detail::transport {
 public:
  loopback_transport(std::shared_ptr<loopback_network> network, int pe);
  ~loopback_transport() override;

  [[nodiscard]] std::string name() const override { return "loopback"; }
  [[nodiscard]] blob address() const override;
  void connect(std::vector<blob> addresses, detail::transport_events& events) override;
  [[nodiscard]] std::string route(int pe) const override;

  [[nodiscard]] std::optional<detail::exposed_memory> expose(void* address, std::size_t bytes,
                                                             std::string& why_not) override;
  void withdraw(const detail::exposed_memory& memory) noexcept override;
  [[nodiscard]] std::uint64_t import_memory(int pe, std::span<const std::byte> key) override;
  void forget(std::uint64_t imported) noexcept override;

  void put(std::uint64_t imported, std::uint64_t offset, const void* local, std::size_t bytes,
           detail::transport_token token) override;
  void get(std::uint64_t imported, std::uint64_t offset, void* local, std::size_t bytes,
           detail::transport_token token) override;
  void send(int pe, std::span<const std::byte> message, detail::transport_token token) override;
  [[nodiscard]] std::size_t max_message() const noexcept override { return 64 << 10; }

  bool progress() override;
  void wait(std::chrono::nanoseconds limit) override;
  void wake() noexcept override;
  void disconnect(std::chrono::milliseconds limit) noexcept override;

 private:
  struct imported_memory {
    int pe;
    std::uint64_t id;
    std::uint64_t bytes;
  };
  /// A message if `memory` is not set; otherwise a put or get of which `done` bytes have been copied.
  struct operation {
    int pe;
    std::optional<loopback_network::direction> memory;
    std::uint64_t id;
    std::uint64_t offset;
    std::byte* local;
    std::size_t bytes;
    detail::transport_token token;
    std::size_t done = 0;
  };

  void check_connected() const;
  void start_copy(loopback_network::direction which, std::uint64_t imported, std::uint64_t offset, std::byte* local,
                  std::size_t bytes, detail::transport_token token);
  [[nodiscard]] bool is_lost(int pe) const { return lost_[static_cast<std::size_t>(pe)]; }
  void lose(int pe, const std::string& why);
  [[nodiscard]] bool read_inbox();
  /// Executes a part of the first operation.
  void advance();

  const std::shared_ptr<loopback_network> network_;
  const int pe_;
  detail::transport_events* events_ = nullptr;
  bool left_ = false;
  std::vector<bool> lost_;  ///< reported to the events
  std::map<std::uint64_t, imported_memory> imported_;
  std::uint64_t next_import_ = 1;
  std::deque<operation> operations_;
};

}  // namespace pgas::testing
