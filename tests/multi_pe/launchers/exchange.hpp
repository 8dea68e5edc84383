/// @file
/// The exchange that all probes make over a bootstrap. The contributions cannot be guessed.
#pragma once

#include <cstddef>
#include <pgas/bootstrap.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace probe {

inline pgas::blob contribution(int rank, int round) {
  constexpr std::size_t lengths[] = {0, 1, 64 << 10, 1000};
  pgas::blob mine(lengths[(rank + round) % 4]);
  for (std::size_t i = 0; i < mine.size(); ++i)
    mine[i] = static_cast<std::byte>(static_cast<std::size_t>(rank * 31 + round * 7) + i);
  return mine;
}

/// Throws if a contribution differs from the contribution that its rank sent.
inline void exchange(pgas::bootstrap& over, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    const auto parts = over.all_gather(contribution(over.rank(), round));
    if (parts.size() != static_cast<std::size_t>(over.size()))
      throw std::runtime_error("wrong number of contributions");
    for (int from = 0; from < over.size(); ++from)
      if (parts[static_cast<std::size_t>(from)] != contribution(from, round))
        throw std::runtime_error("rank " + std::to_string(over.rank()) + " got a wrong contribution of rank " +
                                 std::to_string(from) + " in round " + std::to_string(round));
    over.barrier();
  }
}

}  // namespace probe
