#include "host/control/tcp_connector.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace pgas::detail {

namespace {

/// A lost SYN is sent again after one second.
constexpr auto time_to_connect = std::chrono::milliseconds(1500);
constexpr auto pause_between_rounds = std::chrono::milliseconds(200);

}  // namespace

tcp_connector::tcp_connector(int me, int peer, const std::vector<tcp_address>& addresses, const job_secret& secret,
                             clock::duration patience)
    : me_(me),
      peer_(peer),
      addresses_(addresses),
      secret_(secret),
      patience_(patience),
      answers_(addresses.size(), "not tried yet"),
      due_(clock::now()) {}

void tcp_connector::go_on() {
  if (clock::now() < due_) return;
  if (connecting_ || talk_) return give_up(answers_[current_]);
  answers_[current_] = "no answer";
  connect_result begun = begin_connect(addresses_[current_]);
  if (begun.error != 0) return give_up(std::strerror(begun.error));
  connecting_ = std::move(begun.fd);
  due_ = clock::now() + std::min<clock::duration>(time_to_connect, patience_);
}

bool tcp_connector::arrived() {
  if (connecting_) {
    const int outcome = outcome_of_connect(connecting_.get());
    if (outcome == EINPROGRESS) return false;
    if (outcome != 0) {
      give_up(std::strerror(outcome));
      return false;
    }
    talk_.emplace(std::move(connecting_), handshake::transport::tcp, handshake::role::connecting, secret_, me_, peer_);
    answers_[current_] = "it takes connections, but says nothing";
    due_ = clock::now() + patience_;
    if (const int failed = talk_->begin(); failed != 0) {
      give_up(std::strerror(failed));
      return false;
    }
  }
  if (!talk_) return false;
  switch (talk_->hear()) {
    case handshake::status::proven: return true;
    case handshake::status::under_way:
      // It may have taken this side's proof by now: if the connection were given up, that PE would take this one for
      // lost.
      if (talk_->has_proved()) due_ = clock::time_point::max();
      break;
    case handshake::status::refused:
      give_up("what listens there does not know this job's secret, or is another PE");
      break;
    case handshake::status::ended: give_up("it closed the connection without an answer"); break;
  }
  return false;
}

pollfd tcp_connector::awaited() const noexcept {
  if (connecting_) return {connecting_.get(), POLLOUT, 0};
  return {talk_ ? talk_->fd() : -1, POLLIN, 0};
}

std::string tcp_connector::answers() const {
  std::string text;
  for (std::size_t i = 0; i < addresses_.size(); ++i)
    text += fmt::format("{}{} ({})", i == 0 ? "" : ", ", addresses_[i].text(), answers_[i]);
  return text;
}

void tcp_connector::give_up(const std::string& why) {
  answers_[current_] = why;
  connecting_.reset();
  talk_.reset();
  current_ = (current_ + 1) % addresses_.size();
  due_ = clock::now();
  if (current_ == 0) due_ += pause_between_rounds;
}

}  // namespace pgas::detail
