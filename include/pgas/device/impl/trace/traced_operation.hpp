/// @file
/// Records the operations of kernels that are compiled with PGAS_TRACE. Without the macro the class is empty, and
/// operations compile to the same code as without this header.
#pragma once

#include "pgas/detail/isa/ptx_atomic.hpp"
#include "pgas/detail/trace_area.hpp"
#include "pgas/device/context.hpp"
#include "pgas/device/group.hpp"
#include "pgas/signal_types.hpp"

namespace pgas::detail {

#if defined(PGAS_TRACE)

/// One operation, from the constructor to the end of the scope. The leader of the group records the operation if the
/// host has switched recording on.
class traced_operation {
 public:
  template <class G>
  PGAS_FN traced_operation(const context& ctx, const G& g, operation what)
      : area_(g.thread_rank() == 0 ? area_of(ctx) : nullptr) {
    if (area_ == nullptr) return;
    found_.begin = clock_ns();
    if (area_->every > 1 &&
        static_cast<std::uint32_t>(found_.begin >> trace_area::log2_period_ns) % area_->every != 0) {
      area_ = nullptr;
      return;
    }
    found_.what = what;
    found_.offset = trace_area::no_word;
    found_.pe = -1;
    found_.compare = -1;
  }
  PGAS_FN ~traced_operation() { end(); }
  traced_operation(const traced_operation&) = delete;
  traced_operation& operator=(const traced_operation&) = delete;

  /// Ends the operation before its scope ends, because the thread will end.
  PGAS_FN void end() {
    if (area_ != nullptr) add();
    area_ = nullptr;
  }
  /// Sets the target of the operation, which is PE `pe` of the context's team, and the number of data bytes.
  PGAS_FN void on(const context& ctx, pe_or_peer pe, std::uint64_t bytes = 0) {
    if (area_ == nullptr) return;
    const bool is_member = pe.pe() >= 0 && pe.pe() < ctx.n_pes();  // the argument check reports invalid numbers
    found_.pe = is_member ? ctx.team().world_pe(pe.pe()) : -1;
    found_.bytes = bytes;
  }
  /// Sets the word that the operation updates.
  PGAS_FN void updates(const context& ctx, const volatile void* word, std::uint64_t value, traced_update how) {
    if (area_ == nullptr) return;
    found_.offset = ctx.offset(word);
    found_.value = value;
    found_.update = how;
  }
  /// Sets the word that the operation waited for, and the value that the operation saw.
  PGAS_FN void saw(const context& ctx, const volatile void* word, cmp how, std::uint64_t value, std::uint64_t seen) {
    if (area_ == nullptr) return;
    found_.offset = ctx.offset(word);
    found_.compare = static_cast<std::int16_t>(how);
    found_.value = value;
    found_.seen = seen;
  }
  /// Like saw(), for a wait that has subtracted the value.
  PGAS_FN void took(const context& ctx, const volatile void* word, std::uint64_t value, std::uint64_t seen) {
    saw(ctx, word, cmp::ge, value, seen);
    found_.update = traced_update::add;
  }

 private:
  /// The trace area; null if the host has switched recording off.
  [[nodiscard]] PGAS_FN static trace_area* area_of(const context& ctx) {
    return *reinterpret_cast<trace_area* const*>(ctx.my_slot_ + internal_area::traced);
  }
  PGAS_COLD void add() {
    found_.end = clock_ns();
    found_.block = place_block();
    found_.thread = place_thread();
    const std::uint32_t ring = (found_.block * 32 + found_.thread / 32 + found_.thread % 32) % trace_area::rings;
    const std::uint64_t before = fetch<rmw::add>(&area_->heads[ring].next, std::uint64_t{1});
    traced_event& to = area_->events[ring][before % trace_area::ring_events];
    store_relaxed(&to.number, std::uint64_t{0});
    to.begin = found_.begin;
    to.end = found_.end;
    to.bytes = found_.bytes;
    to.offset = found_.offset;
    to.value = found_.value;
    to.seen = found_.seen;
    to.pe = found_.pe;
    to.what = found_.what;
    to.block = found_.block;
    to.thread = found_.thread;
    to.compare = found_.compare;
    to.update = found_.update;
    store_release(&to.number, before + 1);
  }

  trace_area* area_;
  traced_event found_{};
};

#else

class [[maybe_unused]] traced_operation {
 public:
  template <class G>
  PGAS_FN traced_operation(const context&, const G&, operation) {}

  PGAS_FN void end() const {}
  PGAS_FN void on(const context&, pe_or_peer, std::uint64_t = 0) const {}
  PGAS_FN void updates(const context&, const volatile void*, std::uint64_t, traced_update) const {}
  PGAS_FN void saw(const context&, const volatile void*, cmp, std::uint64_t, std::uint64_t) const {}
  PGAS_FN void took(const context&, const volatile void*, std::uint64_t, std::uint64_t) const {}
};

#endif

}  // namespace pgas::detail
