// The C functions of pgas/sharing.h for timelines.
#include "host/api/c_conversions.hpp"
#include "pgas/timeline.hpp"

using namespace pgas::sharing_c;

extern "C" {

int pgas_timeline_new(int place, pgas_timeline** timeline) {
  return status_of([&] {
    need(timeline != nullptr, "pgas_timeline_new: timeline");
    *timeline = new pgas_timeline{pgas::timeline::make(place_of(place))};
  });
}

int pgas_timeline_open(const char* ticket, int place, uint64_t timeout_ms, pgas_timeline** opened) {
  return status_of([&] {
    need(ticket != nullptr && opened != nullptr, "pgas_timeline_open: ticket or opened");
    *opened = new pgas_timeline{pgas::timeline::open(ticket, options_of(place, timeout_ms))};
  });
}

int pgas_timeline_ticket(pgas_timeline* timeline, const pgas_ticket_options* options, char* text) {
  return ticket_of(timeline, options, text, "pgas_timeline_ticket: timeline");
}

int pgas_timeline_record(pgas_timeline* timeline, void* stream, uint64_t value) {
  return status_with(timeline, "pgas_timeline_record: timeline", [&](auto& what) { what.record(stream, value); });
}
int pgas_timeline_set(pgas_timeline* timeline, uint64_t value) {
  return status_with(timeline, "pgas_timeline_set: timeline", [&](auto& what) { what.set(value); });
}
int pgas_timeline_wait(pgas_timeline* timeline, void* stream, uint64_t value) {
  return status_with(timeline, "pgas_timeline_wait: timeline", [&](auto& what) { what.wait(stream, value); });
}

int pgas_timeline_wait_host(const pgas_timeline* timeline, uint64_t value, uint64_t timeout_ms) {
  return status_with(timeline, "pgas_timeline_wait_host: timeline",
                     [&](auto& what) { what.wait_host(value, wait_of(timeout_ms)); });
}

int pgas_timeline_query(const pgas_timeline* timeline, uint64_t* value) {
  return status_with(timeline, "pgas_timeline_query: timeline", [&](auto& what) {
    need(value != nullptr, "pgas_timeline_query: value");
    *value = what.query();
  });
}
int pgas_timeline_recorded(const pgas_timeline* timeline, uint64_t* value) {
  return status_with(timeline, "pgas_timeline_recorded: timeline", [&](auto& what) {
    need(value != nullptr, "pgas_timeline_recorded: value");
    *value = what.recorded();
  });
}
int pgas_timeline_check(const pgas_timeline* timeline) {
  return status_with(timeline, "pgas_timeline_check: timeline", [](auto& what) { what.check(); });
}
int pgas_timeline_word(const pgas_timeline* timeline, uint64_t** word) {
  return status_with(timeline, "pgas_timeline_word: timeline", [&](auto& what) {
    need(word != nullptr, "pgas_timeline_word: word");
    *word = what.word();
  });
}
void pgas_timeline_free(pgas_timeline* timeline) { delete timeline; }

}  // extern "C"
