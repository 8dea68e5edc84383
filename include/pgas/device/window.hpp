/// @file
/// Windows in kernels: the addresses of memory that the members of a team have contributed (`pgas/window.hpp`).
#pragma once

#include "pgas/detail/names_begin.inc"

#include "pgas/detail/compiler.hpp"

namespace pgas {

/// @brief The memory of one member of a window.
struct window_part {
  std::byte* at = nullptr;  ///< address for this PE's kernels; null for a proxied PE, and for a member without memory
  std::size_t bytes = 0;    ///< size of the memory
};

/// @brief A window, as kernels use it. The object contains one address, so kernels take the object by value.
///
/// Each access reads the address of the member's memory from a table: one load more than an access to symmetric memory.
/// Kernels load and store at the address, update the memory atomically (atomic_ref, atomicAdd_system), and copy by
/// copy_blocks().
///
/// *Order* as for loads and stores to the memory of a peer: fence() and signals of the world order these accesses.
class window_view {
 public:
  /// @brief A window without members.
  window_view() = default;
  /// @brief For the library's internal use.
  PGAS_HD window_view(const window_part* parts, std::int32_t n_pes) : parts_(parts), n_pes_(n_pes) {}

  /// @brief The number of members.
  [[nodiscard]] PGAS_HD std::int32_t n_pes() const { return n_pes_; }
  /// @brief The size of the memory of member `pe`.
  ///
  /// *Callers* kernels.
  [[nodiscard]] PGAS_HD std::size_t bytes(std::int32_t pe) const { return parts_[pe].bytes; }
  /// @brief The address of byte `offset` of the memory of member `pe`; null if this PE cannot access that memory.
  ///
  /// *Callers* kernels.
  template <class T = std::byte>
  [[nodiscard]] PGAS_HD T* at(std::int32_t pe, std::size_t offset = 0) const {
    std::byte* const begin = parts_[pe].at;
    return begin != nullptr ? reinterpret_cast<T*>(begin + offset) : nullptr;
  }

 private:
  const window_part* parts_ = nullptr;
  std::int32_t n_pes_ = 0;
};

}  // namespace pgas

#include "pgas/detail/names_end.inc"
