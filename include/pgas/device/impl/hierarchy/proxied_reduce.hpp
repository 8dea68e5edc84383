/// @file
/// Reductions of teams with proxied members. Gets fetch the operands, in large pieces, into a unit of this PE's
/// workspace. Each step fetches as many operands as fit. The operands of the next step are fetched while the operands
/// of the current step are reduced. Used by `reduce/twoshot_reduce.hpp` and `hierarchical_reduce.hpp`. The technique is
/// double buffering (a software pipeline of gets and reductions).
///
/// The class staged_reduce depends on the size of the elements and on the rank of the thread. The class does not depend
/// on the type of the elements or on the type of the group. There is therefore one copy of the class's code for all
/// types, operations and groups. The loop in reduce_staged() depends on type, operation and group, and calls the class.
/// (If the class called the loop through a function pointer, the compiler would assume that the call uses all registers
/// and an unknown stack size.)
///
/// Reductions first combine the members of each domain, from first to last, and then the domains in the order of their
/// first members. `hierarchical_reduce.hpp` combines in the same order, so the results have the same bits.
#pragma once

#include "pgas/device/impl/hierarchy/hierarchical_barrier.hpp"
#include "pgas/device/impl/proxy/proxied_operations.hpp"
#include "pgas/device/impl/reduce/reduce_loop.hpp"

namespace pgas::detail {

/// The operands of an element: every member's source, or the results of the domains.
enum class operands : std::int32_t { members, domains };

/// The position of a job's elements in the whole reduction. The position tells which member of a domain owns the
/// domain's result of an element.
struct owned_part {
  std::size_t count;   ///< the number of elements of the whole reduction
  std::size_t before;  ///< the number of elements before the job's first element
};

/// A reduction that may need the proxy.
struct staged_job {
  const participant* here;
  reduce_job job;
  owned_part owned;
  operands kind;
  operation what;
};

/// The sizes of elements, in bytes.
struct element_sizes {
  std::uint32_t element;
  std::uint32_t sum;        ///< size of an element in accumulated form
  std::uint32_t alignment;  ///< alignment of sums
};

/// One member's or domain's operand of several consecutive elements, and the destinations of the results.
struct operand {
  const std::byte* in;
  /// destination of the results: for scans, after each operand; for whole reductions, after the last operand only
  std::byte* out;
  std::byte* inner;  ///< sums of the operands so far; for whole reductions, only of the current domain
  std::byte* outer;  ///< sums of the domains so far
  std::size_t count;
  bool starts;  ///< whether there are no earlier sums
  bool ends;    ///< whether this is the last operand of its domain: the domain's sums are then added to the outer sums
  bool opens;   ///< whether the operand's domain is the first domain
};

/// Calls partition_of() out of line.
[[nodiscard]] PGAS_OUTLINE_IN_UNIT partition domain_partition(std::uintptr_t src, std::uint32_t element_bytes,
                                                              std::size_t count, std::int32_t members) {
  return partition_of(src, element_bytes, count, members);
}

/// The member of a domain that owns the domain's result of an element, and the number of elements that this member owns
/// from this element on.
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

/// Submits a copy of some bytes to the proxy, or ends the thread.
PGAS_OUTLINE_IN_UNIT void submit_or_end(proxy_queue queue, op_info about, command_kind kind, const std::byte* local,
                                        std::size_t bytes) {
  const proxied_blocks all{queue, about, const_cast<std::byte*>(local), {bytes, 1, 0, 0}, completion::submitted};
  if (!submit_copy(&all, kind)) end_thread();
}

/// The progress of a reduction. Each thread has its own object in memory. The objects of a group's threads go through
/// the same states.
class staged_reduce {
 public:
  PGAS_FN void open(const staged_job* call, reduce_result result, element_sizes sizes, slice me) {
    call_ = call;
    of_ = call->here->channel();
    result_ = result;
    sizes_ = sizes;
    me_ = me;
    by_domain_ = whole() && call->kind == operands::domains;
    unit_ = nullptr;
    const std::int32_t proxied_pe = n_operands();
    max_proxied_ = proxied_pe < most_buffers ? proxied_pe : most_buffers;
    const auto buffers = static_cast<std::uint32_t>(2 * max_proxied_ + (whole() ? 1 : max_proxied_));
    constexpr std::uint32_t line = 128;
    constexpr std::uint32_t room = workspace_view::unit_bytes - (3 * most_buffers + 2) * line;
    // buffers start at multiples of a line, or of a larger alignment
    const std::uint32_t multiple = sizes.alignment < line ? line : sizes.alignment;
    length_ = room / (buffers * sizes.element + 2 * sizes.sum);
    buffer_bytes_ = (length_ * sizes.element + multiple - 1) / multiple * multiple;
    sums_bytes_ = (2 * length_ * sizes.sum + multiple - 1) / multiple * multiple;
    half_ = 0;
    next_ = {};  // an empty step
  }

  /// Called by one thread while the other threads of the group wait. The first call reserves a unit of the workspace,
  /// and stores the unit's number in a word of the channel, where the other threads read the number. Later calls return
  /// when the gets have arrived and the puts are complete. @return False if a wait failed and the thread must end.
  [[nodiscard]] PGAS_FN bool drain() {
    if (unit_ != nullptr) return detail::drain(of_.queue(), call_->what, -1);
    const reserved_unit mine = reserve_unit(of_.queue(), {call_->what, ctx().world_pe_, 0});
    of_.words()->notified = mine.number;
    return mine.at != nullptr;
  }

  /// Requests the proxied operands of the next step. The operands of the current step have already arrived. @return
  /// False at the end.
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

  /// Moves to the next operand of this step. @return False after the last operand.
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

  /// Sends this thread's share of the results of this step.
  PGAS_FN void send_results() const {
    if (!whole()) {
      if (me_.rank == 0) send_scans();
    } else if (now_.count != 0 && now_.end == n_operands()) {
      send_wholes();
    }
  }

 private:
  static constexpr std::int32_t most_buffers = 8;

  /// Operands of some elements. At most max_proxied_ of these operands are proxied.
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
  /// The PE that owns operand `q` of element `first`. For scans, operands have the order of the members; for
  /// reductions, the members are sorted by domain.
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
  /// The location of a result in the workspace, after the sums. A whole result has the same offset from a 16-byte
  /// boundary as its target.
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

  /// The step that begins with element `first` and operand `begin`; empty after the last step.
  [[nodiscard]] PGAS_FN step step_at(std::size_t first, std::int32_t begin) const {
    const std::size_t left = call_->job.count - first;
    step result{first, left < length_ ? left : length_, begin, begin};
    if (result.count == 0) return result;
    PGAS_ROLLED
    for (std::int32_t d = by_domain_ ? of_.hierarchy.domains() - 1 : -1; d >= 0; --d) {
      const std::size_t owned = owner_of(call_, sizes_.element, d, first).count;
      if (owned < result.count) result.count = owned;
    }
    PGAS_ROLLED
    for (std::int32_t proxied_pe = 0; result.end < n_operands(); ++result.end) {
      if (!ctx().is_direct(world_pe(result.end, first)) && ++proxied_pe > max_proxied_) break;
    }
    return result;
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

  PGAS_FN void proxy_submit(command_kind kind, std::int32_t pe, const std::byte* remote, const step& some,
                            const std::byte* here) const {
    submit_or_end(of_.queue(), {call_->what, pe, of_.queue().offset(remote + some.first * sizes_.element)}, kind, here,
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
  /// Sends the results of scans to proxied targets. Direct targets already have their results.
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
  bool by_domain_;              ///< whether the operands are the results of the domains
  std::byte* unit_;             ///< unit of the workspace; null before drain() has reserved a unit
  std::uint64_t number_;        ///< number of the workspace unit
  std::int32_t max_proxied_;    ///< maximum number of proxied operands in a step
  std::uint32_t length_;        ///< elements of a step
  std::uint32_t buffer_bytes_;  ///< bytes from one buffer to the next
  std::uint32_t sums_bytes_;    ///< bytes of all sums
  step now_;
  step next_;
  std::int32_t half_;     ///< the half of the buffers that receives the next step's operands
  std::int32_t at_;       ///< index of the next operand
  std::int32_t proxied_;  ///< number of proxied operands before operand at_
};

/// The steps of staged_reduce. With -rdc=true, inline steps would be copied into every reduction, so the functions are
/// out of line.
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

/// Combines this thread's slice of one operand.
template <reduce_result Result, class T, class Op>
PGAS_COLD void reduce_operand(const operand* with, Op op, slice me) {
  using A = accumulator_of<Op, T>;
  using element = stored_as<T, A>;
  const auto* const in = reinterpret_cast<const element*>(with->in);
  auto* const out = reinterpret_cast<element*>(with->out);
  auto* const inner = reinterpret_cast<A*>(with->inner);
  PGAS_ROLLED
  for (std::size_t k = me.rank; k < with->count; k += me.size) {
    const A value = accumulated<T, A>(in[k]);
    if constexpr (Result == reduce_result::exclusive) {
      out[k] = stored<T, A>(with->starts ? op.template identity<A>() : inner[k]);
    }
    A sum = with->starts ? value : static_cast<A>(op(inner[k], value));
    inner[k] = sum;
    if constexpr (Result == reduce_result::inclusive) out[k] = stored<T, A>(sum);
    if constexpr (Result == reduce_result::whole) {
      if (!with->ends) continue;
      auto* const outer = reinterpret_cast<A*>(with->outer);
      sum = accumulated<T, A>(stored<T, A>(sum));
      if (!with->opens) sum = static_cast<A>(op(outer[k], sum));
      outer[k] = sum;
      if (out != nullptr) out[k] = stored<T, A>(sum);
    }
  }
}

/// One thread drains the queue for all threads of the group.
template <PGAS_IS(group) G>
PGAS_OUTLINE_IN_UNIT void drain_by_leader(staged_reduce* route, G g) {
  g.sync();
  exit_unless_leader(g, g.thread_rank() == 0 && drain_staged(route));
}

/// Executes a job by all threads of a group. The function is out of line and the job is in memory, because registers
/// are scarce.
template <reduce_result Result, class T, class Op, PGAS_IS(group) G>
PGAS_OUTLINE_IN_UNIT void reduce_staged(const staged_job* call, G g, Op op) {
  using A = accumulator_of<Op, T>;
  static_assert(sizeof(T) <= 4096, "elements of reductions have at most 4096 bytes");
  if (call->job.count == 0) return;
  staged_reduce route;
  open_staged(&route, call, Result, {sizeof(T), sizeof(A), alignof(A)}, slice_of(g));
  for (;;) {
    drain_by_leader(&route, g);
    if (!begin_step(&route)) break;
    operand with{};
    while (next_operand(&route, &with)) reduce_operand<Result, T>(&with, op, slice_of(g));
    g.sync();
    send_results(&route);
  }
}

}  // namespace pgas::detail
