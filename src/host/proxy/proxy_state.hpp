/// @file
/// What the sending and the receiving half of a proxy share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "host/proxy/local_memory.hpp"
#include "host/proxy/message_pool.hpp"
#include "host/proxy/peer_state.hpp"
#include "host/proxy/pending_requests.hpp"
#include "host/proxy/settings.hpp"
#include "host/transport/transport.hpp"

namespace pgas::detail {

/// Puts and gets that the transport carries out, by number.
class pieces_under_way {
 public:
  struct piece {
    proxy_op* op = nullptr;
    peer_state* with = nullptr;
  };

  [[nodiscard]] std::size_t add(const piece& what) {
    if (free_.empty()) {
      free_.reserve(pieces_.size() + 1);
      free_.push_back(pieces_.size());
      pieces_.emplace_back();
    }
    const std::size_t index = free_.back();
    free_.pop_back();
    pieces_[index] = what;
    return index;
  }
  [[nodiscard]] piece remove(std::size_t index) noexcept {
    free_.push_back(index);  // reserved by add()
    return pieces_[index];
  }
  [[nodiscard]] bool none() const noexcept { return free_.size() == pieces_.size(); }

 private:
  std::vector<piece> pieces_;
  std::vector<std::size_t> free_;
};

struct proxy_state {
  /// Tells pieces from messages in transport tokens.
  static constexpr transport_token piece_token = transport_token{1} << 63;

  const proxy_settings& settings;
  transport& network;
  proxy_memory& memory;
  const std::size_t payload;  ///< the most of one record
  const std::size_t eager;    ///< what is not larger goes as one record
  message_pool pool;
  std::deque<peer_state> channels{};  ///< by PE
  std::vector<peer_state*> active{};  ///< that may have something to send or to issue
  pending_requests awaited{};
  pieces_under_way pieces{};
  std::vector<proxy_op*> reads{};  ///< whose sources are on their way to messages; one for each read
  peer_memory exposed{};           ///< of this PE, by address: what the transport may use although the host may not
  proxy_statistics counts{};

  [[nodiscard]] peer_state& to(int pe) noexcept { return channels[static_cast<std::size_t>(pe)]; }
  /// There may be something to do for it at the end of this turn.
  void touch(peer_state& which) {
    if (which.active) return;
    which.active = true;
    active.push_back(&which);
  }
  /// Somebody waits for the effects of what is under way to it.
  void await_effects(peer_state& which) {
    if (which.effects.empty()) return;
    which.out.await(which.effects.back().sequence);
    touch(which);
  }
};

}  // namespace pgas::detail
