#include "host/compat/shmem/shmem_library.hpp"

#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace pgas::compat {

namespace {

constexpr int max_log_stride = 30;
constexpr int pe_bits = 24;  // in a key

/// The PEs of a set. *Errors* invalid_argument.
std::vector<int> members_of(int n_pes, int start, int log_stride, int size) {
  const bool valid = start >= 0 && size >= 1 && log_stride >= 0 && log_stride <= max_log_stride;
  if (!valid || start + (static_cast<std::int64_t>(size) - 1) * (std::int64_t{1} << log_stride) >= n_pes)
    throw error(code::invalid_argument,
                fmt::format("there is no active set of PE_start {}, logPE_stride {}, PE_size {} among PEs 0 to {}",
                            start, log_stride, size, n_pes - 1));
  std::vector<int> members;
  for (int i = 0; i < size; ++i) members.push_back(start + i * (1 << log_stride));
  return members;
}

/// Exit handler for a process that ends without shmem_finalize(): finalizes, as programs before OpenSHMEM 1.2 rely on,
/// or aborts where the exit status is not 0. Does nothing in the child of a fork.
void leave_at_exit(int status, void* process) {
  runtime& run = runtime::instance();
  if (reinterpret_cast<std::intptr_t>(process) != ::getpid() || run.stage() == stage::none) return;
  if (status != 0) {
    run.abort(fmt::format("it exits with status {}", status));
    return;
  }
  try {
    while (run.stage() != stage::none) library().stop();
  } catch (const std::exception& cause) {
    run.report("leaving at exit", cause);
  }
}

}  // namespace

const team& active_sets::find(world& w, int start, int log_stride, int size) {
  if (start == 0 && size == w.n_pes() && log_stride == 0) return w.team();
  entry* found = nullptr;
  {
    const std::lock_guard lock(mutex_);
    std::unique_ptr<entry>& slot = entries_[{start, log_stride, size}];
    if (slot == nullptr) slot = std::make_unique<entry>();
    found = slot.get();
  }
  const std::lock_guard lock(found->making);
  if (!found->made) {
    const std::vector<int> members = members_of(w.n_pes(), start, log_stride, size);
    const std::uint64_t key = static_cast<std::uint64_t>(log_stride) << 2 * pe_bits |
                              static_cast<std::uint64_t>(start) << pe_bits | static_cast<std::uint64_t>(size);
    found->made = w.team().create_group(members, key);
  }
  return found->made;
}

void active_sets::clear() {
  const std::lock_guard lock(mutex_);
  entries_.clear();
}

shmem_library& shmem_library::instance() {
  // Never destroyed, like the runtime: functions may be called until the process ends.
  static shmem_library* const only = new shmem_library;
  return *only;
}

void shmem_library::start() {
  start_request request;
  request.heap = heap_kind::host;
  request.opening = detail::opening_text("OpenSHMEM 1.5", {"SHMEM", "SMA"});
  request.joined = [this](class world& w) { static_data_.join(w); };
  request.leaving = [this] { static_data_.leave(); };
  runtime::instance().start(std::move(request));
  if (std::exchange(exit_handler_set_, true)) return;
  static_cast<void>(::on_exit(leave_at_exit, reinterpret_cast<void*>(static_cast<std::intptr_t>(::getpid()))));
}

void shmem_library::stop() {
  runtime& run = runtime::instance();
  const auto clear = [&] {
    if (run.stage() != stage::none) return;
    active_sets_.clear();  // the world was left, so destroying teams does not wait
    contexts_.clear();
  };
  try {
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
  static_cast<void>(runtime::instance().team(team_number));  // checks the number
  return reinterpret_cast<shmem_ctx_t>(static_cast<std::intptr_t>(contexts_.add({team_number})));
}

int shmem_library::team_number_of(shmem_ctx_t ctx) {
  static_cast<void>(world());  // checks that it is joined
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
