/// @file
/// Rank 0's side of the TCP bootstrap: a thread that admits members and runs the hub of each world.
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
#include "common/net/admission.hpp"
#include "common/net/event_loop.hpp"
#include "common/net/tcp_socket.hpp"
#include "common/net/unix_socket.hpp"

namespace pgas::boot {

using namespace detail;  // namespace of src/common

/// The listeners at which members connect to rank 0.
struct rank0_listeners {
  std::vector<tcp_listener> tcp;
  unique_fd local;     ///< for processes of this user on this host
  bool secret = true;  ///< without a secret the key is public, and processes of this host may not use TCP
  std::string limits;  ///< the processes that cannot connect, for messages about missing ranks

  [[nodiscard]] bool open() const noexcept { return !tcp.empty() || local; }
};

/// *Callers* any thread.
class rank0_server {
 public:
  rank0_server(const bits128& key, rank0_listeners listeners);
  ~rank0_server();
  rank0_server(const rank0_server&) = delete;
  rank0_server& operator=(const rank0_server&) = delete;

  /// Rank 0's state of a world, from open() to close(). It is made when the world is opened, so that closing the world
  /// needs no memory.
  class opened_world {
   private:
    friend class rank0_server;
    struct end_request {
      bool all_are_to_hear = false;
      clock::time_point due;
      std::atomic<bool> made = false;  ///< set after the members above have been written
    };
    std::shared_ptr<end_request> end_ = std::make_shared<end_request>();
    std::future<void> ended_;
  };

  /// Opens a world. `own_end` is the hub's end of rank 0's connection. Members that arrived earlier are admitted now.
  [[nodiscard]] opened_world open(std::uint32_t instance, int size, unique_fd own_end);
  /// Ends a world. Waits at most `limit` until all frames to its members were sent, then disconnects the members. If
  /// `all_are_to_hear` is true, also waits for members that have not arrived yet.
  void close(opened_world& which, bool all_are_to_hear, milliseconds limit) noexcept;
  /// The ranks of a world that connected over TCP without a secret, and the address of one of these ranks.
  struct unproven_members {
    std::vector<int> ranks;
    std::string last_address;
  };
  [[nodiscard]] unproven_members unproven(std::uint32_t instance) const;

 private:
  /// An authenticated connection that does not belong to a member. The connection is parked until its world is opened,
  /// or rank 0 has refused the connection.
  struct waiting_connection {
    caller who;
    bool refused = false;
    clock::time_point due;  // for a refused connection: the time at which it is closed
  };
  struct world {
    std::unique_ptr<world_hub> center;
    std::shared_ptr<const opened_world::end_request> end;
    std::promise<void> ended;  // only the loop owns this promise, because the destruction of the promise ends close()
  };

  void run();
  /// Called after a failure of the thread. Sends the failure to all members and closes all connections.
  void give_up(std::string_view why);
  [[nodiscard]] std::optional<clock::time_point> next_wake() const;
  void expire();
  /// Parks a connection that is authenticated, and admits it if its world is open.
  void park(caller who);
  void remember_refusal(std::string_view from, std::string_view why);
  void remark(world_hub& center) const;
  void react(std::uint64_t id, short revents);
  void admit(std::uint64_t id);
  void refuse(std::uint64_t id, code why, std::string text);
  void drop(std::uint64_t id);

  const bits128 key_;
  rank0_listeners listeners_;
  event_loop loop_;
  std::optional<admission> door_;  // empty after a failure of the thread
  std::map<std::uint64_t, waiting_connection> waiting_;
  std::uint64_t next_id_ = 0;
  std::size_t refused_ = 0;
  std::string last_refused_;
  std::atomic<bool> stopping_ = false;
  std::map<std::uint32_t, world> worlds_;
  mutable std::mutex mutex_;  // guards the members below
  std::map<std::uint32_t, unproven_members> unproven_;
  std::thread thread_;
};

}  // namespace pgas::boot
