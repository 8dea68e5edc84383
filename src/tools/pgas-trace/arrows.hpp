/// @file
/// Finds the signal that ended each wait.
#pragma once

#include <cstdint>
#include <vector>

#include "common/trace/document.hpp"

namespace pgas_trace {

/// The position of an event in a document; valid until the document changes.
struct place {
  std::size_t pe = 0;
  std::size_t track = 0;
  std::size_t event = 0;
};
[[nodiscard]] inline pgas::trace::event& at(pgas::trace::document& trace, const place& where) {
  return trace.pes[where.pe].tracks[where.track].events[where.event];
}
[[nodiscard]] inline const pgas::trace::event& at(const pgas::trace::document& trace, const place& where) {
  return trace.pes[where.pe].tracks[where.track].events[where.event];
}

struct arrow {
  place from;  ///< the signal, or another update of the word
  place to;    ///< the wait, or the moment in a wait for several words
  place wait;  ///< the complete wait
};

struct arrows {
  std::vector<arrow> all;
  std::size_t signals = 0;  ///< the number of signals and put_signals in the trace
  std::size_t unseen = 0;   ///< the number of signals and put_signals that no wait has seen
  /// The number of arrows that are derived from the times only, because no sum of updates is equal to the value that
  /// the wait saw.
  std::size_t guessed = 0;
};

/// Finds the arrows. An update of a word has an arrow to the first wait that saw the value after this update or after a
/// later update. The updates of a word are ordered by their start times.
[[nodiscard]] arrows find_arrows(const pgas::trace::document& trace);

/// Writes the arrows into the events. The new arrows replace earlier arrows.
void draw(const arrows& found, pgas::trace::document& into);

}  // namespace pgas_trace
