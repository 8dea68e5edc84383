/// @file
/// The worlds of the started processes. Takes the requests of the processes and runs a hub for each world.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bootstrap/hub/world_hub.hpp"

namespace pgas::boot {

class world_hubs {
 public:
  struct listener {
    std::function<void(int rank, std::string_view reason)> aborted;
    /// Called if a connection is lost; returns the reason that the other members receive.
    std::function<std::string(int rank)> fell_silent;
    /// Called if no descriptor is left for the connection of the rank.
    std::function<void(int rank)> turned_away;
  };

  world_hubs(event_loop& loop, int size, listener told);

  /// Serves the requests of `rank` that arrive at `requests`. The caller keeps ownership of the descriptor.
  void serve(int rank, int requests);
  /// Called when the process has ended. Breaks current and later worlds, unless the process has left them.
  void ended(int rank, std::string how);

  [[nodiscard]] std::optional<clock::time_point> due() const;
  void expire();

 private:
  void receive(int rank, int requests);
  void attach(int rank, unique_fd socket);

  event_loop& loop_;
  listener told_;
  std::vector<std::size_t> next_world_;            // by rank
  std::vector<std::optional<std::string>> ended_;  // by rank
  // The hubs, indexed by world; null if all members have arrived and left.
  std::vector<std::unique_ptr<world_hub>> hubs_;
};

}  // namespace pgas::boot
