#include "tools/pgas-trace/arrows.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>
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

/// The updates of a word and the waits for the word.
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

/// Returns the updates of each word, and the waits for it. The key is the PE and the offset of the word.
std::map<std::pair<std::int32_t, std::uint64_t>, word> words_of(const document& trace, arrows& counts) {
  std::map<std::pair<std::int32_t, std::uint64_t>, word> words;
  for (std::size_t pe = 0; pe < trace.pes.size(); ++pe)
    for (std::size_t track = 0; track < trace.pes[pe].tracks.size(); ++track) {
      const std::vector<event>& events = trace.pes[pe].tracks[track].events;
      for (std::size_t i = 0; i < events.size(); ++i) {
        const event_facts& facts = events[i].facts;
        if (is_signal(facts)) ++counts.signals;
        if (updates_word(facts))
          words[{facts.peer, facts.offset}].updates.push_back({{pe, track, i}, &events[i]});
        else if (facts.kind == event_kind::wait && facts.offset != pgas::trace::no_offset)
          words[{trace.pes[pe].pe, facts.offset}].waits.push_back({{pe, track, i}, &events[i]});
      }
    }
  return words;
}

/// Finds how many updates of a word each wait has seen. The waits are passed in the order of time.
class matcher {
 public:
  /// @param error the largest difference between the clocks of two PEs in the trace
  matcher(const document& trace, word& all, std::int64_t error) : of_(trace), all_(all), error_(error) {
    std::ranges::stable_sort(all.updates, {}, begin_of);
    std::ranges::stable_sort(all.waits, {}, [](const timed& event) { return event.what->facts.end; });
    by_value_[0] = {0};
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < all.updates.size(); ++i) {
      const event_facts& facts = all.updates[i].what->facts;
      value = facts.update == update::set ? facts.value : value + facts.value;
      by_value_[value].push_back(i + 1);
    }
  }

  void match(arrows& found) {
    std::size_t seen = 0;
    for (const timed& wait : all_.waits) {
      bool guessed = false;
      const std::size_t now = seen_by(wait.what->facts, guessed);
      for (; seen < now; ++seen) {
        found.all.push_back({all_.updates[seen].where, wait.where, whole(wait.where)});
        if (guessed) ++found.guessed;
      }
      // The part of the sum that a wait subtracts is not visible to later waits.
      if (wait.what->facts.update == update::add) taken_ += wait.what->facts.value;
    }
    for (; seen < all_.updates.size(); ++seen)
      if (is_signal(all_.updates[seen].what->facts)) ++found.unseen;
  }

 private:
  [[nodiscard]] static std::int64_t begin_of(const timed& event) { return event.what->facts.begin; }

  /// The number of updates that had begun when a wait ended.
  [[nodiscard]] std::size_t begun_until(std::int64_t end) const {
    return static_cast<std::size_t>(std::ranges::upper_bound(all_.updates, end + error_, {}, begin_of) -
                                    all_.updates.begin());
  }

  /// The number of updates after which the word had the value that the wait saw. If several updates gave the word this
  /// value, the result is the number of the last such update that the clocks allow.
  [[nodiscard]] std::size_t seen_by(const event_facts& wait, bool& guessed) const {
    const std::size_t begun = begun_until(wait.end);
    const auto same = by_value_.find(wait.seen + taken_);
    guessed = same == by_value_.end();
    if (guessed) return begun;
    const auto after = std::ranges::upper_bound(same->second, begun);
    return after == same->second.begin() ? *after : *std::prev(after);
  }

  /// Events without duration follow the events that contain them.
  [[nodiscard]] place whole(const place& slot) const {
    const event_facts& moment = at(of_, slot).facts;
    if (moment.begin != moment.end) return slot;
    for (place before = slot; before.event-- > 0;) {
      const event_facts& facts = at(of_, before).facts;
      if (facts.kind == event_kind::wait && facts.begin != facts.end && facts.end >= moment.end) return before;
    }
    return slot;
  }

  const document& of_;
  word& all_;
  const std::int64_t error_;
  /// For each value, the indices of the updates after which the word had this value.
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> by_value_;
  std::uint64_t taken_ = 0;
};

}  // namespace

arrows find_arrows(const document& trace) {
  arrows found;
  std::int64_t error = 0;
  for (const pgas::trace::pe_trace& pe : trace.pes) error = std::max(error, 2 * pe.clock_error);
  for (auto& [key, all] : words_of(trace, found)) matcher(trace, all, error).match(found);
  return found;
}

void draw(const arrows& found, document& into) {
  for (pgas::trace::pe_trace& pe : into.pes)
    for (pgas::trace::track& track : pe.tracks)
      for (event& item : track.events) {
        item.arrows_out.clear();
        item.arrows_in.clear();
      }
  std::uint64_t number = 0;
  for (const arrow& item : found.all) {
    at(into, item.from).arrows_out.push_back(++number);
    at(into, item.to).arrows_in.push_back(number);
  }
}

}  // namespace pgas_trace
