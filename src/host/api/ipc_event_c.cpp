// The C functions of pgas/sharing.h for interprocess events.
#include "host/api/c_conversions.hpp"
#include "pgas/ipc_event.hpp"

struct pgas_ipc_event {
  pgas::ipc_event is;
};

using namespace pgas::sharing_c;

extern "C" {

int pgas_event_new(int place, pgas_ipc_event** ipc_event) {
  return status_of([&] {
    need(ipc_event != nullptr, "pgas_event_new: ipc_event");
    *ipc_event = new pgas_ipc_event{pgas::ipc_event::make(place_of(place))};
  });
}

int pgas_event_share(int place, void* event, pgas_ipc_event** ipc_event) {
  return status_of([&] {
    need(ipc_event != nullptr, "pgas_event_share: ipc_event");
    *ipc_event = new pgas_ipc_event{pgas::ipc_event::share(place_of(place), event)};
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

int pgas_event_cuda(const pgas_ipc_event* event, void** cuda_event) {
  return status_with(event, "pgas_event_cuda: event", [&](auto& what) {
    need(cuda_event != nullptr, "pgas_event_cuda: cuda_event");
    *cuda_event = what.cuda_event();
  });
}
int pgas_event_record(pgas_ipc_event* event, void* stream, uint64_t* number) {
  return status_with(event, "pgas_event_record: event", [&](auto& what) {
    const std::uint64_t ipc_event = what.record(stream);
    if (number != nullptr) *number = ipc_event;
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
int pgas_event_check(const pgas_ipc_event* event) {
  return status_with(event, "pgas_event_check: event", [](auto& what) { what.check(); });
}
void pgas_event_free(pgas_ipc_event* event) { delete event; }

}  // extern "C"
