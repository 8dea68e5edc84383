/// @file
/// The runtime of a C program: the only world of the program, and its teams, which have numbers. Functions of C
/// interfaces have no argument for the world and use the runtime. Each library of a C interface has a separate runtime.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "common/fork_guard.hpp"
#include "host/compat/common/global_exit.hpp"
#include "host/compat/common/handle_table.hpp"
#include "pgas/bootstrap.hpp"
#include "pgas/compat_support.hpp"
#include "pgas/config.hpp"
#include "pgas/team.hpp"
#include "pgas/world.hpp"

namespace pgas::compat {

/// The state of the initialization of a program. After the last stop() the state is `none` again.
enum class stage {
  none,          ///< not started
  bootstrapped,  ///< the PE's number and the number of PEs are known; symmetric memory does not exist yet
  joined         ///< the world is joined
};

/// The predefined teams. Teams that the program makes get numbers from first_own on.
namespace team_number {
inline constexpr int invalid = -1;
inline constexpr int world = 0;
inline constexpr int shared = 1;                  ///< PEs with direct access to one another's memory
inline constexpr int node = 2;                    ///< PEs of the same host
inline constexpr int same_rank_on_each_node = 3;  ///< PEs with the same rank on their hosts
inline constexpr int multicast = 6;               ///< the same PEs as `shared`; 4 and 5 are NVSHMEM's own
inline constexpr int first_own = 7;
}  // namespace team_number

/// Arguments of start().
struct start_request {
  std::unique_ptr<bootstrap> exchange;       ///< null: the launcher's bootstrap
  heap_kind heap = heap_kind::automatic;     ///< the heap, if the settings do not choose one
  int device = -1;                           ///< the GPU, if the settings do not choose one; -1: see config::device
  std::string opening;                       ///< a text that PE 0 prints, if the text is not empty
  std::string program;                       ///< compared with the program of the other PEs, see same_program()
  bool deferred = false;                     ///< join when the world is first needed; ignored on the host heap
  std::function<void(class world&)> joined;  ///< called once the world and the predefined teams exist
  std::function<void()> leaving;             ///< called before the world is left, also if `joined` has failed
};

/// A team of the table.
struct team_entry {
  team own;                          ///< a team that was made by a split; empty for a team of the world
  const team* predefined = nullptr;  ///< a team of the world
  int num_contexts = 0;              ///< the number of contexts that the program requested; a query returns this number

  [[nodiscard]] bool exists() const { return predefined != nullptr || own; }
  [[nodiscard]] const team& get() const { return predefined != nullptr ? *predefined : own; }
};

/// The program's membership in its world.
///
/// *Callers* any thread; start(), stop() and all functions that can join are collective. *Errors* not_joined before
/// start() and after stop(); otherwise as the functions of pgas::world.
class runtime {
 public:
  /// The instance of this library. Never destroyed, because a process that ends without stop() must not wait for other
  /// PEs.
  [[nodiscard]] static runtime& instance();

  runtime() = default;
  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;

  /// Starts the runtime. If the runtime is already started, only increments the number of users and ignores the
  /// request. Collective. *Errors* as world::join(); after an error the runtime is not started.
  void start(start_request request);
  /// Ends one use of the runtime. When stop() has been called as often as start(), leaves the world. Further calls have
  /// no effect. Collective. *Errors* as world::leave(); after an error the runtime is stopped too.
  void stop();
  /// Aborts the world or, before the world is joined, the launcher's job. Frees no memory; stop() frees the memory. The
  /// reason is logged on this PE at `level`.
  void abort(std::string_view reason, log_level level = log_level::error) noexcept;
  /// Ends the processes of all PEs with this status, as end_process() does. *Callers* any thread at any time.
  [[noreturn]] void global_exit(std::string_view function, int status) noexcept;
  /// For a failing function without a status: logs the cause and ends the processes of all PEs with status 1.
  [[noreturn]] void fail(const char* function, const std::exception& cause) noexcept;

  /// The state of initialization.
  [[nodiscard]] pgas::compat::stage stage() const noexcept;

  /// The world. After a deferred start, the first call joins and is collective.
  /// *Errors* also the failure of an earlier attempt to join.
  [[nodiscard]] class world& world() {
    class world* const joined = current_world_.load(std::memory_order_acquire);
    return joined != nullptr ? *joined : join();
  }

  /// Whether all PEs gave the same start_request::program.
  [[nodiscard]] bool same_program() const noexcept { return same_program_; }
  /// The number of calls of start() that have no stop() yet.
  [[nodiscard]] int users() const;

  /// This PE's number, and the number of PEs. Never joins.
  [[nodiscard]] int my_pe();
  [[nodiscard]] int n_pes();

  /// This PE's number in a team, and the team's number of PEs. Never joins for predefined teams, whose members are
  /// known from start(). *Errors* invalid_argument for an unknown number.
  [[nodiscard]] int team_my_pe(int number);
  [[nodiscard]] int team_n_pes(int number);

  /// The team with this number, also for the number of a predefined team. Joins. *Errors* invalid_argument.
  [[nodiscard]] team_entry& find_team(int number);
  [[nodiscard]] const pgas::team& team(int number) { return find_team(number).get(); }
  /// Takes ownership of a team that was made by a split. *On return* its number; team_number::invalid for an empty
  /// team.
  [[nodiscard]] int add_team(pgas::team added, int num_contexts = 0);
  /// Collective over the team: destroys it and frees its number. *Errors* invalid_argument for a predefined team.
  void destroy_team(int number);
  /// Calls `visit(number, team)` for each team, including the predefined teams, with the table locked. Never joins.
  template <class Visit>
  void for_each_team(Visit&& visit) {
    for (std::size_t number = 0; number < predefined_.size(); ++number)
      if (predefined_[number].exists()) visit(static_cast<int>(number), predefined_[number].get());
    teams_.for_each([&](int number, const team_entry& entry) { visit(number, entry.get()); });
  }
  /// Whether a team with this number exists. Joins the world, if the process has not joined.
  [[nodiscard]] bool has_team(int number);

  /// The settings of the environment. The first call of this function or of start() reads the settings. The settings
  /// are kept until the last stop(), so that each remark about them is logged once. *Errors* config_value.
  [[nodiscard]] const config& settings();
  /// Logs the reason why a call returned a failure status or null. Bad arguments and full memory are logged at level
  /// `expected`, because the program may expect them.
  void report(const char* function, const error& cause, log_level expected = log_level::info) noexcept;
  /// Logs a warning.
  void warn(std::string_view text) noexcept;

 private:
  /// The host of each PE, known before joining.
  struct host_map {
    std::vector<int> host;  ///< for each PE: the lowest PE of its host
    [[nodiscard]] int rank(int pe) const;
    [[nodiscard]] int size(int pe) const;
    /// The number of PEs below `end` that have the same rank on their hosts as `pe`.
    [[nodiscard]] int same_rank_below(int pe, int end) const;
  };

  class world& join();
  void make_teams();
  void check_started() const;
  void end() noexcept;
  void write_log(log_level level, std::string_view text) noexcept;
  void write_log(log_level level, const char* function, const std::exception& cause) noexcept;

  const detail::fork_guard process_;
  mutable std::recursive_mutex mutex_;  ///< guards the stage; recursive, because the `joined` callback may call world()
  int users_ = 0;
  std::optional<config> settings_;
  std::unique_ptr<bootstrap> exchange_;  ///< set until the world is joined
  std::function<void(class world&)> joined_;
  std::function<void()> leaving_;
  int my_pe_ = -1;
  int n_pes_ = 0;
  host_map hosts_;
  bool same_program_ = true;
  std::optional<class world> world_;
  std::optional<global_exit_monitor> exit_monitor_;
  std::atomic<class world*> current_world_{nullptr};
  std::optional<error> failure_;  ///< the failure of joining
  std::array<team_entry, team_number::first_own> predefined_;
  handle_table<team_entry> teams_{"team", team_number::first_own};
  /// A separate mutex, so that a process can log the reason for its end while another thread joins or leaves.
  std::mutex log_mutex_;
  std::shared_ptr<detail::interface_log> log_;
};

/// For a process that ends without its last runtime::stop(). Registers an exit handler. The handler calls `stop` once
/// for each call of start() that has no stop() yet. If the exit status is not 0, the handler aborts the world instead.
/// In a child of fork() the handler does nothing. *Callers* after the world is joined, so that the handler runs before
/// the exit handlers of libraries that joining has loaded. Further calls have no effect.
void leave_at_exit(void (*stop)());

/// The alignment of memory for a program that requests `alignment`: the next power of two, but at least the alignment
/// of the largest element.
[[nodiscard]] constexpr std::size_t alignment_of(std::size_t alignment) {
  constexpr std::size_t lowest = 16;
  constexpr std::size_t highest = std::size_t{1} << 62;  // too large: every heap refuses this alignment
  return std::bit_ceil(std::clamp(alignment, lowest, highest));
}

/// Converts an exception to an error. An exception of the C++ library means that this process lacks memory or threads.
[[nodiscard]] error error_of(const std::exception& cause);

/// Runs `body`. Logs an exception with the function's name and returns `failed`, which is a value or a function that
/// gets the pgas::error. For functions that return a status or a pointer.
/// @param expected the level for expected errors, see runtime::report(); `error` for functions whose status does not
/// show why a program cannot start
template <class Failed, class Body>
auto to_status(const char* function, Failed&& failed, Body&& body, log_level expected = log_level::info) noexcept
    -> decltype(body()) {
  try {
    return body();
  } catch (const std::exception& thrown) {
    const error cause = error_of(thrown);
    exit_if_requested(cause);
    runtime::instance().report(function, cause, expected);
    if constexpr (std::is_invocable_v<Failed, const error&>)
      return failed(cause);
    else
      return failed;
  }
}

/// Runs `body`. An exception ends all processes by runtime::fail(). For functions without a status, because an
/// exception must not unwind through C code.
template <class Body>
auto or_global_exit(const char* function, Body&& body) noexcept -> decltype(body()) {
  try {
    return body();
  } catch (const std::exception& cause) {
    runtime::instance().fail(function, cause);
  }
}

}  // namespace pgas::compat
