#include "host/proxy/in_flight_commands.hpp"

#include <algorithm>
#include <utility>

#include "host/error/device_failure.hpp"

namespace pgas::detail {

const char* operation_name(const command& cmd) {
  switch (cmd.kind) {
    case command_kind::put:
    case command_kind::put_list:
    case command_kind::put_strided: return name_of(operation::put);
    case command_kind::put_value: return name_of(operation::p);
    case command_kind::get:
    case command_kind::get_list:
    case command_kind::get_strided: return name_of(operation::get);
    case command_kind::get_value: return name_of(operation::g);
    case command_kind::atomic: return name_of(operation_of(cmd.update, true));
    case command_kind::put_signal:
    case command_kind::put_value_signal: return name_of(operation::put_signal);
    case command_kind::signal: return name_of(operation::signal);
    case command_kind::fence: return name_of(operation::fence);
    case command_kind::quiet: return name_of(operation::quiet);
  }
  return "";
}

in_flight_commands::in_flight_commands(ring& source, int n, trace::recorder* events)
    : source_(&source), events_(events), ops_(window), orders_(static_cast<std::size_t>(n)) {
  // The counts start at the number of commands that an earlier proxy has taken from the ring.
  started_ = completed_ = first_data_ = scanned_ = source.taken();
}

bool in_flight_commands::is_ordered(int pe, bool unordered) noexcept {
  order& to = orders_[static_cast<std::size_t>(pe)];
  if (to.fence == fence_state::none) return true;
  if (to.incomplete == 0) {
    to.fence = fence_state::none;
    return true;
  }
  if (to.unordered == 0) to.fence = fence_state::for_all;
  return !unordered && to.fence == fence_state::for_all;
}

void in_flight_commands::fence(int pe) noexcept {
  order& to = orders_[static_cast<std::size_t>(pe)];
  if (to.incomplete == 0) return;
  to.fence = to.unordered > 0 ? fence_state::for_unordered : fence_state::for_all;
  to.fenced = true;
}

bool in_flight_commands::take_fence(int pe) noexcept {
  return std::exchange(orders_[static_cast<std::size_t>(pe)].fenced, false);
}

bool in_flight_commands::may_send_signal(int pe) const noexcept {
  return deferred_.empty() && data_ == order_to(pe).data && order_to(pe).unordered == 0;
}

proxy_op& in_flight_commands::start(const command& cmd, bool unordered) {
  proxy_op& op = at(started_);
  op = proxy_op{};
  op.cmd = cmd;
  op.owner = this;
  op.number = started_++;
  op.unordered = unordered;
  if (cmd.answer != no_answer || events_ != nullptr) op.since = std::chrono::steady_clock::now();
  if (cmd.kind == command_kind::quiet || cmd.kind == command_kind::fence) {
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
  op.signal = proxy_op::signal_state::deferred;
  ++order_of(op).unordered;
  if (deferred_.empty()) scanned_ = first_data_;
  deferred_.push(&op);
  waits_ = true;
}

proxy_op* in_flight_commands::ready_signal() noexcept {
  if (deferred_.empty()) return nullptr;
  proxy_op& op = *deferred_.front();
  scanned_ = std::max(scanned_, first_data_);
  for (; scanned_ <= op.number; ++scanned_) {
    const proxy_op& before = at(scanned_);
    if (!before.data_done && (before.unordered || before.cmd.pe != op.cmd.pe)) return nullptr;
  }
  return &op;
}

void in_flight_commands::signal_sent() noexcept {
  proxy_op& op = *deferred_.front();
  op.signal = proxy_op::signal_state::sent;
  --order_of(op).unordered;
  deferred_.pop();
  scanned_ = first_data_;
  if (pending_quiets_ > 0) waits_ = true;
}

void in_flight_commands::all_issued(proxy_op& op) {
  op.issued = true;
  op.list = {};
  answer_reusable(op);
  if (op.parts == 0) data_done(op);
}

void in_flight_commands::part_done(proxy_op& op) {
  --op.parts;
  if (op.issued && op.parts == 0) data_done(op);
}

void in_flight_commands::local_part_done(proxy_op& op) {
  --op.local_parts;
  answer_reusable(op);
  part_done(op);
}

void in_flight_commands::answer_reusable(proxy_op& op) {
  if (!op.issued || op.local_parts > 0) return;
  switch (op.cmd.kind) {
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
  while (first_data_ < started_ && at(first_data_).data_done) ++first_data_;
  switch (op.cmd.kind) {
    case command_kind::get:
    case command_kind::get_strided: answer(op, 0, 0); break;
    case command_kind::get_value:
    case command_kind::atomic: answer(op, op.cmd.value[0], op.cmd.value[1]); break;
    default: break;
  }
  if (op.signal == proxy_op::signal_state::none) complete(op);
}

void in_flight_commands::complete(proxy_op& op) noexcept {
  op.complete = true;
  changed_ = true;
  if (op.cmd.kind != command_kind::quiet && op.cmd.kind != command_kind::fence) --order_of(op).incomplete;
}

void in_flight_commands::quiet(proxy_op& op) {
  changed_ = true;
  ++pending_quiets_;
  if (op.cmd.pe >= 0)
    pe_quiets_.push_back(&op);
  else
    waits_ = true;
}

bool in_flight_commands::take_wait() noexcept {
  constexpr std::uint64_t many = window / 4;  // below `window`, because the ring stalls when the window is full
  return std::exchange(waits_, false) || started_ - completed_ >= many;
}

void in_flight_commands::add_awaited(std::vector<awaited_command>& found, std::size_t most) const {
  for (std::uint64_t number = completed_; number < started_ && found.size() < most; ++number) {
    const proxy_op& op = at(number);
    if (op.cmd.answer == no_answer || op.answered) continue;
    awaited_command& command = found.emplace_back(awaited_command{op.cmd, {}, op.since});
    for (int pe = 0; pe < static_cast<int>(orders_.size()); ++pe)
      if (op.cmd.pe < 0 ? has_in_flight(pe) : pe == op.cmd.pe) command.pes.push_back(pe);
  }
}

bool in_flight_commands::publish() {
  if (source_ != nullptr) source_->publish_taken();
  if (!changed_ && answers_.empty()) return false;
  changed_ = false;
  const auto answer_quiet = [this](proxy_op& op) {
    answer(op, 0, 0);
    op.complete = true;
    --pending_quiets_;
  };
  for (proxy_op* op : pe_quiets_) {
    if (order_of(*op).incomplete == 0) answer_quiet(*op);
  }
  const std::uint64_t before = completed_;
  for (; completed_ < started_; ++completed_) {
    proxy_op& op = at(completed_);
    if (!op.complete && op.cmd.kind == command_kind::quiet) answer_quiet(op);
    if (!op.complete) break;
    if (events_ != nullptr) record(op);
  }
  first_data_ = std::max(first_data_, completed_);
  std::erase_if(pe_quiets_, [](const proxy_op* op) { return op->complete; });
  if (source_ == nullptr) return true;
  // Published before the answers: a producer that has received its answer can then read this count, and so learn
  // without a further command that its operations are complete.
  if (completed_ != before) source_->publish_completed(completed_);
  for (const pending_answer& each : answers_)
    // the initiator has checked the number of the answer cell
    static_cast<void>(source_->give_answer(each.cell, each.low, each.high));
  answers_.clear();
  return true;
}

void in_flight_commands::record(const proxy_op& op) const noexcept {
  const command& cmd = op.cmd;
  trace::recorded_event result;
  result.name = operation_name(cmd);
  trace::event_facts& facts = result.facts;
  facts.begin = std::chrono::duration_cast<std::chrono::nanoseconds>(op.since.time_since_epoch()).count();
  facts.end = trace::now_ns();
  facts.by = trace::caller::proxy;
  facts.peer = cmd.pe;
  facts.bytes = bytes_of(cmd);
  facts.route = trace::route::proxied;
  using kind = trace::event_kind;
  if (op.has_signal())
    facts.kind = kind::signal;
  else if (cmd.kind == command_kind::atomic)
    facts.kind = kind::atomic;
  else if (op.fetches() || cmd.kind == command_kind::get_value)
    facts.kind = kind::get;
  else if (cmd.kind != command_kind::fence && cmd.kind != command_kind::quiet)
    facts.kind = kind::put;
  events_->add(result);
}

void in_flight_commands::answer(proxy_op& op, std::uint64_t low, std::uint64_t high) {
  if (op.answered) return;
  op.answered = true;
  if (op.cmd.answer != no_answer && source_ != nullptr) answers_.push_back({op.cmd.answer, low, high});
}

}  // namespace pgas::detail
