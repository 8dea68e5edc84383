// The choice of waits for signal words in random programs. Only words whose values are never decreased are waited for.
#include <algorithm>

#include "generator.hpp"

namespace pgas_random {

bool generator::try_wait(int actor) {
  const int me = pe_of(actor);
  instruction i = blank();
  i.what = opcode::wait;
  i.by = pick_caller();
  i.compare = pgas::cmp::ge;
  i.count = 1;
  const bool added = chance(2);
  i.signal = added ? places::added_words + pick(places::most_blocks)
                   : (chance(3) ? places::set_words : places::sent_words) + pick(static_cast<std::uint32_t>(n_actors_));
  const sent& word = signals_[index(me)][i.signal];
  i.value = word.value;
  if (i.value == 0) return false;
  history_.acquire(actor, word.seen);
  known_[index(actor)][i.signal] = i.value;
  // An actor that adds to the word again does so after this wait.
  if (added) history_.record(actor, word_place(me, i.signal), access::read);
  if (added && chance(2)) i.compare = pgas::cmp::eq;
  if (chance(4)) {
    i.compare = pgas::cmp::gt;
    --i.value;
  }
  take(actor, i, me);
  return true;
}

bool generator::try_wait_set(int actor) {
  constexpr opcode kinds[] = {opcode::wait_all,        opcode::wait_any,        opcode::wait_some,
                              opcode::wait_all_vector, opcode::wait_any_vector, opcode::wait_some_vector};
  const int me = pe_of(actor);
  const std::uint32_t kind = pick(6);
  const bool all = kind % 3 == 0;
  const bool vector = kind >= 3;
  instruction i = blank();
  i.what = kinds[kind];
  i.by = pick_caller();
  i.compare = pgas::cmp::ge;
  // Words that are set to increasing values, each by one block.
  constexpr std::uint32_t words = places::added_words;
  i.signal = pick(words);
  i.count = 1 + pick(std::min(words - i.signal, word_set::most));
  i.value = signals_[index(me)][i.signal + pick(i.count)].value;

  constexpr std::uint64_t never = ~std::uint64_t{0};
  word_set set{};
  bool waits_in_vain = false;
  history::clock common{};  // the accesses that the block has seen after the wait, no matter which word ended the wait
  common.fill(0xffff);
  std::vector<history::clock> each;
  for (std::uint32_t k = 0; k < i.count; ++k) {
    const sent& word = signals_[index(me)][i.signal + k];
    std::uint64_t& value = set.values[k];
    value = i.value;
    if (vector) value = chance(3) ? never : word.value - std::min<std::uint64_t>(word.value, chance(3) ? pick(5) : 0);
    const bool holds = word.value >= value;
    // If all words are compared with one common value, words that do not certainly reach this value are left out.
    if (chance(4) || (!holds && (all || !vector))) set.status[k] = static_cast<std::int32_t>(1 + pick(9));
    if (set.status[k] != 0) continue;
    if (!holds) {
      waits_in_vain = true;
      continue;
    }
    set.certain |= 1u << k;
    if (known_[index(actor)][i.signal + k] >= value) set.known |= 1u << k;
    const history::clock seen = word.value == value ? word.seen : history::clock{};
    for (std::size_t a = 0; a < seen.size(); ++a) common[a] = std::min(common[a], seen[a]);
    each.push_back(seen);
  }
  if (set.certain == 0 && waits_in_vain) return false;
  if (!all) {
    i.result = pick_result(actor, 8);
    if (i.result == nowhere) return false;
    history_.record(actor, {me, i.result, 8}, access::local_write);
    each.clear();
    if (set.certain != 0) each.push_back(common);
  }
  for (const history::clock& seen : each) history_.acquire(actor, seen);
  const bool single = (set.certain & (set.certain - 1)) == 0;
  for (std::uint32_t k = 0; k < i.count; ++k) {
    std::uint64_t& known = known_[index(actor)][i.signal + k];
    if ((set.certain >> k & 1u) != 0 && (all || single)) known = std::max(known, set.values[k]);
  }
  std::vector<word_set>& sets = word_sets_[index(me)];
  i.src = static_cast<std::uint32_t>(sets.size());
  sets.push_back(set);
  take(actor, i, me);
  return true;
}

bool generator::try_signal_fetch(int actor) {
  const int me = pe_of(actor);
  instruction i = blank();
  i.what = opcode::signal_fetch;
  i.signal = places::added_words + pick(places::most_blocks);
  i.result = pick_result(actor, 8);
  if (i.result == nowhere || !history_.allowed(actor, word_place(me, i.signal), access::read)) return false;
  history_.record(actor, word_place(me, i.signal), access::read);
  history_.record(actor, {me, i.result, 8}, access::local_write);
  take(actor, i, me);
  return true;
}

}  // namespace pgas_random
