/// @file
/// Texts that the bootstraps share, so that a failure has the same message under every launcher.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "pgas/error.hpp"

namespace pgas::boot {

/// "rank 2 of 8", or "ranks 2, 5-7 of 8". A long list is cut and ends with "and 40 more". `ranks` is ascending and not
/// empty.
[[nodiscard]] inline std::string name_ranks(const std::vector<int>& ranks, int size) {
  constexpr std::size_t most_pieces = 16;
  std::string list;
  std::size_t pieces = 0;
  for (std::size_t first = 0; first < ranks.size(); ++pieces) {
    if (pieces == most_pieces) {
      list += fmt::format(" and {} more", ranks.size() - first);
      break;
    }
    std::size_t last = first;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    if (!list.empty()) list += ", ";
    list += last == first       ? fmt::format("{}", ranks[first])
            : last == first + 1 ? fmt::format("{}, {}", ranks[first], ranks[last])
                                : fmt::format("{}-{}", ranks[first], ranks[last]);
    first = last + 1;
  }
  return fmt::format("{} {} of {}", ranks.size() == 1 ? "rank" : "ranks", list, size);
}

/// "60 s", "1.5 s"
[[nodiscard]] inline std::string seconds(std::chrono::milliseconds time) {
  const double value = std::chrono::duration<double>(time).count();
  return value < 10 ? fmt::format("{:.2g} s", value) : fmt::format("{:.0f} s", value);
}

/// The largest number of bytes that one PE may contribute to an all-gather.
inline constexpr std::size_t max_contribution = 64 << 10;

/// Throws code::invalid_argument if a contribution to an all-gather is too long.
inline void check_contribution(std::size_t bytes, int rank) {
  if (bytes > max_contribution)
    throw error{code::invalid_argument, fmt::format("all_gather: {} bytes from rank {}; at most {} are allowed", bytes,
                                                    rank, max_contribution)};
}

/// Throws code::bootstrap_protocol unless 0 <= rank < size and a real job can have this size.
inline void check_rank_and_size(long long rank, long long size, std::string_view source) {
  constexpr long long most = 1 << 20;
  if (size < 1 || size > most)
    throw error{code::bootstrap_protocol,
                fmt::format("{} says that the job has {} processes; between 1 and {} would be plausible. Check the "
                            "launcher's variables, and that client and server belong to the same installation",
                            source, size, most)};
  if (rank < 0 || rank >= size)
    throw error{code::bootstrap_protocol,
                fmt::format("{} says that this process is rank {} of {}; ranks go from 0 to {}. Check the launcher's "
                            "variables, and that client and server belong to the same installation",
                            source, rank, size, size - 1)};
}

}  // namespace pgas::boot
