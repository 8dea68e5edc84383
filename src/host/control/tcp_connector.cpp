#include "host/control/tcp_connector.hpp"

#include <algorithm>

namespace pgas::detail {

namespace {

/// A lost SYN is sent again after one second.
constexpr milliseconds time_to_connect{1500};
constexpr milliseconds pause_between_rounds{200};

}  // namespace

tcp_connector::tcp_connector(int me, int peer, const std::vector<tcp_address>& addresses, const job_secret& secret,
                             milliseconds timeout)
    : peer_(peer), timeout_(timeout), next_start_(clock::now()) {
  const hello introduction{.from = me, .to = peer};
  for (const tcp_address& to : addresses) attempts_.emplace_back(to, secret, introduction, true);
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
