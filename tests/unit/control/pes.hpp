/// @file
/// PEs for tests: threads of the test, or processes forked from it, each with a bootstrap.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "holdings.hpp"
#include "pgas/bootstrap.hpp"
#include "pgas/error.hpp"

namespace pgas::unit_test {

/// Runs `body(exchange)` as n threads at once. What each threw as a pgas::error; any other exception fails the test.
std::vector<std::optional<error>> run_threads(int n, const std::function<void(bootstrap&)>& body);

/// How a forked PE ended: what its body threw, or the signal that ended it.
struct process_end {
  std::string message;  ///< what() of the exception, empty if none
  int signal = 0;
};

/// Runs `body(exchange)` as n forked processes. The caller must be the only thread. Ends them all after a minute.
std::vector<process_end> run_processes(int n, const std::function<void(bootstrap&)>& body);

/// The same with a PE for each entry of `hosts`, which says on which host that PE is.
std::vector<std::optional<error>> run_threads_on(const std::vector<int>& hosts,
                                                 const std::function<void(bootstrap&)>& body);
std::vector<process_end> run_processes_on(const std::vector<int>& hosts, const std::function<void(bootstrap&)>& body);

/// For code in forked PEs, where EXPECT_ would go unseen: throws with the text unless the condition holds.
inline void require(bool condition, const std::string& text) {
  if (!condition) throw std::runtime_error("required: " + text);
}

/// A bootstrap among processes that share memory from before they were forked.
class shared_page;
std::shared_ptr<shared_page> make_shared_page(int n);
std::unique_ptr<bootstrap> make_process_bootstrap(std::shared_ptr<shared_page> page, int rank);

/// A bootstrap that wraps another.
class outer_bootstrap : public bootstrap {
 public:
  explicit outer_bootstrap(bootstrap& inner) : inner_(inner) {}
  int rank() const noexcept override { return inner_.rank(); }
  int size() const noexcept override { return inner_.size(); }
  std::vector<blob> all_gather(std::span<const std::byte> mine) override { return inner_.all_gather(mine); }
  void barrier() override { inner_.barrier(); }
  void set_time_limit(std::chrono::milliseconds limit) override { inner_.set_time_limit(limit); }
  void abort(std::string_view reason) noexcept override { inner_.abort(reason); }

 private:
  bootstrap& inner_;
};

/// Makes a bootstrap pause after its first all-gathers: with one, between descriptors and connections of PEs of one
/// host; with two, of PEs of several hosts.
class pausing_bootstrap : public outer_bootstrap {
 public:
  pausing_bootstrap(bootstrap& inner, std::function<void()> pause, int after = 1)
      : outer_bootstrap(inner), pause_(std::move(pause)), rounds_left_(after) {}
  std::vector<blob> all_gather(std::span<const std::byte> mine) override {
    answers_ = outer_bootstrap::all_gather(mine);
    if (--rounds_left_ == 0) pause_();
    return answers_;
  }
  /// The result of the last all-gather.
  [[nodiscard]] const std::vector<blob>& answers() const { return answers_; }

 private:
  std::function<void()> pause_;
  int rounds_left_;
  std::vector<blob> answers_;
};

/// Gives a PE the descriptor of one of another host: "host-1", "host-2", ... Host 0 is where the test runs.
class host_bootstrap : public outer_bootstrap {
 public:
  host_bootstrap(bootstrap& inner, int host) : outer_bootstrap(inner), host_(host) {}
  std::vector<blob> all_gather(std::span<const std::byte> mine) override;

 private:
  int host_;  ///< 0 once it is told
};

}  // namespace pgas::unit_test
