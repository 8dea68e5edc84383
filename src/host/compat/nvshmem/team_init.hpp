/// @file
/// How PEs that only share a number find one another: places in the symmetric heap where those with the same number
/// meet.
#pragma once

#include <cstdint>
#include <vector>

#include "pgas/lock.hpp"
#include "pgas/world.hpp"

namespace pgas::capi {

/// The meeting places of a world: some on every PE. *Callers* any thread, also several at once for different numbers.
class team_init {
 public:
  /// Collective over all PEs. The places go with the world.
  explicit team_init(world& joined);

  /// Collective over the `size` PEs that call it with the same `id`, not 0, and different indices. *On return* who they
  /// are, by index; on index 0 the place is free again, so that they may meet once more after any collective of theirs.
  /// *Errors* invalid_argument where two have the same index, wait_timeout when PGAS_WAIT_TIMEOUT is set, the world's
  /// first failure.
  [[nodiscard]] std::vector<int> meet(std::uint64_t id, int size, int index);

 private:
  /// One place: the number that meets there, and the members by index, each PE plus one, and whether it knows all.
  [[nodiscard]] std::uint64_t* place(int which) const;
  [[nodiscard]] int home(std::uint64_t id) const;
  /// The place where `id` meets, null if there is none.
  [[nodiscard]] std::uint64_t* find(std::uint64_t id) const;
  /// The same; a free place becomes it. Null where all are taken.
  [[nodiscard]] std::uint64_t* find_or_claim(std::uint64_t id);

  world& world_;
  lock_t* const lock_;
  std::uint64_t* const places_;
};

}  // namespace pgas::capi
