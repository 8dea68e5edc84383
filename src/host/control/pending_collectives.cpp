#include "host/control/pending_collectives.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace pgas::detail {

void pending_collectives::check_member(int pe) const {
  if (!members_.empty() && std::find(members_.begin(), members_.end(), pe) == members_.end())
    throw error(code::bootstrap_protocol,
                fmt::format("PE {} contributed to a collective of a team that it is not in", pe), pe);
}

void pending_collectives::set_members(std::span<const int> members) {
  members_.assign(members.begin(), members.end());
  for (const auto& [sequence, contributions] : pending_)
    for (const auto& [pe, content] : contributions) check_member(pe);
}

void pending_collectives::add(std::uint64_t sequence, int pe, collective call, contribution content) {
  check_member(pe);
  if (call == collective::none || sequence < first_ || sequence - first_ > max_ahead)
    throw error(code::bootstrap_protocol,
                fmt::format("PE {} sent a contribution to collective {}, while collective {} is under way", pe,
                            sequence, first_),
                pe);
  if (!pending_[sequence].try_emplace(pe, entry{call, std::move(content)}).second)
    throw error(code::bootstrap_protocol, fmt::format("PE {} contributed twice to collective {}", pe, sequence), pe);
}

bool pending_collectives::complete(std::uint64_t sequence) const {
  const auto found = pending_.find(sequence);
  return found != pending_.end() && !members_.empty() && found->second.size() == members_.size();
}

std::optional<pending_collectives::mismatch> pending_collectives::find_mismatch(std::uint64_t sequence,
                                                                                collective call) const {
  const auto found = pending_.find(sequence);
  if (found == pending_.end()) return std::nullopt;
  for (const auto& [pe, theirs] : found->second)
    if (theirs.call != call) return mismatch{pe, theirs.call};
  return std::nullopt;
}

bool pending_collectives::all_leave(std::uint64_t sequence) const {
  return complete(sequence) && !find_mismatch(sequence, collective::leave);
}

bool pending_collectives::leaves(int pe) const {
  return std::any_of(pending_.begin(), pending_.end(), [pe](const auto& one) {
    const auto found = one.second.find(pe);
    return found != one.second.end() && found->second.call == collective::leave;
  });
}

std::vector<int> pending_collectives::missing(std::uint64_t sequence) const {
  std::vector<int> result;
  const auto found = pending_.find(sequence);
  for (const int pe : members_)
    if (found == pending_.end() || !found->second.contains(pe)) result.push_back(pe);
  return result;
}

std::vector<contribution> pending_collectives::take(std::uint64_t sequence) {
  std::vector<contribution> result;
  entries& contributions = pending_.at(sequence);
  for (const int pe : members_) result.push_back(std::move(contributions.at(pe).content));
  pending_.erase(sequence);
  first_ = sequence + 1;
  return result;
}

}  // namespace pgas::detail
