/// @file
/// Declarations that the sources of libnvshmem_host share.
#pragma once

#include <dlfcn.h>
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string_view>

#include "host/compat/common/runtime.hpp"
#include "pgas/compat/nvshmem/host_abi.h"
#include "pgas/compat/nvshmem/types.h"
#include "pgas/detail/host/untyped_operations.hpp"
#include "pgas/stream.hpp"

namespace pgas::compat {

/// The nvshmemx_status of an error.
[[nodiscard]] int status_of(const error& cause) noexcept;

/// to_status() for functions that return an nvshmemx_status: success unless `body` throws.
template <class Body>
int to_nvshmemx_status(const char* function, Body&& body, log_level expected = log_level::info) noexcept {
  return to_status(
      function, status_of,
      [&]() -> int {
        body();
        return NVSHMEMX_SUCCESS;
      },
      expected);
}

/// One call of the program: the world, and the stream if the call is enqueued.
class host_call {
 public:
  /// Joins the world if a deferred start is pending. *Errors* of runtime::world() and stream::wrap().
  explicit host_call(const compat::when& when)
      : world_(runtime::instance().world()), blocking_(when.how == mode::blocking) {
    if (when.how == mode::on_stream) stream_.emplace(stream::wrap(world_, when.stream));
  }

  [[nodiscard]] class world& world() const noexcept { return world_; }
  [[nodiscard]] stream* on() noexcept { return stream_ ? &*stream_ : nullptr; }
  [[nodiscard]] detail::op_target target() noexcept { return {world_, on(), blocking_}; }

 private:
  using mode = when::mode;
  class world& world_;
  bool blocking_;
  std::optional<stream> stream_;
};

/// Waits until the legacy default stream is idle. Programs fill memory by work in this stream and then call a barrier
/// on the host. After the barrier, kernels of other PEs expect the filled memory. The function queries the stream,
/// because an event in this stream would block the program's other streams. It waits at most PGAS_DEFAULT_STREAM_WAIT,
/// because a kernel on that stream can wait for this PE's host. *Errors* the world's first failure.
void wait_for_default_stream(world& w);

/// Drops all registrations of nvshmemx_buffer_register().
void clear_registrations();

/// Ends the regions of all threads.
void end_regions() noexcept;

/// Collective: allocates the slots of nvshmemx_team_init().
void create_member_gathering(world& joined);

/// The type of a word for waits and atomic operations. *Errors* invalid_argument for types of one byte.
[[nodiscard]] detail::datatype datatype_of(compat::number type);

/// The address of the symbol `name` in this process; null if this process has no such symbol.
template <class T>
[[nodiscard]] T* find_loaded(const char* name) {
  return reinterpret_cast<T*>(::dlsym(RTLD_DEFAULT, name));
}

/// The name of a function of another library of this process. Converts to a pointer to the function. *Errors*
/// bootstrap_unavailable with the name of the library.
struct loaded_function {
  const char* library;
  const char* name;
  template <class Function>
  operator Function*() const {
    if (auto* const found = find_loaded<Function>(name)) return found;
    throw error(
        code::bootstrap_unavailable,
        fmt::format("{} is not loaded in this process, or has no function {}: link the program to it, or load it "
                    "with RTLD_GLOBAL",
                    library, name));
  }
};

/// A bootstrap over `comm`, which points to an MPI_Comm of the MPI library that this process has loaded. *Errors*
/// bootstrap_unavailable if no MPI library or an unknown MPI library is loaded.
[[nodiscard]] std::unique_ptr<bootstrap> make_mpi_bootstrap(const void* comm, const config& settings);

/// A bootstrap over the OpenSHMEM library that this process has loaded and initialized. *Errors* bootstrap_unavailable.
[[nodiscard]] std::unique_ptr<bootstrap> make_shmem_bootstrap();

}  // namespace pgas::compat
