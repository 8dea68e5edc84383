/// @file
/// Which signal ended which wait.
#pragma once

#include <cstdint>
#include <vector>

#include "common/trace/document.hpp"

namespace pgas_trace {

/// An event of a document that is not changed meanwhile.
struct place {
  std::size_t pe = 0;
  std::size_t track = 0;
  std::size_t event = 0;
};
[[nodiscard]] inline pgas::trace::event& at(pgas::trace::document& of, const place& where) {
  return of.pes[where.pe].tracks[where.track].events[where.event];
}
[[nodiscard]] inline const pgas::trace::event& at(const pgas::trace::document& of, const place& where) {
  return of.pes[where.pe].tracks[where.track].events[where.event];
}

struct arrow {
  place from;  ///< the signal, or another update of the awaited word
  place to;    ///< the wait, or the moment of a wait for several words
  place wait;  ///< the wait as a whole
};

struct arrows {
  std::vector<arrow> all;
  std::size_t signals = 0;  ///< signals and put_signals in the time line
  std::size_t unseen = 0;   ///< of these, those that no wait has seen
  std::size_t guessed = 0;  ///< arrows that only the times tell, as no sum of updates is the value that the wait saw
};

/// An update of a word has an arrow to the first wait that saw its value, or the value of a later update. Updates of a
/// word count in the order in which they began.
[[nodiscard]] arrows find_arrows(const pgas::trace::document& of);

/// Writes the arrows into the events, in place of those that are there.
void draw(const arrows& found, pgas::trace::document& into);

}  // namespace pgas_trace
