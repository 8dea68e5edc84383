// The choice of atomic operations in random programs, and of words that locks guard.
#include <bit>
#include <cmath>

#include "generator.hpp"
#include "number16.hpp"

namespace pgas_random {

namespace {

constexpr element numbers[] = {element::i32, element::u32, element::i64,  element::u64,   element::f32,
                               element::f64, element::f16, element::bf16, element::f16x2, element::bf16x2};

bool is_float(element type) { return type >= element::f32; }
/// The largest integer that a 16-bit format represents exactly; 0 for other formats.
int most16(element type) {
  switch (type) {
    case element::f16:
    case element::f16x2: return number16<10>::most;
    case element::bf16:
    case element::bf16x2: return number16<7>::most;
    default: return 0;
  }
}

/// Kinds of updates that may occur in any order, for words of one type.
enum class commuting : std::uint8_t { none, add, bit_and, bit_or, bit_xor, min, max };

std::uint8_t class_of(element type, commuting how) {
  if (how == commuting::none) return 0;
  return static_cast<std::uint8_t>(16 * static_cast<int>(how) + static_cast<int>(type));
}

/// A small number as the bits of a type. Numbers of 16-bit types are not negative. A pair contains the number twice.
std::uint64_t bits_of(element type, int number) {
  switch (type) {
    case element::f32: return std::bit_cast<std::uint32_t>(static_cast<float>(number));
    case element::f64: return std::bit_cast<std::uint64_t>(static_cast<double>(number));
    case element::f16: return number16<10>::from_number(number).bits;
    case element::bf16: return number16<7>::from_number(number).bits;
    case element::f16x2: return number16<10>::from_number(number).bits * 0x10001u;
    case element::bf16x2: return number16<7>::from_number(number).bits * 0x10001u;
    default: return static_cast<std::uint64_t>(number);
  }
}

}  // namespace

bool generator::stays_exact(element type, int pe, std::uint32_t offset, int added) const {
  // 16-bit sums only increase, so if the last sum is exact, all intermediate sums are exact too.
  const auto counts = [&](auto number) { return number.value() >= 0 && number.value() + added <= most16(type); };
  const auto both_count = [&](auto pair) { return counts(pair.x) && counts(pair.y); };
  switch (type) {
    case element::f16: return counts(model_.load<number16<10>>(pe, offset));
    case element::bf16: return counts(model_.load<number16<7>>(pe, offset));
    case element::f16x2: return both_count(model_.load<pair16<10>>(pe, offset));
    case element::bf16x2: return both_count(model_.load<pair16<7>>(pe, offset));
    default: break;
  }
  const double value =
      type == element::f32 ? static_cast<double>(model_.load<float>(pe, offset)) : model_.load<double>(pe, offset);
  return std::abs(value) < 1e6 && value == std::floor(value) && !(value == 0 && std::signbit(value));
}

std::uint32_t generator::pick_shared_word(std::uint32_t bytes) { return pick(32) * 8 + pick(8 / bytes) * bytes; }

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
  if (is_float(i.type)) {
    // Sums of small integers are exact in any order. If the word has other contents, a small integer is stored first.
    const int most = most16(i.type);
    const int number =
        most != 0 ? static_cast<int>(pick(static_cast<std::uint32_t>(most) / 16)) : static_cast<int>(pick(2000)) - 1000;
    i.value = bits_of(i.type, number);
    chosen = choices[stays_exact(i.type, pe, i.dst, number) ? pick(most != 0 ? 4 : 6) : 1];
    if (chosen.plain == opcode::atomic_inc) chosen = choices[2];
    if (most != 0 && chosen.plain == opcode::atomic_set) chosen.fetching = chosen.plain;  // 16-bit types have no swap
  }
  if (chosen.plain == opcode::atomic_compare_swap) {
    const std::uint64_t now =
        bytes_of(i.type) == 4 ? model_.load<std::uint32_t>(pe, i.dst) : model_.load<std::uint64_t>(pe, i.dst);
    i.condition = chance(2) ? now : random_();
  }
  i.what = chance(2) ? chosen.plain : chosen.fetching;
  return class_of(i.type, chosen.how);
}

bool generator::try_atomic(int actor) {
  const target to = pick_target(actor);
  instruction i = blank();
  i.type = numbers[pick(10)];
  i.count = 1;
  i.team = to.team;
  i.pe = to.member;
  const std::uint32_t bytes = bytes_of(i.type);
  // Often chooses one of a few words, so that several actors update the same word.
  i.dst = chance(4) ? pick_offset(bytes, bytes) : pick_shared_word(bytes);
  const std::uint8_t commutes = choose_update(i, to.pe);
  const place word{to.pe, i.dst, bytes};
  const place result_word{pe_of(actor), 0, bytes};
  i.result = nowhere;

  const access how = i.what == opcode::atomic_fetch ? access::read : access::remote_write;
  if (!history_.allowed(actor, word, how, commutes)) return false;
  const bool answers = i.what == opcode::atomic_fetch || i.what == opcode::atomic_swap ||
                       i.what == opcode::atomic_compare_swap || i.what == opcode::atomic_fetch_add ||
                       i.what == opcode::atomic_fetch_inc || i.what == opcode::atomic_fetch_and ||
                       i.what == opcode::atomic_fetch_min || i.what == opcode::atomic_fetch_max ||
                       i.what == opcode::atomic_fetch_or || i.what == opcode::atomic_fetch_xor;
  bool alone = commutes == 0;
  if (answers && history_.settled(actor, word)) {
    place result = result_word;
    result.offset = pick_offset(bytes, bytes);
    const bool apart = to.pe != pe_of(actor) || result.offset + bytes <= i.dst || i.dst + bytes <= result.offset;
    if (apart && history_.allowed(actor, result, access::local_write)) {
      i.result = result.offset;
      history_.record(actor, result, access::local_write);
      alone = true;  // the result is known only if no other actor updates the word at the same time
    }
  }
  history_.record(actor, word, how, alone ? 0 : commutes);
  take(actor, i, to.pe);
  return true;
}

bool generator::try_burst(int actor) {
  constexpr opcode kinds[] = {opcode::atomic_add, opcode::atomic_fetch_add, opcode::atomic_inc,
                              opcode::atomic_fetch_inc};
  const target to = pick_target(actor);
  instruction i = blank();
  i.type = numbers[pick(10)];
  i.what = kinds[pick(is_float(i.type) ? 2 : 4)];
  i.team = to.team;
  i.pe = to.member;
  const auto most = static_cast<std::uint32_t>(most16(i.type));
  const auto number = most != 0 ? 1 : 1 + static_cast<int>(pick(4));
  i.count = most != 0 ? 1 + pick(most / 16) : 1000 + pick(2000);
  i.dst = pick_shared_word(bytes_of(i.type));
  i.value = bits_of(i.type, number);
  const place word{to.pe, i.dst, bytes_of(i.type)};
  const std::uint8_t commutes = class_of(i.type, commuting::add);
  const std::vector<int> members = members_of(i.team, actor);
  const int added = number * static_cast<int>(i.count * members.size());
  if (is_float(i.type) && !stays_exact(i.type, to.pe, i.dst, added)) return false;
  for (const int member : members) {
    if (!history_.allowed(member, word, access::remote_write, commutes)) return false;
  }
  meet_first(members, i.team);
  for (const int member : members) {
    history_.record(member, word, access::remote_write, commutes);
    take(member, i, to.pe);
  }
  return true;
}

void generator::meet_first(const std::vector<int>& members, std::uint8_t team) {
  instruction meeting = blank();
  meeting.what = opcode::sync;
  meeting.team = team;
  for (const int member : members) {
    meeting.by = pick_covering(member);
    take(member, meeting, pe_of(member));
  }
}

bool generator::try_locked(int actor) {
  const target to = pick_target(actor);
  instruction i = blank();
  i.what = chance(3) ? opcode::test_lock : opcode::set_lock;
  i.team = to.team;
  i.pe = to.member;
  i.signal = to.team;
  i.count = 1 + pick(4);
  i.value = 1 + pick(9);
  i.by = pick_caller();
  if (i.by == caller::grid || !chance(4)) {
    take(actor, i, to.pe);
    return true;
  }
  // All members update the word at the same time.
  const std::vector<int> members = members_of(i.team, actor);
  meet_first(members, i.team);
  for (const int member : members) {
    i.by = pick_caller();
    take(member, i, to.pe);
  }
  return true;
}

}  // namespace pgas_random
