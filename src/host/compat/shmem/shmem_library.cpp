#include "host/compat/shmem/shmem_library.hpp"

#include <fmt/format.h>

#include <utility>

namespace pgas::compat {

shmem_library& shmem_library::instance() {
  // Never destroyed, like the runtime, because functions may be called until the process ends.
  static shmem_library* const only = new shmem_library;
  return *only;
}

void shmem_library::start() {
  start_request request;
  request.heap = heap_kind::host;
  request.opening = detail::opening_text("OpenSHMEM 1.5", {"SHMEM", "SMA"});
  request.program = static_data_.program();
  request.joined = [this](class world& w) { static_data_.join(w, runtime::instance().same_program()); };
  request.leaving = [this] { static_data_.leave(); };
  runtime::instance().start(std::move(request));
  leave_at_exit([] { library().stop(); });  // programs written before OpenSHMEM 1.2 do not finalize
}

void shmem_library::stop() {
  runtime& run = runtime::instance();
  const auto clear = [&] {
    if (run.stage() != stage::none) return;
    active_sets_.clear();  // the world was left, so destroying teams does not wait
    contexts_.clear();
  };
  try {
    if (run.users() > 1) world().barrier_all();  // each shmem_finalize is a barrier
    run.stop();
  } catch (...) {
    clear();
    throw;
  }
  clear();
}

target shmem_library::target_of(shmem_ctx_t ctx, int pe) {
  class world& w = world();
  if (ctx == SHMEM_CTX_DEFAULT) return {w, pe};
  const int number = team_number_of(ctx);
  if (number == team_number::world) return {w, pe};
  return {w, runtime::instance().team(number).world_pe(pe)};
}

const team& shmem_library::team_of(shmem_team_t handle) { return runtime::instance().team(number_of(handle)); }

const team& shmem_library::active_set(int start, int log_stride, int size) {
  return active_sets_.find(world(), start, log_stride, size);
}

shmem_ctx_t shmem_library::make_context(int team_number, long options) {
  constexpr long known = SHMEM_CTX_SERIALIZED | SHMEM_CTX_PRIVATE | SHMEM_CTX_NOSTORE;
  if ((options & ~known) != 0)
    throw error(
        code::invalid_argument,
        fmt::format("options {:#x}: a context takes SHMEM_CTX_SERIALIZED, SHMEM_CTX_PRIVATE and SHMEM_CTX_NOSTORE",
                    options));
  static_cast<void>(runtime::instance().team(team_number));  // throws if the number is invalid
  return reinterpret_cast<shmem_ctx_t>(static_cast<std::intptr_t>(contexts_.add({team_number})));
}

int shmem_library::team_number_of(shmem_ctx_t ctx) {
  static_cast<void>(world());  // throws if the program has not joined
  if (ctx == SHMEM_CTX_DEFAULT) return team_number::world;
  return contexts_.find(static_cast<int>(reinterpret_cast<std::intptr_t>(ctx))).team_number;
}

void shmem_library::destroy_context(shmem_ctx_t ctx) {
  if (ctx == SHMEM_CTX_DEFAULT)
    throw error(code::invalid_argument, "the default context cannot be destroyed: it is destroyed with the world");
  static_cast<void>(contexts_.take(static_cast<int>(reinterpret_cast<std::intptr_t>(ctx))));
}

void shmem_library::destroy_contexts_of(int team_number) {
  for (int number = first_context; number < contexts_.end(); ++number)
    if (contexts_.contains(number) && contexts_.find(number).team_number == team_number)
      static_cast<void>(contexts_.take(number));
}

cmp comparison_of(int comparison) {
  if (comparison < SHMEM_CMP_EQ || comparison > SHMEM_CMP_GE)
    throw error(code::invalid_argument,
                fmt::format("comparison {}: not one of SHMEM_CMP_EQ to SHMEM_CMP_GE", comparison));
  return static_cast<cmp>(comparison);
}

}  // namespace pgas::compat
