#include "host/proxy/send_queue.hpp"

namespace pgas::detail {

bool send_queue::reserve(std::size_t bytes) {
  if (fits(bytes)) return true;
  close();
  if (!sender_.collects()) send_closed();
  if (last_ - acknowledged_ > message_window) return false;
  open();
  return true;
}

void send_queue::reserve_reply(std::size_t bytes) {
  if (fits(bytes)) return;
  close();
  open();
}

void send_queue::open() {
  open_ = pool_.take();
  static_cast<void>(pool_.extend(open_, sizeof(message_header)));
  ++last_;
}

void send_queue::close() {
  if (open_ == message_pool::none) return;
  closed_.push(open_);
  open_ = message_pool::none;
}

void send_queue::send_closed() {
  while (!closed_.empty() && window_open()) {
    const message_pool::number message = closed_.front();
    closed_.pop();
    send(message, ++sent_);
  }
}

void send_queue::send(message_pool::number message, std::uint64_t sequence) {
  told_ = to_acknowledge_;
  patience_ = flushes_of_patience;
  asked_ = std::min(awaited_, sent_);  // what is sent later will say so itself
  const message_header head{sequence, told_, asked_, static_cast<std::uint32_t>(pool_.used(message))};
  std::memcpy(pool_.start(message), &head, sizeof head);
  sender_.send(pe_, message);
}

bool send_queue::flush(std::uint64_t acknowledged) {
  if (abandoned_) return false;
  to_acknowledge_ = acknowledged;
  send_closed();
  if (closed_.empty() && window_open()) {
    close();
    send_closed();
  }
  if (!must_ask() && !must_acknowledge()) return false;
  const message_pool::number message = pool_.take();
  static_cast<void>(pool_.extend(message, sizeof(message_header)));
  send(message, 0);
  return true;
}

/// Whether somebody has begun to wait for messages that have gone already.
bool send_queue::must_ask() const noexcept { return std::min(awaited_, sent_) > std::max(asked_, acknowledged_); }

bool send_queue::must_acknowledge() noexcept {
  if (!owes(to_acknowledge_)) return false;
  constexpr std::uint64_t many = message_window / 4;
  return told_ < hurried_ || to_acknowledge_ - told_ >= many || --patience_ == 0;
}

bool send_queue::acknowledge(std::uint64_t sequence) noexcept {
  if (sequence > sent_) return false;
  if (sequence > acknowledged_) acknowledged_ = sequence;
  return true;
}

void send_queue::abandon() noexcept {
  if (open_ != message_pool::none) pool_.release(open_);
  open_ = message_pool::none;
  for (; !closed_.empty(); closed_.pop()) pool_.release(closed_.front());
  abandoned_ = true;
}

}  // namespace pgas::detail
