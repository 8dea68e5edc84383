// How random programs choose atomic operations.
#include <bit>
#include <cmath>

#include "generator.hpp"

namespace pgas_random {

namespace {

constexpr element numbers[] = {element::i32, element::u32, element::i64, element::u64, element::f32, element::f64};

bool is_float(element of) { return of == element::f32 || of == element::f64; }

/// Updates that may come in any order, for words of one type.
enum class commuting : std::uint8_t { none, add, bit_and, bit_or, bit_xor, min, max };

std::uint8_t class_of(element of, commuting how) {
  if (how == commuting::none) return 0;
  return static_cast<std::uint8_t>(16 * static_cast<int>(how) + static_cast<int>(of));
}

/// A small number as the bits of a type.
std::uint64_t bits_of(element of, int number) {
  switch (of) {
    case element::f32: return std::bit_cast<std::uint32_t>(static_cast<float>(number));
    case element::f64: return std::bit_cast<std::uint64_t>(static_cast<double>(number));
    default: return static_cast<std::uint64_t>(number);
  }
}

}  // namespace

bool generator::holds_small_number(element of, int pe, std::uint32_t offset) const {
  const double value = of == element::f32 ? static_cast<double>(model_.load<float>(pe, offset)) : model_.load<double>(pe, offset);
  return std::abs(value) < 1e6 && value == std::floor(value) && !(value == 0 && std::signbit(value));
}

std::uint8_t generator::choose_update(instruction& i, int pe) {
  struct choice {
    opcode plain;
    opcode fetching;
    commuting how;
  };
  static constexpr choice choices[] = {
      {opcode::atomic_fetch, opcode::atomic_fetch, commuting::none},
      {opcode::atomic_set, opcode::atomic_swap, commuting::none},
      {opcode::atomic_add, opcode::atomic_fetch_add, commuting::add},
      {opcode::atomic_inc, opcode::atomic_fetch_inc, commuting::add},
      {opcode::atomic_min, opcode::atomic_fetch_min, commuting::min},
      {opcode::atomic_max, opcode::atomic_fetch_max, commuting::max},
      {opcode::atomic_and, opcode::atomic_fetch_and, commuting::bit_and},
      {opcode::atomic_or, opcode::atomic_fetch_or, commuting::bit_or},
      {opcode::atomic_xor, opcode::atomic_fetch_xor, commuting::bit_xor},
      {opcode::atomic_compare_swap, opcode::atomic_compare_swap, commuting::none},
  };
  i.value = random_();
  choice chosen = choices[pick(10)];
  if (is_float(i.of)) {
    // Sums of small whole numbers are exact whatever their order; a word with other contents gets one first.
    i.value = bits_of(i.of, static_cast<int>(pick(2000)) - 1000);
    chosen = choices[holds_small_number(i.of, pe, i.dst) ? pick(6) : 1];
    if (chosen.plain == opcode::atomic_inc) chosen = choices[2];
  }
  if (chosen.plain == opcode::atomic_compare_swap) {
    const std::uint64_t now = bytes_of(i.of) == 4 ? model_.load<std::uint32_t>(pe, i.dst) : model_.load<std::uint64_t>(pe, i.dst);
    i.condition = chance(2) ? now : random_();
  }
  i.what = chance(2) ? chosen.plain : chosen.fetching;
  return class_of(i.of, chosen.how);
}

bool generator::try_atomic(int actor) {
  const target to = pick_target(actor);
  instruction i = blank();
  i.of = numbers[pick(6)];
  i.count = 1;
  i.team = to.team;
  i.pe = to.member;
  const std::uint32_t bytes = bytes_of(i.of);
  // Often in a few words, so that several meet there.
  i.dst = chance(4) ? pick_offset(bytes, bytes) : pick(32) * 8;
  const std::uint8_t commutes = choose_update(i, to.pe);
  const place word{to.pe, i.dst, bytes};
  const place result_word{pe_of(actor), 0, bytes};
  i.result = nowhere;

  const access how = i.what == opcode::atomic_fetch ? access::read : access::remote_write;
  if (!history_.allowed(actor, word, how, commutes)) return false;
  const bool answers = i.what == opcode::atomic_fetch || i.what == opcode::atomic_swap || i.what == opcode::atomic_compare_swap ||
                       i.what == opcode::atomic_fetch_add || i.what == opcode::atomic_fetch_inc || i.what == opcode::atomic_fetch_and ||
                       i.what == opcode::atomic_fetch_min || i.what == opcode::atomic_fetch_max || i.what == opcode::atomic_fetch_or || i.what == opcode::atomic_fetch_xor;
  bool alone = commutes == 0;
  if (answers && history_.settled(actor, word)) {
    place result = result_word;
    result.offset = pick_offset(bytes, bytes);
    const bool apart = to.pe != pe_of(actor) || result.offset + bytes <= i.dst || i.dst + bytes <= result.offset;
    if (apart && history_.allowed(actor, result, access::local_write)) {
      i.result = result.offset;
      history_.record(actor, result, access::local_write);
      alone = true;  // the answer is only known if nobody else updates the word at the same time
    }
  }
  history_.record(actor, word, how, alone ? 0 : commutes);
  take(actor, i, to.pe);
  return true;
}

bool generator::try_burst(int actor) {
  constexpr opcode kinds[] = {opcode::atomic_add, opcode::atomic_fetch_add, opcode::atomic_inc, opcode::atomic_fetch_inc};
  const target to = pick_target(actor);
  instruction i = blank();
  i.of = numbers[pick(6)];
  i.what = kinds[pick(is_float(i.of) ? 2 : 4)];
  i.team = to.team;
  i.pe = to.member;
  i.count = 1000 + pick(2000);
  const std::uint32_t bytes = bytes_of(i.of);
  i.dst = pick(32) * 8;
  i.value = bits_of(i.of, 1 + static_cast<int>(pick(4)));
  if (is_float(i.of) && !holds_small_number(i.of, to.pe, i.dst)) return false;
  const place word{to.pe, i.dst, bytes};
  const std::uint8_t commutes = class_of(i.of, commuting::add);
  const std::vector<int> members = members_of(i.team, actor);
  for (const int member : members) {
    if (!history_.allowed(member, word, access::remote_write, commutes)) return false;
  }
  // They meet first, so that their updates fall into the same time.
  instruction meeting = blank();
  meeting.what = opcode::sync;
  meeting.team = i.team;
  for (const int member : members) {
    meeting.by = pick_covering(member);
    take(member, meeting, pe_of(member));
    history_.record(member, word, access::remote_write, commutes);
    take(member, i, to.pe);
  }
  return true;
}

}  // namespace pgas_random
