#include "host/control/pending_collectives.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace pgas::detail {

void rounds::check_member(int pe) const {
  if (!members_.empty() && std::find(members_.begin(), members_.end(), pe) == members_.end())
    throw error(code::bootstrap_protocol,
                fmt::format("PE {} contributed to a collective of a team that it is not in", pe), pe);
}

void rounds::set_members(std::span<const int> members) {
  members_.assign(members.begin(), members.end());
  for (const auto& [sequence, pieces] : rounds_)
    for (const auto& [pe, content] : pieces) check_member(pe);
}

void rounds::add(std::uint64_t sequence, int pe, collective call, contribution content) {
  check_member(pe);
  if (call == collective::none || sequence < first_ || sequence - first_ > max_ahead)
    throw error(code::bootstrap_protocol,
                fmt::format("PE {} sent a contribution to collective {}, while collective {} is under way", pe,
                            sequence, first_),
                pe);
  if (!rounds_[sequence].try_emplace(pe, piece{call, std::move(content)}).second)
    throw error(code::bootstrap_protocol, fmt::format("PE {} contributed twice to collective {}", pe, sequence), pe);
}

bool rounds::complete(std::uint64_t sequence) const {
  const auto found = rounds_.find(sequence);
  return found != rounds_.end() && !members_.empty() && found->second.size() == members_.size();
}

std::optional<rounds::mismatch> rounds::find_mismatch(std::uint64_t sequence, collective call) const {
  const auto found = rounds_.find(sequence);
  if (found == rounds_.end()) return std::nullopt;
  for (const auto& [pe, theirs] : found->second)
    if (theirs.call != call) return mismatch{pe, theirs.call};
  return std::nullopt;
}

bool rounds::all_leave(std::uint64_t sequence) const {
  return complete(sequence) && !find_mismatch(sequence, collective::leave);
}

bool rounds::leaves(int pe) const {
  return std::any_of(rounds_.begin(), rounds_.end(), [pe](const auto& entry) {
    const auto found = entry.second.find(pe);
    return found != entry.second.end() && found->second.call == collective::leave;
  });
}

std::vector<int> rounds::missing(std::uint64_t sequence) const {
  std::vector<int> result;
  const auto found = rounds_.find(sequence);
  for (const int pe : members_)
    if (found == rounds_.end() || !found->second.contains(pe)) result.push_back(pe);
  return result;
}

std::vector<contribution> rounds::take(std::uint64_t sequence) {
  std::vector<contribution> result;
  round& pieces = rounds_.at(sequence);
  for (const int pe : members_) result.push_back(std::move(pieces.at(pe).content));
  rounds_.erase(sequence);
  first_ = sequence + 1;
  return result;
}

}  // namespace pgas::detail
