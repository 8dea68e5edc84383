#include "host/compat/nvshmem/device_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "host/compat/nvshmem/shared_declarations.hpp"
#include "pgas/compat/nvshmem/init_memory_teams.h"
#include "pgas/detail/launch/launch_kernel.hpp"
#include "pgas/device/impl/copy/lent_memory.hpp"
#include "pgas/rma.hpp"

namespace pgas::compat {

namespace {

/// The name that device_state.h declares.
constexpr const char* variable_name = "pgas_nvshmem_device_state";

/// The table of lent memory, and the context whose operations look up lent memory in this table. Both are in this PE's
/// part of the heap.
struct alignas(128) table_and_context {
  detail::block_table table;
  detail::lending_context context;
};
table_and_context* table_of_blocks = nullptr;

/// Makes operations of `context` look up lent memory.
void lend_by(world& joined, context& ctx) {
  ctx.flags_ |= detail::slow_path::lent;
  ctx.copy_ = &table_of_blocks->context;
  detail::lending_context copy;
  static_cast<context&>(copy) = ctx;
  copy.blocks = &table_of_blocks->table;
  detail::put_bytes({joined, nullptr, true}, &table_of_blocks->context, &copy, sizeof copy, joined.my_pe());
}

int change_registration(const char* function, void* handle, bool is_library,
                        void (state_registry::*step)(const loaded_code&)) {
  return to_nvshmemx_status(function, [&] {
    if (handle == nullptr) throw error(code::invalid_argument, "the module or library is null");
    static_cast<void>(runtime::instance().world());
    (state_registry::instance().*step)({handle, is_library});
  });
}

}  // namespace

state_registry& state_registry::instance() {
  static state_registry* const only = new state_registry;
  return *only;
}

void state_registry::add(pgas_nvshmem_state_setter set) {
  const std::lock_guard lock(mutex_);
  units_.push_back({set, joined_ != nullptr});
  for (unit& copy : units_) {
    try {
      if (copy.stale) write(copy, state_);
    } catch (const error&) {
      // If the write fails again, complete() reports the failure before a launch.
    }
  }
}

void state_registry::complete() {
  const std::lock_guard lock(mutex_);
  for (unit& copy : units_)
    if (copy.stale) write(copy, state_);
}

void state_registry::remove(pgas_nvshmem_state_setter set) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(units_.begin(), units_.end(), [set](const unit& copy) { return copy.set == set; });
  if (found != units_.end()) units_.erase(found);
}

void state_registry::add(const loaded_code& loaded) {
  const std::lock_guard lock(mutex_);
  write(loaded, state_);
  if (std::find(loaded_.begin(), loaded_.end(), loaded) == loaded_.end()) loaded_.push_back(loaded);
}

void state_registry::remove(const loaded_code& loaded) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find(loaded_.begin(), loaded_.end(), loaded);
  if (found == loaded_.end())
    throw error(code::invalid_argument, "this module or library is not initialized, or was already finalized");
  loaded_.erase(found);
  write(loaded, {});
}

void state_registry::publish(world& joined, const std::function<pgas_nvshmem_state()>& now) {
  const std::lock_guard lock(mutex_);
  state_ = now();
  joined_ = &joined;
  for (unit& copy : units_) copy.stale = true;
  for (unit& copy : units_) write(copy, state_);
  for (const auto& loaded : loaded_) write(loaded, state_);
}

void state_registry::withdraw() noexcept {
  const std::lock_guard lock(mutex_);
  state_ = {};
  const auto empty = [&](auto& copy) {
    try {
      write(copy, state_);
    } catch (const error&) {
      // The context or the code of the copy does not exist any more, so no kernel can read the copy.
    }
  };
  if (joined_ != nullptr) {
    std::for_each(units_.begin(), units_.end(), empty);
    std::for_each(loaded_.begin(), loaded_.end(), empty);
  }
  for (unit& copy : units_) copy.stale = false;
  loaded_.clear();
  joined_ = nullptr;
}

void state_registry::write(unit& copy, const pgas_nvshmem_state& state) const {
  const detail::device_guard guard(*joined_);
  const int status = copy.set(&state);
  copy.stale = status != 0;
  if (status == pgas_nvshmem_not_direct)
    throw error(code::peer_unreachable,
                "a part of the program is compiled with PGAS_NVSHMEM_DIRECT, but some PEs of this job are not "
                "load/store accessible at evenly spaced addresses: compile it without PGAS_NVSHMEM_DIRECT");
  if (status != 0)
    throw error(
        code::device_failed,
        fmt::format("the state of NVSHMEM could not be written to constant memory: CUDA runtime error {}", status));
}

void state_registry::write(const loaded_code& loaded, const pgas_nvshmem_state& state) const {
  std::optional<detail::device_guard> guard;  // empty on the host heap: nothing is published
  if (joined_ != nullptr) guard.emplace(*joined_);
  write_variable(loaded, variable_name, &state, sizeof(state));
}

void create_block_table(world& joined) {
  table_of_blocks = nullptr;
  if (joined.heap() != heap_kind::cuda || !runtime::instance().settings().lent_memory) return;
  table_of_blocks = static_cast<table_and_context*>(
      joined.allocate_bytes(1, sizeof(table_and_context), alignof(table_and_context), initialize::zero));
}

void publish_state(world& joined) {
  if (joined.heap() != heap_kind::cuda) return;
  state_registry::instance().publish(joined, [&] {
    pgas_nvshmem_state state{};
    state.context = joined.context();
    if (table_of_blocks != nullptr) {
      state.blocks = &table_of_blocks->table;
      lend_by(joined, state.context);
    }
    runtime::instance().for_each_team([&](int number, const team& item) {
      if (number < pgas_nvshmem_max_teams) state.teams[number] = item.view();
    });
    return state;
  });
}

void withdraw_state() noexcept { state_registry::instance().withdraw(); }

#pragma GCC visibility push(default)
extern "C" {

void pgas_nvshmem_register_state(pgas_nvshmem_state_setter set) noexcept {
  to_status("registering device code", 0, [&] {
    state_registry::instance().add(set);
    return 0;
  });
}

void pgas_nvshmem_unregister_state(pgas_nvshmem_state_setter set) noexcept {
  to_status("unregistering device code", 0, [&] {
    state_registry::instance().remove(set);
    return 0;
  });
}

int nvshmemx_cumodule_init(CUmodule module) {
  return change_registration("nvshmemx_cumodule_init", module, false, &state_registry::add);
}

int nvshmemx_cumodule_finalize(CUmodule module) {
  return change_registration("nvshmemx_cumodule_finalize", module, false, &state_registry::remove);
}

int nvshmemx_culibrary_init(CUlibrary library) {
  return change_registration("nvshmemx_culibrary_init", library, true, &state_registry::add);
}

int nvshmemx_culibrary_finalize(CUlibrary library) {
  return change_registration("nvshmemx_culibrary_finalize", library, true, &state_registry::remove);
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace pgas::compat
