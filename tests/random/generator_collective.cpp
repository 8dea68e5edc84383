// How random programs choose collectives and strided copies.
#include <algorithm>

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
    calls[k].by = pick_covering(members[k]);
    calls[k].number = number_;
    lists_[index(members[k])].push_back(calls[k]);
    pending_[index(members[k])] = caller::thread;
  }
  model_.apply(calls, pes);
  history_.join(members);  // collectives end with a barrier
}

bool generator::try_strided(int actor) {
  const target to = pick_target(actor);
  const int me = pe_of(actor);
  instruction i = blank();
  i.what = chance(2) ? opcode::iput : opcode::iget;
  i.by = static_cast<caller>(pick(3));
  i.of = chance(2) ? element::b1 : element::b8;
  i.team = to.team;
  i.pe = to.member;
  i.count = pick(100);
  i.dst_stride = static_cast<int>(1 + pick(4));
  i.src_stride = static_cast<int>(1 + pick(4));
  const std::uint32_t unit = bytes_of(i.of);
  const auto extent = [&](int stride) { return i.count * static_cast<std::uint32_t>(stride) * unit; };
  i.dst = pick_offset(extent(i.dst_stride), unit);
  i.src = pick_offset(extent(i.src_stride), unit);
  if (to.pe == me && i.dst < i.src + extent(i.src_stride) && i.src < i.dst + extent(i.dst_stride)) return false;

  const bool puts = i.what == opcode::iput;
  const auto each = [&](const auto& f) {
    for (std::uint32_t k = 0; k < i.count; ++k) {
      const place written{puts ? to.pe : me, i.dst + k * static_cast<std::uint32_t>(i.dst_stride) * unit, unit};
      const place read{puts ? me : to.pe, i.src + k * static_cast<std::uint32_t>(i.src_stride) * unit, unit};
      if (!f(written, read)) return false;
    }
    return true;
  };
  const access how = puts ? access::remote_write : access::local_write;
  if (!each([&](place written, place read) {
        return history_.allowed(actor, written, how) && history_.allowed(actor, read, access::read);
      }))
    return false;
  static_cast<void>(each([&](place written, place read) {
    history_.record(actor, read, access::read);
    history_.record(actor, written, how);
    return true;
  }));
  take(actor, i, to.pe);
  return true;
}

bool generator::try_move(int actor) {
  constexpr opcode kinds[] = {opcode::broadcast, opcode::fcollect, opcode::collect, opcode::alltoall, opcode::alltoalls};
  instruction i = blank();
  i.what = kinds[pick(5)];
  i.of = chance(2) ? element::b1 : element::b8;
  i.team = pick_target(actor).team;
  const std::vector<int> members = members_of(i.team, actor);
  const auto n = static_cast<std::uint32_t>(members.size());
  const std::uint32_t unit = bytes_of(i.of);
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
    // Any member may write here as soon as it calls.
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
  i.of = types[pick(2)];
  i.value = i.of == element::f64 ? static_cast<std::uint64_t>(fold::sum) : pick(7);
  i.team = pick_target(actor).team;
  const std::vector<int> members = members_of(i.team, actor);
  const auto n = static_cast<std::uint32_t>(members.size());
  const std::uint32_t unit = bytes_of(i.of);
  i.pe = static_cast<int>(pick(n));
  i.count = pick(chance(2) ? 8 : 300) / (i.of == element::b1 ? 1 : 4);
  const std::uint32_t written = i.count * unit;
  const std::uint32_t read = written * (i.what == opcode::reduce_scatter ? n : 1);
  i.dst = pick_offset(written, unit);
  i.src = chance(4) && i.what != opcode::reduce_scatter ? i.dst : pick_offset(read, unit);
  if (i.src != i.dst && i.src < i.dst + written && i.dst < i.src + read) return false;
  if (i.what == opcode::reduce_scatter && i.src == i.dst) return false;
  // Whole numbers, so that sums are exact: who takes part fills its source first.
  const bool fills = i.of == element::f64;
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
      numbers.of = i.of;
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
