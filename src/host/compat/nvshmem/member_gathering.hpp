/// @file
/// How nvshmemx_team_init() finds the members of a team.
#pragma once

#include <cstdint>
#include <vector>

#include "pgas/lock.hpp"
#include "pgas/world.hpp"

namespace pgas::compat {

/// How PEs that share only a number find one another, for nvshmemx_team_init(): by slots in the symmetric heap,
/// some on each PE. *Callers* any thread, also several at once with different numbers.
class member_gathering {
 public:
  /// Collective over all PEs. The slots are freed with the world.
  explicit member_gathering(world& joined);

  /// Collective over the `size` PEs that call it with the same `id`, not 0, and different indices. *On return* the PEs
  /// by index. When index 0 returns, the slot is free again: after any collective of theirs they may use the `id`
  /// again. *Errors* invalid_argument where two have the same index, wait_timeout when PGAS_WAIT_TIMEOUT is set, the
  /// world's first failure.
  [[nodiscard]] std::vector<int> gather_members(std::uint64_t id, int size, int index);

 private:
  /// A slot: the id, then a word for each index: the PE plus one, and a flag once that PE has read all members.
  [[nodiscard]] std::uint64_t* slot(int number) const;
  /// The PE whose slots are used for `id`.
  [[nodiscard]] int home(std::uint64_t id) const;
  /// The slot of `id`; null if there is none.
  [[nodiscard]] std::uint64_t* find(std::uint64_t id) const;
  /// The same, or a free slot, which then has this `id`. Null where all are taken.
  [[nodiscard]] std::uint64_t* find_or_claim(std::uint64_t id);

  world& world_;
  lock_t* const lock_;
  std::uint64_t* const slots_;
};

}  // namespace pgas::compat
