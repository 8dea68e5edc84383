#include "common/net/tcp_connector.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "common/system_error.hpp"

namespace pgas::detail {

namespace {

/// The time limit for a connection. The kernel repeats a lost SYN after one second.
constexpr milliseconds time_to_connect{1500};
constexpr milliseconds pause_between_rounds{200};

}  // namespace

void tcp_attempt::start(milliseconds to_connect, milliseconds to_answer) {
  to_answer_ = to_answer;
  due_ = deadline(to_connect).at();
  problem_ = "no answer";
  const auto* const local = std::get_if<unix_address>(&to_);
  connect_result begun = local != nullptr ? connect_to(*local, SOCK_STREAM) : begin_connect(std::get<tcp_address>(to_));
  if (begun.error != 0) return give_up(errno_text(begun.error));
  if (local != nullptr) {
    const std::optional<socket_owner> owner = peer_credentials(begun.fd.get());
    if (!owner || owner->uid != ::geteuid())
      return give_up("it belongs to user " + std::to_string(owner ? static_cast<long>(owner->uid) : -1L),
                     code::authentication);
  }
  connecting_ = std::move(begun.fd);
}

bool tcp_attempt::advance() {
  if (connecting_) {
    int number = outcome_of_connect(connecting_.get());
    if (number == 0) {
      talk_.emplace(std::move(connecting_), key_, introduction_);
      problem_ = "it takes connections, but says nothing";
      due_ = deadline(to_answer_).at();
      number = talk_->send_hello();
    }
    if (number != 0 && number != EINPROGRESS) give_up(errno_text(number));
  }
  if (talk_) switch (talk_->receive()) {
      case handshake::status::pending: break;
      case handshake::status::proven:
        if (!until_welcome_) return true;
        // From now on the other side may accept the connection. If this side gave up, that PE would report this PE as
        // lost.
        due_ = clock::time_point::max();
        break;
      case handshake::status::welcomed: return true;
      case handshake::status::foreign: give_up("it speaks another protocol"); break;
      case handshake::status::wrong_version:
        give_up("it is of another version of the library", code::version_mismatch);
        break;
      case handshake::status::refused: give_up("it does not know this job's secret", code::authentication); break;
      case handshake::status::ended: give_up("it closed the connection without an answer"); break;
    }
  if (active() && clock::now() >= due_) give_up(problem_);
  return false;
}

pollfd tcp_attempt::awaited() const noexcept {
  if (connecting_) return {connecting_.get(), POLLOUT, 0};
  return {talk_ ? talk_->fd() : -1, POLLIN, 0};
}

void tcp_attempt::give_up(std::string problem, std::optional<code> verdict) {
  problem_ = std::move(problem);
  if (verdict || talk_) verdict_ = verdict;
  if (verdict) reason_ = problem_;
  connecting_.reset();
  talk_.reset();
  due_ = clock::now();
}

std::string tcp_attempt::report() const {
  const std::string where = std::visit([](const auto& one) { return one.text(); }, to_);
  return where + " (" + (verdict_ && reason_ != problem_ ? reason_ + "; then: " + problem_ : problem_) + ")";
}

tcp_connector::tcp_connector(int me, int peer, const std::vector<tcp_address>& addresses,
                             std::span<const std::byte> key, milliseconds timeout)
    : peer_(peer), timeout_(timeout), next_start_(clock::now()) {
  const hello introduction{.from = me, .to = peer};
  for (const tcp_address& to : addresses) attempts_.emplace_back(to, key, introduction, true);
}

void tcp_connector::start_if_due() {
  if (!attempts_[current_].active() && clock::now() >= next_start_)
    attempts_[current_].start(std::min(time_to_connect, timeout_), timeout_);
}

bool tcp_connector::advance() {
  if (clock::now() < next_start_) return false;
  if (attempts_[current_].advance()) return true;
  if (attempts_[current_].active()) return false;
  current_ = (current_ + 1) % attempts_.size();
  next_start_ = clock::now();
  if (current_ == 0) next_start_ += pause_between_rounds;
  return false;
}

std::string tcp_connector::report() const {
  std::string text;
  for (const tcp_attempt& one : attempts_) text += (text.empty() ? "" : ", ") + one.report();
  return text;
}

}  // namespace pgas::detail
