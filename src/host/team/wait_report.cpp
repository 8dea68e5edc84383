#include "host/team/wait_report.hpp"

#include <fmt/format.h>

#include <atomic>
#include <vector>

#include "host/error/device_failure.hpp"

namespace pgas::detail {

namespace {

std::uint32_t load(std::uint32_t& word) { return std::atomic_ref(word).load(std::memory_order_acquire); }

/// Who has to send the packet that a collective of `team` waits for: packets lie in the order of their senders. -1
/// where it is none of this team.
int sender_of(const team_view& team, const failure_record& wait) {
  for (const bool of_host : {false, true}) {
    const std::uint64_t begin = team.state_offset_ +
                                team_state_layout::packets(team.n_pes(), team.n_channels(), of_host) +
                                team_state_layout::line;
    const std::uint64_t buffer = team_state_layout::packet_buffer_bytes(of_host);
    if (wait.heap_offset < begin || wait.heap_offset >= begin + 2 * buffer || wait.bytes == 0) continue;
    const std::uint64_t member = (wait.heap_offset - begin) % buffer / (2 * wait.bytes);
    return member < static_cast<std::uint64_t>(team.n_pes()) ? team.world_pe(static_cast<std::int32_t>(member)) : -1;
  }
  return -1;
}

std::string text_of(const failure_record& wait) {
  return fmt::format(R"({{"what":"{}","block":{},"thread":{},"pe":{},"offset":{},"bytes":{},)"
                     R"("compare":"{}","expected":{},"seen":{},"ms":{}}})",
                     wait.what == operation::none ? "collective" : name_of(wait.what), wait.block, wait.thread, wait.pe,
                     wait.heap_offset, wait.bytes, symbol_of(wait.compare), wait.expected, wait.seen, wait.limit_ms);
}

std::string text_of(const call_list::call& call) {
  std::string word;
  if (call.word)
    word = fmt::format(R"(,"word":{{"offset":{},"compare":"{}","expected":{},"seen":{},"pe":{}}})", call.word->offset,
                       symbol_of(call.word->compare), call.word->expected, call.word->seen, call.word->pe);
  return fmt::format(R"({{"name":"{}","ms":{}{}}})", call.name, call.lasted.count(), word);
}

template <class List>
std::string joined(const List& list) {
  std::string text;
  for (const auto& one : list) text += (text.empty() ? "" : ",") + text_of(one);
  return text;
}

}  // namespace

void wait_report::ask() {
  const std::lock_guard lock(mutex_);
  if (control_ == nullptr) return;
  if (++questions_ == 0) ++questions_;  // 0 is no question
  short_calls_ = calls_->short_calls();
  std::atomic_ref(control_->question).store(questions_, std::memory_order_release);
}

std::string wait_report::answer() {
  const std::lock_guard lock(mutex_);
  if (control_ == nullptr) return R"("leaving":true)";
  std::atomic_ref(control_->question).store(0, std::memory_order_release);
  std::vector<failure_record> waits;
  for (failure_record& one : control_->answers)
    if (load(one.complete) == questions_) waits.push_back(one);
  for (failure_record& one : waits)
    if (one.what == operation::none) one.pe = sender_of(world_, one);
  return fmt::format(R"("waits":[{}],"more":{},"calls":[{}],"short_calls":{},"idle_ms":{})", joined(waits),
                     load(control_->unanswered) == questions_, joined(calls_->now()),
                     calls_->short_calls() - short_calls_, calls_->idle().count());
}

void wait_report::end() {
  const std::lock_guard lock(mutex_);
  control_ = nullptr;
}

}  // namespace pgas::detail
