#include "host/world/world_state.hpp"

#include <fmt/format.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <exception>
#include <thread>

#include "common/encode_error.hpp"
#include "common/join_step_hook.hpp"
#include "common/unique_fd.hpp"
#include "host/config/read_environment.hpp"
#include "host/connect/control_message.hpp"
#include "host/connect/joining_mark.hpp"
#include "host/error/device_failure.hpp"
#include "host/exchange/control_plane.hpp"
#include "host/heap/heap_parameters.hpp"
#include "host/launch/block_limits.hpp"
#include "host/launch/launch_kernel_preload.hpp"
#include "host/team/team_state.hpp"
#include "host/watch/find_root.hpp"
#include "host/world/choose_device.hpp"
#include "host/world/host_call.hpp"

namespace pgas::detail {

namespace {

/// Whether PEs that are on one host but cannot share memory may be proxied.
bool allows_proxied(const config& settings) { return settings.mem_handle == handle_kind::automatic; }

/// Returns the memory of the descriptions of all PEs to the system. Joining needs about 2 KiB for each PE. Allocations
/// that stay alive are on the same pages, so free() alone does not return the memory.
void release_free_memory() noexcept {
#ifdef __GLIBC__
  // If the program uses another allocator, the first call of malloc_trim() initializes the allocator of the C library,
  // and this initialization takes no lock. Therefore only one thread at a time calls malloc_trim().
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  ::malloc_trim(0);
#endif
}

}  // namespace

world_state::world_state(std::unique_ptr<bootstrap> exchange, const config& settings, const std::string& how,
                         int exceptions)
    : settings_(settings),
      log_(settings),
      bootstrap_(std::move(exchange)),
      exceptions_(exceptions_in_flight(exceptions)) {
  fill_standard_descriptors();
  if (settings_.checks && settings_.wait_timeout.count() == 0) settings_.wait_timeout = std::chrono::seconds(60);
  log_.set_pe(bootstrap_->rank(), bootstrap_->size());
  control_plane_ = std::make_unique<class control_plane>(*bootstrap_, settings_, log_,
                                                         [this](const error& cause) { on_failure(cause); });
  bootstrap_->watch([this](int pe, std::string_view reason) { control_plane_->on_launcher_report(pe, reason); });
  operations_.emplace(control_plane_->n_pes());
  try {
    if (!settings_.trace.empty()) trace_.emplace(settings_.trace, control_plane_->my_pe(), control_plane_->n_pes());
    if (control_plane_->peer(control_plane_->my_pe()).local_rank == 0) remove_stale_files(settings_.socket_directory);
    choose_device();
    build_heap();
    make_teams();
    make_context();
    report(how);
    compare_clocks_for_trace();
    join_step("joined");
    control_plane_->joined();
    release_free_memory();
  } catch (...) {
    release();
    free_control();
    throw;
  }
}

world_state::~world_state() {
  release();
  free_control();
}

void world_state::free_control() noexcept {
  grids_.reset();
  fetches_.reset();
  proxied_.reset();
  direct_routes_ = {};
  mapped_ = {};
}

void world_state::choose_device() {
  join_step("device");
  chosen_device chosen = detail::choose_device(*control_plane_, settings_, allows_proxied(settings_), log_);
  records_ = chosen.records;
  device_ = std::move(chosen.own);
  enqueued_.emplace(*device_);
  if (device_->properties().kind != heap_kind::host) launch_kernel_preload::of_process().preload(*device_);
  for (std::size_t pe = 0; pe < chosen.users.size(); ++pe)
    pes_.add(control_plane_->peer(static_cast<int>(pe)), chosen.users[pe].info.properties,
             time_sliced(chosen.users, pe));
  concurrent_pes_ = detail::concurrent_pes(chosen.users, static_cast<std::size_t>(control_plane_->my_pe()));
  max_collective_blocks_ = detail::max_collective_blocks(chosen.users);
}

void world_state::connect_proxied_peers() {
  if (domains().only_one()) return;
  join_step("proxied peers");
  proxy_settings how;
  how.me = control_plane_->my_pe();
  how.n = control_plane_->n_pes();
  how.slot = heap_->slot(how.me);
  how.bell = &control_.load()->bell;
  how.events = events();
  how.contains = [this](std::uint64_t offset, std::uint64_t bytes) { return heap_->contains_offset(offset, bytes); };
  how.failed = [this](int pe, const std::string& what) { on_proxy_failure(pe, what); };
  proxied_ = std::make_unique<proxy_service>(*control_plane_, domains(), *device_, settings_, log_, how);
  heap_->attach_proxy(proxied_->through());
  for (int pe = 0; pe < how.n; ++pe)
    if (!domains().direct(pe)) pes_.set_proxied(pe, "proxy over " + proxied_->through().transport_name());
  if (how.me == 0 &&
      lacks_queue_for_proxy(device_->properties(), config_detail::setting_of_others("CUDA_DEVICE_MAX_CONNECTIONS")))
    log_.warn(
        "some PEs are proxied under MPS, where CUDA gives a process few hardware queues: waiting kernels in two or "
        "more streams can block the proxy's kernel and then wait for ever. Set CUDA_DEVICE_MAX_CONNECTIONS to 4, or to "
        "one more than the number of waiting streams; all processes of a GPU share about 64");
}

void world_state::build_heap() {
  join_step("heap");
  mapped_ = {*device_, sizeof(control_block)};
  auto* control = static_cast<control_block*>(mapped_.on_host());
  control->wait_timeout_ns =
      static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(settings_.wait_timeout).count());
  control_.store(control, std::memory_order_release);
  failing_device_.store(device_.get(), std::memory_order_release);
  control_plane_->check();  // throws a failure that happened before control_ was set

  const auto on_growth = [control](std::size_t mapped_bytes) {
    std::atomic_ref(control->heap_bytes).store(mapped_bytes, std::memory_order_release);
  };
  const auto on_team_segments = [control](std::size_t begin, std::size_t end) {
    std::atomic_ref(control->team_segments_begin).store(begin, std::memory_order_release);
    std::atomic_ref(control->team_segments_end).store(end, std::memory_order_release);
  };
  heap_ = std::make_unique<class heap>(*device_, *control_plane_, settings_, log_, on_growth, on_team_segments,
                                       allows_proxied(settings_), records_);
  heap_->set_completion([this] { complete(); });
  connect_proxied_peers();
  const int me = control_plane_->my_pe();
  const int n = control_plane_->n_pes();
  const first_allocation first(n);
  team_states_ = std::make_unique<group_offset_allocator>(first.states, first.bytes, team_state_layout::line);
  void* area = heap_->allocate(first.bytes, 512);
  if (area != heap_->slot(me))
    throw error(code::address_space,
                "the first allocation of a new heap is not at the start of the slot: please report this defect");
  team_state::clear_memory_of_world(*device_, static_cast<std::byte*>(area), n);  // other teams clear their own state
  make_room_for_traced_kernels();
  device_->synchronize(nullptr);
  control_plane_->barrier();

  context_.abi_ = context_layout;
  context_.world_pe_ = me;
  context_.n_world_ = n;
  context_.log2_stride_ = static_cast<std::uint32_t>(heap_->log2_stride());
  context_.flags_ = settings_.checks ? slow_path::checks : 0;
  context_.my_slot_ = reinterpret_cast<std::uintptr_t>(heap_->slot(me));
  control->my_slot = context_.my_slot_;
  begin_watch(*control);
  context_.control_ = static_cast<control_block*>(mapped_.on_device());
  set_team(context_, context_.world());
}

void world_state::make_teams() {
  join_step("teams");
  const int n = control_plane_->n_pes();
  world_team_ = team(team_state::of_world(*this));
  const std::span<const int> members = domains().members();
  const std::vector<int> domain(members.begin(), members.end());
  domain_team_ = team(team_state::of_some(*this, control_group::domain, domain, internal_area::domain_state(n),
                                          internal_area::bytes(n) + oneshot_staging::bytes()));
  std::vector<int> host;
  for (int pe = 0; pe < n; ++pe)
    if (control_plane_->peer(pe).host_index == control_plane_->peer(control_plane_->my_pe()).host_index)
      host.push_back(pe);
  if (host != domain)
    host_team_ =
        team(team_state::of_some(*this, control_group::host, std::move(host), internal_area::host_state(n), 0));
}

void world_state::make_context() {
  const team_view& domain = domain_team_.state().view();
  if (proxied_) {
    context_.routes_ = proxied_->make_table(context_, domain, control_, heap_->distances());
  } else if (!heap_->in_a_row() && context_.n_world_ > 1) {
    direct_routes_ = {*device_, context_, domain, domains(), heap_->distances()};
    context_.routes_ = direct_routes_.get();
  }
  set_team(context_, context_.world());  // sets the team again, because the context now contains the routes
  context_.copy_ = world_team_.state().context_copy();
  world_team_.state().write_context(context_);
  for (team* members : {&domain_team_, &host_team_})
    if (*members) members->state().write_context(members->state().context());
  grids_ = std::make_unique<grid_state_pool>(*device_, context_);
  fetches_ = std::make_unique<nonblocking_fetches>(*device_);
}

void world_state::report(const std::string& how) {
  if (control_plane_->my_pe() != 0 || !log_.enabled(log_level::info)) return;
  log_.info("joined through {}", how);
  for (int pe = 0; pe < pes_.size(); ++pe) {
    const pe_info& facts = info(pe);
    const int sharing = kind() == heap_kind::cuda ? pes_.on_device_of(pe) : 0;
    log_.info("PE {}: {}:{}, {}, {}{}", pe, facts.host, facts.pid, facts.route, facts.device,
              kind() == heap_kind::host ? ""
              : sharing > 1             ? fmt::format(" {}, shared by {} PEs", facts.device_uuid, sharing)
                                        : " " + facts.device_uuid);
  }
  if (!heap_->in_a_row())
    return log_.info("slots of {} MiB, each at an address that the device chose on each PE", heap_->slot_bytes() >> 20);
  log_.info("slots of {} GiB at {}, {} on all PEs", (std::uint64_t{1} << heap_->log2_stride()) >> 30,
            fmt::ptr(heap_->slot(0)), heap_->same_base() ? "the same" : "not the same");
}

void world_state::on_failure(const error& cause) noexcept {
  if (control_block* control = control_.load(std::memory_order_acquire))
    std::atomic_ref(control->abort)
        .store(cause.pe() >= 0 ? static_cast<std::uint32_t>(cause.pe()) + 1 : abort_no_pe, std::memory_order_release);
  if (class device* device = failing_device_.load(std::memory_order_acquire)) device->world_failed();
}

void world_state::on_proxy_failure(int pe, const std::string& what) noexcept {
  if (leaving_) return;
  try {
    const int me = control_plane_->my_pe();
    if (pe < 0 || pe == me)
      control_plane_->fail(error(
          code::transport_failed,
          fmt::format("the proxy of PE {} (host {}, pid {}) can't continue: {}; look in its output for the first error",
                      me, control_plane_->peer(me).host, control_plane_->peer(me).pid, what),
          me));
    else
      control_plane_->fail(error(code::peer_lost,
                                 fmt::format("PE {} (host {}, pid {}) is no longer reachable: {}; look at its output, "
                                             "then at the network between the hosts",
                                             pe, control_plane_->peer(pe).host, control_plane_->peer(pe).pid, what),
                                 pe));
  } catch (const std::exception&) {
    control_plane_->fail("out of host memory");
  }
}

void world_state::add_stream(stream_handle result) {
  const std::lock_guard lock(streams_mutex_);
  streams_.insert(result);
}

void world_state::remove_stream(stream_handle result) noexcept {
  const std::lock_guard lock(streams_mutex_);
  streams_.erase(result);
}

bool world_state::streams_are_idle() {
  const std::lock_guard lock(streams_mutex_);
  return std::all_of(streams_.begin(), streams_.end(), [&](stream_handle each) { return device_->idle(each); });
}

void world_state::await_streams() {
  const auto end = std::chrono::steady_clock::now() + settings_.join_timeout;
  while (!streams_are_idle()) {
    control_plane_->check();
    if (std::chrono::steady_clock::now() > end)
      throw error(
          code::wait_timeout,
          fmt::format("all PEs leave the world, but a stream of PE {} still has work after {} ms. It may compute, wait "
                      "for a word that no PE will write, or run a collective that not all members have called. "
                      "Synchronize the stream before leaving, or raise the limit, PGAS_JOIN_TIMEOUT",
                      context_.my_pe(), settings_.join_timeout.count()),
          context_.my_pe());
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

void world_state::end_streams() noexcept {
  if (kind() != heap_kind::host) return;
  // The world has failed, so the waits of streams end. The memory that the waits read must not be released before the
  // waits have ended.
  constexpr auto limit = std::chrono::seconds(10);
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!streams_are_idle()) {
    if (std::chrono::steady_clock::now() > end) {
      log_.error("a stream still uses the heap after the world has failed: its memory stays mapped");
      static_cast<void>(heap_.release());
      return;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

void world_state::await_leave() {
  if (ready_to_leave_) return;
  check();
  const waiting_call waiting(*this, "leave");
  control_plane_->await_leave();
  ready_to_leave_ = true;
  try {
    await_streams();
  } catch (const error& failed) {
    // The failure of the world ends the waits of streams. leave() also throws the error.
    if (!control_plane_->failed()) control_plane_->fail(failed);
    throw;
  }
}

void world_state::leave() {
  if (left_) return;
  const waiting_call waiting(*this, "leave");
  if (stream_) check_not_captured(stream_->native(), "world::leave");
  std::exception_ptr first;
  const auto attempt = [&](auto&& step) {
    if (first) return;
    try {
      step();
    } catch (const std::exception& failed) {
      first = std::current_exception();
      if (!leaving_ && !control_plane_->failed()) control_plane_->fail(failed.what());
    }
  };
  attempt([&] { control_plane_->check(); });
  attempt([&] { check_device(); });
  attempt([&] { await_leave(); });
  attempt([&] {
    if (stream_) stream_->synchronize();
    complete();
  });
  attempt([&] {
    if (heap_->in_a_row()) return;
    control_plane_->barrier();  // no PE uses memory of other PEs any more
    heap_->close_peers();
    control_plane_->barrier();  // no PE has memory of other PEs open any more
  });
  attempt([&] { compare_clocks_for_trace(); });
  leaving_ = true;
  attempt([&] { control_plane_->leave(); });
  if (first) end_streams();
  release();
  if (first) std::rethrow_exception(first);
}

void world_state::fail(std::string_view reason, log_level level) noexcept {
  const std::lock_guard lock(ending_);
  if (control_plane_) control_plane_->fail(reason, level);
}

void world_state::release() noexcept {
  left_ = true;
  leaving_ = true;
  end_watch();
  // If no PE is lost, this PE waits until all PEs depart, so that no connection is closed while a peer uses it. In a
  // failed world the wait is short: no PE uses the connections any more, and lost PEs never depart.
  if (proxied_)
    proxied_->stop(control_plane_ && !control_plane_->failed() ? settings_.heartbeat_timeout
                                                               : std::chrono::milliseconds(60));
  write_trace();
  host_team_ = team();
  domain_team_ = team();
  world_team_ = team();
  stream_.reset();
  heap_.reset();
  if (bootstrap_ && !forked()) bootstrap_->watch({});
  const std::lock_guard lock(ending_);  // another thread can be in abort()
  control_plane_.reset();
  bootstrap_.reset();
}

void world_state::check() const {
  check_process();
  if (left_) throw error(code::not_joined, "the world has been left: join again, or call leave() after the last call");
  control_plane_->check();
}

void world_state::check_pe(int pe, const char* what) const {
  const int n = context_.n_pes();
  if (pe >= 0 && pe < n) return;
  throw error(code::pe_out_of_range,
              n > 1
                  ? fmt::format("{}: PE {} does not exist, PEs are 0 to {}", what, pe, n - 1)
                  : fmt::format("{}: PE {} does not exist, the world has PE 0 only: start the program on more PEs with "
                                "pgasrun -n, mpirun, srun or torchrun",
                                what, pe),
              pe);
}

void world_state::synchronize(stream_handle stream) {
  std::optional<waiting_call> waiting;
  if (stream != nullptr || kind() == heap_kind::cuda) waiting.emplace(*this, "synchronize");
  try {
    device_->synchronize(stream);
  } catch (const error&) {
    rethrow_failure();
    throw;
  }
  if (const std::optional<error> recorded = recorded_failure()) throw error(*recorded);
}

void world_state::check_not_captured(stream_handle stream, const char* what) const {
  if (device_->capturing(stream))
    throw error(code::capturing,
                fmt::format("{}: PE {} captures the stream into a CUDA graph, and a capture executes nothing: end the "
                            "capture, launch the graph, then wait",
                            what, context_.my_pe()),
                context_.my_pe());
}

void world_state::rethrow_failure() const {
  if (const std::optional<error> recorded = recorded_failure()) throw error(*recorded);
  if (control_plane_) control_plane_->check();
}

void world_state::check_device() {
  try {
    device_->check_work(nullptr);
    if (kind() != heap_kind::host) return;  // on a GPU each stream has its own failures
    const std::lock_guard lock(streams_mutex_);
    for (const stream_handle each : streams_) device_->check_work(each);
  } catch (const error& failed) {
    const std::optional<error> recorded = recorded_failure();
    const int me = context_.my_pe();
    control_plane_->fail(recorded ? *recorded
                                  : error(failed.code(), fmt::format("PE {}: {}", me, text_of(failed)), me));
    rethrow_failure();
    throw;
  }
}

std::optional<error> world_state::recorded_failure() const {
  auto* record = &static_cast<control_block*>(mapped_.on_host())->record;
  if (std::atomic_ref(record->complete).load(std::memory_order_acquire) == 0) return std::nullopt;
  if (record->why == failure::aborted && control_plane_) {
    try {
      control_plane_->check();
    } catch (const error& cause) {
      return cause;
    }
  }
  return with_stopped_pe(describe(*record, context_.my_pe(), settings_));
}

pgas::stream& world_state::default_stream(world& w) {
  const std::lock_guard lock(stream_mutex_);
  if (!stream_) stream_.emplace(w);
  return *stream_;
}

// ---- functions by which one PE ends the world

void world_state::abandon() noexcept {
  try {
    std::optional<error> recorded = recorded_failure();
    if (!recorded) {
      const std::lock_guard lock(timeout_mutex_);
      recorded = last_timeout_;
    }
    if (recorded) return fail(fmt::format("an exception ended its part of the world, after {}", recorded->what()));
  } catch (const std::exception&) {
    // A longer text could not be allocated.
  }
  fail("an exception ended its part of the world");
}

error world_state::with_stopped_pe(const error& timed_out) const {
  if (timed_out.code() != code::wait_timeout) return timed_out;
  const int stopped = control_plane_ ? control_plane_->stopped_pe() : -1;
  const std::lock_guard lock(timeout_mutex_);
  if (stopped < 0) return last_timeout_.emplace(timed_out);
  const peer_info& info = control_plane_->peer(stopped);
  return last_timeout_.emplace(
      timed_out.code(),
      fmt::format("{}; PE {} (host {}, pid {}) is stopped", text_of(timed_out), stopped, info.host, info.pid), stopped);
}

void world_state::abort(std::string_view reason) noexcept {
  fail(reason);  // first, because the launcher can end the processes of the job immediately
  const std::lock_guard lock(ending_);
  if (bootstrap_) bootstrap_->abort(reason);
}

void world_state::check_process() const {
  if (forked())
    throw error(
        code::forked_process,
        fmt::format(
            "this is process {}, a forked child; the world belongs to process {}: join a world of its own, or exec",
            ::getpid(), process_.pid()));
}

// ---- operations of host threads: on the world's own queue for direct peers, on the host's ring for proxied peers

void world_state::check_symmetric(const void* pointer, std::size_t bytes, std::size_t alignment,
                                  const char* what) const {
  if (!heap_->contains(pointer, bytes))
    throw error(code::outside_heap,
                fmt::format("{}: {} and the {} bytes that start there are not inside this PE's symmetric memory ({} to "
                            "{}): pass memory that was allocated in the symmetric heap, and a count that fits it",
                            what, pointer, bytes, fmt::ptr(heap_->slot(context_.my_pe())),
                            fmt::ptr(heap_->slot(context_.my_pe()) + heap_->mapped_bytes())),
                context_.my_pe());
  if (reinterpret_cast<std::uintptr_t>(pointer) % alignment != 0)
    throw error(code::misaligned, fmt::format("{}: {} is not a multiple of {} bytes", what, pointer, alignment),
                context_.my_pe());
}

void world_state::check_peer_has(const void* local, int pe) const {
  if (!heap_->peer_has(local, pe))
    throw error(code::outside_heap,
                fmt::format("PE {} has no memory at {}: the address belongs to a team that does not contain PE {}", pe,
                            local, pe),
                pe);
}

void* world_state::remote(const void* local, int pe) const {
  check_peer_has(local, pe);
  return heap_->slot(pe) + (static_cast<const std::byte*>(local) - heap_->slot(context_.my_pe()));
}

void world_state::execute_operation(const operation_request& request) {
  if (request.pe == operation_request::direct) {
    // A signal to a direct peer has to follow earlier operations on proxied peers.
    if (request.release) flush_proxied();
    return device_->enqueue(request, nullptr);
  }
  if (request.release && request.what == operation_request::kind::atomic) await_host_operations();
  if (!proxied_->by_host().execute_operation(request)) give_up();
}

void world_state::flush_proxied() {
  if (proxied_ && !proxied_->by_host().quiet()) give_up();
}

void world_state::await_host_operations() {
  const waiting_call waiting(*this, "quiet");
  flush_proxied();
  synchronize(nullptr);
}

void world_state::give_up() const {
  rethrow_failure();
  throw error(code::device_failed, "an operation on a proxied PE was abandoned");
}

std::uint64_t world_state::fetch(const operation_request& request) {
  std::uint64_t old = 0;
  if (request.pe != operation_request::direct) {
    operation_request fetching = request;
    fetching.result = &old;
    execute_operation(fetching);
    return old;
  }
  if (request.release) flush_proxied();
  try {
    old = device_->fetch(request);
  } catch (const error&) {
    rethrow_failure();
    throw;
  }
  // On a GPU an abandoned operation ends its kernel, and device::fetch() reports no error.
  if (const std::optional<error> recorded = recorded_failure()) throw error(*recorded);
  return old;
}

void world_state::fetch_nonblocking(const operation_request& request, void* result) {
  if (request.pe != operation_request::direct) {
    const std::uint64_t old = fetch(request);
    std::memcpy(result, &old, size_of(request.as));
    return;
  }
  const auto enqueue = [&](void* place) {
    operation_request placed = request;
    placed.result = place;
    device_->enqueue(placed, nullptr);
  };
  fetches_->add(result, size_of(request.as), enqueue, [this] { synchronize(nullptr); });
}

void world_state::quiet() {
  fetches_->deliver([this] { complete(); });
}

void world_state::complete() {
  if (proxied_) {
    operation_request kernels;
    kernels.what = operation_request::kind::quiet;
    kernels.here = context_;
    device_->enqueue(kernels, nullptr);
  }
  await_host_operations();
}

// ---- calls, waits and counts, for the program, pgas-why and monitoring systems; the trace

void world_state::begin_watch(control_block& control) {
  wait_report_ =
      std::make_shared<wait_report>(control, calls_, teams_, *enqueued_, proxied_ ? &proxied_->through() : nullptr,
                                    [this](std::uint64_t offset) { return heap_->memory().list().around(offset); });
  stats_report_ = std::make_shared<stats_report>(stats_sources{*control_plane_, *heap_, proxy(), calls_, *operations_,
                                                               log_, info(control_plane_->my_pe()), collective_});
  control_plane_->set_wait_source(
      {[report = wait_report_] { report->ask(); }, [report = wait_report_] { return report->settled(); },
       [report = wait_report_] { return report->answer(); },
       [report = wait_report_](std::chrono::milliseconds limit) { return report->overdue(limit); },
       [report = stats_report_] { return report->summary(); }, [report = stats_report_] { return report->answer(); },
       [report = wait_report_] { return report->sentences(); },
       [me = control_plane_->my_pe()](std::string_view introduction, const std::vector<std::string>& answers) {
         return told::root_of(me, introduction, answers);
       }});
}

void world_state::end_watch() noexcept {
  if (wait_report_) wait_report_->end();
  if (stats_report_) stats_report_->end();
}

void world_state::compare_clocks_for_trace() {
  if (heap_->parameters().traced == 0) return;
  const clock_comparison clocks = compare_clocks(*control_plane_);
  if (trace_) trace_->compared(clocks);
}

void world_state::make_room_for_traced_kernels() {
  if (!trace_) return;
  const trace_area* const kernels = trace_->make_area(*device_, static_cast<std::uint32_t>(settings_.trace_sample));
  device_->copy(heap_->slot(control_plane_->my_pe()) + internal_area::traced, &kernels, sizeof kernels, nullptr);
  device_->synchronize(nullptr);
}

void world_state::write_trace() noexcept {
  if (!trace_ || !control_plane_ || forked()) return;
  trace_->write(
      control_plane_->peer(control_plane_->my_pe()), [this](int pe) { return domains().direct(pe); }, log_);
}

pe_waits world_state::waits() const {
  check_process();
  if (left_) throw error(code::not_joined, "the world has been left: nothing waits in it");
  return wait_report_->ask_and_collect();
}

world_stats world_state::stats() const {
  check_process();
  if (left_) throw error(code::not_joined, "the world has been left: call this before leave()");
  return stats_report_->collect();
}

}  // namespace pgas::detail
