#include <fmt/format.h>

#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>

#include "bootstrap/error_messages.hpp"
#include "bootstrap/hub/hub_protocol.hpp"
#include "common/deadline.hpp"
#include "pgas/error.hpp"

namespace pgas {
namespace boot {
namespace {

/// The exchange among the threads of one world. Each thread stores its contribution, and the last one completes the
/// result.
class thread_exchange {
 public:
  explicit thread_exchange(int size) : parts_(static_cast<std::size_t>(size)), state_(parts_.size()) {}

  [[nodiscard]] std::vector<blob> exchange(int rank, collective what, std::span<const std::byte> mine,
                                           const deadline& limit) {
    std::unique_lock lock{mutex_};
    if (failure_) throw *failure_;
    if (arrived_ == 0) what_ = what;
    if (what != what_)
      fail({code::asymmetric_call,
            fmt::format("rank {} calls {} where others call {}; all must make the same calls", rank, name_of(what),
                        name_of(what_)),
            rank});
    at(rank) = member_state::arrived;
    parts_[static_cast<std::size_t>(rank)].assign(mine.begin(), mine.end());
    const auto round = round_;
    if (++arrived_ == size()) {
      finish();
    } else if (const auto gone = find(member_state::left)) {
      fail(left_early(*gone));
    }
    const bool in_time =
        changed_.wait_until(lock, limit.at(), [&] { return round_ != round || failure_ || find(member_state::left); });
    if (round_ != round) return result_;
    if (const auto gone = find(member_state::left); gone && !failure_) fail(left_early(*gone));
    if (!in_time) {
      std::vector<int> missing;
      for (int other = 0; other < size(); ++other)
        if (at(other) != member_state::arrived) missing.push_back(other);
      fail({code::bootstrap_timeout,
            fmt::format("{} did not reach {} in time; is the thread still running?", name_ranks(missing, size()),
                        name_of(what)),
            missing.front()});
    }
    throw *failure_;
  }

  /// Allocates no memory. The waiting members create the error message.
  void leave(int rank) noexcept {
    const std::lock_guard lock{mutex_};
    at(rank) = member_state::left;
    changed_.notify_all();
  }

  void abort(int rank, std::string_view reason) {
    const std::lock_guard lock{mutex_};
    if (failure_) return;
    failure_.emplace(code::aborted, fmt::format("rank {} of {} aborted the job: {}", rank, size(), reason), rank);
    changed_.notify_all();
  }

  [[nodiscard]] int size() const { return static_cast<int>(parts_.size()); }

 private:
  enum class member_state { away, arrived, left };

  [[nodiscard]] member_state& at(int rank) { return state_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] std::optional<int> find(member_state wanted) {
    for (int rank = 0; rank < size(); ++rank)
      if (at(rank) == wanted) return rank;
    return std::nullopt;
  }
  [[nodiscard]] error left_early(int rank) const {
    return {code::peer_lost,
            fmt::format("rank {} of {} has left the world while others call {}; all must make the same calls", rank,
                        size(), name_of(what_)),
            rank};
  }
  [[noreturn]] void fail(const error& why) {
    if (!failure_) failure_ = why;
    changed_.notify_all();
    throw *failure_;
  }
  void finish() {
    result_ =
        parts_;  // valid until the next collective completes, which needs all threads that have not read this result
    for (auto& one : state_) one = member_state::away;
    arrived_ = 0;
    ++round_;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<blob> parts_;
  std::vector<member_state> state_;
  int arrived_ = 0;
  std::size_t round_ = 0;
  collective what_{};
  std::vector<blob> result_;
  std::optional<error> failure_;
};

class thread_bootstrap final : public bootstrap {
 public:
  thread_bootstrap(std::shared_ptr<thread_exchange> all, int rank, milliseconds timeout)
      : all_(std::move(all)), rank_(rank), timeout_(timeout) {}
  ~thread_bootstrap() override { all_->leave(rank_); }

  [[nodiscard]] int rank() const noexcept override { return rank_; }
  [[nodiscard]] int size() const noexcept override { return all_->size(); }
  [[nodiscard]] std::vector<blob> all_gather(std::span<const std::byte> mine) override {
    if (mine.size() > max_contribution)
      throw error{code::invalid_argument, fmt::format("all_gather: {} bytes from rank {}; at most {} are allowed",
                                                      mine.size(), rank_, max_contribution)};
    return all_->exchange(rank_, collective::all_gather, mine, deadline{timeout_});
  }
  void barrier() override { (void)all_->exchange(rank_, collective::barrier, {}, deadline{timeout_}); }
  void set_time_limit(std::chrono::milliseconds limit) override { timeout_ = limit; }
  void abort(std::string_view reason) noexcept override {
    try {
      all_->abort(rank_, reason);
    } catch (...) {  // no memory for the message; the other members end by their time limits
    }
  }

 private:
  std::shared_ptr<thread_exchange> all_;
  int rank_;
  milliseconds timeout_;
};

}  // namespace
}  // namespace boot

std::vector<std::unique_ptr<bootstrap>> make_thread_bootstraps(int n, std::chrono::milliseconds timeout) {
  if (n < 1)
    throw error{code::invalid_argument, fmt::format("make_thread_bootstraps: n is {}; at least 1 is needed", n)};
  auto all = std::make_shared<boot::thread_exchange>(n);
  std::vector<std::unique_ptr<bootstrap>> members;
  for (int rank = 0; rank < n; ++rank) members.push_back(std::make_unique<boot::thread_bootstrap>(all, rank, timeout));
  return members;
}

}  // namespace pgas
