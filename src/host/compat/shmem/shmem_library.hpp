/// @file
/// The state of an OpenSHMEM program besides its world: symmetric static data, active sets, contexts, handles.
#pragma once

#include <atomic>
#include <cstdint>

#include "host/compat/common/handle_table.hpp"
#include "host/compat/common/runtime.hpp"
#include "host/compat/shmem/active_set_teams.hpp"
#include "host/compat/shmem/static_data.hpp"
#include "pgas/compat/shmem.h"
#include "pgas/signal_types.hpp"
#include "pgas/team.hpp"
#include "pgas/world.hpp"

namespace pgas::compat {

/// The target of an operation: the PE by its number in the world.
struct target {
  class world& world;
  int pe;
};

/// The state of this process. *Callers* any thread; for start() and stop(), one thread at a time.
class shmem_library {
 public:
  [[nodiscard]] static shmem_library& instance();

  shmem_library() = default;
  shmem_library(const shmem_library&) = delete;
  shmem_library& operator=(const shmem_library&) = delete;

  /// Implement shmem_init() and shmem_finalize(). Collective.
  void start();
  void stop();
  [[nodiscard]] static class world& world() { return runtime::instance().world(); }

  /// The target of an operation on PE `pe` of context `ctx`. *Errors* invalid_argument for an invalid context,
  /// pe_out_of_range if the context's team has no such PE. For contexts of the world, the operation itself checks the
  /// PE.
  [[nodiscard]] target target_of(shmem_ctx_t ctx, int pe);
  /// *Errors* invalid_argument for an invalid handle.
  [[nodiscard]] const team& team_of(shmem_team_t handle);
  /// The team of an active set. The first call is collective over the PEs of the set.
  [[nodiscard]] const team& active_set(int start, int log_stride, int size);

  /// The heap address of a pointer of the program. For static data, the heap address differs from the pointer. *Errors*
  /// outside_heap for static data that is not symmetric, with the reason.
  template <class T>
  [[nodiscard]] T* symmetric(T* pointer) const {
    return static_cast<T*>(const_cast<void*>(static_data_.translate(pointer)));
  }
  [[nodiscard]] const class static_data& static_data() const noexcept { return static_data_; }

  [[nodiscard]] static int number_of(shmem_team_t handle) {
    return static_cast<int>(reinterpret_cast<std::intptr_t>(handle)) - 1;
  }
  /// SHMEM_TEAM_INVALID for a negative number.
  [[nodiscard]] static shmem_team_t handle_of(int team_number) {
    return reinterpret_cast<shmem_team_t>(static_cast<std::intptr_t>(team_number < 0 ? 0 : team_number + 1));
  }

  /// Makes a context of the team. *Errors* invalid_argument.
  [[nodiscard]] shmem_ctx_t make_context(int team_number, long options);
  void destroy_context(shmem_ctx_t ctx);
  /// The number of the context's team.
  [[nodiscard]] int team_number_of(shmem_ctx_t ctx);
  /// Destroys the contexts of a team that is destroyed.
  void destroy_contexts_of(int team_number);

 private:
  struct context {
    int team_number = 0;
  };
  static constexpr int first_context = 2;  ///< smaller numbers are SHMEM_CTX_INVALID and SHMEM_CTX_DEFAULT

  class static_data static_data_;
  active_set_teams active_sets_;
  handle_table<context> contexts_{"context", first_context};
};

/// The comparison of a constant SHMEM_CMP_*. *Errors* invalid_argument for any other value.
[[nodiscard]] cmp comparison_of(int comparison);

/// Short names for the functions of shmem.h.
[[nodiscard]] inline shmem_library& library() { return shmem_library::instance(); }
[[nodiscard]] inline target target_of(shmem_ctx_t ctx, int pe) { return library().target_of(ctx, pe); }
template <class T>
[[nodiscard]] T* symmetric(T* pointer) {
  return library().symmetric(pointer);
}

}  // namespace pgas::compat
