#include "pgas/world.hpp"

#include <fmt/format.h>

#include <exception>
#include <limits>
#include <optional>
#include <utility>

#include "common/join_step_hook.hpp"
#include "common/join_warning.hpp"
#include "common/struct_members.hpp"
#include "host/config/launcher_variables.hpp"
#include "host/connect/joining_mark.hpp"
#include "host/error/device_failure.hpp"
#include "host/team/team_state.hpp"
#include "host/topology/p2p_setting.hpp"
#include "host/world/check_layout.hpp"
#include "host/world/host_call.hpp"
#include "host/world/world_state.hpp"
#include "pgas/detail/host/untyped_operations.hpp"

namespace pgas {

namespace {

detail::world_state& state_of(const std::shared_ptr<detail::world_state>& state) {
  if (!state) throw error(code::not_joined, "this world object is empty: it was moved from");
  state->check_process();
  return *state;
}

/// Deletes the state, but not in a child of the process that joined.
struct delete_unless_forked {
  void operator()(detail::world_state* state) const {
    if (!state->forked()) delete state;
  }
};

std::shared_ptr<detail::world_state> make_state(std::unique_ptr<bootstrap> exchange, const config& settings,
                                                const std::string& how, int exceptions) {
  return {new detail::world_state(std::move(exchange), settings, how, exceptions), delete_unless_forked()};
}

}  // namespace

namespace detail {

void leave_or_abandon(world_state& world, int exceptions) noexcept {
  if (world.left()) return;
  try {
    if (world.unwinding(exceptions)) world.abandon();
    world.leave();
  } catch (const std::exception&) {
    // The error is not thrown, because the caller is a destructor. The code that failed has logged the error.
  }
}

}  // namespace detail

world::world(std::shared_ptr<detail::world_state> state) : state_(std::move(state)) {}
world::world(world&&) noexcept = default;

world world::join_with(const detail::given<config>& passed, int exceptions) {
  const config settings = detail::taken(passed);
  detail::join_step("bootstrap");
  const bootstrap_options options = config_detail::make_bootstrap_options(settings);
  std::optional<detail::joining_mark> mark(std::in_place, settings.socket_directory, options.rank, options.size);
  chosen_bootstrap chosen = make_bootstrap(options);
  if (chosen.exchange->rank() != options.rank)  // before make_bootstrap(), only the launcher knew the rank
    mark.emplace(settings.socket_directory, chosen.exchange->rank(), chosen.exchange->size());
  static_cast<void>(detail::parse_p2p_sets(settings.p2p, chosen.exchange->size(), true));
  const std::string warning = detail::warning_of(*chosen.exchange);
  std::shared_ptr<detail::world_state> state =
      make_state(std::move(chosen.exchange), settings, chosen.description, exceptions);
  if (!warning.empty()) state->log().warn("{}", warning);
  return world(std::move(state));
}

world world::join_with(std::unique_ptr<bootstrap> exchange, const detail::given<config>& passed, int exceptions) {
  const config settings = detail::taken(passed);
  if (!exchange) throw error(code::invalid_argument, "world::join: the bootstrap is null");
  const detail::joining_mark mark(settings.socket_directory, exchange->rank(), exchange->size());
  return world(make_state(std::move(exchange), settings, "the program's own bootstrap", exceptions));
}

void world::leave() { state_of(state_).leave(); }

void world::abort(std::string_view reason) noexcept {
  if (state_ && !state_->left()) state_->abort(reason);
}

void world::check() const {
  const detail::world_state& state = state_of(state_);
  state.check();
  state.rethrow_failure();
}
void world::list_waits(const detail::wanted_list<wait_info>& listed) const {
  const detail::pe_waits found = state_of(state_).waits();
  std::vector<wait_info> waits;
  for (const detail::failure_record& record : found.kernels)
    waits.push_back({detail::operation_name(record), true, record.block, record.thread, record.pe, record.heap_offset,
                     std::string(detail::symbol_of(record.compare)), record.expected, record.seen,
                     std::chrono::milliseconds(record.limit_ms)});
  for (const detail::awaited_command& waiting : found.commands) {
    wait_info command;
    command.what = detail::operation_name(waiting.cmd);
    command.pe = waiting.pes.size() == 1 ? waiting.pes.front() : -1;
    command.heap_offset = waiting.cmd.offset;
    command.lasted =
        std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - waiting.since);
    waits.push_back(std::move(command));
  }
  for (const detail::calls_in_progress::call& item : found.calls) {
    wait_info call;
    call.what = item.name;
    call.lasted = item.lasted;
    if (item.word) {
      call.pe = item.word->pe;
      call.heap_offset = item.word->offset;
      call.compare = detail::symbol_of(item.word->compare);
      call.expected = item.word->expected;
      call.seen = item.word->seen;
    }
    waits.push_back(std::move(call));
  }
  detail::fill(listed, std::move(waits));
}
void world::collect_stats(const detail::wanted<world_stats>& stats, const detail::wanted_list<peer_stats>& peers,
                          const detail::wanted_list<call_stats>& calls) const {
  world_stats collected = state_of(state_).stats();
  detail::fill(peers, std::move(collected.peers));
  detail::fill(calls, std::move(collected.calls));
  detail::fill(stats, std::move(collected));
}
int world::my_pe() const { return state_of(state_).context().my_pe(); }
int world::n_pes() const { return state_of(state_).context().n_pes(); }

const pe_info& world::pe(int number) const {
  detail::world_state& state = state_of(state_);
  state.check_pe(number, "world::pe");
  return state.info(number);
}

heap_kind world::heap() const { return state_of(state_).kind(); }
int world::device() const { return state_of(state_).device().properties().ordinal; }
const config& world::settings() const { return state_of(state_).settings(); }

void world::fill_context(pgas::context& result, std::uint32_t layout, bool direct) const {
  detail::check_layout("world::context", layout);
  state_of(state_).check();
  if (direct) state_->world_team().state().check_direct();
  result = state_->context();
}

const team& world::team() const {
  state_of(state_).check();
  return state_->world_team();
}

const team& world::domain_team() const {
  state_of(state_).check();
  return state_->domain_team();
}

const team& world::host_team() const {
  state_of(state_).check();
  return state_->host_team();
}

void world::barrier_all() {
  detail::world_state& state = state_of(state_);
  state.check();
  const detail::host_call listed(state.world_team().state(), "pgas::barrier_all");
  const std::lock_guard lock(state.collective_mutex());
  state.check_device();
  state.quiet();
  state.control_plane().barrier();
}

stream& world::stream() {
  state_of(state_).check();
  return state_->default_stream(*this);
}

void world::synchronize() { stream().synchronize(); }

void* world::allocate_bytes(std::size_t count, std::size_t size, std::size_t alignment, initialize how) {
  detail::world_state& state = this->state();
  state.check();
  const detail::host_call listed(state, "pgas::allocate");
  const std::lock_guard lock(state.collective_mutex());
  state.check_device();
  const std::size_t bytes = detail::byte_count(count, size);
  void* memory = state.heap().allocate(bytes, alignment, how == initialize::zero);
  if (how == initialize::zero && memory != nullptr) {
    state.device().fill(memory, 0, bytes, nullptr);
    state.synchronize(nullptr);
    state.control_plane().barrier();
  }
  return memory;
}

void* world::allocate_bytes(std::size_t count, std::size_t size, memory_hint hint, initialize how) {
  if (hint == memory_hint::none) return allocate_bytes(count, size, 16, how);
  if ((hint | memory_hint::atomics_remote | memory_hint::signal_remote) !=
      (memory_hint::atomics_remote | memory_hint::signal_remote))
    throw error(
        code::invalid_argument,
        fmt::format("allocate: there is no memory_hint {}: use none, atomics_remote, signal_remote, or both by |",
                    static_cast<std::uint32_t>(hint)));
  const std::size_t bytes = detail::byte_count(count, size);
  // Rounds up to a multiple of memory_hint_line. If the size cannot be rounded up, allocate_bytes() refuses it.
  const std::size_t whole = bytes > std::numeric_limits<std::size_t>::max() - memory_hint_line
                                ? bytes
                                : (bytes + memory_hint_line - 1) / memory_hint_line * memory_hint_line;
  return allocate_bytes(whole, 1, memory_hint_line, how);
}

void* world::reallocate_bytes(void* pointer, std::size_t count, std::size_t size, std::size_t alignment) {
  return detail::reallocate(state(), pointer, count, size, alignment);
}

void world::fill_usage(const detail::wanted<heap_usage>& usage) const {
  detail::world_state& state = this->state();
  state.check();
  const std::lock_guard lock(state.collective_mutex());
  detail::fill(usage, state.heap().usage());
}

void world::fill_layout(const detail::wanted<heap_layout>& layout) const {
  const detail::world_state& state = this->state();
  state.check();
  const detail::heap& heap = state.heap();
  detail::fill(layout, heap_layout{heap.slot(state.context().my_pe()), heap.mapped_bytes(), heap.slot_bytes(),
                                   heap.same_base()});
}

bool world::accessible(int pe) const {
  state().check();
  return pe >= 0 && pe < n_pes();
}

bool world::accessible(const void* pointer, int pe) const {
  return accessible(pe) && state().heap().contains(pointer, 1) && state().heap().peer_has(pointer, pe);
}

const void* world::address_at(const volatile void* local, int pe) const {
  const void* const pointer = const_cast<const void*>(local);
  if (!accessible(pointer, pe) || !state().domains().direct(pe)) return nullptr;
  return state().remote(pointer, pe);
}

void world::free(void* pointer) {
  detail::world_state& state = this->state();
  state.check();
  const detail::host_call listed(state, "pgas::free");
  const std::lock_guard lock(state.collective_mutex());
  state.heap().free(pointer);
}

detail::world_state& world::state() const { return state_of(state_); }

namespace detail {

void end_world(world& w, std::string_view reason, log_level level) noexcept {
  try {
    if (!w.state().left()) w.state().fail(reason, level);
  } catch (const std::exception&) {
    // The object has no world to end: the object was moved from, or it belongs to the parent process.
  }
}

}  // namespace detail
}  // namespace pgas
