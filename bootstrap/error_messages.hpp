/// @file
/// Texts that the bootstraps share, so that a failure has one message under every launcher.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace pgas::boot {

/// "rank 2 of 8", "ranks 2, 5-7 of 8"; a long list is cut short with "and 40 more". `ranks` ascending, not empty.
[[nodiscard]] std::string name_ranks(const std::vector<int>& ranks, int size);

/// "60 s", "1.5 s"
[[nodiscard]] std::string seconds(std::chrono::milliseconds time);

/// Throws code::bootstrap_protocol unless 0 <= rank < size and the size is one that a real job can have.
void check_rank_and_size(long long rank, long long size, std::string_view source);

}  // namespace pgas::boot
