#include "host/compat/shmem/active_set_teams.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <vector>

namespace pgas::compat {

namespace {

constexpr int max_log_stride = 30;
constexpr int pe_bits = 24;  // the bits of a PE number in a key

/// The PEs of a set. *Errors* invalid_argument.
std::vector<int> members_of(int n_pes, int start, int log_stride, int size) {
  const bool valid = start >= 0 && size >= 1 && log_stride >= 0 && log_stride <= max_log_stride;
  if (!valid || start + (static_cast<std::int64_t>(size) - 1) * (std::int64_t{1} << log_stride) >= n_pes)
    throw error(code::invalid_argument,
                fmt::format("there is no active set of PE_start {}, logPE_stride {}, PE_size {} among PEs 0 to {}",
                            start, log_stride, size, n_pes - 1));
  std::vector<int> members;
  for (int i = 0; i < size; ++i) members.push_back(start + i * (1 << log_stride));
  return members;
}

}  // namespace

const team& active_set_teams::find(world& w, int start, int log_stride, int size) {
  if (start == 0 && size == w.n_pes() && log_stride == 0) return w.team();
  entry* found = nullptr;
  {
    const std::lock_guard lock(mutex_);
    std::unique_ptr<entry>& slot = entries_[{start, log_stride, size}];
    if (slot == nullptr) slot = std::make_unique<entry>();
    found = slot.get();
  }
  const std::lock_guard lock(found->making);
  if (!found->group) {
    const std::vector<int> members = members_of(w.n_pes(), start, log_stride, size);
    const std::uint64_t key = static_cast<std::uint64_t>(log_stride) << 2 * pe_bits |
                              static_cast<std::uint64_t>(start) << pe_bits | static_cast<std::uint64_t>(size);
    found->group = w.team().create_group(members, key);
  }
  return found->group;
}

void active_set_teams::clear() {
  const std::lock_guard lock(mutex_);
  entries_.clear();
}

}  // namespace pgas::compat
