/// @file
/// What this PE waits for, as its kernels and its calls say when they are asked: the source of pgas-why.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "host/team/call_list.hpp"
#include "pgas/detail/failure_record.hpp"
#include "pgas/device/team.hpp"

namespace pgas::detail {

/// *Callers* ask(), answer(): one thread; end(): another one.
class wait_report {
 public:
  /// @param control of this PE, by its host address @param calls both live until end() returns @param world the team of
  /// all PEs
  wait_report(control_block& control, const call_list& calls, const team_view& world)
      : control_(&control), calls_(&calls), world_(world) {}

  /// Waits of kernels leave answers from now on.
  void ask();
  /// Their answers, the calls of host threads, and how long this PE has made none, as fields of a JSON object:
  /// `"waits":[{"what","block","thread","pe","offset","bytes","compare","expected","seen","ms"}], "more":bool,
  /// "calls":[{"name","ms","word":{"offset","compare","expected","seen","pe"}}], "short_calls" (since the question),
  /// "idle_ms" (since a call in the list ended)`. No wait answers any more.
  [[nodiscard]] std::string answer();
  /// Nothing is read any more: neither waits nor calls are there.
  void end();

 private:
  std::mutex mutex_;
  control_block* control_;  ///< null: ended
  const call_list* calls_;
  const team_view world_;
  std::uint32_t questions_ = 0;
  std::uint64_t short_calls_ = 0;  ///< when the question was asked
};

}  // namespace pgas::detail
