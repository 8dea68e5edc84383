#include "generator.hpp"

#include <algorithm>
#include <numeric>

#include "describe_instruction.hpp"

namespace pgas_random {

namespace {

constexpr element raw_elements[] = {element::b1, element::b2, element::b4, element::b8, element::b16};
constexpr element copied_elements[] = {element::b1, element::b4, element::b16};

/// Whether the operation may write with plain stores.
bool moves_data(opcode what) {
  switch (what) {
    case opcode::p:
    case opcode::signal_set:
    case opcode::signal_add:
    case opcode::wait:
    case opcode::wait_all:
    case opcode::wait_all_vector:
    case opcode::fence:
    case opcode::quiet:
    case opcode::barrier:
    case opcode::sync: return false;
    default: return true;
  }
}

bool overlap(std::uint32_t a, std::uint32_t b, std::uint32_t bytes) { return a < b + bytes && b < a + bytes; }

}  // namespace

generator::generator(std::uint64_t seed, int n_pes, int domain, int n_blocks, fences last)
    : random_(seed),
      n_pes_(n_pes),
      n_blocks_(n_blocks),
      n_actors_(n_pes * n_blocks),
      fences_(last),
      model_(n_pes, domain == 0 ? n_pes : domain),
      history_(n_pes, n_actors_, places::arena_bytes + places::signal_words * 8),
      pending_(index(n_actors_), caller::thread),
      signals_(index(n_pes), std::vector<sent>(places::signal_words)),
      known_(index(n_actors_), std::vector<std::uint64_t>(places::signal_words)),
      lists_(index(n_actors_)),
      word_sets_(index(n_pes)),
      n_listed_(index(n_pes)) {
  make_teams();
}

void generator::make_teams() {
  const auto n = static_cast<std::uint32_t>(n_pes_);
  const auto strided = [](int start, int stride, int size) {
    team_plan plan{{}, start, stride, false};
    for (int i = 0; i < size; ++i) plan.members.push_back(start + i * stride);
    return plan;
  };
  teams_.push_back(strided(0, 1, n_pes_));
  teams_.push_back(strided(n_pes_ - 1, -1, n_pes_));
  const int stride = 1 + static_cast<int>(pick(2));
  const int start = static_cast<int>(pick(2)) % n_pes_;
  teams_.push_back(strided(start, stride, (n_pes_ - start + stride - 1) / stride));
  std::vector<int> all(n);
  std::iota(all.begin(), all.end(), 0);
  for (const std::uint32_t size : {n, 1 + pick(n)}) {
    for (std::uint32_t i = n; i > 1; --i) std::swap(all[i - 1], all[pick(i)]);
    teams_.push_back({std::vector<int>(all.begin(), all.begin() + size), 0, 1, true});
  }
  teams_.push_back(strided(static_cast<int>(pick(n)), 1, 1));
}

generator::target generator::pick_target(int actor) {
  for (;;) {
    const auto team = static_cast<std::uint8_t>(chance(2) ? 0 : pick(n_teams));
    const std::vector<int>& members = teams_[team].members;
    if (std::find(members.begin(), members.end(), pe_of(actor)) == members.end()) continue;
    const std::uint32_t member = pick(static_cast<std::uint32_t>(members.size()));
    return {team, static_cast<int>(member), members[member]};
  }
}

std::uint32_t generator::pick_bytes() {
  if (chance(32)) return 0;
  if (chance(64)) return 4096 + pick(places::arena_bytes / 3 - 4096);
  const std::uint32_t limit = 1u << pick(12);  // short and long lengths are equally frequent
  return 1 + pick(limit);
}

std::uint32_t generator::pick_offset(std::uint32_t bytes, std::uint32_t alignment) {
  return pick((places::arena_bytes - bytes) / alignment + 1) * alignment;
}

std::uint32_t generator::pick_result(int actor, std::uint32_t bytes) {
  const std::uint32_t offset = pick_offset(bytes, bytes);
  return history_.allowed(actor, {pe_of(actor), offset, bytes}, access::local_write) ? offset : nowhere;
}

void generator::push(int actor, const instruction& i) {
  if (i.by != caller::grid) {
    lists_[index(actor)].push_back(i);
    return;
  }
  for (const int block : blocks_of(pe_of(actor))) lists_[index(block)].push_back(i);
}

void generator::take(int actor, instruction i, int pe) {
  if (fences_ == fences::until_data && moves_data(i.what)) {
    for (const int block : i.by == caller::grid ? blocks_of(pe_of(actor)) : std::vector{actor})
      history_.forget_fence(block);
  }
  i.number = number_;
  pending_[index(actor)] = std::max(pending_[index(actor)], std::min(i.by, caller::block));
  model_.apply(i, pe_of(actor), pe);
  push(actor, i);
}

bool generator::try_single(int actor) {
  const target to = pick_target(actor);
  instruction i = blank();
  i.type = raw_elements[pick(5)];
  i.team = to.team;
  i.pe = to.member;
  const std::uint32_t bytes = bytes_of(i.type);
  i.dst = i.src = pick_offset(bytes, bytes);
  const place remote{to.pe, i.dst, bytes};
  if (chance(2)) {
    i.what = opcode::p;
    i.value = random_();
    i.condition = random_();
    if (!history_.allowed(actor, remote, access::remote_write)) return false;
    history_.record(actor, remote, access::remote_write);
  } else {
    i.what = opcode::g;
    i.result = pick_result(actor, bytes);
    if (i.result == nowhere || !history_.allowed(actor, remote, access::read)) return false;
    if (to.pe == pe_of(actor) && overlap(i.result, i.src, bytes)) return false;
    history_.record(actor, remote, access::read);
    history_.record(actor, {pe_of(actor), i.result, bytes}, access::local_write);
  }
  take(actor, i, to.pe);
  return true;
}

bool generator::try_transfer(int actor) {
  constexpr opcode kinds[] = {opcode::put,     opcode::put_nbi,    opcode::get,
                              opcode::get_nbi, opcode::put_signal, opcode::put_signal_nbi};
  const target to = pick_target(actor);
  const int me = pe_of(actor);
  instruction i = blank();
  i.what = kinds[pick(6)];
  i.by = pick_caller();
  i.type = copied_elements[pick(3)];
  i.team = to.team;
  i.pe = to.member;
  const std::uint32_t unit = bytes_of(i.type);
  i.count = pick_bytes() / unit;
  const std::uint32_t bytes = i.count * unit;
  i.dst = pick_offset(bytes, unit);
  i.src = pick_offset(bytes, unit);
  if (to.pe == me && overlap(i.dst, i.src, bytes)) return false;

  if (i.what == opcode::get || i.what == opcode::get_nbi) {
    const place from{to.pe, i.src, bytes};
    const place here{me, i.dst, bytes};
    const access written = i.what == opcode::get ? access::local_write : access::remote_write;
    if (!history_.allowed(actor, from, access::read) || !history_.allowed(actor, here, access::local_write))
      return false;
    history_.record(actor, from, i.what == opcode::get ? access::read : access::late_read);
    history_.record(actor, here, written);
    take(actor, i, to.pe);
    return true;
  }
  const bool signals = i.what == opcode::put_signal || i.what == opcode::put_signal_nbi;
  if (signals) {
    i.by = std::max(i.by, pending_[index(actor)]);
    i.how = chance(2) ? pgas::signal_op::set : pgas::signal_op::add;
    i.value = chance(4) ? 1 + random_() % (std::uint64_t{1} << 40) : 1 + pick(9);
    if (i.how == pgas::signal_op::add) {
      i.signal = places::added_words + pick(places::most_blocks);
      if (!history_.allowed(actor, word_place(to.pe, i.signal), access::remote_write, 1)) return false;
    } else {
      i.signal = places::sent_words + static_cast<std::uint32_t>(actor);
      i.value +=
          signals_[index(to.pe)][i.signal].value;  // stores to a word only increase it, so that a wait may use `ge`
    }
  }
  const place from{me, i.src, bytes};
  const place remote{to.pe, i.dst, bytes};
  if (!history_.allowed(actor, from, access::read) || !history_.allowed(actor, remote, access::remote_write))
    return false;
  const bool late = i.what == opcode::put_nbi || i.what == opcode::put_signal_nbi;
  history_.record(actor, from, late ? access::late_read : access::read);
  history_.record(actor, remote, access::remote_write);
  take(actor, i, to.pe);
  if (signals) note_sent(actor, i, to.pe);
  return true;
}

void generator::note_sent(int actor, const instruction& i, int pe) {
  sent& word = signals_[index(pe)][i.signal];
  const bool releases = i.what == opcode::put_signal || i.what == opcode::put_signal_nbi;
  const history::clock seen = releases ? history_.release(actor) : history_.last_fence(actor);
  if (i.how == pgas::signal_op::add) history_.record(actor, word_place(pe, i.signal), access::remote_write, 1);
  word.value = model_.signal(pe, i.signal);
  for (std::size_t k = 0; k < seen.size(); ++k) word.seen[k] = std::max(word.seen[k], seen[k]);
}

bool generator::try_signal(int actor) {
  const target to = pick_target(actor);
  instruction i = blank();
  i.team = to.team;
  i.pe = to.member;
  i.value = 1 + pick(9);
  if (chance(2)) {
    i.what = opcode::signal_set;
    i.how = pgas::signal_op::set;
    i.signal = places::set_words + static_cast<std::uint32_t>(actor);
    i.value += signals_[index(to.pe)][i.signal].value;
  } else {
    i.what = opcode::signal_add;
    i.how = pgas::signal_op::add;
    i.signal = places::added_words + pick(places::most_blocks);
    if (!history_.allowed(actor, word_place(to.pe, i.signal), access::remote_write, 1)) return false;
  }
  take(actor, i, to.pe);
  note_sent(actor, i, to.pe);
  return true;
}

bool generator::try_fill(int actor) {
  constexpr element numbers[] = {element::i32, element::u32, element::i64, element::u64, element::f32, element::f64};
  instruction i = blank();
  i.what = opcode::fill;
  i.by = caller::block;
  i.type = numbers[pick(6)];
  const std::uint32_t unit = bytes_of(i.type);
  i.count = 1 + pick(64);
  i.dst = pick_offset(i.count * unit, unit);
  i.value = random_();
  const place here{pe_of(actor), i.dst, i.count * unit};
  if (!history_.allowed(actor, here, access::local_write)) return false;
  history_.record(actor, here, access::local_write);
  take(actor, i, pe_of(actor));
  return true;
}

bool generator::try_any() {
  const int actor = static_cast<int>(pick(static_cast<std::uint32_t>(n_actors_)));
  const std::uint32_t which = pick(100);
  if (which < 10) return try_single(actor);
  if (which < 34) return try_transfer(actor);
  if (which < 40) return try_strided(actor);
  if (which < 44) return try_move(actor);
  if (which < 48) return try_combine(actor);
  if (which < 64) return try_atomic(actor);
  if (which < 69) return try_signal(actor);
  if (which < 76) return try_wait(actor);
  if (which < 81) return try_wait_set(actor);
  if (which < 83) return try_signal_fetch(actor);
  if (which < 85) return try_fill(actor);
  if (which < 91) return try_order(actor);
  if (which < 92) return try_burst(actor);
  if (which < 93) return try_locked(actor);
  if (which < 94) return try_grid(actor);
  return try_meeting(actor);
}

void generator::next_segment(std::uint32_t operations) {
  for (auto& list : lists_) list.clear();
  for (auto& list : word_sets_) list.clear();
  std::fill(n_listed_.begin(), n_listed_.end(), 0);
  std::vector<int> everyone(index(n_actors_));
  std::iota(everyone.begin(), everyone.end(), 0);
  history_.join(everyone);
  std::fill(pending_.begin(), pending_.end(), caller::thread);
  for (int actor = 0; actor < n_actors_; ++actor) {
    for (std::uint32_t w = 0; w < places::signal_words; ++w)
      known_[index(actor)][w] = signals_[index(pe_of(actor))][w].value;
  }
  for (std::uint32_t left = operations; left > 0; --left) {
    ++number_;
    while (!try_any()) {
    }
  }
}

std::string generator::describe(std::uint32_t number) const {
  std::string text;
  for (std::size_t actor = 0; actor < lists_.size(); ++actor) {
    for (const instruction& i : lists_[actor]) {
      if (i.number != number) continue;
      text += "  #" + std::to_string(number) + " on PE " + std::to_string(pe_of(static_cast<int>(actor))) + " block " +
              std::to_string(static_cast<int>(actor) % n_blocks_) + ": " + text_of(i) + "\n";
    }
  }
  return text;
}

}  // namespace pgas_random
