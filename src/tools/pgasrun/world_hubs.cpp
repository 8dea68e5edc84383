#include "src/tools/pgasrun/world_hubs.hpp"

#include <algorithm>

#include "bootstrap/hub/hub_protocol.hpp"
#include "common/net/unix_socket.hpp"
#include "common/value_bytes.hpp"

namespace pgas::boot {

world_hubs::world_hubs(event_loop& loop, int size, listener told)
    : loop_(loop), told_(std::move(told)), next_world_(static_cast<std::size_t>(size)), ended_(next_world_.size()) {}

void world_hubs::serve(int rank, int requests) {
  loop_.watch(requests, POLLIN, [this, rank, requests](short) { receive(rank, requests); });
}

void world_hubs::receive(int rank, int requests) {
  for (;;) {
    world_request request;
    received_packet got = receive_packet(requests, writable_bytes_of(request));
    if (got.what == received_packet::status::nothing_yet) return;
    // No process has the other end of the socket.
    if (got.what == received_packet::status::closed) return loop_.forget(requests);
    if (got.descriptors_lost) told_.turned_away(rank);
    // If the library has another version, pgasrun answers the request by closing the socket.
    if (got.fds.size() == 1 && got.bytes.size() == sizeof(request) && request.magic == world_request::expected_magic &&
        request.version == world_request::expected_version)
      attach(rank, std::move(got.fds.front()));
  }
}

void world_hubs::attach(int rank, unique_fd socket) {
  const std::size_t world = next_world_[static_cast<std::size_t>(rank)]++;
  if (world == hubs_.size()) {
    auto fresh = std::make_unique<world_hub>(loop_, static_cast<int>(next_world_.size()));
    fresh->on_abort(told_.aborted);
    fresh->on_silence(told_.fell_silent);
    for (std::size_t other = 0; other < ended_.size(); ++other)
      if (ended_[other]) fresh->ended(static_cast<int>(other), *ended_[other]);
    hubs_.push_back(std::move(fresh));
  }
  // A child of a PE can send a request after the world has ended. pgasrun answers such a request by closing the socket.
  if (world_hub* const open = hubs_[world].get()) open->attach(rank, std::move(socket));
}

void world_hubs::ended(int rank, std::string how) {
  for (const auto& item : hubs_)
    if (item) item->ended(rank, how);
  ended_[static_cast<std::size_t>(rank)] = std::move(how);
}

std::optional<clock::time_point> world_hubs::due() const {
  std::optional<clock::time_point> first;
  for (const auto& item : hubs_)
    if (item && item->due()) first = first ? std::min(*first, *item->due()) : *item->due();
  return first;
}

void world_hubs::expire() {
  const auto now = clock::now();
  for (auto& item : hubs_) {
    if (item && item->due() && *item->due() <= now) item->expire();
    if (item && item->over()) item.reset();
  }
}

}  // namespace pgas::boot
