/// @file
/// Runs, in a child process, calls of libraries that can hang or end the process.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace pgas::doctor {

/// The beginning of the sentence about a call or a step that has exceeded its time limit.
inline constexpr const char* did_not_end = "it did not end within";

struct trial {
  std::optional<std::string> result{};
  std::string failure{};  ///< the reason, without a result
};

/// Runs `call` in a child process and returns its result. Returns a reason if the call throws an exception, if the call
/// does not end within `limit`, or if a signal ends the child.
[[nodiscard]] trial try_in_child(std::chrono::milliseconds limit, const std::function<std::string()>& call);

}  // namespace pgas::doctor
