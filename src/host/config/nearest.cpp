/// @file
/// Finds the name that a misspelled one was meant to be, by edit distance.
#include <algorithm>
#include <numeric>

#include "host/config/read.hpp"

namespace pgas::config_detail {
namespace {

// Insertions, deletions and replacements that turn one word into the other, by one row of the usual table.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string_view nearest(std::string_view word, const std::vector<std::string_view>& words) {
  std::string_view best;
  std::size_t distance = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string_view candidate : words) {
    const std::size_t d = edit_distance(word, candidate);
    if (d >= distance) continue;
    distance = d;
    best = candidate;
  }
  return best;
}

}  // namespace pgas::config_detail
