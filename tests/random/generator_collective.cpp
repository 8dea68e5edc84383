// The choice of collectives and strided copies in random programs.
#include <algorithm>
#include <cstdlib>

#include "generator.hpp"

namespace pgas_random {

std::vector<int> generator::members_of(std::uint8_t team, int actor) const {
  std::vector<int> members;
  for (const int pe : teams_[team].members) members.push_back(pe * n_blocks_ + actor % n_blocks_);
  return members;
}

void generator::take_all(const std::vector<int>& members, std::vector<instruction> calls) {
  std::vector<int> pes;
  for (std::size_t k = 0; k < members.size(); ++k) {
    pes.push_back(pe_of(members[k]));
    calls[k].by = pick_meeting(members[k]);
    calls[k].number = number_;
    if (calls[k].by == caller::grid) quiet_grid(pes.back());
    push(members[k], calls[k]);
  }
  model_.apply(calls, pes);
  // A collective that only moves data orders no other accesses. So a block acquires only the accesses that the calling
  // block of its own member has made or seen.
  for (std::size_t k = 0; k < members.size(); ++k) {
    const bool by_grid = calls[k].by == caller::grid;
    const history::clock seen = history_.release(members[k]);
    for (const int block : by_grid ? blocks_of(pes[k]) : std::vector{members[k]}) {
      history_.acquire(block, seen);
      pending_[index(block)] = std::min(calls[k].by, caller::block);
      if (fences_ == fences::until_data) history_.forget_fence(block);
    }
  }
}

bool generator::try_strided(int actor) {
  constexpr opcode kinds[] = {opcode::iput,     opcode::iput_nbi,     opcode::ibput,    opcode::ibput_nbi,
                              opcode::put_list, opcode::put_list_nbi, opcode::iget,     opcode::iget_nbi,
                              opcode::ibget,    opcode::ibget_nbi,    opcode::get_list, opcode::get_list_nbi};
  const target to = pick_target(actor);
  const int me = pe_of(actor);
  const std::uint32_t kind = pick(12);
  const bool puts = kind < 6;
  const bool blocks = kind % 6 >= 2;
  const bool listed = kind % 6 >= 4;
  const bool late = kind % 2 == 1;
  instruction i = blank();
  i.what = kinds[kind];
  i.by = pick_caller();
  i.type = chance(2) ? element::b1 : element::b8;
  i.team = to.team;
  i.pe = to.member;
  const bool large = blocks && chance(4);
  const std::uint32_t block = !blocks ? 1 : large ? pick(600) : pick(12);
  i.value = block;
  i.count = pick(large ? 10 : 100);
  // The blocks of the destination do not overlap; the blocks of the source may overlap.
  const auto signed_stride = [&](std::uint32_t stride) {
    return !listed && chance(3) ? -static_cast<int>(stride) : static_cast<int>(stride);
  };
  i.dst_stride = signed_stride(std::max(block, 1u) + pick(4));
  i.src_stride = signed_stride(pick(block + 4));
  const std::uint32_t unit = bytes_of(i.type);
  const std::uint32_t gaps = i.count == 0 ? 0 : i.count - 1;
  const auto length = [&](int stride) { return (gaps * static_cast<std::uint32_t>(std::abs(stride)) + block) * unit; };
  const std::uint32_t written_bytes = length(i.dst_stride);
  const std::uint32_t read_bytes = length(i.src_stride);
  if (std::max(written_bytes, read_bytes) > places::arena_bytes / 2) return false;
  const std::uint32_t dst_low = pick_offset(written_bytes, unit);
  const std::uint32_t src_low = pick_offset(read_bytes, unit);
  if (to.pe == me && dst_low < src_low + read_bytes && src_low < dst_low + written_bytes) return false;
  i.dst = dst_low + (i.dst_stride < 0 ? written_bytes - block * unit : 0);
  i.src = src_low + (i.src_stride < 0 ? read_bytes - block * unit : 0);

  const auto each = [&](const auto& f) {
    for (std::uint32_t k = 0; k < i.count; ++k) {
      const place written{puts ? to.pe : me, block_place(i, i.dst, i.dst_stride, k), block_bytes(i)};
      const place read{puts ? me : to.pe, block_place(i, i.src, i.src_stride, k), block_bytes(i)};
      if (!f(written, read)) return false;
    }
    return true;
  };
  const access needed = puts ? access::remote_write : access::local_write;
  const access how = late ? access::remote_write : needed;
  if (!each([&](place written, place read) {
        return history_.allowed(actor, written, needed) && history_.allowed(actor, read, access::read);
      }))
    return false;
  if (listed) i.signal = n_listed_[index(me)]++;
  static_cast<void>(each([&](place written, place read) {
    history_.record(actor, read, late ? access::late_read : access::read);
    history_.record(actor, written, how);
    return true;
  }));
  take(actor, i, to.pe);
  return true;
}

bool generator::try_move(int actor) {
  constexpr opcode kinds[] = {opcode::broadcast, opcode::fcollect, opcode::collect, opcode::alltoall,
                              opcode::alltoalls};
  instruction i = blank();
  i.what = kinds[pick(5)];
  i.type = chance(2) ? element::b1 : element::b8;
  i.team = pick_target(actor).team;
  const std::vector<int> members = members_of(i.team, actor);
  const auto n = static_cast<std::uint32_t>(members.size());
  const std::uint32_t unit = bytes_of(i.type);
  const std::uint32_t most = chance(2) ? 8 : 512;
  i.pe = static_cast<int>(pick(n));
  i.count = pick(most) / unit;
  i.dst_stride = i.src_stride = i.what == opcode::alltoalls ? static_cast<int>(1 + pick(3)) : 1;
  if (i.what == opcode::alltoalls) i.src_stride = static_cast<int>(1 + pick(3));

  std::vector<instruction> calls(n, i);
  std::uint32_t written = i.what == opcode::broadcast ? i.count : n * i.count;
  if (i.what == opcode::collect) {
    written = 0;
    for (instruction& call : calls) written += call.count = pick(most) / unit;
  }
  written *= static_cast<std::uint32_t>(i.dst_stride) * unit;
  const std::uint32_t dst = pick_offset(written, unit);
  const bool in_place = i.what == opcode::fcollect && chance(4);
  const bool blocks = i.what == opcode::alltoall || i.what == opcode::alltoalls;
  for (std::uint32_t k = 0; k < n; ++k) {
    instruction& call = calls[k];
    const std::uint32_t read = call.count * (blocks ? n : 1) * static_cast<std::uint32_t>(i.src_stride) * unit;
    call.dst = dst;
    call.src = in_place ? dst + k * read : pick_offset(read, unit);
    const int pe = pe_of(members[k]);
    const place from{pe, call.src, read};
    if (!in_place && call.src < dst + written && dst < call.src + read) return false;
    if (!history_.allowed(members[k], from, access::read)) return false;
    // Any member may write to this memory as soon as this member calls the collective.
    for (const int member : members) {
      if (!history_.allowed(member, {pe, dst, written}, access::remote_write)) return false;
    }
  }
  for (std::uint32_t k = 0; k < n; ++k) {
    const int pe = pe_of(members[k]);
    const std::uint32_t read = calls[k].count * (blocks ? n : 1) * static_cast<std::uint32_t>(i.src_stride) * unit;
    history_.record(members[k], {pe, calls[k].src, read}, access::read);
    history_.record(members[k], {pe, dst, written}, access::local_write);
  }
  take_all(members, std::move(calls));
  return true;
}

bool generator::try_combine(int actor) {
  constexpr opcode kinds[] = {opcode::reduce, opcode::reduce_to_root, opcode::reduce_scatter, opcode::inclusive_scan,
                              opcode::exclusive_scan};
  constexpr element types[] = {element::b1, element::f64};
  instruction i = blank();
  i.what = kinds[pick(5)];
  i.type = types[pick(2)];
  i.value = i.type == element::f64 ? static_cast<std::uint64_t>(reduction::sum) : pick(7);
  i.team = pick_target(actor).team;
  const std::vector<int> members = members_of(i.team, actor);
  const auto n = static_cast<std::uint32_t>(members.size());
  const std::uint32_t unit = bytes_of(i.type);
  i.pe = static_cast<int>(pick(n));
  i.count = pick(chance(2) ? 8 : 300) / (i.type == element::b1 ? 1 : 4);
  const std::uint32_t written = i.count * unit;
  const std::uint32_t read = written * (i.what == opcode::reduce_scatter ? n : 1);
  i.dst = pick_offset(written, unit);
  i.src = chance(4) && i.what != opcode::reduce_scatter ? i.dst : pick_offset(read, unit);
  if (i.src != i.dst && i.src < i.dst + written && i.dst < i.src + read) return false;
  if (i.what == opcode::reduce_scatter && i.src == i.dst) return false;
  // The elements are integers, so that sums are exact. Each member fills its source first.
  const bool fills = i.type == element::f64;
  for (const int member : members) {
    const place from{pe_of(member), i.src, read};
    if (!history_.allowed(member, from, fills ? access::local_write : access::read)) return false;
    if (!history_.allowed(member, {pe_of(member), i.dst, written}, access::local_write)) return false;
  }
  for (const int member : members) {
    const int pe = pe_of(member);
    if (fills) {
      instruction numbers = blank();
      numbers.what = opcode::fill;
      numbers.by = caller::block;
      numbers.type = i.type;
      numbers.count = read / unit;
      numbers.dst = i.src;
      numbers.value = random_();
      history_.record(member, {pe, i.src, read}, access::local_write);
      take(member, numbers, pe);
    }
    history_.record(member, {pe, i.src, read}, access::read);
    const bool writes = i.what != opcode::reduce_to_root || members[index(i.pe)] == member;
    if (writes) history_.record(member, {pe, i.dst, written}, access::local_write);
  }
  take_all(members, std::vector<instruction>(n, i));
  return true;
}

}  // namespace pgas_random
