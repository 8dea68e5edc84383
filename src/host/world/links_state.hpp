/// @file
/// What stands behind links: the sockets, the thread that reads them, the collectives under way and the first failure.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "device/unique_fd.hpp"
#include "host/log/log.hpp"
#include "host/world/links.hpp"
#include "host/world/packet.hpp"
#include "host/world/rounds.hpp"
#include "host/world/unix_socket.hpp"

namespace pgas::detail {

struct links::state {
  using clock = std::chrono::steady_clock;
  /// Who found out about a failure: that PE logs it as an error and tells the others.
  enum class origin { here, peer };

  state(bootstrap& exchange, const config& settings, log::logger& logger, failure_callback callback);
  ~state();

  // ---- the thread that uses the world (links_collective.cpp)

  [[nodiscard]] std::vector<contribution> gather(collective call, std::span<const std::byte> mine,
                                                 std::span<const int> fds);
  void leave();
  void check() const;

  // ---- any thread (links_failure.cpp)

  void set_failure(const error& cause, origin from) noexcept;
  void broadcast(packet_kind kind, std::span<const std::byte> body, std::chrono::milliseconds patience);
  /// "PE 2 (host a, pid 123)"
  [[nodiscard]] std::string describe(int pe) const;

  // ---- the reader (links_reader.cpp)

  void start_reader();
  void stop_reader() noexcept;
  void read_until_woken();
  /// Reads what there is. Whether more may come.
  [[nodiscard]] bool read_from(int pe);
  void handle(int pe, received_packet packet);
  void handle_end(int pe);

  [[nodiscard]] int n() const noexcept { return static_cast<int>(peers.size()); }

  int me;
  std::chrono::milliseconds wait_timeout;
  log::logger& log;
  const failure_callback on_failure;
  std::vector<peer_info> peers;
  std::vector<unique_fd> sockets;  ///< by PE, open for as long as this lives: any thread may be sending

  mutable std::mutex mutex;  ///< guards what follows
  std::condition_variable changed;
  rounds under_way;
  std::uint64_t next_sequence = 0;
  std::optional<error> failure;
  std::vector<bool> said_bye;
  std::vector<bool> ended;  ///< nothing more comes from this PE
  clock::time_point failed_at;
  bool left = false;
  /// Set once the failure callback has returned: whoever is thrown a failure can count on what the callback did.
  std::atomic<bool> failed{false};

  unique_fd wake;                 ///< eventfd that ends the reader
  std::vector<std::byte> buffer;  ///< the reader's
  std::thread reader;

 private:
  void send_piece(int pe, const packet_header& header, std::span<const std::byte> mine, std::span<const int> fds,
                  std::optional<clock::time_point> deadline);
  /// Whether the failed world leaves no way for this round to be completed.
  [[nodiscard]] bool hopeless(std::uint64_t sequence) const;
  void fail_mismatch(const rounds::mismatch& other, collective call);
  void fail_timeout(std::uint64_t sequence);
};

}  // namespace pgas::detail
