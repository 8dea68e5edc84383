#include "host/proxy/send_queue.hpp"

namespace pgas::detail {

// ---- message_output

bool message_output::read(std::byte* payload, const std::byte* local, const block_list& blocks) {
  memory_.read(payload, local, blocks);
  if (!memory_.pending()) return false;
  ++reads_;
  return true;
}

void message_output::complete_reads() {
  if (memory_.pending()) memory_.complete();
  reads_ = 0;
}

bool message_output::defers() const noexcept {
  constexpr std::size_t enough = 64;  // a wait takes little time compared with this number of reads
  return memory_.pending() && reads_ < enough;
}

void message_output::send(int pe, buffer_pool::key message) {
  complete_reads();
  const std::span<const std::byte> bytes = pool_.contents(message);
  if (bytes.size() > sizeof(message_header)) {
    ++counts_.messages;
    counts_.message_bytes += bytes.size();
  }
  if (pe == me_) {
    to_self_.push(message);
  } else {
    network_.send(pe, bytes, message);
  }
}

// ---- send_queue

bool send_queue::reserve(std::size_t bytes) {
  if (fits(bytes)) return true;
  close();
  if (!output_.defers()) send_closed();
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
  if (open_ == buffer_pool::none) return;
  closed_.push(open_);
  open_ = buffer_pool::none;
}

void send_queue::send_closed() {
  while (!closed_.empty() && window_open()) {
    const buffer_pool::key message = closed_.front();
    closed_.pop();
    send(message, ++sent_);
  }
}

void send_queue::send(buffer_pool::key message, std::uint64_t sequence) {
  sent_ack_ = completed_;
  ack_delay_ = longest_ack_delay;
  sent_request_ = std::min(awaited_, sent_);  // later messages carry their own request for acknowledgement
  const message_header head{sequence, sent_ack_, sent_request_, static_cast<std::uint32_t>(pool_.used(message))};
  std::memcpy(pool_.start(message), &head, sizeof head);
  output_.send(pe_, message);
}

bool send_queue::flush(std::uint64_t completed) {
  if (abandoned_) return false;
  completed_ = completed;
  send_closed();
  if (closed_.empty() && window_open()) {
    close();
    send_closed();
  }
  if (!must_request_ack() && !must_acknowledge()) return false;
  const buffer_pool::key message = pool_.take();
  static_cast<void>(pool_.extend(message, sizeof(message_header)));
  send(message, 0);
  return true;
}

/// Whether a request for acknowledgement must be sent: true if a producer waits for messages that carried no request.
bool send_queue::must_request_ack() const noexcept {
  return std::min(awaited_, sent_) > std::max(sent_request_, acknowledged_);
}

bool send_queue::must_acknowledge() noexcept {
  if (!ack_due(completed_)) return false;
  constexpr std::uint64_t many = message_window / 4;
  return sent_ack_ < requested_ || completed_ - sent_ack_ >= many || --ack_delay_ == 0;
}

bool send_queue::acknowledge(std::uint64_t sequence) noexcept {
  if (sequence > sent_) return false;
  if (sequence > acknowledged_) acknowledged_ = sequence;
  return true;
}

void send_queue::abandon() noexcept {
  if (open_ != buffer_pool::none) pool_.release(open_);
  open_ = buffer_pool::none;
  for (; !closed_.empty(); closed_.pop()) pool_.release(closed_.front());
  abandoned_ = true;
}

}  // namespace pgas::detail
