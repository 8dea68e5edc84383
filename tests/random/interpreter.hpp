/// @file
/// Executes a program on a PE. Each block executes one list of instructions. g++ and nvcc compile this file.
#pragma once

#include "device/body_tools.hpp"
#include "instruction.hpp"
#include "interpreter_atomic.hpp"
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
  sym<instruction> program;    ///< `capacity` instructions for each block
  sym<std::uint32_t> lengths;  ///< the number of instructions of each block
  sym<team_view> teams;
  sym<word_set> word_sets;  ///< one word set for each of the program's waits for several words
  sym<copy_block> blocks;   ///< places::listed_blocks blocks for each list of the program
  std::uint32_t capacity;

  template <class T>
  [[nodiscard]] PGAS_FN T* at(const context& ctx, std::uint32_t offset) const {
    return reinterpret_cast<T*>(arena.at(ctx) + offset);
  }

  /// Calls f(group) with the group that makes the call. This function itself synchronizes no threads.
  template <class Block, class F>
  PGAS_FN static void as_caller(const instruction& i, const Block& block, const F& f) {
    if (i.by == caller::thread) {
      if (block.thread_rank() == 0) f(this_thread{});
    } else if (i.by == caller::warp) {
      const warp w = this_warp(block);
      if (w.meta_group_rank() == 0) f(w);
    } else if (i.by == caller::block) {
      f(block);
    } else {
      f(this_grid(block));
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
      switch (i.what) {
        case opcode::iput: return iput(ctx, g, dst, src, i.dst_stride, i.src_stride, i.count, i.pe);
        case opcode::iput_nbi: return iput_nbi(ctx, g, dst, src, i.dst_stride, i.src_stride, i.count, i.pe);
        case opcode::iget: return iget(ctx, g, dst, src, i.dst_stride, i.src_stride, i.count, i.pe);
        case opcode::iget_nbi: return iget_nbi(ctx, g, dst, src, i.dst_stride, i.src_stride, i.count, i.pe);
        case opcode::ibput: return ibput(ctx, g, dst, src, i.dst_stride, i.src_stride, i.value, i.count, i.pe);
        case opcode::ibput_nbi: return ibput_nbi(ctx, g, dst, src, i.dst_stride, i.src_stride, i.value, i.count, i.pe);
        case opcode::ibget: return ibget(ctx, g, dst, src, i.dst_stride, i.src_stride, i.value, i.count, i.pe);
        default: return ibget_nbi(ctx, g, dst, src, i.dst_stride, i.src_stride, i.value, i.count, i.pe);
      }
    });
  }

  /// A list of the blocks of a strided copy: pages, or an array in another order.
  template <class T, class G>
  PGAS_FN copy_list list_of(const context& ctx, const G& g, const instruction& i) const {
    T* const dst = at<T>(ctx, i.dst);
    const T* const src = at<T>(ctx, i.src);
    const std::size_t bytes = i.value * sizeof(T);
    if (i.count > places::listed_blocks || i.number % 3 == 0)
      return {page_side<void, std::int32_t>{dst, static_cast<std::size_t>(i.dst_stride) * sizeof(T)},
              page_side<const void, std::int64_t>{src, static_cast<std::size_t>(i.src_stride) * sizeof(T)}, bytes,
              i.count};
    copy_block* const listed = blocks.at(ctx) + std::size_t{i.signal} * places::listed_blocks;
    for (auto k = static_cast<std::uint32_t>(g.thread_rank()); k < i.count; k += static_cast<std::uint32_t>(g.size())) {
      const std::uint32_t from_end = i.count - 1 - k;
      listed[k] = {dst + static_cast<std::int64_t>(from_end) * i.dst_stride,
                   src + static_cast<std::int64_t>(from_end) * i.src_stride, bytes};
    }
    return {listed, i.count};  // the call synchronizes the group first
  }
  template <class Block, class T>
  PGAS_OUTLINE void transfer_list(const Block& block, const context& ctx, const instruction& i) const {
    as_caller(i, block, [&](const auto& g) {
      const copy_list list = list_of<T>(ctx, g, i);
      switch (i.what) {
        case opcode::put_list: return put_list(ctx, g, list, i.pe);
        case opcode::put_list_nbi: return put_list_nbi(ctx, g, list, i.pe);
        case opcode::get_list: return get_list(ctx, g, list, i.pe);
        default: return get_list_nbi(ctx, g, list, i.pe);
      }
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
    switch (i.type) {
      case element::b1: return single<std::uint8_t>(ctx, i);
      case element::b2: return single<std::uint16_t>(ctx, i);
      case element::b4: return single<std::uint32_t>(ctx, i);
      case element::b8: return single<std::uint64_t>(ctx, i);
      default: return single<wide>(ctx, i);
    }
  }

  template <class G>
  PGAS_FN void await_set(const context& ctx, const G& g, const instruction& i) const {
    const signal_t* const words = signals.at(ctx) + i.signal;
    word_set& set = word_sets.at(ctx)[i.src];
    bool fits = false;
    switch (i.what) {
      case opcode::wait_all: return wait_until_all(ctx, g, words, i.count, set.status, i.compare, i.value);
      case opcode::wait_all_vector: return wait_until_all(ctx, g, words, i.count, set.status, i.compare, set.values);
      case opcode::wait_any:
        fits = may_be_any(set, i, wait_until_any(ctx, g, words, i.count, set.status, i.compare, i.value));
        break;
      case opcode::wait_any_vector:
        fits = may_be_any(set, i, wait_until_any(ctx, g, words, i.count, set.status, i.compare, set.values));
        break;
      case opcode::wait_some:
        fits =
            may_be_some(set, i, wait_until_some(ctx, g, words, i.count, set.indices, set.status, i.compare, i.value));
        break;
      default:
        fits = may_be_some(set, i,
                           wait_until_some(ctx, g, words, i.count, set.indices, set.status, i.compare, set.values));
    }
    // If there is no error, all threads of the group have the same result, so any of them may store it.
    if (g.thread_rank() + 1 == g.size()) *at<std::uint64_t>(ctx, i.result) = fits ? 1 : 0;
    g.sync();
  }
  [[nodiscard]] PGAS_FN static bool may_be_any(const word_set& set, const instruction& i, std::size_t answer) {
    return set.certain == 0 ? answer == ~std::size_t{0} : answer < i.count && (set.certain >> answer & 1u) != 0;
  }
  [[nodiscard]] PGAS_FN static bool may_be_some(const word_set& set, const instruction& i, std::size_t answer) {
    if (answer > i.count || (answer == 0) != (set.certain == 0)) return false;
    std::uint32_t named = 0;
    for (std::size_t k = 0; k < answer; ++k) {
      const std::size_t word = set.indices[k];
      if (word >= i.count || named >> word != 0) return false;  // the words must be ascending
      named |= 1u << word;
    }
    return (named & ~set.certain) == 0 && (set.known & ~named) == 0;
  }
  template <class Block>
  PGAS_OUTLINE void await(const Block& block, const context& ctx, const instruction& i) const {
    as_caller(i, block, [&](const auto& g) {
      if (i.what == opcode::wait)
        wait_until(ctx, g, signals.at(ctx) + i.signal, i.compare, i.value);
      else
        await_set(ctx, g, i);
    });
  }

  /// Adds to a word of another PE with a load and a store. Only the lock separates these accesses from the accesses of
  /// other actors.
  template <class Block>
  PGAS_OUTLINE void update_locked(const Block& block, const context& ctx, const instruction& i) const {
    signal_t* const lock = signals.at(ctx) + places::locks + i.signal;
    signal_t* const word = signals.at(ctx) + places::guarded_words + i.signal;
    as_caller(i, block, [&](const auto& g) {
      for (std::uint32_t k = 0; k < i.count; ++k) {
        bool held = false;
        for (int tries = 0; i.what == opcode::test_lock && tries < 20 && !held; ++tries) held = test_lock(ctx, g, lock);
        if (!held) set_lock(ctx, g, lock);
        if (g.thread_rank() + 1 == g.size()) {
          const signal_t seen = pgas_test::load_plainly(ctx, word, i.pe);
          detail::yield_waiting();
          pgas_test::store_plainly(ctx, word, seen + i.value, i.pe);
        }
        clear_lock(ctx, g, lock);
      }
    });
  }

  /// Each block has a separate channel. A grid uses the channel of the first block.
  template <class Block>
  [[nodiscard]] PGAS_FN team_view team_of(const Block& block, const context& ctx, const instruction& i) const {
    return teams.at(ctx)[i.team].channel(i.by == caller::grid ? 0 : static_cast<std::int32_t>(block.block_rank()));
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
    if (i.type == element::b1)
      move_data_of<std::uint8_t>(block, ctx, i);
    else
      move_data_of<std::uint64_t>(block, ctx, i);
  }

  /// An operation that is chosen at run time. It represents the library's operations and a program's own operations.
  struct chosen_operation {
    reduction how;
    template <class T>
    [[nodiscard]] PGAS_HD T operator()(T a, T b) const {
      return combine_two(how, a, b);
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
    if (i.type == element::b1)
      combine_with<std::uint8_t>(block, ctx, i, chosen_operation{static_cast<reduction>(i.value)});
    else
      combine_with<double>(block, ctx, i, op::sum{});
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
    for (auto k = static_cast<std::uint32_t>(block.thread_rank()); k < i.count;
         k += static_cast<std::uint32_t>(block.size()))
      at<T>(ctx, i.dst)[k] = static_cast<T>(small_number(i.value, k));
    block.sync();
  }
  template <class Block>
  PGAS_OUTLINE void fill_of(const Block& block, const context& ctx, const instruction& i) const {
    switch (i.type) {
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
    ctx.copy_ = &ctx;
    switch (i.what) {
      case opcode::put:
      case opcode::put_nbi:
      case opcode::get:
      case opcode::get_nbi:
      case opcode::put_signal:
      case opcode::put_signal_nbi:
        switch (bytes_of(i.type)) {
          case 1: return transfer<Block, std::uint8_t>(block, ctx, i);
          case 4: return transfer<Block, std::uint32_t>(block, ctx, i);
          default: return transfer<Block, wide>(block, ctx, i);
        }
      case opcode::iput:
      case opcode::iput_nbi:
      case opcode::iget:
      case opcode::iget_nbi:
      case opcode::ibput:
      case opcode::ibput_nbi:
      case opcode::ibget:
      case opcode::ibget_nbi:
        return i.type == element::b1 ? transfer_strided<Block, std::uint8_t>(block, ctx, i)
                                     : transfer_strided<Block, std::uint64_t>(block, ctx, i);
      case opcode::put_list:
      case opcode::put_list_nbi:
      case opcode::get_list:
      case opcode::get_list_nbi:
        return i.type == element::b1 ? transfer_list<Block, std::uint8_t>(block, ctx, i)
                                     : transfer_list<Block, std::uint64_t>(block, ctx, i);
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
      case opcode::wait_all:
      case opcode::wait_any:
      case opcode::wait_some:
      case opcode::wait_all_vector:
      case opcode::wait_any_vector:
      case opcode::wait_some_vector: return await(block, world, i);
      case opcode::set_lock:
      case opcode::test_lock: return update_locked(block, ctx, i);
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
      default: return atomic_call{ctx, i}(arena.at(ctx));
    }
  }

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    const auto mine = static_cast<std::uint32_t>(block.block_rank());
    const instruction* const list = program.at(ctx) + std::size_t{mine} * capacity;
    const std::uint32_t length = lengths.at(ctx)[mine];
    // When an operation returns, it is complete for all threads of its group. The threads are therefore synchronized
    // only when a larger group follows a smaller group; programs have to do the same. There is no other sync here, so
    // that the test finds an operation that lacks a sync.
    caller before = caller::thread;
    for (std::uint32_t k = 0; k < length; ++k) {
      if (list[k].by > before) block.sync();
      before = list[k].by;
      execute(block, ctx, list[k]);
    }
  }
};

}  // namespace pgas_random
