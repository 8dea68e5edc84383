#include "host/watch/wait_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "host/error/device_failure.hpp"
#include "host/failure/question_service.hpp"

namespace pgas::detail {

const char* operation_name(const failure_record& wait) {
  return wait.what == operation::none ? "collective" : name_of(wait.what);
}

namespace {

// Shorter waits are not reported.
constexpr auto least_of_command = std::chrono::milliseconds(5);

std::chrono::milliseconds lasted(const awaited_command& command) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - command.since);
}

std::uint32_t load(std::uint32_t& word) { return std::atomic_ref(word).load(std::memory_order_acquire); }

/// The largest number of writes that a report lists after one wait.
constexpr std::size_t most_behind = 64;

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

kernel_wait wait_report::wait_of(const failure_record& answer) const {
  kernel_wait wait{answer, teams_.find(answer), false, {}};
  if (wait.in_team && answer.what == operation::none) wait.pe = wait.in_team->sender;
  const wait_ticket ticket = wait_ticket::of_pe(answer.what == operation::wait ? answer.pe : -1);
  wait.of_stream = ticket.number != 0 || (wait.in_team && wait.in_team->of_host);
  if (ticket.number != 0) {
    wait.pe = -1;
    wait.behind = streams_.behind(ticket);
  } else if (wait.of_stream) {
    wait.behind = streams_.behind_collective(wait.in_team->team);
  }
  return wait;
}

std::optional<crowded_channel> wait_report::crowd_in(const std::vector<kernel_wait>& waits,
                                                     std::chrono::milliseconds since_question) {
  // In a collective, only one thread waits for a message, and all threads have the same epoch. Two waits for one
  // message therefore belong to two groups of threads. A wait that began after the question does not count, because it
  // can follow an answered wait of the same thread.
  const auto began_before = [=](const kernel_wait& wait) {
    return std::chrono::milliseconds(wait.limit_ms) > since_question;
  };
  for (std::size_t i = 0; i < waits.size(); ++i)
    for (std::size_t k = i + 1; k < waits.size(); ++k) {
      if (!began_before(waits[i]) || !began_before(waits[k])) continue;
      const std::optional<team_list::place>& place = waits[i].in_team;
      const std::optional<team_list::place>& other = waits[k].in_team;
      if (!place || !other || place->message == std::nullopt || place->message != other->message) continue;
      return crowded_channel{
          place->team, place->channel, {waits[i].block, waits[i].thread}, {waits[k].block, waits[k].thread}};
    }
  return std::nullopt;
}

std::string wait_report::teams_of_waits() const {
  std::map<control_group::identity, const std::vector<int>*> teams;
  for (const kernel_wait& wait : last_.kernels)
    if (wait.in_team) teams[wait.in_team->team] = &wait.in_team->members;
  std::string text;
  for (const auto& [id, members] : teams) {
    const std::string list =
        id == control_group::world ? "" : fmt::format(R"(,"members":[{}])", fmt::join(*members, ","));
    text += fmt::format(R"({}{{"id":{}{}}})", text.empty() ? "" : ",", id, list);
  }
  return text;
}

std::string wait_report::text_of(const kernel_wait& wait) const {
  std::string more;
  if (wait.in_team) more += fmt::format(R"(,"team":{},"channel":{})", wait.in_team->team, wait.in_team->channel);
  if (wait.of_stream) {
    std::string writes;
    for (std::size_t i = 0; i < std::min(most_behind, wait.behind.size()); ++i) {
      const stream_log::write& write = wait.behind[i];
      writes += fmt::format(R"({}{{"what":"{}","pe":{},"offset":{},"bytes":{}}})", i == 0 ? "" : ",", write.what,
                            write.pe, write.offset, write.bytes);
    }
    more += fmt::format(R"(,"behind":[{}])", writes);
  }
  return fmt::format(R"({{"what":"{}","block":{},"thread":{},"pe":{},"offset":{},"bytes":{},)"
                     R"("compare":"{}","expected":{},"seen":{},"ms":{}{}{}}})",
                     operation_name(wait), wait.block, wait.thread, wait.pe, wait.heap_offset, wait.bytes,
                     symbol_of(wait.compare), wait.expected, wait.seen, wait.limit_ms, field_of_place(wait.heap_offset),
                     more);
}

std::string wait_report::text_of(const awaited_command& command) const {
  return fmt::format(R"({{"what":"{}","pes":[{}],"offset":{},"bytes":{},"ms":{}{}}})", operation_name(command.cmd),
                     fmt::join(command.pes, ","), command.cmd.offset, command.cmd.bytes, lasted(command).count(),
                     field_of_place(command.cmd.offset));
}

std::string wait_report::text_of(const calls_in_progress::call& call) const {
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

std::string wait_report::sentence_of(const kernel_wait& wait) const {
  const std::string place =
      wait.of_stream ? "on a stream" : fmt::format("by block {} thread {} of a kernel", wait.block, wait.thread);
  return fmt::format("{} {} has waited {:.1f} s{}{}", operation_name(wait), place, wait.limit_ms / 1000.0,
                     wait.pe >= 0 ? fmt::format(" for PE {}", wait.pe) : "",
                     text_of_word(wait.heap_offset, wait.compare, wait.expected, wait.seen));
}

std::string wait_report::sentence_of(const awaited_command& command) const {
  return fmt::format("{} through the proxy has waited {:.1f} s for PE {}{}", operation_name(command.cmd),
                     static_cast<double>(lasted(command).count()) / 1000.0, fmt::join(command.pes, ", "),
                     words_of_place(command.cmd.offset));
}

std::string wait_report::sentence_of(const calls_in_progress::call& call) const {
  const std::optional<calls_in_progress::awaited_word>& word = call.word;
  return fmt::format("{} has waited {:.1f} s{}", call.name, static_cast<double>(call.lasted.count()) / 1000.0,
                     word ? text_of_word(word->offset, word->compare, word->expected, word->seen) : "");
}

template <class List>
std::string wait_report::joined(const List& list) const {
  std::string text;
  for (const auto& item : list) text += (text.empty() ? "" : ",") + text_of(item);
  return text;
}

void wait_report::ask() {
  const std::lock_guard lock(mutex_);
  if (control_ == nullptr || ++open_ > 1) return;
  if (++questions_ == 0) ++questions_;  // number 0 means no question
  asked_at_ = std::chrono::steady_clock::now();
  short_calls_ = calls_->short_calls();
  std::atomic_ref(control_->question).store(questions_, std::memory_order_release);
  if (proxy_ != nullptr) proxy_->ask_awaited();
}

bool wait_report::settled() const {
  const std::lock_guard lock(mutex_);
  if (control_ == nullptr) return true;
  for (failure_record& record : control_->answers)
    if (load(record.complete) == questions_) return true;
  const auto open = std::chrono::steady_clock::now() - asked_at_;
  return std::ranges::none_of(
      calls_->now(), [open](const calls_in_progress::call& call) { return !call.word && call.lasted >= open; });
}

pe_waits wait_report::collect() {
  const std::lock_guard lock(mutex_);
  pe_waits found;
  if (control_ == nullptr) return found;
  if (--open_ == 0) std::atomic_ref(control_->question).store(0, std::memory_order_release);
  for (failure_record& record : control_->answers) {
    if (load(record.complete) != questions_) continue;
    found.kernels.push_back(wait_of(record));
  }
  // Sorted, because threads answer in an order that depends on the launch.
  std::ranges::sort(found.kernels, {}, [](const kernel_wait& wait) { return std::pair(wait.block, wait.thread); });
  found.crowd =
      crowd_in(found.kernels,
               std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - asked_at_));
  found.more = load(control_->unanswered) == questions_;
  if (proxy_ != nullptr) found.commands = proxy_->awaited();
  std::erase_if(found.commands, [](const awaited_command& command) { return lasted(command) < least_of_command; });
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
  std::string crowd;
  if (const auto& two = last_.crowd)
    crowd = fmt::format(R"(,"crowd":{{"team":{},"channel":{},"first":[{},{}],"second":[{},{}]}})", two->team,
                        two->channel, two->first.first, two->first.second, two->second.first, two->second.second);
  return fmt::format(
      R"("waits":[{}],"teams":[{}]{},"more":{},"commands":[{}],"calls":[{}],"short_calls":{},"idle_ms":{},"looked_ms":{})",
      joined(last_.kernels), teams_of_waits(), crowd, last_.more, joined(last_.commands), joined(last_.calls),
      last_.short_calls, last_.idle.count(), std::chrono::duration_cast<std::chrono::milliseconds>(looked).count());
}

std::vector<long_wait> wait_report::overdue(std::chrono::milliseconds limit) const {
  const std::lock_guard lock(mutex_);
  std::vector<long_wait> found;
  const auto add = [&](std::chrono::milliseconds time, const auto& item) {
    if (time >= limit) found.push_back({time, sentence_of(item)});
  };
  const auto longest = [](const auto& list, const auto& time_of) {
    std::vector<std::pair<std::chrono::milliseconds, std::size_t>> order;
    for (std::size_t i = 0; i < list.size(); ++i) order.emplace_back(time_of(list[i]), i);
    std::ranges::sort(order, std::greater<>());
    return order;
  };
  for (const auto& [time, i] :
       longest(last_.kernels, [](const kernel_wait& wait) { return std::chrono::milliseconds(wait.limit_ms); }))
    add(time, last_.kernels[i]);
  for (const auto& [time, i] : longest(last_.commands, [](const awaited_command& command) { return lasted(command); }))
    add(time, last_.commands[i]);
  const bool waits_inside = !last_.kernels.empty() || !last_.commands.empty();
  for (const auto& [time, i] : longest(last_.calls, [](const calls_in_progress::call& call) { return call.lasted; })) {
    const calls_in_progress::call& call = last_.calls[i];
    if (call.word || (!waits_inside && !std::string_view(call.name).ends_with("synchronize"))) add(time, call);
  }
  return found;
}

std::vector<std::string> wait_report::sentences() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> all;
  if (control_ == nullptr) return all;
  for (const kernel_wait& wait : last_.kernels) all.push_back(sentence_of(wait));
  for (const awaited_command& command : last_.commands) all.push_back(sentence_of(command));
  for (const calls_in_progress::call& call : last_.calls) all.push_back(sentence_of(call));
  return all;
}

void wait_report::end() {
  const std::lock_guard lock(mutex_);
  control_ = nullptr;
  proxy_ = nullptr;
  last_ = {};
}

}  // namespace pgas::detail
