/// @file
/// The way of folds of teams with members that load and store do not reach: what is far is fetched in large pieces into
/// a unit of this PE's workspace, as many operands at a time as there is room for, the next ones while the last ones
/// are folded.
///
/// Of elements it knows how large they are, and of groups who of how many is calling: there is one copy of it for all
/// types, operations and groups. It never calls what folds: `proxied_fold.hpp`, which knows the type, the operation and
/// the group, has the loop and asks here what is next. (Called by their addresses, functions would have to be expected
/// to take all registers and any stack, and NVRTC and nvcc would compile them for each operation all the same.)
///
/// Operands of reductions are associated by domain: those of a domain from its first member to its last, then the
/// domains in the order of their first members. So what members of a domain have folded themselves, and a proxy has
/// carried once, gives the same bits (`domain_exchange.hpp`).
#pragma once

#include "pgas/device/impl/hierarchy/domain_barrier.hpp"
#include "pgas/device/impl/proxy/proxied_copy.hpp"
#include "pgas/device/impl/reduce/reduce_loop.hpp"

namespace pgas::detail {

/// What stands for the operands of an element: every member's source, or what the domains have made of those of their
/// members.
enum class operands : std::int32_t { members, domains };

/// Which elements of a whole a job is about: what domains have made of it, their members hold in shares.
struct owned_part {
  std::size_t count;   ///< of the whole
  std::size_t before;  ///< elements of it before the job's
};

/// What a fold by proxy takes.
struct staged_job {
  const participant* here;
  reduce_job job;
  owned_part owned;
  operands of;
  operation what;
};

/// What there is to know of elements but what they mean, in bytes.
struct element_sizes {
  std::uint32_t element;
  std::uint32_t sum;        ///< in the form in which they are accumulated
  std::uint32_t alignment;  ///< of sums
};

/// An operand of some elements, and what is to be done with it.
struct operand {
  const std::byte* in;
  std::byte* out;    ///< where results go: of scans those up to it, of whole folds those of all, if it is the last
  std::byte* inner;  ///< sums up to it, of whole folds of its domain
  std::byte* outer;  ///< sums up to its domain
  std::size_t count;
  bool starts;  ///< there are no sums before it
  bool ends;    ///< it is its domain's last one: theirs are to be added to the outer sums
  bool opens;   ///< its domain is the first one
};

/// partition_of() out of line.
[[nodiscard]] PGAS_OUTLINE_IN_UNIT partition domain_partition(std::uintptr_t src, std::uint32_t element_bytes,
                                                              std::size_t count, std::int32_t members) {
  return partition_of(src, element_bytes, count, members);
}

/// Who of a domain has what the domain has made of an element, and of how many from there on.
struct element_owner {
  std::int32_t world_pe;
  std::size_t count;
};
[[nodiscard]] PGAS_OUTLINE_IN_UNIT element_owner owner_of(const staged_job* call, std::uint32_t element_bytes,
                                                          std::int32_t d, std::size_t first) {
  const team_hierarchy hierarchy = call->here->channel().hierarchy;
  const std::size_t at = call->owned.before + first;
  const partition all =
      domain_partition(reinterpret_cast<std::uintptr_t>(call->job.src) - call->owned.before * element_bytes,
                       element_bytes, call->owned.count, hierarchy.count(d));
  const std::int32_t k = all.owner(at);
  return {hierarchy.world_pe(d, k), all.start(k + 1) - at};
}

/// Has the proxy copy some bytes, or ends the thread.
PGAS_OUTLINE_IN_UNIT void submit_or_end(proxy_queue queue, op_info about, command_kind kind, const std::byte* local,
                                        std::size_t bytes) {
  if (!submit_copy(queue, about, kind, local, {bytes, 1, 0, 0}, completion::submitted)) end_thread();
}

/// How far a fold is. Each thread has its own, in memory; all of a group's go through the same states.
class staged_reduce {
 public:
  PGAS_FN void open(const staged_job* call, reduce_result result, element_sizes sizes, slice me) {
    call_ = call;
    of_ = call->here->channel();
    result_ = result;
    sizes_ = sizes;
    me_ = me;
    by_domain_ = whole() && call->of == operands::domains;
    unit_ = nullptr;
    const std::int32_t proxied_pe = n_operands();
    max_proxied_ = proxied_pe < most_buffers ? proxied_pe : most_buffers;
    const auto buffers = static_cast<std::uint32_t>(2 * max_proxied_ + (whole() ? 1 : max_proxied_));
    constexpr std::uint32_t line = 128;
    constexpr std::uint32_t room = workspace_view::unit_bytes - (3 * most_buffers + 2) * line;
    const std::uint32_t multiple = sizes.alignment < line ? line : sizes.alignment;  // elements that take more fill it
    length_ = room / (buffers * sizes.element + 2 * sizes.sum);
    buffer_bytes_ = (length_ * sizes.element + multiple - 1) / multiple * multiple;
    sums_bytes_ = (2 * length_ * sizes.sum + multiple - 1) / multiple * multiple;
    half_ = 0;
    next_ = {};  // of no operands
  }

  /// By one thread for all, with all others waiting before and behind: the word in the channel's state tells them where
  /// the workspace is. Later what was asked for has come, and what was sent is out. False if it had to give up.
  [[nodiscard]] PGAS_FN bool drain() {
    if (unit_ != nullptr) return detail::drain(of_.queue(), call_->what, -1);
    const reserved_unit mine = reserve_unit(of_.queue(), {call_->what, ctx().world_pe_, 0});
    of_.words()->notified = mine.number;
    return mine.at != nullptr;
  }

  /// Asks for what is far of the operands of the next turn, those of this one being there. False at the end.
  [[nodiscard]] PGAS_FN bool begin_step() {
    find_workspace();
    now_ = next_;
    next_ = behind(now_);
    half_ ^= 1;
    if (now_.count + next_.count == 0) {
      if (me_.rank == 0) release_unit(of_.queue(), number_);
      return false;
    }
    if (me_.rank == 0 && next_.count != 0) ask_for(next_);
    at_ = now_.begin;
    proxied_ = 0;
    return true;
  }

  /// One more operand of this turn. False behind the last one.
  [[nodiscard]] PGAS_FN bool next_operand(operand* found) {
    if (at_ == now_.end) return false;
    const std::int32_t pe = world_pe(at_, now_.first);
    const std::size_t start = now_.first * sizes_.element;
    const bool direct = ctx().is_direct(pe);
    found->in = direct ? ctx().world_remote(source() + start, pe) : buffer(half_ ^ 1, proxied_);
    found->inner = unit_ + static_cast<std::size_t>(2 * max_proxied_) * buffer_bytes_;
    found->outer = found->inner + length_ * sizes_.sum;
    found->count = now_.count;
    if (whole()) {
      const std::int32_t d = by_domain_ ? at_ : domain_of(at_);
      found->out = at_ + 1 == n_operands() ? result(0) : nullptr;
      found->starts = by_domain_ || of_.hierarchy.begin(d) == at_;
      found->ends = by_domain_ || of_.hierarchy.begin(d + 1) == at_ + 1;
      found->opens = d == 0;
    } else {
      found->out = direct ? ctx().world_remote(call_->job.dst + start, pe) : result(proxied_);
      found->starts = at_ == 0;
    }
    if (!direct) ++proxied_;
    ++at_;
    return true;
  }

  /// Sends what this turn has made to where it belongs: this thread's share.
  PGAS_FN void send_results() const {
    if (!whole()) {
      if (me_.rank == 0) send_scans();
    } else if (now_.count != 0 && now_.end == n_operands()) {
      send_wholes();
    }
  }

 private:
  static constexpr std::int32_t most_buffers = 8;

  /// Some operands, max_proxied_ far ones at most, of some elements.
  struct step {
    std::size_t first;
    std::size_t count;
    std::int32_t begin;
    std::int32_t end;
  };

  [[nodiscard]] PGAS_FN const context& ctx() const { return call_->here->ctx; }
  [[nodiscard]] PGAS_FN bool whole() const { return result_ == reduce_result::whole; }
  [[nodiscard]] PGAS_FN std::int32_t n_operands() const {
    return by_domain_ ? of_.hierarchy.domains() : call_->job.members;
  }
  [[nodiscard]] PGAS_FN const std::byte* source() const { return by_domain_ ? call_->job.dst : call_->job.src; }
  /// Where operand `q` of the element `first` lies: scans go through the members as they are, others by domain.
  [[nodiscard]] PGAS_FN std::int32_t world_pe(std::int32_t q, std::size_t first) const {
    if (by_domain_) return owner_of(call_, sizes_.element, q, first).world_pe;
    return whole() ? of_.hierarchy.world_pe(0, q) : call_->here->team.world_pe(q);
  }
  [[nodiscard]] PGAS_FN std::int32_t domain_of(std::int32_t q) const {
    std::int32_t d = 0;
    PGAS_ROLLED
    while (of_.hierarchy.begin(d + 1) <= q) ++d;
    return d;
  }

  [[nodiscard]] PGAS_FN std::byte* buffer(std::int32_t half, std::int32_t proxied_pe) const {
    return unit_ + static_cast<std::size_t>(half * max_proxied_ + proxied_pe) * buffer_bytes_;
  }
  /// Behind the sums. Whole ones are as far from a boundary of 16 bytes as where they go to.
  [[nodiscard]] PGAS_FN std::byte* result(std::int32_t i) const {
    std::byte* const first = unit_ + static_cast<std::size_t>(2 * max_proxied_) * buffer_bytes_ + sums_bytes_;
    if (!whole()) return first + static_cast<std::size_t>(i) * buffer_bytes_;
    return first + ((reinterpret_cast<std::uintptr_t>(call_->job.dst) + now_.first * sizes_.element) & 15);
  }

  PGAS_FN void find_workspace() {
    if (unit_ != nullptr) return;
    number_ = of_.words()->notified;
    const workspace_view& space = of_.table->workspace;
    const std::uint64_t units = std::uint64_t{1} << space.log2_units;
    unit_ = space.units + (number_ & (units - 1)) * workspace_view::unit_bytes;
  }

  /// The turn from operand `begin` of the elements from `first` on; of none behind the last ones.
  [[nodiscard]] PGAS_FN step step_at(std::size_t first, std::int32_t begin) const {
    const std::size_t left = call_->job.count - first;
    step made{first, left < length_ ? left : length_, begin, begin};
    if (made.count == 0) return made;
    PGAS_ROLLED
    for (std::int32_t d = by_domain_ ? of_.hierarchy.domains() - 1 : -1; d >= 0; --d) {
      const std::size_t owned = owner_of(call_, sizes_.element, d, first).count;
      if (owned < made.count) made.count = owned;
    }
    PGAS_ROLLED
    for (std::int32_t proxied_pe = 0; made.end < n_operands(); ++made.end) {
      if (!ctx().is_direct(world_pe(made.end, first)) && ++proxied_pe > max_proxied_) break;
    }
    return made;
  }

  [[nodiscard]] PGAS_FN step behind(const step& before) const {
    const bool ends = before.end == n_operands();
    return step_at(before.first + (ends ? before.count : 0), ends ? 0 : before.end);
  }

  PGAS_FN void ask_for(const step& wanted) const {
    PGAS_ROLLED
    for (std::int32_t q = wanted.begin, proxied_pe = 0; q < wanted.end; ++q) {
      const std::int32_t pe = world_pe(q, wanted.first);
      if (ctx().is_direct(pe)) continue;
      proxy_submit(command_kind::get, pe, source(), wanted, buffer(half_, proxied_pe++));
    }
  }

  PGAS_FN void proxy_submit(command_kind kind, std::int32_t pe, const std::byte* there, const step& some,
                            const std::byte* here) const {
    submit_or_end(of_.queue(), {call_->what, pe, of_.queue().offset(there + some.first * sizes_.element)}, kind, here,
                  some.count * sizes_.element);
  }

  PGAS_FN void send_wholes() const {
    const reduce_job& job = call_->job;
    const std::int32_t targets = by_domain_ ? of_.hierarchy.domains() : job.end_target - job.first_target;
    PGAS_ROLLED
    for (std::int32_t i = 0; i < targets; ++i) {
      const std::int32_t pe = by_domain_ ? world_pe(i, now_.first) : call_->here->team.world_pe(job.first_target + i);
      if (ctx().is_direct(pe)) {
        put_congruent(ctx().world_remote(job.dst + now_.first * sizes_.element, pe), result(0),
                      now_.count * sizes_.element, me_);
      } else if (me_.rank == 0) {
        proxy_submit(command_kind::put, pe, job.dst, now_, result(0));
      }
    }
  }
  /// What is near has been stored already.
  PGAS_FN void send_scans() const {
    PGAS_ROLLED
    for (std::int32_t q = now_.begin, proxied_pe = 0; q < now_.end; ++q) {
      const std::int32_t pe = world_pe(q, now_.first);
      if (!ctx().is_direct(pe)) proxy_submit(command_kind::put, pe, call_->job.dst, now_, result(proxied_pe++));
    }
  }

  const staged_job* call_;
  domain_channel of_;
  reduce_result result_;
  element_sizes sizes_;
  slice me_;
  bool by_domain_;              ///< operands are what the domains have made
  std::byte* unit_;             ///< of the workspace; null before there is one
  std::uint64_t number_;        ///< of it
  std::int32_t max_proxied_;    ///< of a turn
  std::uint32_t length_;        ///< elements of a turn
  std::uint32_t buffer_bytes_;  ///< bytes from one buffer to the next
  std::uint32_t sums_bytes_;    ///< bytes that all sums take
  step now_;
  step next_;
  std::int32_t half_;     ///< of the buffers, that the next turn's operands come to
  std::int32_t at_;       ///< the operand to come
  std::int32_t proxied_;  ///< how many far ones came before it
};

/// Its steps out of line, also with -rdc=true, where they would be part of every fold.
PGAS_OUTLINE_IN_UNIT void open_staged(staged_reduce* route, const staged_job* call, reduce_result result,
                                      element_sizes sizes, slice me) {
  route->open(call, result, sizes, me);
}
[[nodiscard]] PGAS_OUTLINE_IN_UNIT bool drain_staged(staged_reduce* route) { return route->drain(); }
[[nodiscard]] PGAS_OUTLINE_IN_UNIT bool begin_step(staged_reduce* route) { return route->begin_step(); }
[[nodiscard]] PGAS_OUTLINE_IN_UNIT bool next_operand(staged_reduce* route, operand* found) {
  return route->next_operand(found);
}
PGAS_OUTLINE_IN_UNIT void send_results(const staged_reduce* route) { route->send_results(); }

}  // namespace pgas::detail
