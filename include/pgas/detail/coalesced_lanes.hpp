/// @file
/// Detects lanes of a warp that call an operation individually at the same time. Lanes that call an operation at the
/// same time may do the work together.
#pragma once

#include "pgas/detail/isa/ptx_warp.hpp"

namespace pgas::detail {

#if defined(__CUDACC__)

/// The eight neighbouring lanes 8k..8k + 7 of a warp. complete() is true if all eight lanes construct this object at
/// the same time (as cooperative_groups::coalesced_threads() would detect). If complete() is true on one of the lanes,
/// it is true on all eight lanes, and the lanes may continue together.
class lane_octet {
 public:
  static constexpr bool possible = true;

  PGAS_FN lane_octet() : rank_(lane_id() % 8), mask_(lane_mask{0xff} << (lane_id() - rank_)) {
    complete_ = (__activemask() & mask_) == mask_;
  }

  [[nodiscard]] PGAS_FN bool complete() const { return complete_; }
  [[nodiscard]] PGAS_FN std::uint32_t rank() const { return rank_; }
  /// Makes earlier memory accesses of the eight lanes visible to all of them.
  PGAS_FN void sync() const { __syncwarp(mask_); }
  [[nodiscard]] PGAS_FN bool any(bool yes) const { return __any_sync(mask_, yes ? 1 : 0) != 0; }
  /// Returns the value of lane `from`, 0 to 7.
  [[nodiscard]] PGAS_FN std::uint32_t from_lane(std::uint32_t value, std::uint32_t from) const {
    return __shfl_sync(mask_, value, static_cast<int>(from), 8);
  }
  template <class T>
  [[nodiscard]] PGAS_FN T* from_lane(T* value, std::uint32_t from) const {
    const auto bits = static_cast<unsigned long long>(reinterpret_cast<std::uintptr_t>(value));
    return reinterpret_cast<T*>(static_cast<std::uintptr_t>(__shfl_sync(mask_, bits, static_cast<int>(from), 8)));
  }

 private:
  std::uint32_t rank_;
  lane_mask mask_;
  bool complete_;
};

#else

/// Threads of the CPU are never coalesced.
class lane_octet {
 public:
  static constexpr bool possible = false;
  [[nodiscard]] static constexpr bool complete() { return false; }
  [[nodiscard]] static constexpr std::uint32_t rank() { return 0; }
  static void sync() {}
  [[nodiscard]] static constexpr bool any(bool yes) { return yes; }
  template <class T>
  [[nodiscard]] static constexpr T from_lane(T value, std::uint32_t) {
    return value;
  }
};

#endif

}  // namespace pgas::detail
