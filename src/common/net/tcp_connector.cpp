#include "common/net/tcp_connector.hpp"

#include <cerrno>
#include <utility>

#include "common/system.hpp"

namespace pgas::detail {

void tcp_attempt::start(milliseconds to_connect, milliseconds to_answer) {
  to_answer_ = to_answer;
  due_ = deadline(to_connect).at();
  problem_ = "no answer";
  connect_result begun = begin_connect(to_);
  if (begun.error != 0) return give_up(errno_text(begun.error));
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
        // The other side may take the connection from now on: if it were given up, that PE would take this one for
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
  verdict_ = verdict;
  connecting_.reset();
  talk_.reset();
  due_ = clock::now();
}

}  // namespace pgas::detail
