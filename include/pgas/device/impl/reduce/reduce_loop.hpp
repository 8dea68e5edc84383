/// @file
/// The loop over elements of all reductions and scans. One member loads an element from every member's source, combines
/// the values in the order of the members, and stores the result at its targets. Used by `twoshot_reduce.hpp`,
/// `oneshot_reduce.hpp`, `hierarchical_reduce.hpp`, `strided_collective.hpp`. The headers in `ll/` also use the element
/// accesses of this header.
///
/// Every member combines operands in the order of the members. So results depend only on the team and the data, and not
/// on groups, sizes or addresses. One member reads the operands of an element before it stores any result of that
/// element, so source and destination may be the same memory.
#pragma once

#include "pgas/device/impl/copy/copy.hpp"
#include "pgas/device/peer_routes.hpp"
#include "pgas/device/reduce_op.hpp"

namespace pgas::detail {

/// The results: the whole reduction for all members or for one member, or a scan for each member.
enum class reduce_result : std::int32_t { whole, inclusive, exclusive };

/// Elements to reduce.
struct reduce_job {
  const std::byte* src;  ///< address of the first element on this PE; the offset is the same on every member
  std::byte* dst;        ///< address of the first result; the offset is the same on every member
  std::size_t count;
  peer_map peers;
  std::int32_t members;
  std::int32_t first_target;  ///< whole results go to the members `first_target` to `end_target - 1`
  std::int32_t end_target;
};

/// Returns value / by, computed in 32 bits if 32 bits are sufficient, because a 64-bit division takes a hundred
/// instructions.
[[nodiscard]] PGAS_FN std::size_t divided(std::size_t value, std::uint32_t by) {
  return value >> 32 == 0 ? static_cast<std::uint32_t>(value) / by : value / by;
}

/// The slices of `count` elements: whole lines of 128 bytes, distributed as evenly as possible. The slices are equal on
/// all members, because the members' `src` differ by multiples of a slot.
struct partition {
  std::size_t count;
  std::size_t skew;  ///< number of elements from the start of the first element's line to that element
  std::size_t each;  ///< elements of a slice, except for the first and the last slice

  /// The first element of a member's slice.
  [[nodiscard]] PGAS_FN std::size_t start(std::int32_t member) const {
    const std::size_t before = each * static_cast<std::size_t>(member);
    return before <= skew ? 0 : before - skew < count ? before - skew : count;
  }
  /// The member with the slice that contains element `at`.
  [[nodiscard]] PGAS_FN std::int32_t owner(std::size_t at) const {
    return static_cast<std::int32_t>((at + skew) / each);
  }
};
[[nodiscard]] PGAS_FN partition partition_of(std::uintptr_t src, std::uint32_t element_bytes, std::size_t count,
                                             std::int32_t members) {
  constexpr std::uint32_t line = 128;
  const std::uint32_t per_line = element_bytes < line ? line / element_bytes : 1;
  const std::size_t skew = static_cast<std::uint32_t>(src % line) / element_bytes % per_line;
  const auto n = static_cast<std::uint32_t>(members);
  const std::size_t lines = (count + skew + per_line - 1) / per_line;
  return {count, skew, divided(lines + n - 1, n) * per_line};
}
/// The first element of a member's slice of the elements at `src`.
template <class T>
[[nodiscard]] PGAS_FN std::size_t slice_start(const T* src, std::size_t count, std::int32_t members,
                                              std::int32_t member) {
  return partition_of(reinterpret_cast<std::uintptr_t>(src), sizeof(T), count, members).start(member);
}

/// `N` values that are processed together.
template <class T, std::uint32_t N>
struct lanes {
  T at[N];
};

/// How elements are loaded: all elements of an aligned word of `Bytes` bytes in one step, or a single element in the
/// largest pieces that its alignment allows.
template <class T, std::size_t Bytes = 16>
struct word_access {
  using raw = unit_word<Bytes>;
  static constexpr std::uint32_t width = sizeof(T) <= Bytes ? Bytes / sizeof(T) : 1;
  [[nodiscard]] PGAS_FN static raw load(const std::byte* p) { return load_unit<space::heap, Bytes>(p); }
  PGAS_FN static void store(std::byte* p, const raw& value) { store_unit<space::heap, Bytes>(p, value); }
};
template <class T>
struct element_access {
  static constexpr std::size_t piece = unit_of<T> < 8 ? unit_of<T> : 8;
  static constexpr std::uint32_t pieces = static_cast<std::uint32_t>(sizeof(T) / piece);
  using raw = lanes<typename word<piece>::type, pieces>;
  static constexpr std::uint32_t width = 1;
  [[nodiscard]] PGAS_FN static raw load(const std::byte* p) {
    raw value;
    PGAS_UNROLL
    for (std::uint32_t i = 0; i < pieces; ++i) value.at[i] = load_weak<piece>(p + i * piece);
    return value;
  }
  PGAS_FN static void store(std::byte* p, const raw& value) {
    PGAS_UNROLL
    for (std::uint32_t i = 0; i < pieces; ++i) store_weak<piece>(p + i * piece, value.at[i]);
  }
};

/// Combines two values lane by lane. (Operations of the library's kernels have an overload of this function.)
template <class Op, class A, std::uint32_t N>
PGAS_FN void combine(const Op& op, lanes<A, N>& sum, const lanes<A, N>& next) {
  PGAS_UNROLL
  for (std::uint32_t k = 0; k < N; ++k) sum.at[k] = static_cast<A>(op(sum.at[k], next.at[k]));
}

/// Combines the elements of one access with the sum so far.
template <class Access, class T, class Op, class A>
PGAS_FN void reduce_lanes(const Op& op, lanes<A, Access::width>& sum, const typename Access::raw& raw, bool first) {
  const auto elements = bits_as<lanes<stored_as<T, A>, Access::width>>(raw);
  lanes<A, Access::width> next;
  PGAS_UNROLL
  for (std::uint32_t k = 0; k < Access::width; ++k) next.at[k] = accumulated<T, A>(elements.at[k]);
  if (first)
    sum = next;
  else
    combine(op, sum, next);
}

/// The sum, converted to the type that is stored.
template <class Access, class T, class A>
[[nodiscard]] PGAS_FN typename Access::raw reduced(const lanes<A, Access::width>& sum) {
  lanes<stored_as<T, A>, Access::width> out{};
  PGAS_UNROLL
  for (std::uint32_t k = 0; k < Access::width; ++k) out.at[k] = stored<T, A>(sum.at[k]);
  return bits_as<typename Access::raw>(out);
}

/// The neutral element in every lane.
template <class Access, class T, class Op>
[[nodiscard]] PGAS_FN typename Access::raw neutral(const Op& op) {
  using A = accumulator_of<Op, T>;
  lanes<A, Access::width> all{};
  PGAS_UNROLL
  for (std::uint32_t k = 0; k < Access::width; ++k) all.at[k] = op.template identity<A>();
  return reduced<Access, T>(all);
}

/// The accesses of a loop. The memory is contiguous, except for a gap before access `gap_at`.
struct run {
  std::size_t start;  ///< bytes
  std::size_t count;  ///< accesses
  std::size_t gap_at;
  std::size_t gap;  ///< bytes
};

/// One thread's share of the accesses of a `run`. Loads of several members are in flight; the values are combined in
/// order.
template <reduce_result Result, class Access, class T, class Op>
PGAS_FN void reduce_run(const Op& op, const reduce_job& job, const run& where, slice me) {
  using A = accumulator_of<Op, T>;
  constexpr bool whole = Result == reduce_result::whole;
  constexpr std::uint32_t batch = whole ? 4 : 2;  // members
  for (std::size_t i = me.rank; i < where.count; i += me.size) {
    const std::size_t at = where.start + i * Access::width * sizeof(T) + (i >= where.gap_at ? where.gap : 0);
    lanes<A, Access::width> sum{};
    for (std::int32_t base = 0; base < job.members; base += static_cast<std::int32_t>(batch)) {
      typename Access::raw in[batch]{};
      PGAS_UNROLL
      for (std::uint32_t b = 0; b < batch; ++b) {
        const std::int32_t member = base + static_cast<std::int32_t>(b);
        if (member < job.members) in[b] = Access::load(job.peers.at(job.src, member) + at);
      }
      PGAS_UNROLL
      for (std::uint32_t b = 0; b < batch; ++b) {
        const std::int32_t member = base + static_cast<std::int32_t>(b);
        if (member >= job.members) break;
        if constexpr (Result == reduce_result::exclusive) {
          const typename Access::raw before = member == 0 ? neutral<Access, T>(op) : reduced<Access, T>(sum);
          Access::store(job.peers.at(job.dst, member) + at, before);
        }
        reduce_lanes<Access, T>(op, sum, in[b], member == 0);
        if constexpr (Result == reduce_result::inclusive)
          Access::store(job.peers.at(job.dst, member) + at, reduced<Access, T>(sum));
      }
    }
    if constexpr (whole) {
      const typename Access::raw out = reduced<Access, T>(sum);
      for (std::int32_t target = job.first_target; target < job.end_target; ++target)
        Access::store(job.peers.at(job.dst, target) + at, out);
    }
  }
}

/// The number of words of each member that a thread has in flight, and the number of members whose words the thread
/// loads at the same time. In total there are eight loads; the registers for the sums limit this number. A thread loads
/// many words of few members, rather than few words of many members, because a team may have only two members.
template <class T, class A>
struct reduce_shape {
  static constexpr std::uint32_t sums = word_access<T>::width * (sizeof(A) < 4 ? 4 : sizeof(A)) / 4;  ///< registers
  static constexpr std::uint32_t depth = sums < 4 ? 4 : sums > 16 ? 1 : 16 / sums;
  static constexpr std::uint32_t batch = 8 / depth;
};

/// Reduces whole tiles of words from byte `start` on. As in `copy.hpp`, a warp takes consecutive words at a constant
/// distance from its first word. @return The number of words that were reduced.
template <class T, class Op>
PGAS_FN std::size_t reduce_tiles(const Op& op, const reduce_job& job, std::size_t start, std::size_t words, slice me) {
  using A = accumulator_of<Op, T>;
  using access = word_access<T>;
  constexpr std::uint32_t depth = reduce_shape<T, A>::depth;
  constexpr std::uint32_t batch = reduce_shape<T, A>::batch;
  const std::uint32_t log2 = me.size < warp_size ? 0 : log2_warp_size;  // log2 of the threads of a tile
  const std::uint32_t hop = 16u << log2;
  const std::size_t tiles = words / depth >> log2;
  const std::size_t step = me.size >> log2;
  const std::uint32_t first = me.rank >> log2;
  const std::uint32_t lane = me.rank & ((1u << log2) - 1);
  for (std::size_t i = first; i < tiles && first < step; i += step) {
    const std::size_t at = start + i * depth * hop + lane * 16;
    lanes<A, access::width> sum[depth]{};
    for (std::int32_t base = 0; base < job.members; base += static_cast<std::int32_t>(batch)) {
      vec16 in[batch][depth]{};
      PGAS_UNROLL
      for (std::uint32_t b = 0; b < batch; ++b) {
        const std::int32_t member = base + static_cast<std::int32_t>(b);
        if (member >= job.members) break;
        const std::byte* const from = job.peers.at(job.src, member) + at;
        PGAS_UNROLL
        for (std::uint32_t d = 0; d < depth; ++d) in[b][d] = access::load(from + d * hop);
      }
      PGAS_UNROLL
      for (std::uint32_t b = 0; b < batch; ++b) {
        const std::int32_t member = base + static_cast<std::int32_t>(b);
        if (member >= job.members) break;
        PGAS_UNROLL
        for (std::uint32_t d = 0; d < depth; ++d) reduce_lanes<access, T>(op, sum[d], in[b][d], member == 0);
      }
    }
    vec16 out[depth];
    PGAS_UNROLL
    for (std::uint32_t d = 0; d < depth; ++d) out[d] = reduced<access, T>(sum[d]);
    for (std::int32_t target = job.first_target; target < job.end_target; ++target) {
      std::byte* const to = job.peers.at(job.dst, target) + at;
      PGAS_UNROLL
      for (std::uint32_t d = 0; d < depth; ++d) access::store(to + d * hop, out[d]);
    }
  }
  return tiles * depth << log2;
}

/// One thread's share of a job: whole words if source and destination are congruent modulo 16, single elements at the
/// ends. The function is out of line and does not depend on the group, so there is one copy of the function for each
/// operation and type.
template <reduce_result Result, class T, class Op>
PGAS_OUTLINE void reduce_elements(Op op, reduce_job job, slice me) {
  constexpr std::size_t all = ~std::size_t{0};
  if constexpr (16 % sizeof(T) == 0) {
    const auto from = reinterpret_cast<std::uintptr_t>(job.src);
    const auto to = reinterpret_cast<std::uintptr_t>(job.dst);
    const std::size_t to_boundary = (0 - from) & 15;
    if (((from ^ to) & 15) == 0 && to_boundary % sizeof(T) == 0) {
      constexpr std::size_t width = word_access<T>::width;
      const std::size_t head = to_boundary / sizeof(T) < job.count ? to_boundary / sizeof(T) : job.count;
      const std::size_t words = (job.count - head) / width;
      std::size_t tiled = 0;
      if constexpr (Result == reduce_result::whole) tiled = reduce_tiles<T>(op, job, head * sizeof(T), words, me);
      reduce_run<Result, word_access<T>, T>(op, job, run{head * sizeof(T) + tiled * 16, words - tiled, all, 0}, me);
      reduce_run<Result, element_access<T>, T>(op, job, run{0, job.count - words * width, head, words * 16}, me);
      return;
    }
  }
  reduce_run<Result, element_access<T>, T>(op, job, run{0, job.count, all, 0}, me);
}

}  // namespace pgas::detail
