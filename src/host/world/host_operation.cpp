// Operations of host threads: on direct peers by the device's internal queue or a stream, on proxied peers by the ring
// of the host.
#include "host/world/host_operation.hpp"

#include <fmt/format.h>

#include <cstring>

#include "host/world/world_state.hpp"

namespace pgas::detail {

namespace {

world_state& joined(world& w) {
  world_state& state = w.state();
  state.check();
  return state;
}

}  // namespace

host_operation::host_operation(const op_target& how, const char* what)
    : how_(how),
      state_(joined(how.w)),
      what_(what),
      queue_(how.on != nullptr ? how.on->native(how.w.state()) : nullptr),
      call_(state_, what) {
  state_.calls().count();
  if (trace::event_facts* const facts = call_.traced.facts(); facts != nullptr && how_.on != nullptr) {
    facts->by = trace::caller::stream;
    facts->stream = reinterpret_cast<std::uintptr_t>(queue_);
  }
}

void* host_operation::target(const void* local, std::size_t bytes, std::size_t alignment, int pe) const {
  state_.check_symmetric(local, bytes, alignment, what_);
  target_offset_ = state_.context().offset(local);
  target_bytes_ = bytes;
  if (!proxied(pe)) return state_.remote(local, pe);
  state_.check_peer_has(local, pe);
  return const_cast<void*>(local);
}

void host_operation::address(operation_request& request, int pe) const {
  if (state_.domains().only_one()) return;
  request.here = state_.context();
  if (!proxied(pe)) return;
  request.pe = pe;
  // An operation that fetches is complete when its answer arrives.
  using kind = operation_request::kind;
  const bool answered =
      request.what == kind::get || (request.what == kind::atomic && request.how != atomic_update::set);
  request.complete = !answered && (how_.wait || how_.on != nullptr);
  request.until_quiet = request.complete || (!how_.wait && how_.on == nullptr);
}

operation_request host_operation::atomic_request(const atomic_op& update, int pe, operation_request::kind what) const {
  const std::size_t bytes = size_of(update.as);
  operation_request request;
  request.what = what;
  request.how = update.how;
  request.as = update.as;
  request.release = update.release;
  request.to = target(update.target, bytes, bytes, pe);
  request.value[0] = update.value;
  request.condition = update.condition;
  address(request, pe);
  return request;
}

void host_operation::check_compare(cmp how) const {
  if (how < cmp::eq || how > cmp::ge)
    throw error(code::invalid_argument,
                fmt::format("{}: there is no cmp {}: use eq, ne, gt, le, lt or ge", what_, static_cast<int>(how)));
}

void host_operation::check_local(const void* memory) const {
  if (memory == nullptr) throw error(code::invalid_argument, fmt::format("{}: the local memory is null", what_));
  if (how_.on == nullptr || state_.heap().contains(memory, 1)) return;  // the usual case, without asking the driver
  if (!state_.device().capturing(queue_) || state_.device().reaches(memory)) return;
  throw error(
      code::capturing,
      fmt::format("{}: {} is pageable host memory, which a CUDA graph can't copy at each replay: allocate it with "
                  "cudaHostAlloc or pin it with cudaHostRegister",
                  what_, memory));
}

void host_operation::check_kernel_memory(const void* memory, const char* role) const {
  if (memory == nullptr || state_.device().reaches(memory)) return;
  throw error(
      code::invalid_argument,
      fmt::format("{}: {} at {} is memory that kernels can't reach: use the heap, GPU memory, or pinned host memory "
                  "(cudaHostAlloc)",
                  what_, role, memory));
}

void host_operation::submit(const operation_request& request) {
  if (how_.on != nullptr)
    device().enqueue(request, queue_);
  else
    state_.execute_operation(request);
}

void host_operation::count(const atomic_op& update, int pe) noexcept {
  // Locks release, too, but by words of 4 bytes.
  const bool signals = update.release && update.as == datatype::u64;
  count(signals ? operation_counter::kind::signal : operation_counter::kind::atomic, pe);
  if (how_.on != nullptr && update.how != atomic_update::fetch)
    state_.enqueued().add_write(queue_, {signals && std::string_view(what_) != "put_signal" ? "signal" : what_, pe,
                                         state_.context().offset(update.target), size_of(update.as)});
  trace::event_facts* const facts = call_.traced.facts();
  if (facts == nullptr) return;
  facts->offset = state_.context().offset(update.target);
  facts->value = update.value;
  facts->update = update.how == atomic_update::set   ? trace::update::set
                  : update.how == atomic_update::add ? trace::update::add
                                                     : trace::update::other;
}

void host_operation::note(operation_counter::kind what, int pe, std::uint64_t bytes) noexcept {
  trace::event_facts& facts = *call_.traced.facts();
  using counted = operation_counter::kind;
  using recorded = trace::event_kind;
  facts.kind = what == counted::put      ? recorded::put
               : what == counted::get    ? recorded::get
               : what == counted::signal ? recorded::signal
                                         : recorded::atomic;
  facts.peer = pe;
  facts.bytes += bytes;
  facts.route = proxied(pe) ? trace::route::proxied : trace::route::direct;
}

void host_operation::begin_wait() noexcept {
  if (trace::event_facts* const facts = call_.traced.facts()) facts->kind = trace::event_kind::wait;
}

void host_operation::end_wait(const word_set& set, std::size_t index, std::uint64_t expected,
                              std::uint64_t seen) noexcept {
  trace::event_facts* const of_call = call_.traced.facts();
  if (of_call == nullptr) return;
  trace::event_facts facts;
  facts.kind = trace::event_kind::wait;
  facts.offset = state_.context().offset(set.words) + index * size_of(set.as);
  facts.compare = static_cast<std::int8_t>(set.compare);
  facts.value = expected;
  facts.seen = seen;
  if (set.count > 1) return call_.traced.add_moment(facts, "satisfied");
  facts.begin = of_call->begin;
  *of_call = facts;
}

void host_operation::finish(int pe) {
  if (how_.wait && !proxied(pe)) state_.synchronize(queue_);
}

// ---- the operations of the world's own queue and of the host's ring

void world_state::check_symmetric(const void* pointer, std::size_t bytes, std::size_t alignment,
                                  const char* what) const {
  if (!heap_->contains(pointer, bytes))
    throw error(
        code::outside_heap,
        fmt::format("{}: {} and the {} bytes from there are not inside this PE's symmetric memory ({} to {}): pass "
                    "memory that was allocated in the symmetric heap, and a count that fits it",
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
                fmt::format("PE {} has no memory where this PE has {}: it belongs to a team that PE {} is not in", pe,
                            local, pe),
                pe);
}

void* world_state::remote(const void* local, int pe) const {
  check_peer_has(local, pe);
  return heap_->slot(pe) + (static_cast<const std::byte*>(local) - heap_->slot(context_.my_pe()));
}

void world_state::execute_operation(const operation_request& request) {
  if (request.pe == operation_request::direct) {
    // A signal to a direct peer comes after earlier operations on proxied peers.
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
  // On a GPU an abandoned operation ends its kernel, and device::fetch() reports nothing.
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

namespace {
constexpr std::size_t most = 512;
constexpr std::size_t place_bytes = 8;
}  // namespace

void nonblocking_fetches::add(void* result, std::size_t bytes, const std::function<void(void*)>& enqueue,
                              const std::function<void()>& complete) {
  const std::lock_guard lock(mutex_);
  if (!room_) {
    entries_.reserve(most);
    room_ = {device_, most * place_bytes};
  }
  if (entries_.size() == most) copy_out(complete);
  enqueue(static_cast<std::byte*>(room_.on_device()) + entries_.size() * place_bytes);
  entries_.push_back({result, bytes});
}

void nonblocking_fetches::deliver(const std::function<void()>& complete) {
  const std::lock_guard lock(mutex_);
  copy_out(complete);
}

void nonblocking_fetches::copy_out(const std::function<void()>& complete) {
  const std::vector<entry> ready(entries_);
  entries_.clear();  // also where the queue has failed: its values never arrive
  complete();
  for (std::size_t i = 0; i < ready.size(); ++i)
    std::memcpy(ready[i].result, static_cast<const std::byte*>(room_.on_host()) + i * place_bytes, ready[i].bytes);
}

}  // namespace pgas::detail
