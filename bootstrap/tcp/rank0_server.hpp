/// @file
/// Rank 0's side of the TCP bootstrap: a thread that admits members and runs the hub of each world. Each connection is
/// served independently and has to prove itself within a time limit. The unproven connections of one host are limited.
/// So other processes that connect delay no member.
#pragma once

#include <atomic>
#include <cstdint>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "bootstrap/hub/world_hub.hpp"
#include "common/net/event_loop.hpp"
#include "common/net/handshake.hpp"
#include "common/net/tcp_socket.hpp"
#include "common/net/unix_socket.hpp"

namespace pgas::boot {

using namespace detail;  // of src/common

/// Where members connect to rank 0.
struct rank0_listeners {
  std::vector<tcp_listener> tcp;
  unique_fd local;     ///< for processes of this user on this host
  bool secret = true;  ///< without one the key is public, and processes of this host may not use TCP
  std::string limits;  ///< which processes cannot connect, for messages that name missing ranks

  [[nodiscard]] bool open() const noexcept { return !tcp.empty() || local; }
};

/// *Callers* any thread.
class rank0_server {
 public:
  rank0_server(const bits128& key, rank0_listeners listeners);
  ~rank0_server();
  rank0_server(const rank0_server&) = delete;
  rank0_server& operator=(const rank0_server&) = delete;

  /// What rank 0 has of a world, from open() to close(). It is made when the world is opened, so that its end needs no
  /// memory.
  class opened_world {
   private:
    friend class rank0_server;
    struct end_request {
      bool all_are_to_hear = false;
      clock::time_point due;
      std::atomic<bool> made = false;  ///< what is above is written
    };
    std::shared_ptr<end_request> end_ = std::make_shared<end_request>();
    std::future<void> ended_;
  };

  /// Opens a world; `own_end` is the hub's end of rank 0's connection. Members that came earlier are admitted now.
  [[nodiscard]] opened_world open(std::uint32_t instance, int size, unique_fd own_end);
  /// Ends a world: waits, at most `limit`, until all frames to its members were sent, then disconnects them. With
  /// `all_are_to_hear`, also members that have not come yet.
  void close(opened_world& which, bool all_are_to_hear, milliseconds limit) noexcept;
  /// The members of a world that came over TCP although there is no secret which they could have proved, and the last
  /// of their addresses.
  struct unproven_members {
    std::vector<int> ranks;
    std::string last_address;
  };
  [[nodiscard]] unproven_members unproven(std::uint32_t instance) const;

 private:
  /// A connection that is not a member's, or not yet.
  struct pending_connection {
    enum class phase { proving, parked, refused };
    handshake talk;
    std::string from;
    std::string host;                    // that it is counted for
    std::optional<tcp_address> address;  // over TCP
    clock::time_point due;
    phase now = phase::proving;
  };
  struct world {
    std::unique_ptr<world_hub> center;
    std::shared_ptr<const opened_world::end_request> end;
    std::promise<void> ended;  // only the loop has it: where the loop ends, it is destroyed, and close() returns
  };

  void run();
  /// After a failure of the thread: sends it to all members and closes all connections.
  void give_up(std::string_view why);
  [[nodiscard]] std::optional<clock::time_point> next_wake() const;
  void expire();
  void accept_from(const tcp_listener& listener);
  void accept_local();
  void add_pending(unique_fd fd, std::string from, std::string host, const std::optional<tcp_address>& address);
  /// After a failure to accept: whether to go on at once.
  bool go_on_after(int failure);
  void set_accepting(bool on);
  /// Drops the oldest unproven connection that has sent nothing; if all have sent something, the oldest one.
  /// @param host drops a connection of this host only; none: of any host. False: there is no such connection.
  bool drop_oldest_unproven(const std::optional<std::string>& host = std::nullopt);
  void no_longer_proving(const pending_connection& who);
  void remember_refusal(std::string_view from, std::string_view why);
  void remark(world_hub& center) const;
  void react(std::uint64_t id, short revents);
  void receive(std::uint64_t id, pending_connection& who);
  void admit(std::uint64_t id);
  void refuse(std::uint64_t id, code why, std::string text);
  void turn_away(std::uint64_t id, std::string_view why);
  void drop(std::uint64_t id);

  const bits128 key_;
  rank0_listeners listeners_;
  event_loop loop_;
  std::map<std::uint64_t, pending_connection> pending_;  // in the order in which they came
  std::uint64_t next_id_ = 0;
  std::map<std::string, std::size_t> proving_;  // by host, connections that have not proved themselves
  std::size_t all_proving_ = 0;
  std::size_t refused_ = 0;
  std::string last_refused_;
  std::optional<clock::time_point> accept_again_;  // set while descriptors have run out
  std::atomic<bool> stopping_ = false;
  std::map<std::uint32_t, world> worlds_;
  mutable std::mutex mutex_;  // guards what follows
  std::map<std::uint32_t, unproven_members> unproven_;
  std::thread thread_;
};

}  // namespace pgas::boot
