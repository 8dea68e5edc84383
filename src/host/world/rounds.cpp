#include "host/world/rounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace pgas::detail {

void rounds::add(std::uint64_t sequence, int pe, collective call, contribution content) {
  if (call == collective::none || sequence < first_ || sequence - first_ > max_ahead)
    throw error(code::bootstrap_protocol,
                fmt::format("PE {} sent a contribution to collective {}, while collective {} is under way", pe,
                            sequence, first_),
                pe);
  round& where = rounds_[sequence];
  where.pieces.resize(static_cast<std::size_t>(n_pes_));
  piece& slot = where.pieces[static_cast<std::size_t>(pe)];
  if (slot.call != collective::none)
    throw error(code::bootstrap_protocol, fmt::format("PE {} contributed twice to collective {}", pe, sequence), pe);
  slot.call = call;
  slot.content = std::move(content);
  ++where.arrived;
}

bool rounds::complete(std::uint64_t sequence) const {
  const auto found = rounds_.find(sequence);
  return found != rounds_.end() && found->second.arrived == n_pes_;
}

std::optional<rounds::mismatch> rounds::find_mismatch(std::uint64_t sequence, collective call) const {
  const auto found = rounds_.find(sequence);
  if (found == rounds_.end()) return std::nullopt;
  const std::vector<piece>& pieces = found->second.pieces;
  const auto other = std::find_if(pieces.begin(), pieces.end(),
                                  [&](const piece& p) { return p.call != collective::none && p.call != call; });
  if (other == pieces.end()) return std::nullopt;
  return mismatch{static_cast<int>(other - pieces.begin()), other->call};
}

bool rounds::all_leave(std::uint64_t sequence) const {
  return complete(sequence) && !find_mismatch(sequence, collective::leave);
}

std::vector<int> rounds::missing(std::uint64_t sequence) const {
  std::vector<int> result;
  const auto found = rounds_.find(sequence);
  for (int pe = 0; pe < n_pes_; ++pe)
    if (found == rounds_.end() || found->second.pieces[static_cast<std::size_t>(pe)].call == collective::none)
      result.push_back(pe);
  return result;
}

std::vector<contribution> rounds::take(std::uint64_t sequence) {
  std::vector<contribution> result;
  for (piece& one : rounds_.at(sequence).pieces) result.push_back(std::move(one.content));
  rounds_.erase(sequence);
  first_ = sequence + 1;
  return result;
}

}  // namespace pgas::detail
