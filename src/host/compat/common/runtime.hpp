/// @file
/// The one world of a C program and its teams by number: what stands behind functions that take no world. Each library
/// of a C interface has a runtime of its own.
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

#include "common/owner_process.hpp"
#include "host/compat/common/global_exit.hpp"
#include "host/compat/common/handle_table.hpp"
#include "host/log/log.hpp"
#include "pgas/bootstrap.hpp"
#include "pgas/config.hpp"
#include "pgas/team.hpp"
#include "pgas/world.hpp"

namespace pgas::capi {

/// How far a program has come. After the last stop() it is `none` again.
enum class stage {
  none,          ///< not started
  bootstrapped,  ///< knows its number and the other PEs, has no memory yet
  joined         ///< the world stands
};

/// The teams that every program has. Those that it makes get numbers from first_own_team on.
namespace team_number {
inline constexpr int invalid = -1;
inline constexpr int world = 0;
inline constexpr int shared = 1;                  ///< PEs that reach one another's memory by loads and stores
inline constexpr int node = 2;                    ///< PEs of the same host
inline constexpr int same_rank_on_each_node = 3;  ///< PEs with this PE's number among those of their hosts
inline constexpr int first_own = 6;               ///< the two before are NVSHMEM's own
}  // namespace team_number

/// What start() may be told.
struct start_request {
  std::unique_ptr<bootstrap> exchange;    ///< null: the launcher's
  heap_kind heap = heap_kind::automatic;  ///< used where the configuration leaves the choice
  int device = -1;        ///< the GPU, used where the configuration leaves the choice; -1: see config::device
  std::string opening;    ///< printed by PE 0, if not empty
  bool deferred = false;  ///< join when the world is first needed; not where the heap is of host memory anyway
  std::function<void(class world&)> joined;  ///< called once the world and the predefined teams stand
  std::function<void()> leaving;             ///< called before the world goes, also where `joined` has failed
};

/// A team that the program knows by a number.
struct numbered_team {
  team own;  ///< empty for a team that the world has by itself
  const team* standing = nullptr;
  int num_contexts = 0;  ///< as the program asked; for its query

  [[nodiscard]] bool exists() const { return standing != nullptr || own; }
  [[nodiscard]] const team& get() const { return standing != nullptr ? *standing : own; }
};

/// The program's membership in its world.
///
/// *Callers* any thread; start, stop and whatever may join are collective.
/// *Errors* not_joined before start() and after stop(), saying so; otherwise as the functions of pgas::world.
class runtime {
 public:
  /// The one of this library. Never destroyed: a process that ends without stop() must not wait for others on its way
  /// out.
  [[nodiscard]] static runtime& instance();

  runtime() = default;
  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;

  /// Collective. Starts, or counts one more user if it was started before; then the request is not looked at.
  /// *Errors* as world::join(). Nothing was started then.
  void start(start_request request);
  /// Collective. The last of as many calls as there were start()s leaves the world; more calls do nothing. *Errors*
  /// what world::leave() throws, after which nothing is left all the same.
  void stop();
  /// Ends the world for everyone, or the launcher's job where there is no world yet. What is there stays: see stop().
  /// The reason is logged here at `level`.
  void abort(std::string_view reason, log_level level = log_level::error) noexcept;
  /// Ends the processes of all PEs with this status; what they have printed is written. *Callers* any time.
  [[noreturn]] void global_exit(std::string_view function, int status) noexcept;
  /// What a function does that has failed and has no way to say so: logs the cause, and ends all with status 1.
  [[noreturn]] void fail(const char* function, const std::exception& cause) noexcept;

  /// How far it has come.
  [[nodiscard]] pgas::capi::stage stage() const noexcept;

  /// The world. Collective the first time after a deferred start: it is joined then.
  /// *Errors* also what an earlier attempt to join it ended with.
  [[nodiscard]] class world& world() {
    class world* const standing = standing_.load(std::memory_order_acquire);
    return standing != nullptr ? *standing : join();
  }

  /// This PE's number and how many there are; never joins.
  [[nodiscard]] int my_pe();
  [[nodiscard]] int n_pes();

  /// The same for a team. Never joins for the predefined ones, whose hosts are known from the start. *Errors*
  /// invalid_argument where there is no such team.
  [[nodiscard]] int team_my_pe(int number);
  [[nodiscard]] int team_n_pes(int number);

  /// The teams by number, the predefined ones among them; joins.
  [[nodiscard]] numbered_team& find_team(int number);
  [[nodiscard]] const pgas::team& team(int number) { return find_team(number).get(); }
  /// Takes over a team made by a split. *On return* its number, team_number::invalid for an empty one.
  [[nodiscard]] int add_team(pgas::team made, int num_contexts = 0);
  /// Collective over the team: destroys it; its number is free. *Errors* invalid_argument for a predefined team.
  void destroy_team(int number);
  /// Calls `see(number, team)` for each team there is, the predefined ones among them; none is made or destroyed
  /// meanwhile. Never joins.
  template <class See>
  void for_each_team(See&& see) {
    for (std::size_t number = 0; number < predefined_.size(); ++number)
      if (predefined_[number].exists()) see(static_cast<int>(number), predefined_[number].get());
    teams_.for_each([&](int number, const numbered_team& one) { see(number, one.get()); });
  }
  /// Whether there is a team with this number. Joins.
  [[nodiscard]] bool has_team(int number);

  /// The environment's settings, from the first time that they are asked for, or start() was called, to the last
  /// stop(): what is to be said about them is said once. *Errors* config_value.
  [[nodiscard]] const config& settings();
  /// Logs why a call failed whose status, or null pointer, says only that it did. Bad arguments and full memory are for
  /// the program to judge, so that these are no errors.
  void report(const char* function, const std::exception& cause) noexcept;
  /// Logs what the program will find strange otherwise.
  void warn(std::string_view text) noexcept;

 private:
  /// Which PEs share a host, known before joining.
  struct host_map {
    std::vector<int> host;  ///< of each PE: the lowest PE of the same host
    [[nodiscard]] int rank(int pe) const;
    [[nodiscard]] int size(int pe) const;
    [[nodiscard]] int alike_before(int pe, int end) const;  ///< PEs below `end` with the rank of `pe` on their hosts
  };

  class world& join();
  void make_teams();
  void check_started() const;
  void end() noexcept;
  void write_log(log_level level, std::string_view text) noexcept;
  void write_log(log_level level, const char* function, const std::exception& cause) noexcept;

  const detail::owner_process process_;
  mutable std::recursive_mutex mutex_;  ///< guards the stage; the `joined` callback may ask for the world
  int users_ = 0;
  std::optional<config> settings_;
  std::unique_ptr<bootstrap> exchange_;  ///< until the world is joined
  std::function<void(class world&)> joined_;
  std::function<void()> leaving_;
  int my_pe_ = -1;
  int n_pes_ = 0;
  host_map hosts_;
  std::optional<class world> world_;
  std::optional<exit_watch> watch_;
  std::atomic<class world*> standing_{nullptr};
  std::optional<error> failure_;  ///< of joining
  std::array<numbered_team, team_number::first_own> predefined_;
  handle_table<numbered_team> teams_{"team", team_number::first_own};
  std::unique_ptr<log::logger> log_;
};

/// What memory is aligned to where a program asks for `alignment`: the next power of two, and what any element needs.
[[nodiscard]] constexpr std::size_t alignment_of(std::size_t alignment) {
  constexpr std::size_t least = 16;
  constexpr std::size_t most = std::size_t{1} << 62;  // more than there is: for the heap to refuse
  return std::bit_ceil(std::clamp(alignment, least, most));
}

/// Runs `body`; what it throws is logged with the name of the function and becomes `failed`: a value, or a function of
/// the pgas::error that gives one. For functions that return a status or a pointer.
template <class Failed, class Body>
auto guarded(const char* function, Failed&& failed, Body&& body) noexcept -> decltype(body()) {
  try {
    return body();
  } catch (const error& cause) {
    end_if_asked(cause);
    runtime::instance().report(function, cause);
    if constexpr (std::is_invocable_v<Failed, const error&>)
      return failed(cause);
    else
      return failed;
  } catch (const std::exception& cause) {  // no memory, no threads
    runtime::instance().report(function, cause);
    if constexpr (std::is_invocable_v<Failed, const error&>)
      return failed(error(code::system, cause.what()));
    else
      return failed;
  }
}

/// Runs `body`; where it throws, all processes end, as runtime::fail() says. For functions that have no way of saying
/// that they failed: an exception must not pass through a program in C.
template <class Body>
auto must(const char* function, Body&& body) noexcept -> decltype(body()) {
  try {
    return body();
  } catch (const std::exception& cause) {
    runtime::instance().fail(function, cause);
  }
}

}  // namespace pgas::capi
