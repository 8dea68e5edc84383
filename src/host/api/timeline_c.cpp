// The C functions of pgas/sharing.h for timelines and interprocess events.
#include <cstring>

#include "host/api/sharing_c.hpp"
#include "pgas/ipc_event.hpp"
#include "pgas/timeline.hpp"

struct pgas_timeline {
  pgas::timeline is;
};
struct pgas_ipc_event {
  pgas::ipc_event is;
};

namespace {

using namespace pgas::sharing_c;

/// The status of `work` with what is behind the handle.
template <class Handle, class Work>
int status_with(Handle* handle, const char* name, const Work& work) noexcept {
  return status_of([&] {
    need(handle != nullptr, name);
    work(handle->is);
  });
}

/// A ticket as text of C.
template <class Handle>
int ticket_of(Handle* handle, const pgas_ticket_options* options, char* text, const char* name) noexcept {
  return status_with(handle, name, [&](auto& what) {
    need(text != nullptr, "the room for the ticket");
    const std::string made = what.ticket(options_of(options));
    std::memcpy(text, made.c_str(), made.size() + 1);
  });
}

}  // namespace

extern "C" {

int pgas_timeline_new(int place, pgas_timeline** made) {
  return status_of([&] {
    need(made != nullptr, "pgas_timeline_new: made");
    *made = new pgas_timeline{pgas::timeline::make(place_of(place))};
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
  return status_with(timeline, "pgas_timeline_wait_host: timeline", [&](auto& what) {
    what.wait_host(value,
                   timeout_ms == PGAS_FOREVER ? pgas::timeline::forever : std::chrono::milliseconds(cut(timeout_ms)));
  });
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

int pgas_event_new(int place, pgas_ipc_event** made) {
  return status_of([&] {
    need(made != nullptr, "pgas_event_new: made");
    *made = new pgas_ipc_event{pgas::ipc_event::make(place_of(place))};
  });
}

int pgas_event_open(const char* ticket, uint64_t timeout_ms, pgas_ipc_event** opened) {
  return status_of([&] {
    need(ticket != nullptr && opened != nullptr, "pgas_event_open: ticket or opened");
    *opened = new pgas_ipc_event{pgas::ipc_event::open(ticket, options_of(PGAS_PLACE_ANY, timeout_ms))};
  });
}

int pgas_event_ticket(pgas_ipc_event* event, const pgas_ticket_options* options, char* text) {
  return ticket_of(event, options, text, "pgas_event_ticket: event");
}

int pgas_event_record(pgas_ipc_event* event, void* stream, uint64_t* number) {
  return status_with(event, "pgas_event_record: event", [&](auto& what) {
    const std::uint64_t made = what.record(stream);
    if (number != nullptr) *number = made;
  });
}
int pgas_event_records(const pgas_ipc_event* event, uint64_t* records) {
  return status_with(event, "pgas_event_records: event", [&](auto& what) {
    need(records != nullptr, "pgas_event_records: records");
    *records = what.records();
  });
}
int pgas_event_wait(pgas_ipc_event* event, void* stream) {
  return status_with(event, "pgas_event_wait: event", [&](auto& what) { what.wait(stream); });
}
int pgas_event_reached(const pgas_ipc_event* event, int* reached) {
  return status_with(event, "pgas_event_reached: event", [&](auto& what) {
    need(reached != nullptr, "pgas_event_reached: reached");
    *reached = what.reached() ? 1 : 0;
  });
}
void pgas_event_free(pgas_ipc_event* event) { delete event; }

}  // extern "C"
