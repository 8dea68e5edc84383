#include "host/team/wait_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "host/control/question_service.hpp"
#include "host/error/device_failure.hpp"

namespace pgas::detail {

const char* what_of(const failure_record& wait) {
  return wait.what == operation::none ? "collective" : name_of(wait.what);
}

namespace {

// What is on its way for less is no wait to speak of.
constexpr auto least_of_command = std::chrono::milliseconds(5);

std::chrono::milliseconds lasted(const awaited_command& one) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - one.since);
}

std::uint32_t load(std::uint32_t& word) { return std::atomic_ref(word).load(std::memory_order_acquire); }

/// Who has to send the packet that a collective of `team` waits for: packets lie in the order of their senders. -1
/// where it is none of this team.
int sender_of(const team_view& team, const failure_record& wait) {
  const auto found = [&](std::uint64_t epoch, std::uint64_t buffer) {
    const std::uint64_t begin = epoch + team_state_layout::line;
    if (wait.heap_offset < begin || wait.heap_offset >= begin + 2 * buffer || wait.bytes == 0) return -1;
    const std::uint64_t member = (wait.heap_offset - begin) % buffer / (2 * wait.bytes);
    return member < static_cast<std::uint64_t>(team.n_pes()) ? team.world_pe(static_cast<std::int32_t>(member)) : -1;
  };
  int sender = -1;
  for (const bool of_host : {false, true}) {
    const std::uint64_t epoch =
        team.state_offset_ + team_state_layout::packets(team.n_pes(), team.n_channels(), of_host);
    sender = std::max(sender, found(epoch, team_state_layout::packet_buffer_bytes(of_host)));
  }
  for (std::int32_t block = 0; team.staging_offset_ != 0 && block < oneshot_staging::blocks; ++block) {
    const std::uint64_t epoch = team.staging_offset_ + oneshot_staging::packets(block);
    sender = std::max(sender, found(epoch, team_state_layout::packet_buffer_bytes(true)));
  }
  return sender;
}

}  // namespace

std::string wait_report::field_of_place(std::uint64_t offset) const {
  const std::optional<allocation> around = locate_ ? locate_(offset) : std::nullopt;
  if (!around) return {};
  return fmt::format(R"(,"allocation":{{"number":{},"offset":{},"bytes":{}}})", around->number, around->offset,
                     around->bytes);
}

std::string wait_report::words_of_place(std::uint64_t offset) const {
  const std::optional<allocation> around = locate_ ? locate_(offset) : std::nullopt;
  return around ? fmt::format(" ({})", describe(*around, offset)) : std::string();
}

std::string wait_report::text_of(const failure_record& wait) const {
  return fmt::format(R"({{"what":"{}","block":{},"thread":{},"pe":{},"offset":{},"bytes":{},)"
                     R"("compare":"{}","expected":{},"seen":{},"ms":{}{}}})",
                     what_of(wait), wait.block, wait.thread, wait.pe, wait.heap_offset, wait.bytes,
                     symbol_of(wait.compare), wait.expected, wait.seen, wait.limit_ms,
                     field_of_place(wait.heap_offset));
}

std::string wait_report::text_of(const awaited_command& one) const {
  return fmt::format(R"({{"what":"{}","pes":[{}],"offset":{},"bytes":{},"ms":{}{}}})", what_of(one.cmd),
                     fmt::join(one.pes, ","), one.cmd.offset, one.cmd.bytes, lasted(one).count(),
                     field_of_place(one.cmd.offset));
}

std::string wait_report::text_of(const call_list::call& call) const {
  std::string word;
  if (call.word)
    word = fmt::format(R"(,"word":{{"offset":{},"compare":"{}","expected":{},"seen":{},"pe":{}{}}})", call.word->offset,
                       symbol_of(call.word->compare), call.word->expected, call.word->seen, call.word->pe,
                       field_of_place(call.word->offset));
  return fmt::format(R"({{"name":"{}","ms":{}{}}})", call.name, call.lasted.count(), word);
}

std::string wait_report::text_of_word(std::uint64_t offset, std::int32_t compare, std::uint64_t expected,
                                      std::uint64_t seen) const {
  return fmt::format(": the word at heap offset {:#x}{} has to become {} {} and is {}", offset, words_of_place(offset),
                     symbol_of(compare), expected, seen);
}

std::string wait_report::sentence_of(const failure_record& wait) const {
  return fmt::format("{} by block {} thread {} of a kernel waits since {:.1f} s{}{}", what_of(wait), wait.block,
                     wait.thread, wait.limit_ms / 1000.0, wait.pe >= 0 ? fmt::format(" for PE {}", wait.pe) : "",
                     text_of_word(wait.heap_offset, wait.compare, wait.expected, wait.seen));
}

std::string wait_report::sentence_of(const awaited_command& one) const {
  return fmt::format("{} through the proxy waits since {:.1f} s for PE {}{}", what_of(one.cmd),
                     static_cast<double>(lasted(one).count()) / 1000.0, fmt::join(one.pes, ", "),
                     words_of_place(one.cmd.offset));
}

std::string wait_report::sentence_of(const call_list::call& call) const {
  const std::optional<call_list::awaited_word>& word = call.word;
  return fmt::format("{} waits since {:.1f} s{}", call.name, static_cast<double>(call.lasted.count()) / 1000.0,
                     word ? text_of_word(word->offset, word->compare, word->expected, word->seen) : "");
}

template <class List>
std::string wait_report::joined(const List& list) const {
  std::string text;
  for (const auto& one : list) text += (text.empty() ? "" : ",") + text_of(one);
  return text;
}

void wait_report::ask() {
  const std::lock_guard lock(mutex_);
  if (control_ == nullptr || ++open_ > 1) return;
  if (++questions_ == 0) ++questions_;  // 0 is no question
  asked_at_ = std::chrono::steady_clock::now();
  short_calls_ = calls_->short_calls();
  std::atomic_ref(control_->question).store(questions_, std::memory_order_release);
  if (proxy_ != nullptr) proxy_->ask_awaited();
}

bool wait_report::settled() const {
  const std::lock_guard lock(mutex_);
  if (control_ == nullptr) return true;
  for (failure_record& one : control_->answers)
    if (load(one.complete) == questions_) return true;
  const auto open = std::chrono::steady_clock::now() - asked_at_;
  return std::ranges::none_of(calls_->now(),
                              [open](const call_list::call& one) { return !one.word && one.lasted >= open; });
}

pe_waits wait_report::collect() {
  const std::lock_guard lock(mutex_);
  pe_waits found;
  if (control_ == nullptr) return found;
  if (--open_ == 0) std::atomic_ref(control_->question).store(0, std::memory_order_release);
  for (failure_record& one : control_->answers) {
    if (load(one.complete) != questions_) continue;
    found.kernels.push_back(one);
    if (one.what == operation::none) found.kernels.back().pe = sender_of(world_, one);
  }
  found.more = load(control_->unanswered) == questions_;
  if (proxy_ != nullptr) found.commands = proxy_->awaited();
  std::erase_if(found.commands, [](const awaited_command& one) { return lasted(one) < least_of_command; });
  found.calls = calls_->now();
  found.short_calls = calls_->short_calls() - short_calls_;
  found.idle = calls_->idle();
  return found;
}

pe_waits wait_report::ask_and_collect() {
  ask();
  const auto last = std::chrono::steady_clock::now() + most_time_to_answer;
  do std::this_thread::sleep_for(time_to_answer);
  while (!settled() && std::chrono::steady_clock::now() < last);
  return collect();
}

std::string wait_report::answer() {
  pe_waits found = collect();
  const std::lock_guard lock(mutex_);
  if (control_ == nullptr) return R"("leaving":true)";
  last_ = std::move(found);
  const auto looked = std::chrono::steady_clock::now() - asked_at_;
  return fmt::format(
      R"("waits":[{}],"more":{},"commands":[{}],"calls":[{}],"short_calls":{},"idle_ms":{},"looked_ms":{})",
      joined(last_.kernels), last_.more, joined(last_.commands), joined(last_.calls), last_.short_calls,
      last_.idle.count(), std::chrono::duration_cast<std::chrono::milliseconds>(looked).count());
}

std::vector<long_wait> wait_report::overdue(std::chrono::milliseconds limit) const {
  const std::lock_guard lock(mutex_);
  std::vector<long_wait> found;
  const auto add = [&](std::chrono::milliseconds time, const auto& one) {
    if (time >= limit) found.push_back({time, sentence_of(one)});
  };
  const auto longest = [](const auto& list, const auto& time_of) {
    std::vector<std::pair<std::chrono::milliseconds, std::size_t>> order;
    for (std::size_t i = 0; i < list.size(); ++i) order.emplace_back(time_of(list[i]), i);
    std::ranges::sort(order, std::greater<>());
    return order;
  };
  for (const auto& [time, i] :
       longest(last_.kernels, [](const failure_record& one) { return std::chrono::milliseconds(one.limit_ms); }))
    add(time, last_.kernels[i]);
  for (const auto& [time, i] : longest(last_.commands, [](const awaited_command& one) { return lasted(one); }))
    add(time, last_.commands[i]);
  const bool waits_inside = !last_.kernels.empty() || !last_.commands.empty();
  for (const auto& [time, i] : longest(last_.calls, [](const call_list::call& one) { return one.lasted; })) {
    const call_list::call& one = last_.calls[i];
    if (one.word || (!waits_inside && !std::string_view(one.name).ends_with("synchronize"))) add(time, one);
  }
  return found;
}

std::vector<std::string> wait_report::sentences() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> all;
  if (control_ == nullptr) return all;
  for (const failure_record& one : last_.kernels) all.push_back(sentence_of(one));
  for (const awaited_command& one : last_.commands) all.push_back(sentence_of(one));
  for (const call_list::call& one : last_.calls) all.push_back(sentence_of(one));
  return all;
}

void wait_report::end() {
  const std::lock_guard lock(mutex_);
  control_ = nullptr;
  proxy_ = nullptr;
  last_ = {};
}

}  // namespace pgas::detail
