#include "host/failure/long_wait_warning.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "host/exchange/exchange_service.hpp"

namespace pgas::detail {

namespace {

/// The question for a warning must be sent within this time.
constexpr auto time_to_ask = std::chrono::seconds(1);
/// A wait with a shorter limit gets no warning, because it ends soon.
constexpr auto shortest_limit_to_warn = std::chrono::seconds(10);
/// The longest interval between two searches for long waits.
constexpr auto most_between_searches = std::chrono::seconds(15);
/// If a call and a kernel begin to wait within this time, they count as one wait.
constexpr auto one_wait = std::chrono::seconds(2);
constexpr std::size_t most_warned = 256;

using stage = exchange_service::stage;

/// The time after which a wait gets a warning.
std::chrono::milliseconds warn_after(const exchange_service& exchanges, std::chrono::milliseconds setting, stage now) {
  // A PE can begin to leave long before the last PE does. The limit begins only when all PEs leave.
  const std::chrono::milliseconds limit =
      now == stage::leaving ? std::chrono::milliseconds(0) : exchanges.limit_at(now);
  return limit < shortest_limit_to_warn ? setting : std::min(setting, limit / 2);
}

/// A sentence about the time limit that ends a wait.
std::string words_of_limit(const exchange_service& exchanges, std::chrono::milliseconds setting, stage now) {
  if (now == stage::leaving) return "PGAS_JOIN_TIMEOUT ends the wait for work on streams";
  const char* const limit = now == stage::joining ? "PGAS_JOIN_TIMEOUT" : "PGAS_WAIT_TIMEOUT";
  if (warn_after(exchanges, setting, now) < setting) return fmt::format("Half of {} is over", limit);
  return exchanges.limit_at(now).count() == 0 ? fmt::format("The wait goes on, as {} is 0", limit)
                                              : fmt::format("{} will end the wait", limit);
}

}  // namespace

void long_wait_warning::start(int pe, int n) {
  // The PEs of a world search at different times, so that the questions of all PEs are not sent at the same time.
  next_search_ = clock::now() + time_between_searches() + time_between_searches() * pe / n;
}

std::chrono::milliseconds long_wait_warning::time_between_searches() const {
  const stage now = exchanges_.reached();
  std::chrono::milliseconds after = warn_after(exchanges_, setting_, now);
  if (now == stage::joining)
    after = std::min(after, warn_after(exchanges_, setting_, stage::joined));  // joining may end earlier
  return std::min<std::chrono::milliseconds>(after / 2, most_between_searches);
}

bool long_wait_warning::begin_search() {
  if (setting_.count() == 0 || pending_ || clock::now() < next_search_) return false;
  next_search_ = clock::now() + time_between_searches();
  return true;
}

void long_wait_warning::search(const std::function<std::vector<long_wait>(std::chrono::milliseconds)>& overdue) {
  // A collective knows the missing PEs. The call that contains the collective does not.
  const stage reached = exchanges_.reached();
  const std::chrono::milliseconds after = warn_after(exchanges_, setting_, reached);
  std::vector<long_wait> waits = exchanges_.overdue(after);
  if (overdue) std::ranges::move(overdue(after), std::back_inserter(waits));
  const clock::time_point now = clock::now();
  std::string first;
  std::size_t more = 0;
  for (long_wait& one : waits) {
    const clock::time_point began = now - one.lasted;
    if (std::ranges::any_of(warned_, [&](clock::time_point of) { return std::chrono::abs(began - of) < one_wait; }))
      continue;
    if (warned_.size() == most_warned) warned_.erase(warned_.begin());
    warned_.push_back(began);
    if (first.empty())
      first = std::move(one.sentence);
    else
      ++more;
  }
  if (first.empty()) return;
  if (more != 0) first += fmt::format(", and {} more waits as long", more);
  pending_ = warning{std::move(first), words_of_limit(exchanges_, setting_, reached), now + time_to_ask, 0, {}};
}

void long_wait_warning::on_asked(std::uint64_t number, clock::time_point until) noexcept {
  pending_->number = number;
  pending_->until = until;
}

void long_wait_warning::on_answer(std::uint64_t number, std::string_view text) {
  if (pending_ && pending_->number == number) pending_->answers.emplace_back(text);
}

bool long_wait_warning::is_complete(int n) const {
  return pending_ && (static_cast<int>(pending_->answers.size()) == n || clock::now() >= pending_->until);
}

void long_wait_warning::log_it(const std::function<std::string(const std::vector<std::string>& answers)>& root) {
  const warning now = *std::exchange(pending_, std::nullopt);
  std::string sentence = root(now.answers);
  if (!sentence.empty()) sentence += ' ';
  log_.warn("{}. {}{}. `pgas-why {}` lists all waits of the job", now.waits, sentence, now.limit, ::getpid());
}

std::optional<clock::time_point> long_wait_warning::next_wake() const {
  if (pending_) return pending_->until;
  if (setting_.count() > 0) return next_search_;
  return std::nullopt;
}

}  // namespace pgas::detail
