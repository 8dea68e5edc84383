#include "tools/pgas-trace/arrows.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

namespace pgas_trace {

namespace {

using pgas::trace::document;
using pgas::trace::event;
using pgas::trace::event_facts;
using pgas::trace::event_kind;
using pgas::trace::update;

struct timed {
  place where;
  const event* what;
};

/// The updates of a word and the waits for it.
struct word {
  std::vector<timed> updates;
  std::vector<timed> waits;
};

[[nodiscard]] bool updates_word(const event_facts& facts) {
  return (facts.kind == event_kind::signal || facts.kind == event_kind::atomic) &&
         (facts.update == update::set || facts.update == update::add) && facts.peer >= 0 &&
         facts.offset != pgas::trace::no_offset;
}

[[nodiscard]] bool is_signal(const event_facts& facts) {
  return facts.kind == event_kind::signal && facts.by != pgas::trace::caller::proxy;
}

/// By PE and offset.
std::map<std::pair<std::int32_t, std::uint64_t>, word> words_of(const document& of, arrows& counts) {
  std::map<std::pair<std::int32_t, std::uint64_t>, word> words;
  for (std::size_t pe = 0; pe < of.pes.size(); ++pe)
    for (std::size_t track = 0; track < of.pes[pe].tracks.size(); ++track) {
      const std::vector<event>& events = of.pes[pe].tracks[track].events;
      for (std::size_t i = 0; i < events.size(); ++i) {
        const event_facts& facts = events[i].facts;
        if (is_signal(facts)) ++counts.signals;
        if (updates_word(facts))
          words[{facts.peer, facts.offset}].updates.push_back({{pe, track, i}, &events[i]});
        else if (facts.kind == event_kind::wait && facts.offset != pgas::trace::no_offset)
          words[{of.pes[pe].pe, facts.offset}].waits.push_back({{pe, track, i}, &events[i]});
      }
    }
  return words;
}

/// How many updates a wait has seen, of those of its word in the order of time.
class matcher {
 public:
  matcher(const document& of, word& all) : of_(of), all_(all) {
    std::ranges::stable_sort(all.updates, {}, [](const timed& one) { return one.what->facts.begin; });
    std::ranges::stable_sort(all.waits, {}, [](const timed& one) { return one.what->facts.end; });
    std::uint64_t value = 0;
    for (const timed& one : all.updates) {
      value = one.what->facts.update == update::set ? one.what->facts.value : value + one.what->facts.value;
      values_.push_back(value);
    }
  }

  void match(arrows& found) {
    std::size_t seen = 0;
    for (const timed& wait : all_.waits) {
      bool guessed = false;
      const std::size_t now = seen_by(wait, seen, guessed);
      for (; seen < now; ++seen) {
        found.all.push_back({all_.updates[seen].where, wait.where, whole(wait.where)});
        if (guessed) ++found.guessed;
      }
      // What a wait takes away, later waits do not see.
      if (wait.what->facts.update == update::add) taken_ += wait.what->facts.value;
    }
    for (; seen < all_.updates.size(); ++seen)
      if (is_signal(all_.updates[seen].what->facts)) ++found.unseen;
  }

 private:
  [[nodiscard]] std::size_t seen_by(const timed& wait, std::size_t before, bool& guessed) const {
    const std::int64_t end = wait.what->facts.end;
    std::size_t by_value = 0;
    std::size_t in_time = 0;
    for (std::size_t i = before; i < values_.size(); ++i) {
      const timed& one = all_.updates[i];
      const bool possible = one.what->facts.begin <= end + error_between(one.where, wait.where);
      if (values_[i] - taken_ == wait.what->facts.seen) {
        if (by_value == 0 || possible) by_value = i + 1;
      }
      if (possible) in_time = i + 1;
    }
    if (by_value != 0) return by_value;
    if (before != 0 && values_[before - 1] - taken_ == wait.what->facts.seen) return before;  // an earlier wait saw it
    guessed = true;
    return std::max(before, in_time);
  }

  /// Moments lie behind the events that they are inside of.
  [[nodiscard]] place whole(const place& of) const {
    const event_facts& moment = at(of_, of).facts;
    if (moment.begin != moment.end) return of;
    for (place before = of; before.event-- > 0;) {
      const event_facts& facts = at(of_, before).facts;
      if (facts.kind == event_kind::wait && facts.begin != facts.end && facts.end >= moment.end) return before;
    }
    return of;
  }
  [[nodiscard]] std::int64_t error_between(const place& a, const place& b) const {
    return std::max<std::int64_t>(of_.pes[a.pe].clock_error, 0) + std::max<std::int64_t>(of_.pes[b.pe].clock_error, 0);
  }

  const document& of_;
  word& all_;
  std::vector<std::uint64_t> values_;  ///< of the word after each update, from 0 on
  std::uint64_t taken_ = 0;
};

}  // namespace

arrows find_arrows(const document& of) {
  arrows found;
  for (auto& [key, all] : words_of(of, found)) matcher(of, all).match(found);
  return found;
}

void draw(const arrows& found, document& into) {
  for (pgas::trace::pe_trace& pe : into.pes)
    for (pgas::trace::track& track : pe.tracks)
      for (event& one : track.events) {
        one.arrows_out.clear();
        one.arrows_in.clear();
      }
  std::uint64_t number = 0;
  for (const arrow& one : found.all) {
    at(into, one.from).arrows_out.push_back(++number);
    at(into, one.to).arrows_in.push_back(number);
  }
}

}  // namespace pgas_trace
