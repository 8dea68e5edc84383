/// @file
/// What the parts of libnvshmem_host share.
#pragma once

#include <memory>
#include <optional>

#include "host/compat/common/runtime.hpp"
#include "pgas/compat/nvshmem/constants.h"
#include "pgas/compat/nvshmem/host.h"
#include "pgas/impl/op_target.hpp"
#include "pgas/stream.hpp"

namespace pgas::capi {

/// The nvshmemx_status that an error becomes.
[[nodiscard]] int status_of(const error& cause) noexcept;

/// guarded() for functions that return an nvshmemx_status: success unless `body` throws.
template <class Body>
int with_status(const char* function, Body&& body) noexcept {
  return guarded(function, status_of, [&]() -> int {
    body();
    return NVSHMEMX_SUCCESS;
  });
}

/// The world, and where in it a call is carried out.
class call {
 public:
  /// Joins the world if that has not happened yet. *Errors* of runtime::world() and stream::wrap().
  explicit call(const compat::when& when) : world_(runtime::instance().world()), waits_(when.how == turn::now) {
    if (when.how == turn::on_stream) stream_.emplace(stream::wrap(world_, when.stream));
  }

  [[nodiscard]] class world& world() const noexcept { return world_; }
  [[nodiscard]] stream* on() noexcept { return stream_ ? &*stream_ : nullptr; }
  [[nodiscard]] detail::issue issue() noexcept { return {world_, on(), waits_}; }

 private:
  using turn = compat::when::turn;
  class world& world_;
  bool waits_;
  std::optional<stream> stream_;
};

/// Waits until the legacy default stream has done what it was given before: programs fill memory there, meet on the
/// host, and go on in other PEs' kernels. Only looks at the stream, as an event in it would hold up the program's other
/// streams, and no longer than PGAS_DEFAULT_STREAM_WAIT, as what runs there may be a kernel that waits for this PE's
/// host. *Errors* what the world fails with meanwhile.
void follow_default_stream(world& w);

/// Forgets what nvshmemx_buffer_register() has registered.
void forget_registrations();

/// Collective: makes what nvshmemx_team_init() needs.
void make_meeting_places(world& joined);

/// The type of a word that waits or atomic operations take. *Errors* invalid_argument for types of one byte.
[[nodiscard]] detail::datatype word_kind_of(compat::number type);

/// The bootstrap over `comm`, which points to an MPI_Comm of the MPI that this process has loaded.
/// *Errors* bootstrap_unavailable where there is no MPI, or one of an unknown kind.
[[nodiscard]] std::unique_ptr<bootstrap> make_mpi_bootstrap(const void* comm, const config& settings);

/// The bootstrap over the OpenSHMEM that this process has loaded and initialized. *Errors* bootstrap_unavailable.
[[nodiscard]] std::unique_ptr<bootstrap> make_shmem_bootstrap();

}  // namespace pgas::capi
