#include "common/net/tcp_connector.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "common/system_error.hpp"

namespace pgas::detail {

namespace {

constexpr milliseconds time_to_connect{5000};
constexpr milliseconds between_attempts{100};

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
        // From now on the other side may accept the connection. If this side closed the connection now, the other side
        // would report this PE as lost.
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

void tcp_attempt::stop() {
  if (connecting_ && outcome_of_connect(connecting_.get()) == 0) {
    talk_.emplace(std::move(connecting_), key_, introduction_);
    static_cast<void>(talk_->send_hello());
  }
  give_up("another address has answered");
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

tcp_connector::tcp_connector(const std::vector<stream_address>& addresses, std::span<const std::byte> key,
                             const hello& introduction, milliseconds to_answer, bool until_welcome)
    : to_answer_(to_answer) {
  for (const stream_address& to : addresses) attempts_.emplace_back(to, key, introduction, until_welcome);
}

bool tcp_connector::advance() {
  if (chosen_ != nullptr && !chosen_->active()) chosen_ = nullptr;
  if (chosen_ != nullptr) return chosen_->advance();
  for (tcp_attempt& one : attempts_) {
    if (!one.active() && clock::now() >= one.due() + between_attempts)
      one.start(std::min(time_to_connect, to_answer_), to_answer_);
    const bool connected = one.advance();
    if (!connected && !one.awaits_welcome()) continue;
    for (tcp_attempt& other : attempts_)
      if (&other != &one && other.active()) other.stop();
    chosen_ = &one;
    return connected;
  }
  return false;
}

std::vector<pollfd> tcp_connector::awaited() const {
  std::vector<pollfd> all;
  for (const tcp_attempt& one : attempts_)
    if (one.active()) all.push_back(one.awaited());
  return all;
}

clock::time_point tcp_connector::due() const {
  clock::time_point first = clock::time_point::max();
  for (const tcp_attempt& one : attempts_)
    if (chosen_ == nullptr || !chosen_->active() || &one == chosen_)
      first = std::min(first, one.active() ? one.due() : one.due() + between_attempts);
  return first;
}

std::string tcp_connector::report() const {
  constexpr std::size_t most = 20;
  std::string text;
  for (std::size_t i = 0; i < std::min(attempts_.size(), most); ++i)
    text += (text.empty() ? "" : ", ") + attempts_[i].report();
  return text;
}

std::optional<code> tcp_connector::verdict() const {
  std::optional<code> last;
  for (const tcp_attempt& one : attempts_)
    if (one.verdict()) last = one.verdict();
  return last;
}

}  // namespace pgas::detail
