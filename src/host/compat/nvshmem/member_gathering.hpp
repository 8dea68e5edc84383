/// @file
/// Finds the members of a team for nvshmemx_team_init().
#pragma once

#include <cstdint>
#include <vector>

#include "pgas/lock.hpp"
#include "pgas/world.hpp"

namespace pgas::compat {

/// Lets PEs that have only a number in common find one another, for nvshmemx_team_init(). Uses slots in the symmetric
/// heap, some on each PE. *Callers* any thread, also several at the same time with different numbers.
class member_gathering {
 public:
  /// Collective over all PEs. The slots are freed with the world.
  explicit member_gathering(world& joined);

  /// Collective over the `size` PEs that call it with the same `id`, which is not 0, and different indices. *On return*
  /// the PEs by index. When index 0 returns, the slot is free again. The PEs may use the `id` again after their next
  /// collective of any kind. *Errors* invalid_argument if two PEs have the same index, wait_timeout if
  /// PGAS_WAIT_TIMEOUT is set, the world's first failure.
  [[nodiscard]] std::vector<int> gather_members(std::uint64_t id, int size, int index);

 private:
  /// A slot: the id, then a word for each index. The word of a PE contains the number of the PE plus one, and a flag.
  /// The flag is set when the PE has read the words of all members.
  [[nodiscard]] std::uint64_t* slot(int number) const;
  /// The PE whose slots are used for `id`.
  [[nodiscard]] int home(std::uint64_t id) const;
  /// The slot of `id`; null if no slot has this id.
  [[nodiscard]] std::uint64_t* find(std::uint64_t id) const;
  /// The slot of `id`, or a free slot, which then gets this `id`. Null if all slots are in use.
  [[nodiscard]] std::uint64_t* find_or_claim(std::uint64_t id);

  world& world_;
  lock_t* const lock_;
  std::uint64_t* const slots_;
};

}  // namespace pgas::compat
