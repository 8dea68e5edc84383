#include "host/exchange/enqueued_counts.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <vector>

namespace pgas::detail {

namespace {

std::vector<enqueued_count> decode_counts(std::span<const std::byte> bytes) {
  std::vector<enqueued_count> counts(bytes.size() / sizeof(enqueued_count));
  if (!counts.empty()) std::memcpy(counts.data(), bytes.data(), counts.size() * sizeof(enqueued_count));
  return counts;
}

}  // namespace

blob encode_counts(std::span<const enqueued_count> counts) {
  const auto bytes = std::as_bytes(counts);
  return {bytes.begin(), bytes.end()};
}

void merge_counts(blob& all, std::span<const std::byte> more) {
  std::map<std::uint64_t, enqueued_count> merged;
  for (const enqueued_count& one : decode_counts(all)) merged.emplace(one.group, one);
  for (const enqueued_count& one : decode_counts(more)) {
    enqueued_count& both = merged.try_emplace(one.group, one).first->second;
    if (one.lowest < both.lowest || (one.lowest == both.lowest && one.lowest_pe < both.lowest_pe)) {
      both.lowest = one.lowest;
      both.lowest_pe = one.lowest_pe;
    }
    both.unknown_pe = std::max(both.unknown_pe, one.unknown_pe);
  }
  std::vector<enqueued_count> result;
  for (const auto& [group, one] : merged) result.push_back(one);
  all = encode_counts(result);
}

std::optional<enqueued_count> count_of(std::span<const std::byte> counts, std::uint64_t group) {
  for (const enqueued_count& one : decode_counts(counts))
    if (one.group == group) return one;
  return std::nullopt;
}

}  // namespace pgas::detail
