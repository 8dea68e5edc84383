#include "host/proxy/in_flight_commands.hpp"

#include <algorithm>
#include <utility>

namespace pgas::detail {

in_flight_commands::in_flight_commands(ring& source, int n)
    : source_(&source), transfers_(window), orders_(static_cast<std::size_t>(n)) {
  // A ring may have been used with another proxy before.
  begun_ = completed_ = first_data_ = scanned_ = source.taken();
}

bool in_flight_commands::is_ordered(int pe, bool unordered) noexcept {
  order& to = orders_[static_cast<std::size_t>(pe)];
  if (to.fence == barrier::none) return true;
  if (to.incomplete == 0) {
    to.fence = barrier::none;
    return true;
  }
  if (to.unordered == 0) to.fence = barrier::for_all;
  return !unordered && to.fence == barrier::for_all;
}

void in_flight_commands::fence(int pe) noexcept {
  order& to = orders_[static_cast<std::size_t>(pe)];
  if (to.incomplete == 0) return;
  to.fence = to.unordered > 0 ? barrier::for_unordered : barrier::for_all;
  to.fenced = true;
}

bool in_flight_commands::take_fence(int pe) noexcept {
  return std::exchange(orders_[static_cast<std::size_t>(pe)].fenced, false);
}

bool in_flight_commands::signal_may_go(int pe) const noexcept {
  return held_.empty() && data_ == order_to(pe).data && order_to(pe).unordered == 0;
}

proxy_op& in_flight_commands::begin(const command& what, bool unordered) {
  proxy_op& op = at(begun_);
  op = proxy_op{};
  op.what = what;
  op.ring = this;
  op.number = begun_++;
  op.unordered = unordered;
  if (what.kind == command_kind::quiet || what.kind == command_kind::fence) {
    op.issued = op.data_done = true;
    return op;
  }
  order& to = order_of(op);
  ++to.incomplete;
  ++to.data;
  ++data_;
  if (unordered) ++to.unordered;
  return op;
}

void in_flight_commands::defer_signal(proxy_op& op) {
  op.signal = proxy_op::signal_state::held;
  ++order_of(op).unordered;
  if (held_.empty()) scanned_ = first_data_;
  held_.push(&op);
  waits_ = true;
}

proxy_op* in_flight_commands::ready_signal() noexcept {
  if (held_.empty()) return nullptr;
  proxy_op& op = *held_.front();
  scanned_ = std::max(scanned_, first_data_);
  for (; scanned_ <= op.number; ++scanned_) {
    const proxy_op& before = at(scanned_);
    if (!before.data_done && (before.unordered || before.what.pe != op.what.pe)) return nullptr;
  }
  return &op;
}

void in_flight_commands::signal_sent() noexcept {
  proxy_op& op = *held_.front();
  op.signal = proxy_op::signal_state::sent;
  --order_of(op).unordered;
  held_.pop();
  scanned_ = first_data_;
  if (unanswered_ > 0) waits_ = true;
}

void in_flight_commands::all_issued(proxy_op& op) {
  op.issued = true;
  answer_sources(op);
  if (op.parts == 0) data_done(op);
}

void in_flight_commands::part_done(proxy_op& op) {
  --op.parts;
  if (op.issued && op.parts == 0) data_done(op);
}

void in_flight_commands::piece_done(proxy_op& op) {
  --op.pieces;
  answer_sources(op);
  part_done(op);
}

void in_flight_commands::answer_sources(proxy_op& op) {
  if (!op.issued || op.pieces > 0) return;
  switch (op.what.kind) {
    case command_kind::put:
    case command_kind::put_strided:
    case command_kind::put_signal: answer(op, 0, 0); break;
    default: break;
  }
}

void in_flight_commands::data_done(proxy_op& op) {
  op.data_done = true;
  order& to = order_of(op);
  --to.data;
  --data_;
  if (op.unordered) --to.unordered;
  while (first_data_ < begun_ && at(first_data_).data_done) ++first_data_;
  switch (op.what.kind) {
    case command_kind::get:
    case command_kind::get_strided: answer(op, 0, 0); break;
    case command_kind::get_value:
    case command_kind::atomic: answer(op, op.what.value[0], op.what.value[1]); break;
    default: break;
  }
  if (op.signal == proxy_op::signal_state::none) complete(op);
}

void in_flight_commands::complete(proxy_op& op) noexcept {
  op.complete = true;
  changed_ = true;
  if (op.what.kind != command_kind::quiet && op.what.kind != command_kind::fence) --order_of(op).incomplete;
}

void in_flight_commands::quiet(proxy_op& op) {
  changed_ = true;
  ++unanswered_;
  if (op.what.pe >= 0)
    quiets_.push_back(&op);
  else
    waits_ = true;
}

bool in_flight_commands::take_wait() noexcept {
  constexpr std::uint64_t many = window / 4;  // the ring is not to stand still for want of room
  return std::exchange(waits_, false) || begun_ - completed_ >= many;
}

bool in_flight_commands::settle() {
  if (source_ != nullptr) source_->publish_taken();
  if (!changed_ && answers_.empty()) return false;
  changed_ = false;
  const auto answer_quiet = [this](proxy_op& op) {
    answer(op, 0, 0);
    op.complete = true;
    --unanswered_;
  };
  for (proxy_op* op : quiets_) {
    if (order_of(*op).incomplete == 0) answer_quiet(*op);
  }
  const std::uint64_t before = completed_;
  for (; completed_ < begun_; ++completed_) {
    proxy_op& op = at(completed_);
    if (!op.complete && op.what.kind == command_kind::quiet) answer_quiet(op);
    if (!op.complete) break;
  }
  first_data_ = std::max(first_data_, completed_);
  std::erase_if(quiets_, [](const proxy_op* op) { return op->complete; });
  if (source_ == nullptr) return true;
  // Whoever has its answer may look at the count, and save itself the next question.
  if (completed_ != before) source_->publish_completed(completed_);
  for (const due_answer& each : answers_)
    static_cast<void>(source_->give_answer(each.cell, each.low, each.high));  // commands were looked at
  answers_.clear();
  return true;
}

void in_flight_commands::answer(proxy_op& op, std::uint64_t low, std::uint64_t high) {
  if (op.answered) return;
  op.answered = true;
  if (op.what.answer != no_answer && source_ != nullptr) answers_.push_back({op.what.answer, low, high});
}

}  // namespace pgas::detail
