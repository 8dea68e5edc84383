#include "bootstrap/hub/hub_client.hpp"

#include <fmt/format.h>
#include <poll.h>

#include "bootstrap/error_messages.hpp"
#include "bootstrap/hub/hub_protocol.hpp"
#include "common/net/socket.hpp"

namespace pgas::boot {
namespace {

/// After its own limit, a member waits for this additional time for the hub's error, because the error names the
/// missing ranks.
constexpr milliseconds for_the_verdict{500};

[[nodiscard]] std::size_t longest_result(int size) {
  return static_cast<std::size_t>(size) * (sizeof(std::uint32_t) + max_contribution);
}

}  // namespace

hub_client::hub_client(unique_fd socket, int rank, int size, milliseconds timeout, hub_owner owner,
                       const std::optional<session_keys>& keys)
    : socket_(std::move(socket)),
      rank_(rank),
      size_(size),
      timeout_(timeout),
      owner_(std::move(owner)),
      incoming_(longest_result(size), keys ? std::optional(frame_cipher(keys->to_receive)) : std::nullopt) {
  if (keys) outgoing_.emplace(keys->to_send);
  sealed_.reserve(leave_->size() + frame_cipher::prefix_bytes + frame_cipher::code_bytes);
}

hub_client::~hub_client() { leave(); }

void hub_client::leave() noexcept {
  if (socket_ && process_.in_creator()) send(leave_, deadline{milliseconds{100}});
  socket_.reset();
}

bool hub_client::join(const deadline& limit) {
  try {
    (void)exchange(collective::join, {}, limit);
  } catch (const error& e) {
    if (e.code() == code::peer_lost && !welcome_) return false;
    throw;
  }
  return true;
}

std::vector<blob> hub_client::all_gather(std::span<const std::byte> mine) {
  check_contribution(mine.size(), rank_);
  return exchange(collective::all_gather, mine, deadline{timeout_});
}

void hub_client::barrier() { (void)exchange(collective::barrier, {}, deadline{timeout_}); }

void hub_client::abort(std::string_view reason) noexcept {
  try {
    send(make_frame({.kind = frame_kind::abort}, reason), deadline{milliseconds{1000}});
  } catch (...) {  // out of memory for the message; the hub detects the end of the connection instead
  }
}

std::vector<blob> hub_client::exchange(collective what, std::span<const std::byte> mine, const deadline& limit) {
  if (failure_) throw *failure_;
  const milliseconds allowed = limit.left();
  const frame_header header{.kind = frame_kind::contribute,
                            .sequence = sequence_,
                            .what = what,
                            .limit_ms = static_cast<std::uint32_t>(allowed.count())};
  const deadline answer_limit{allowed + for_the_verdict};
  send(make_frame(header, mine), answer_limit);
  for (;;) {
    switch (incoming_.read(socket_.get())) {
      case frame_reader<frame_header>::status::incomplete:
        if (!wait_for_events(socket_.get(), POLLIN, answer_limit))
          fail({code::bootstrap_timeout,
                fmt::format("rank {} of {} got no answer from {} within {} ({}). Is that process stopped, or its host "
                            "cut off?",
                            rank_, size_, owner_.name, seconds(allowed), name_of(what)),
                owner_.rank});
        continue;
      case frame_reader<frame_header>::status::closed:
        fail({code::peer_lost,
              fmt::format("rank {} of {} lost its connection to {}, which has ended or left the world", rank_, size_,
                          owner_.name),
              owner_.rank});
      case frame_reader<frame_header>::status::malformed:
        fail(
            {code::bootstrap_protocol,
             fmt::format("rank {} of {} got an answer from {} that is not part of the exchange. All processes must run "
                         "the same version of the library",
                         rank_, size_, owner_.name),
             owner_.rank});
      case frame_reader<frame_header>::status::forged:
        fail({code::authentication,
              fmt::format("rank {} of {}: what came over the connection from {} was changed on the way, or sent by "
                          "another process: something between the two hosts interferes. Use a network that only the "
                          "job's hosts are in",
                          rank_, size_, owner_.name),
              owner_.rank});
      case frame_reader<frame_header>::status::complete: break;
    }
    switch (incoming_.header().kind) {
      case frame_kind::welcome: welcome_ = true; continue;
      case frame_kind::failure: fail(decode_error(incoming_.payload()));
      case frame_kind::result:
        if (incoming_.header().sequence == sequence_) {
          ++sequence_;
          std::vector<blob> all = unpack(incoming_.payload(), size_);
          incoming_.release();  // the bootstrap lives as long as the world
          return all;
        }
        [[fallthrough]];
      default:
        fail({code::bootstrap_protocol,
              fmt::format("rank {} of {} got an answer from {} that it did not ask for", rank_, size_, owner_.name)});
    }
  }
}

void hub_client::send(const shared_frame& frame, const deadline& limit) {
  const std::lock_guard lock{sending_};
  if (outgoing_) outgoing_->seal(*frame, {}, sealed_);
  (void)send_all(socket_.get(), outgoing_ ? std::span<const std::byte>{sealed_} : *frame, limit);
}

void hub_client::fail(error why) {
  failure_ = why;
  throw why;
}

}  // namespace pgas::boot
