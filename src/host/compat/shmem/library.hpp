/// @file
/// What an OpenSHMEM program has beside its world: symmetric static data, active sets, contexts, handles.
#pragma once

#include <atomic>
#include <cstdint>

#include "host/compat/common/handle_table.hpp"
#include "host/compat/common/runtime.hpp"
#include "host/compat/shmem/active_sets.hpp"
#include "host/compat/shmem/static_data.hpp"
#include "pgas/compat/shmem.h"

namespace pgas::capi {

/// A PE as an operation means it, by the world's number.
struct place {
  class world& world;
  int pe;
};

/// The one of the process. *Callers* any thread, but start() and stop() one at a time.
class shmem_library {
 public:
  [[nodiscard]] static shmem_library& instance();

  shmem_library() = default;
  shmem_library(const shmem_library&) = delete;
  shmem_library& operator=(const shmem_library&) = delete;

  /// Collective: shmem_init() and shmem_finalize().
  void start();
  void stop();
  [[nodiscard]] static class world& world() { return runtime::instance().world(); }

  /// Where an operation on context `ctx` towards its PE `pe` goes. *Errors* invalid_argument for a context that is
  /// none, pe_out_of_range for teams; that of the world is checked by the operation.
  [[nodiscard]] place at(shmem_ctx_t ctx, int pe);
  /// *Errors* invalid_argument for a team that is none.
  [[nodiscard]] const team& team_of(shmem_team_t handle);
  /// Collective over its PEs the first time: the team of an active set.
  [[nodiscard]] const team& active_set(int start, int log_stride, int size);

  /// The symmetric address behind a pointer of the program: another one for static data. *Errors* outside_heap for
  /// static data that is not symmetric, saying why.
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

  /// *On return* a context of the team. *Errors* invalid_argument.
  [[nodiscard]] shmem_ctx_t make_context(int team_number, long options);
  void destroy_context(shmem_ctx_t ctx);
  /// The number of the team that it is made of.
  [[nodiscard]] int team_number_of(shmem_ctx_t ctx);
  /// Destroys the contexts made of a team that goes.
  void destroy_contexts_of(int team_number);

 private:
  struct context {
    int team_number = 0;
  };
  static constexpr int first_context = 2;  ///< behind SHMEM_CTX_INVALID and SHMEM_CTX_DEFAULT

  class static_data static_data_;
  active_sets active_sets_;
  handle_table<context> contexts_{"context", first_context};
  bool exit_watched_ = false;
};

/// What SHMEM_CMP_EQ and so on say. *Errors* invalid_argument for anything else.
[[nodiscard]] cmp comparison_of(int comparison);

/// For the functions of shmem.h, in few words.
[[nodiscard]] inline shmem_library& library() { return shmem_library::instance(); }
[[nodiscard]] inline place at(shmem_ctx_t ctx, int pe) { return library().at(ctx, pe); }
template <class T>
[[nodiscard]] T* symmetric(T* pointer) {
  return library().symmetric(pointer);
}

}  // namespace pgas::capi
