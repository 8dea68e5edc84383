// The choice of ordering operations and of operations of whole grids in random programs.
#include <algorithm>

#include "generator.hpp"

namespace pgas_random {

std::vector<int> generator::blocks_of(int pe) const {
  std::vector<int> blocks;
  for (int block = 0; block < n_blocks_; ++block) blocks.push_back(pe * n_blocks_ + block);
  return blocks;
}

caller generator::pick_covering(int actor) {
  const auto least = static_cast<std::uint32_t>(pending_[index(actor)]);
  return static_cast<caller>(least + pick(3 - least));
}

caller generator::pick_meeting(int actor) {
  return actor % n_blocks_ == 0 && chance(8) ? caller::grid : pick_covering(actor);
}

void generator::join(const std::vector<int>& members, const std::vector<instruction>& calls) {
  std::vector<int> covered;
  std::vector<int> others;
  for (std::size_t k = 0; k < members.size(); ++k) {
    if (calls[k].by != caller::grid) {
      covered.push_back(members[k]);
      continue;
    }
    const std::vector<int> blocks = blocks_of(pe_of(members[k]));
    covered.insert(covered.end(), blocks.begin(), blocks.end());
    others.insert(others.end(), blocks.begin() + 1, blocks.end());
  }
  history_.join(covered);
  for (const int block : others) history_.forget_fence(block);  // signals of the other blocks do not rely on this fence
  for (const int actor : covered) pending_[index(actor)] = caller::thread;
}

bool generator::try_order(int actor) {
  instruction i = blank();
  i.by = pick_covering(actor);
  if (chance(2)) {
    i.what = opcode::fence;
    history_.fence(actor);
  } else {
    i.what = opcode::quiet;
    history_.quiet(actor);
  }
  take(actor, i, pe_of(actor));
  pending_[index(actor)] = caller::thread;
  return true;
}

bool generator::try_meeting(int actor) {
  instruction i = blank();
  i.what = chance(4) ? opcode::sync : opcode::barrier;
  i.team = pick_target(actor).team;
  const std::vector<int> members = members_of(i.team, actor);
  std::vector<instruction> calls;
  for (const int member : members) {
    i.by = pick_meeting(member);
    take(member, i, pe_of(member));
    calls.push_back(i);
  }
  if (i.what == opcode::barrier) join(members, calls);
  return true;
}

void generator::quiet_grid(int pe) {
  instruction i = blank();
  i.what = opcode::quiet;
  i.by = caller::grid;
  const int first = pe * n_blocks_;
  take(first, i, pe);
  join({first}, {i});
}

bool generator::try_grid(int actor) {
  const int pe = pe_of(actor);
  const int first = pe * n_blocks_;
  quiet_grid(pe);  // the following operations of all blocks come after all operations that this block knows
  by_grid_ = true;
  bool taken = false;
  while (!taken) {
    switch (pick(8)) {
      case 0: taken = try_strided(first); break;
      case 1: taken = try_wait(first); break;
      case 2: taken = try_wait_set(first); break;
      case 3: taken = try_locked(first); break;
      default: taken = try_transfer(first);
    }
  }
  by_grid_ = false;
  switch (lists_[index(first)].back().what) {
    case opcode::put:
    case opcode::put_nbi:
    case opcode::get_nbi:
    case opcode::put_signal:
    case opcode::put_signal_nbi:
    case opcode::iput:
    case opcode::iput_nbi:
    case opcode::iget_nbi:
    case opcode::ibput:
    case opcode::ibput_nbi:
    case opcode::ibget_nbi:
    case opcode::put_list:
    case opcode::put_list_nbi:
    case opcode::get_list_nbi: quiet_grid(pe); return true;
    default: break;
  }
  // Operations that are complete on return are complete for all blocks.
  const history::clock seen = history_.release(first);
  for (const int block : blocks_of(pe)) {
    history_.acquire(block, seen);
    pending_[index(block)] = caller::block;
  }
  return true;
}

}  // namespace pgas_random
