/// @file
/// Tools for the device tests, whose bodies g++ and nvcc compile from the same text. This file does not depend on where
/// a body runs; `harness.hpp` chooses the CPU or GPUs.
#pragma once

#include <initializer_list>

#include "pgas/device.hpp"

namespace pgas_test {

using namespace pgas;

/// A location in the symmetric heap, with the same offset on every PE.
template <class T>
struct sym {
  std::uint64_t offset;
  /// The address of the location on this PE.
  PGAS_FN T* at(const context& ctx) const { return reinterpret_cast<T*>(ctx.my_slot_ + offset); }
  sym operator+(std::size_t n) const { return {offset + n * sizeof(T)}; }
};

/// A list of sizes.
using sizes = std::initializer_list<std::size_t>;

/// The number of threads that run a body on each PE.
struct grid_shape {
  unsigned blocks;
  unsigned threads;
};

/// The threads that make a call: the first thread of the block, its first warp, or the whole block.
enum class scope { thread, warp, block };
inline constexpr scope all_scopes[] = {scope::thread, scope::warp, scope::block};

/// Calls f(group) with the group of scope `s`. The block is synchronized before and after the call.
template <class Block, class F>
PGAS_FN void with_scope(scope s, const Block& block, const F& f) {
  block.sync();
  if (s == scope::thread) {
    if (block.thread_rank() == 0) f(this_thread{});
  } else if (s == scope::warp) {
    const warp w = this_warp(block);
    if (w.meta_group_rank() == 0) f(w);
  } else {
    f(block);
  }
  block.sync();
}

/// store_plainly() writes one value to PE `pe`, and load_plainly() reads one value. If the PE is direct, they use a
/// plain store or load, otherwise p() or g().
template <class T>
PGAS_FN void store_plainly(const context& ctx, T* dst, T value, std::int32_t pe) {
  if (ctx.reaches(pe))
    *ctx.remote(dst, pe) = value;
  else
    p(ctx, dst, value, pe);
}
template <class T>
PGAS_FN T load_plainly(const context& ctx, const T* src, std::int32_t pe) {
  return ctx.reaches(pe) ? *ctx.remote(src, pe) : g(ctx, src, pe);
}

/// The index of the calling thread among all threads of its PE, and the number of these threads.
template <class Block>
PGAS_FN std::uint32_t global_rank(const Block& block) {
  return static_cast<std::uint32_t>(block.block_rank() * block.size() + block.thread_rank());
}
template <class Block>
PGAS_FN std::uint32_t global_size(const Block& block) {
  return static_cast<std::uint32_t>(block.num_blocks() * block.size());
}

/// Pseudo-random numbers that differ for neighbouring arguments.
PGAS_HD constexpr std::uint32_t mix(std::uint32_t a, std::uint32_t b = 0, std::uint32_t c = 0) {
  std::uint32_t x = a * 0x9e3779b1u + b * 0x85ebca77u + c * 0xc2b2ae3du + 0x27d4eb2fu;
  x ^= x >> 15;
  x *= 0x2c1b3c6du;
  x ^= x >> 12;
  x *= 0x297a2d39u;
  return x ^ x >> 15;
}

/// The errors that a body has found: their number, and the first error. Each PE has one finding in its heap.
struct finding {
  std::uint64_t count;
  std::uint64_t where;
  std::uint64_t expected;
  std::uint64_t seen;
};

struct findings {
  sym<finding> place;

  /// @param where a number that identifies the check for the author of the test
  template <class T>
  PGAS_FN void equal(const context& ctx, std::uint64_t where, T expected, T seen) const {
    if (expected == seen) return;
    finding* const f = place.at(ctx);
    if (atomic_fetch_add(ctx, &f->count, 1, ctx.my_pe()) != 0) return;
    f->where = where;
    f->expected = static_cast<std::uint64_t>(expected);
    f->seen = static_cast<std::uint64_t>(seen);
  }
  PGAS_FN void check(const context& ctx, std::uint64_t where, bool holds) const {
    equal<int>(ctx, where, 1, holds ? 1 : 0);
  }
};

}  // namespace pgas_test
