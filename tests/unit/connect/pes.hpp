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
#include <string_view>
#include <utility>
#include <vector>

#include "holdings.hpp"
#include "pgas/bootstrap.hpp"
#include "pgas/error.hpp"

namespace pgas::unit_test {

/// Runs `body(exchange)` as n threads at the same time. Returns the pgas::error that each thread threw. Any other
/// exception fails the test.
std::vector<std::optional<error>> run_threads(int n, const std::function<void(bootstrap&)>& body);

void expect_no_error(const std::vector<std::optional<error>>& ends);
/// Expects that every thread has thrown an error with this code, about PE `pe`, with `text` in its message.
void expect_all(const std::vector<std::optional<error>>& ends, code why, std::optional<int> pe = std::nullopt,
                std::string_view text = {});

/// The end of a forked PE: the exception of its body, or the signal that ended it.
struct process_end {
  std::string message;  ///< what() of the exception; empty if there was none
  int signal = 0;
};

/// Runs `body(exchange)` as n forked processes. The caller must be the only thread. Ends all processes after a minute.
std::vector<process_end> run_processes(int n, const std::function<void(bootstrap&)>& body);

/// Does the same as run_threads(), with one PE for each entry of `hosts`. An entry is the number of the PE's host.
std::vector<std::optional<error>> run_threads_on(const std::vector<int>& hosts,
                                                 const std::function<void(bootstrap&)>& body);
std::vector<process_end> run_processes_on(const std::vector<int>& hosts, const std::function<void(bootstrap&)>& body);

/// Throws an error with the text unless the condition holds. Forked PEs use this function, because a failed EXPECT_ in
/// a forked process is not reported.
inline void require(bool condition, const std::string& text) {
  if (!condition) throw std::runtime_error("required: " + text);
}

/// The memory of a bootstrap among forked processes. The object is made before the processes are forked.
class shared_page;
std::shared_ptr<shared_page> make_shared_page(int n);
std::unique_ptr<bootstrap> make_process_bootstrap(std::shared_ptr<shared_page> page, int rank);

/// A bootstrap that wraps another bootstrap.
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

/// Pauses a bootstrap after its first all-gathers. After one all-gather, PEs of one host have their descriptors and no
/// connections. PEs of several hosts are in this state after two all-gathers.
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

/// Makes a PE appear to be on the host with the name "host-1", "host-2" and so on. 0 leaves the PE on its real host.
class host_bootstrap : public outer_bootstrap {
 public:
  host_bootstrap(bootstrap& inner, int host) : outer_bootstrap(inner), host_(host) {}
  std::vector<blob> all_gather(std::span<const std::byte> mine) override;

 private:
  int host_;  ///< the number of the host; 0 after the first all-gather
};

}  // namespace pgas::unit_test
