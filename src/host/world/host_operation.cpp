#include "host/world/host_operation.hpp"

#include <fmt/format.h>

#include <string_view>

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
  if (trace::event_facts* const facts = call_.facts(); facts != nullptr && how_.on != nullptr) {
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
  // An operation that fetches needs no separate completion: it is complete when its result arrives.
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
  if (how_.on == nullptr || state_.heap().contains(memory, 1)) return;  // the usual case, without a query of the driver
  if (!state_.device().capturing(queue_) || state_.device().reaches(memory)) return;
  const int me = state_.context().my_pe();
  throw error(code::capturing,
              fmt::format("{}: {} is pageable host memory of PE {}, and a CUDA graph can't copy it at each replay: "
                          "allocate it with cudaHostAlloc or pin it with cudaHostRegister",
                          what_, memory, me),
              me);
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
  // An update of a signal has release order and changes a word of 8 bytes. An update of a lock also has release order,
  // but changes a word of 4 bytes.
  const bool signals = update.release && update.as == datatype::u64;
  count(signals ? operation_counter::kind::signal : operation_counter::kind::atomic, pe);
  if (how_.on != nullptr && update.how != atomic_update::fetch)
    state_.enqueued().add_write(queue_, {signals && std::string_view(what_) != "put_signal" ? "signal" : what_, pe,
                                         state_.context().offset(update.target), size_of(update.as)});
  trace::event_facts* const facts = call_.facts();
  if (facts == nullptr) return;
  facts->offset = state_.context().offset(update.target);
  facts->value = update.value;
  facts->update = update.how == atomic_update::set   ? trace::update::set
                  : update.how == atomic_update::add ? trace::update::add
                                                     : trace::update::other;
}

void host_operation::note(operation_counter::kind what, int pe, std::uint64_t bytes) noexcept {
  trace::event_facts& facts = *call_.facts();
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
  if (trace::event_facts* const facts = call_.facts()) facts->kind = trace::event_kind::wait;
}

void host_operation::end_wait(const word_set& set, std::size_t index, std::uint64_t expected,
                              std::uint64_t seen) noexcept {
  trace::event_facts* const of_call = call_.facts();
  if (of_call == nullptr) return;
  trace::event_facts facts;
  facts.kind = trace::event_kind::wait;
  facts.offset = state_.context().offset(set.words) + index * size_of(set.as);
  facts.compare = static_cast<std::int8_t>(set.compare);
  facts.value = expected;
  facts.seen = seen;
  if (set.count > 1) return call_.add_moment(facts, "satisfied");
  facts.begin = of_call->begin;
  *of_call = facts;
}

void host_operation::finish(int pe) {
  if (how_.wait && !proxied(pe)) state_.synchronize(queue_);
}

}  // namespace pgas::detail
