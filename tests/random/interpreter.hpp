/// @file
/// Carries out a program on a PE: one block, one list of instructions. Compiled by g++ and by nvcc.
#pragma once

#include "device/bodies.hpp"
#include "instruction.hpp"
#include "model.hpp"

namespace pgas_random {

using namespace pgas;
using pgas_test::sym;

/// Raw elements.
struct alignas(16) wide {
  std::uint64_t low;
  std::uint64_t high;
};

struct interpreter {
  sym<unsigned char> arena;
  sym<signal_t> signals;
  sym<instruction> program;      ///< `capacity` for each block
  sym<std::uint32_t> lengths;    ///< one for each block
  sym<team_view> teams;
  std::uint32_t capacity;

  template <class T>
  [[nodiscard]] PGAS_FN T* at(const context& ctx, std::uint32_t offset) const {
    return reinterpret_cast<T*>(arena.at(ctx) + offset);
  }

  /// Calls f(group) with the group that makes the call, and no more synchronisation than its own.
  template <class Block, class F>
  PGAS_FN static void as_caller(const instruction& i, const Block& block, const F& f) {
    if (i.by == caller::thread) {
      if (block.thread_rank() == 0) f(this_thread{});
    } else if (i.by == caller::warp) {
      const warp w = this_warp(block);
      if (w.meta_group_rank() == 0) f(w);
    } else {
      f(block);
    }
  }

  template <class Block, class T>
  PGAS_OUTLINE void transfer(const Block& block, const context& ctx, const instruction& i) const {
    T* const dst = at<T>(ctx, i.dst);
    const T* const src = at<T>(ctx, i.src);
    as_caller(i, block, [&](const auto& g) {
      switch (i.what) {
        case opcode::put: return put(ctx, g, dst, src, i.count, i.pe);
        case opcode::put_nbi: return put_nbi(ctx, g, dst, src, i.count, i.pe);
        case opcode::get: return get(ctx, g, dst, src, i.count, i.pe);
        case opcode::get_nbi: return get_nbi(ctx, g, dst, src, i.count, i.pe);
        case opcode::put_signal:
          return put_signal(ctx, g, dst, src, i.count, signals.at(ctx) + i.signal, i.value, i.how, i.pe);
        default: return put_signal_nbi(ctx, g, dst, src, i.count, signals.at(ctx) + i.signal, i.value, i.how, i.pe);
      }
    });
  }

  template <class Block, class T>
  PGAS_OUTLINE void transfer_strided(const Block& block, const context& ctx, const instruction& i) const {
    T* const dst = at<T>(ctx, i.dst);
    const T* const src = at<T>(ctx, i.src);
    as_caller(i, block, [&](const auto& g) {
      if (i.what == opcode::iput) iput(ctx, g, dst, src, i.dst_stride, i.src_stride, i.count, i.pe);
      else iget(ctx, g, dst, src, i.dst_stride, i.src_stride, i.count, i.pe);
    });
  }

  template <class T>
  PGAS_FN void single(const context& ctx, const instruction& i) const {
    if (i.what == opcode::g) {
      *at<T>(ctx, i.result) = g(ctx, at<T>(ctx, i.src), i.pe);
    } else if constexpr (sizeof(T) == 16) {
      p(ctx, at<T>(ctx, i.dst), T{i.value, i.condition}, i.pe);
    } else {
      p(ctx, at<T>(ctx, i.dst), static_cast<T>(i.value), i.pe);
    }
  }
  PGAS_OUTLINE void single_of(const context& ctx, const instruction& i) const {
    switch (i.of) {
      case element::b1: return single<std::uint8_t>(ctx, i);
      case element::b2: return single<std::uint16_t>(ctx, i);
      case element::b4: return single<std::uint32_t>(ctx, i);
      case element::b8: return single<std::uint64_t>(ctx, i);
      default: return single<wide>(ctx, i);
    }
  }

  template <class T>
  [[nodiscard]] PGAS_FN static T number_from(std::uint64_t bits) {
    if constexpr (sizeof(T) == 4) {
      return detail::bits_as<T>(static_cast<std::uint32_t>(bits));
    } else {
      return detail::bits_as<T>(bits);
    }
  }
  template <class T>
  PGAS_OUTLINE void update(const context& ctx, const instruction& i) const {
    T* const word = at<T>(ctx, i.dst);
    const T value = number_from<T>(i.value);
    T old{};
    switch (i.what) {
      case opcode::atomic_fetch: old = atomic_fetch(ctx, word, i.pe); break;
      case opcode::atomic_set: atomic_set(ctx, word, value, i.pe); break;
      case opcode::atomic_swap: old = atomic_swap(ctx, word, value, i.pe); break;
      case opcode::atomic_add: atomic_add(ctx, word, value, i.pe); break;
      case opcode::atomic_fetch_add: old = atomic_fetch_add(ctx, word, value, i.pe); break;
      case opcode::atomic_min: atomic_min(ctx, word, value, i.pe); break;
      case opcode::atomic_fetch_min: old = atomic_fetch_min(ctx, word, value, i.pe); break;
      case opcode::atomic_max: atomic_max(ctx, word, value, i.pe); break;
      case opcode::atomic_fetch_max: old = atomic_fetch_max(ctx, word, value, i.pe); break;
      default: old = update_bits(ctx, i, word, value);
    }
    if (i.result != nowhere) *at<T>(ctx, i.result) = old;
  }
  template <class T>
  PGAS_FN void update_often(const context& ctx, const instruction& i) const {
    for (std::uint32_t k = 0; k < i.count; ++k) update<T>(ctx, i);
  }
  template <class T>
  PGAS_FN static T update_bits(const context& ctx, const instruction& i, T* word, T value) {
    T old{};
    if constexpr (amo_integer<T>) {
      switch (i.what) {
        case opcode::atomic_compare_swap:
          old = atomic_compare_swap(ctx, word, number_from<T>(i.condition), value, i.pe);
          break;
        case opcode::atomic_inc: atomic_inc(ctx, word, i.pe); break;
        case opcode::atomic_fetch_inc: old = atomic_fetch_inc(ctx, word, i.pe); break;
        case opcode::atomic_and: atomic_and(ctx, word, value, i.pe); break;
        case opcode::atomic_fetch_and: old = atomic_fetch_and(ctx, word, value, i.pe); break;
        case opcode::atomic_or: atomic_or(ctx, word, value, i.pe); break;
        case opcode::atomic_fetch_or: old = atomic_fetch_or(ctx, word, value, i.pe); break;
        case opcode::atomic_xor: atomic_xor(ctx, word, value, i.pe); break;
        default: old = atomic_fetch_xor(ctx, word, value, i.pe);
      }
    }
    return old;
  }
  PGAS_FN void update_of(const context& ctx, const instruction& i) const {
    switch (i.of) {
      case element::i32: return update_often<std::int32_t>(ctx, i);
      case element::u32: return update_often<std::uint32_t>(ctx, i);
      case element::i64: return update_often<std::int64_t>(ctx, i);
      case element::u64: return update_often<std::uint64_t>(ctx, i);
      case element::f32: return update_often<float>(ctx, i);
      default: return update_often<double>(ctx, i);
    }
  }

  template <class Block>
  PGAS_OUTLINE void await(const Block& block, const context& ctx, const instruction& i) const {
    const signal_t* const word = signals.at(ctx) + i.signal;
    as_caller(i, block, [&](const auto& g) {
      if (i.what == opcode::wait) {
        wait_until(ctx, g, word, i.compare, i.value);
      } else {
        wait_until_all(ctx, g, word, i.count, nullptr, i.compare, i.value);
      }
    });
  }

  /// Each block has a channel of its own.
  template <class Block>
  [[nodiscard]] PGAS_FN team_view team_of(const Block& block, const context& ctx, const instruction& i) const {
    return teams.at(ctx)[i.team].channel(static_cast<std::int32_t>(block.block_rank()));
  }

  template <class T, class Block>
  PGAS_OUTLINE void move_data_of(const Block& block, const context& ctx, const instruction& i) const {
    const team_view team = team_of(block, ctx, i);
    T* const dst = at<T>(ctx, i.dst);
    const T* const src = at<T>(ctx, i.src);
    as_caller(i, block, [&](const auto& g) {
      switch (i.what) {
        case opcode::broadcast: return broadcast(ctx, g, team, dst, src, i.count, i.pe);
        case opcode::fcollect: return fcollect(ctx, g, team, dst, src, i.count);
        case opcode::collect: return collect(ctx, g, team, dst, src, i.count);
        case opcode::alltoall: return alltoall(ctx, g, team, dst, src, i.count);
        default: return alltoalls(ctx, g, team, dst, src, i.dst_stride, i.src_stride, i.count);
      }
    });
  }
  template <class Block>
  PGAS_FN void move_data(const Block& block, const context& ctx, const instruction& i) const {
    if (i.of == element::b1) move_data_of<std::uint8_t>(block, ctx, i);
    else move_data_of<std::uint64_t>(block, ctx, i);
  }

  /// An operation that is chosen at run time: it stands for those of the library and for a program's own.
  struct chosen_fold {
    fold how;
    template <class T>
    [[nodiscard]] PGAS_HD T operator()(T a, T b) const {
      return folded(how, a, b);
    }
    template <class T>
    [[nodiscard]] PGAS_HD static T identity() {
      return T{};
    }
  };

  template <class T, class Op, class Block>
  PGAS_OUTLINE void combine_with(const Block& block, const context& ctx, const instruction& i, Op how) const {
    const team_view team = team_of(block, ctx, i);
    T* const dst = at<T>(ctx, i.dst);
    const T* const src = at<T>(ctx, i.src);
    as_caller(i, block, [&](const auto& g) {
      switch (i.what) {
        case opcode::reduce: return reduce(ctx, g, team, dst, src, i.count, how);
        case opcode::reduce_to_root: return reduce_to_root(ctx, g, team, dst, src, i.count, how, i.pe);
        case opcode::reduce_scatter: return reduce_scatter(ctx, g, team, dst, src, i.count, how);
        case opcode::inclusive_scan: return inclusive_scan(ctx, g, team, dst, src, i.count, how);
        default: return exclusive_scan(ctx, g, team, dst, src, i.count, how);
      }
    });
  }
  template <class Block>
  PGAS_FN void combine_data(const Block& block, const context& ctx, const instruction& i) const {
    if (i.of == element::b1) combine_with<std::uint8_t>(block, ctx, i, chosen_fold{static_cast<fold>(i.value)});
    else combine_with<double>(block, ctx, i, op::sum{});
  }

  template <class Block>
  PGAS_OUTLINE void order(const Block& block, const context& ctx, const instruction& i) const {
    const team_view team = team_of(block, ctx, i);
    as_caller(i, block, [&](const auto& g) {
      switch (i.what) {
        case opcode::fence: return fence(ctx, g);
        case opcode::quiet: return quiet(ctx, g);
        case opcode::barrier: return barrier(ctx, g, team);
        default: return sync(ctx, g, team);
      }
    });
  }

  template <class T, class Block>
  PGAS_FN void fill_with(const Block& block, const context& ctx, const instruction& i) const {
    for (auto k = static_cast<std::uint32_t>(block.thread_rank()); k < i.count; k += static_cast<std::uint32_t>(block.size()))
      at<T>(ctx, i.dst)[k] = static_cast<T>(small_number(i.value, k));
    block.sync();
  }
  template <class Block>
  PGAS_OUTLINE void fill_of(const Block& block, const context& ctx, const instruction& i) const {
    switch (i.of) {
      case element::i32:
      case element::u32: return fill_with<std::uint32_t>(block, ctx, i);
      case element::i64:
      case element::u64: return fill_with<std::uint64_t>(block, ctx, i);
      case element::f32: return fill_with<float>(block, ctx, i);
      default: return fill_with<double>(block, ctx, i);
    }
  }

  template <class Block>
  PGAS_FN void execute(const Block& block, const context& world, const instruction& i) const {
    context ctx = world;
    detail::set_team(ctx, teams.at(world)[i.team]);
    switch (i.what) {
      case opcode::put:
      case opcode::put_nbi:
      case opcode::get:
      case opcode::get_nbi:
      case opcode::put_signal:
      case opcode::put_signal_nbi:
        switch (bytes_of(i.of)) {
          case 1: return transfer<Block, std::uint8_t>(block, ctx, i);
          case 4: return transfer<Block, std::uint32_t>(block, ctx, i);
          default: return transfer<Block, wide>(block, ctx, i);
        }
      case opcode::iput:
      case opcode::iget:
        return i.of == element::b1 ? transfer_strided<Block, std::uint8_t>(block, ctx, i)
                                   : transfer_strided<Block, std::uint64_t>(block, ctx, i);
      case opcode::broadcast:
      case opcode::fcollect:
      case opcode::collect:
      case opcode::alltoall:
      case opcode::alltoalls: return move_data(block, world, i);
      case opcode::reduce:
      case opcode::reduce_to_root:
      case opcode::reduce_scatter:
      case opcode::inclusive_scan:
      case opcode::exclusive_scan: return combine_data(block, world, i);
      case opcode::fence:
      case opcode::quiet:
      case opcode::barrier:
      case opcode::sync: return order(block, ctx, i);
      case opcode::wait:
      case opcode::wait_all: return await(block, world, i);
      case opcode::fill: return fill_of(block, ctx, i);
      default: break;
    }
    if (block.thread_rank() != 0) return;
    switch (i.what) {
      case opcode::p:
      case opcode::g: return single_of(ctx, i);
      case opcode::signal_set: return signal_set(ctx, signals.at(ctx) + i.signal, i.value, i.pe);
      case opcode::signal_add: return signal_add(ctx, signals.at(ctx) + i.signal, i.value, i.pe);
      case opcode::signal_fetch: *at<signal_t>(ctx, i.result) = signal_fetch(ctx, signals.at(ctx) + i.signal); return;
      default: return update_of(ctx, i);
    }
  }

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    const auto mine = static_cast<std::uint32_t>(block.block_rank());
    const instruction* const list = program.at(ctx) + std::size_t{mine} * capacity;
    const std::uint32_t length = lengths.at(ctx)[mine];
    // Operations promise their group that they are done when they return. So the threads meet only where a larger group
    // follows a smaller one, which is what a program has to do; a sync that an operation forgets is not made up for.
    caller before = caller::thread;
    for (std::uint32_t k = 0; k < length; ++k) {
      if (list[k].by > before) block.sync();
      before = list[k].by;
      execute(block, ctx, list[k]);
    }
  }
};

}  // namespace pgas_random
