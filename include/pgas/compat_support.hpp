/// @file
/// For libraries that offer another interface over pgas, such as libpgas_shmem, libnvshmem_host and the Python package.
/// Programs have no use for it.
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

/// Options for make_bootstrap() from the settings and the launcher's variables, as world::join() uses them.
/// *Errors* config_value where a variable of the launcher is no number in its range.
[[nodiscard]] PGAS_API bootstrap_options make_bootstrap_options(const config& settings);

/// The text that a program prints as it starts: the version where PREFIX_VERSION is set, the options where PREFIX_INFO
/// is, of the first prefix that is set; else empty. @param interface its name and version, such as "OpenSHMEM 1.5".
/// *Errors* config_value.
[[nodiscard]] PGAS_API std::string opening_text(std::string_view interface,
                                                std::initializer_list<std::string_view> prefixes);

/// A text that is the same in all processes of this host, and differs between hosts.
[[nodiscard]] PGAS_API std::string host_identity(const config& settings);

/// Writes lines as the library's own log does. *Callers* any thread.
class PGAS_API interface_log {
 public:
  /// Warnings and errors, to standard error.
  interface_log();
  /// As the settings say. *Errors* config_value where the file cannot be opened.
  explicit interface_log(const config& settings);
  ~interface_log();
  interface_log(const interface_log&) = delete;
  interface_log& operator=(const interface_log&) = delete;

  /// From now on lines carry `pe/n_pes`.
  void set_pe(int pe, int n_pes);
  void write(log_level level, std::string_view text) noexcept;

 private:
  std::unique_ptr<log::logger> log_;
};

/// run_collective() without a stream, after the members have compared their arguments, as with PGAS_CHECKS. All members
/// call it, or none does. *Errors* the same on all members; asymmetric_call where they differ, or one leaves the world.
PGAS_API void run_compared_collective(const team& of, const collective_request& request);

/// Collective: returns when all PEs have come to their end, and work on the world's streams is done. world::leave()
/// begins with it; between the two, world::abort() may be called. *Errors* asymmetric_call where a PE is in another
/// collective call; wait_timeout.
PGAS_API void await_leave(world& of);
/// Whether all work of a stream of the world is done, as far as can be told without waiting.
[[nodiscard]] PGAS_API bool is_idle(const world& of, const stream& one);

class stream_order;

/// An order of work that shares memory and is enqueued on several streams of a world, in captures too. What is enqueued
/// between before() and after() runs after the work before it. *Callers* one thread at a time, from before() to
/// after().
class PGAS_API ordered_work {
 public:
  explicit ordered_work(const world& of);
  ~ordered_work();
  ordered_work(const ordered_work&) = delete;
  ordered_work& operator=(const ordered_work&) = delete;

  /// Holds the stream until the work before is done. *Errors* capturing where the stream of that work is being captured
  /// by now, and so can't be waited for.
  void before(const stream& on);
  /// The work is enqueued on the stream.
  void after(const stream& on);

 private:
  std::shared_ptr<world_state> world_;
  std::unique_ptr<stream_order> order_;
};

}  // namespace pgas::detail

#include "pgas/detail/names_end.inc"
