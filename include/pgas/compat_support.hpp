/// @file
/// Support for libraries that offer another interface on top of pgas, such as libpgas_shmem, libnvshmem_host and the
/// Python package. Programs do not need this header.
#pragma once

#include "pgas/detail/names_begin.inc"

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include "pgas/bootstrap.hpp"
#include "pgas/collective.hpp"
#include "pgas/config.hpp"
#include "pgas/stream.hpp"

namespace pgas::log {
class logger;
}

namespace pgas::detail {

/// @brief Options for make_bootstrap() from the settings and the launcher's variables, as world::join() uses them.
///
/// @throws error config_value if a variable of the launcher is not a number in its range.
[[nodiscard]] PGAS_API bootstrap_options make_bootstrap_options(const config& settings);

/// @brief The text that a program prints when it starts: the version if the variable PREFIX_VERSION is set, and the
/// options if PREFIX_INFO is set. PREFIX is the first of `prefixes` for which one of these two variables is set. If
/// there is no such prefix, the text is empty.
///
/// @param interface the name and version of the interface, such as "OpenSHMEM 1.5".
/// @throws error config_value.
[[nodiscard]] PGAS_API std::string opening_text(std::string_view interface,
                                                std::initializer_list<std::string_view> prefixes);

/// @brief A text that is equal in all processes of this host and differs between hosts.
[[nodiscard]] PGAS_API std::string host_identity(const config& settings);

/// @brief Writes log lines in the format of the library.
///
/// *Callers* any thread.
class PGAS_API interface_log {
 public:
  /// @brief Logs warnings and errors to standard error.
  interface_log();
  /// @brief Logs as the settings specify.
  ///
  /// @throws error config_value if the file cannot be opened.
  explicit interface_log(const config& settings);
  ~interface_log();
  interface_log(const interface_log&) = delete;
  interface_log& operator=(const interface_log&) = delete;

  /// @brief Adds `pe/n_pes` to later lines.
  void set_pe(int pe, int n_pes);
  void write(log_level level, std::string_view text) noexcept;

 private:
  std::unique_ptr<log::logger> log_;
};

/// @brief Implements run_compared_collective().
PGAS_API void run_compared_request(const team& members, const given<collective_request>& request);
/// @brief Calls run_collective() without a stream, after the members have compared their arguments, as with
/// PGAS_CHECKS.
///
/// Either all members make this call, or no member does.
///
/// @throws error the same on all members; asymmetric_call if the arguments differ or a member leaves the world.
[[gnu::visibility("hidden")]] inline void run_compared_collective(const team& members,
                                                                  const collective_request& request) {
  run_compared_request(members, give(request));
}

/// @brief Collective: returns when all PEs have called await_leave() and work on the world's streams is complete.
/// world::leave() begins with this step. A program may call world::abort() between this call and world::leave().
///
/// @throws error asymmetric_call if a PE is in another collective call; wait_timeout.
PGAS_API void await_leave(world& joined);
/// @brief Whether all work of a stream of the world is known to be complete. Does not wait.
[[nodiscard]] PGAS_API bool is_idle(const world& joined, const stream& on);

class stream_order;

/// @brief Orders work that shares memory and is enqueued on several streams of a world, also during captures.
///
/// Work that is enqueued between a call of before() and the following call of after() runs after the work of all
/// earlier such pairs of calls.
///
/// *Callers* one thread at a time, from before() to after().
class PGAS_API ordered_work {
 public:
  explicit ordered_work(const world& joined);
  ~ordered_work();
  ordered_work(const ordered_work&) = delete;
  ordered_work& operator=(const ordered_work&) = delete;

  /// @brief Makes the stream wait for the previous work.
  ///
  /// @throws error capturing if the stream of the previous work is now being captured, because no stream can wait for a
  /// captured stream.
  void before(const stream& on);
  /// @brief Ends the section that before() began: the work of the section is now enqueued on the stream.
  void after(const stream& on);

 private:
  std::shared_ptr<world_state> world_;
  std::unique_ptr<stream_order> order_;
};

}  // namespace pgas::detail

#include "pgas/detail/names_end.inc"
