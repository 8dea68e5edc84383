#include "bootstrap/hub/world_hub.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "bootstrap/error_messages.hpp"

namespace pgas::boot {

world_hub::world_hub(event_loop& loop, int size) : loop_(loop), members_(static_cast<std::size_t>(size)) {}

world_hub::~world_hub() {
  for (const member& one : members_)
    if (one.socket) loop_.forget(one.socket.get());
}

void world_hub::attach(int rank, unique_fd socket, const std::optional<session_keys>& keys) {
  member& one = at(rank);
  if (has_come(rank)) return;
  one.where = member::state::present;
  one.socket = std::move(socket);
  if (keys) {
    one.incoming = frame_reader<frame_header>(max_contribution, frame_cipher(keys->to_receive));
    one.seal.emplace(keys->to_send);
  }
  loop_.watch(one.socket.get(), POLLIN, [this, rank](short revents) { react(rank, revents); });
  send(rank, make_frame({.kind = frame_kind::welcome}));
  if (failure_) send(rank, failure_);
}

void world_hub::ended(int rank, std::string_view how) {
  receive(rank);
  lost(rank, how);
}

void world_hub::lost(int rank, std::string_view how) {
  member& one = at(rank);
  if (one.where == member::state::left || one.where == member::state::lost) return;
  close(rank, false);
  fail(code::peer_lost, rank,
       fmt::format("rank {} of {} is gone: {}. The output of that process says why", rank, size(), how));
}

void world_hub::fail(code why, int pe, std::string text) {
  if (failure_) return;
  failure_ = make_failure({why, text, pe});
  due_.reset();
  send_to_all(failure_);
}

void world_hub::expire() {
  std::vector<int> missing;
  for (int rank = 0; rank < size(); ++rank)
    if (!at(rank).arrived) missing.push_back(rank);
  const auto waited = std::chrono::round<milliseconds>(clock::now() - began_);
  fail(code::bootstrap_timeout, missing.front(),
       fmt::format("{} did not reach {} within {}{}{}. Check that all PEs were started and still run",
                   name_ranks(missing, size()), name_of(what_), seconds(waited), remark_.empty() ? "" : "; ", remark_));
}

bool world_hub::drained() const {
  return std::ranges::all_of(members_, [](const member& one) { return one.outgoing.empty(); });
}

bool world_hub::complete() const {
  return std::ranges::none_of(members_, [](const member& one) { return one.where == member::state::absent; });
}

void world_hub::react(int rank, short revents) {
  if ((revents & POLLOUT) != 0) flush(rank);
  if ((revents & ~POLLOUT) != 0) receive(rank);
}

void world_hub::receive(int rank) {
  member& one = at(rank);
  while (one.socket) {
    switch (one.incoming.read(one.socket.get())) {
      case frame_reader<frame_header>::status::incomplete: return;
      case frame_reader<frame_header>::status::closed:
        return lost(rank, on_silence_ ? on_silence_(rank) : "its connection was closed without a message");
      case frame_reader<frame_header>::status::malformed:
        return lost(rank, "it sent something that is not part of the exchange");
      case frame_reader<frame_header>::status::forged:
        return lost(rank, "what came over its connection was changed on the way, or sent by another process");
      case frame_reader<frame_header>::status::complete: break;
    }
    const auto payload = one.incoming.payload();
    const std::string_view text{reinterpret_cast<const char*>(payload.data()), payload.size()};
    switch (one.incoming.header().kind) {
      case frame_kind::contribute: contribute(rank); break;
      case frame_kind::leave: close(rank, true); break;
      case frame_kind::abort:
        if (on_abort_) std::exchange(on_abort_, nullptr)(rank, text);
        fail(code::aborted, rank, fmt::format("rank {} of {} aborted the job: {}", rank, size(), text));
        break;
      default: lost(rank, "it sent a frame that only the hub may send");
    }
  }
}

void world_hub::contribute(int rank) {
  if (failure_) return;  // the sender will read the failure
  member& one = at(rank);
  const frame_header& header = one.incoming.header();
  if (one.arrived || header.sequence != sequence_) return lost(rank, "it is in another collective than the hub");
  const deadline limit{milliseconds{header.limit_ms}};
  if (arrived_ == 0) {
    what_ = header.what;
    began_ = clock::now();
    due_ = limit.at();
  }
  if (header.what != what_)
    return fail(code::asymmetric_call, rank,
                fmt::format("rank {} calls {} where others call {}; all must make the same calls in the same order",
                            rank, name_of(header.what), name_of(what_)));
  due_ = std::min(*due_, limit.at());
  one.arrived = true;
  one.contribution.assign(one.incoming.payload().begin(), one.incoming.payload().end());
  ++arrived_;
  if (arrived_ == size()) return answer();
  for (int other = 0; other < size(); ++other)
    if (at(other).where == member::state::left)
      return fail(code::peer_lost, other,
                  fmt::format("rank {} of {} has left the world while rank {} calls {}; all must make the same calls",
                              other, size(), rank, name_of(what_)));
}

void world_hub::answer() {
  std::vector<blob> parts;
  parts.reserve(members_.size());
  for (member& one : members_) {
    one.arrived = false;
    parts.push_back(std::exchange(one.contribution, {}));
  }
  const shared_frame result =
      make_frame({.kind = frame_kind::result, .sequence = sequence_, .what = what_}, pack(parts));
  ++sequence_;
  arrived_ = 0;
  due_.reset();
  send_to_all(result);
}

void world_hub::send_to_all(const shared_frame& frame) {
  for (int rank = size(); rank-- > 0;) send(rank, frame);
}

void world_hub::send(int rank, shared_frame frame) {
  member& one = at(rank);
  if (!one.socket) return;
  if (one.seal) {
    auto sealed = std::make_shared<blob>();
    one.seal->seal(*frame, {}, *sealed);
    frame = std::move(sealed);
  }
  one.outgoing.push_back(std::move(frame));
  if (one.outgoing.size() == 1) flush(rank);
}

void world_hub::flush(int rank) {
  member& one = at(rank);
  while (one.socket && !one.outgoing.empty()) {
    const blob& frame = *one.outgoing.front();
    const ssize_t sent = ::send(one.socket.get(), frame.data() + one.sent, frame.size() - one.sent, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) return loop_.change(one.socket.get(), POLLIN | POLLOUT);
    if (sent < 0) {
      // The peer has closed the connection. Frames from the peer can still be readable, so receive() reports the end
      // after these frames.
      one.outgoing.clear();
      one.sent = 0;
      break;
    }
    one.sent += static_cast<std::size_t>(sent);
    if (one.sent == frame.size()) {
      one.outgoing.pop_front();
      one.sent = 0;
    }
  }
  if (one.socket) loop_.change(one.socket.get(), POLLIN);
}

void world_hub::close(int rank, bool left) {
  member& one = at(rank);
  one.where = left ? member::state::left : member::state::lost;
  ++gone_;
  if (one.socket) loop_.forget(one.socket.get());
  one.socket.reset();
  one.outgoing.clear();
  if (left && arrived_ > 0 && !failure_)
    fail(code::peer_lost, rank,
         fmt::format("rank {} of {} has left the world while others call {}; all must make the same calls", rank,
                     size(), name_of(what_)));
}

}  // namespace pgas::boot
