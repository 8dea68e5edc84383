// The C functions of pgas/sharing.h: memory, timelines, events. The functions return errors as numbers, and keep the
// text of the last error of each thread.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "pgas/error.hpp"
#include "pgas/ipc_event.hpp"
#include "pgas/shared_memory.hpp"
#include "pgas/sharing.h"
#include "pgas/timeline.hpp"
#include "pgas/version.h"

struct pgas_shared_memory {
  pgas::shared_memory is;
};
struct pgas_opened_memory {
  pgas::opened_memory is;
};
struct pgas_timeline {
  pgas::timeline is;
};
struct pgas_ipc_event {
  pgas::ipc_event is;
};

namespace pgas {

namespace {

/// The text of pgas_sharing_error() on this thread.
std::string& last_error() {
  thread_local std::string text;
  return text;
}

/// Runs `work`, which can throw, and returns the status.
template <class Work>
int status_of(const Work& work) noexcept {
  try {
    work();
    return 0;
  } catch (const error& failure) {
    last_error() = failure.what();
    return static_cast<int>(failure.code());
  } catch (const std::bad_alloc&) {
    last_error().clear();
    return static_cast<int>(code::out_of_memory);
  } catch (const std::exception& failure) {
    last_error() = failure.what();
    return static_cast<int>(code::system);
  }
}

void need(bool given, const char* what) {
  if (!given) throw error(code::invalid_argument, std::string(what) + " is null");
}

memory_place place_of(int place) {
  if (place < PGAS_PLACE_HOST)
    throw error(code::invalid_argument,
                "place " + std::to_string(place) + " is neither PGAS_PLACE_HOST nor the number of a GPU");
  return {place};
}

/// Converts a lifetime in seconds or a timeout in milliseconds. Reduces a value above 2^30 to 2^30, because clocks
/// cannot express much longer times. In practice, 2^30 of either unit is no limit.
std::int64_t cut(std::uint64_t value) { return static_cast<std::int64_t>(std::min<std::uint64_t>(value, 1u << 30)); }

/// The options of a program whose struct has `bytes` bytes. If the program's struct lacks a field, the field is 0 in
/// the result. *Errors* version_mismatch if the program has set a field that this library does not have.
pgas_ticket_options known_options(const pgas_ticket_options* options, std::size_t bytes) {
  pgas_ticket_options known{};
  std::memcpy(&known, options, std::min(bytes, sizeof known));
  const auto* const all = reinterpret_cast<const char*>(options);
  if (bytes > sizeof known && std::any_of(all + sizeof known, all + bytes, [](char byte) { return byte != 0; }))
    throw error(code::version_mismatch,
                fmt::format("pgas_ticket_options has {} bytes in the program and {} in libpgas {}, and a member behind "
                            "them is not 0: install the libpgas of the program's headers, or set the member to 0",
                            bytes, sizeof known, PGAS_VERSION_TEXT));
  if (known.reserved != 0)
    throw error(code::version_mismatch,
                fmt::format("pgas_ticket_options::reserved is {}, and libpgas " PGAS_VERSION_TEXT
                            " knows only 0: initialize the struct by = {{0}}",
                            known.reserved));
  return known;
}

ticket_options options_of(const pgas_ticket_options* passed, std::size_t bytes) {
  ticket_options wanted;
  if (passed == nullptr) return wanted;
  const pgas_ticket_options known = known_options(passed, bytes);
  const pgas_ticket_options* const options = &known;
  wanted.lifetime = std::chrono::seconds(cut(options->lifetime_s));
  wanted.opens = options->opens;
  if (options->user >= 0) wanted.user = static_cast<uid_t>(options->user);
  if (options->ready != nullptr) wanted.ready = &options->ready->is;
  if (options->read_only != 0) wanted.importers = access::read_only;
  return wanted;
}

/// Converts a timeout from the C interface. The timeout can be PGAS_FOREVER.
std::chrono::milliseconds wait_of(std::uint64_t timeout_ms) {
  return timeout_ms == PGAS_FOREVER ? timeline::forever : std::chrono::milliseconds(cut(timeout_ms));
}

open_options options_of(int place, std::uint64_t timeout_ms) {
  open_options options;
  options.timeout = std::chrono::milliseconds(cut(timeout_ms));
  if (place != PGAS_PLACE_ANY) options.place = place_of(place);
  return options;
}

/// Runs `work` with the object of the handle, and returns the status.
template <class Handle, class Work>
int status_with(Handle* handle, const char* name, const Work& work) noexcept {
  return status_of([&] {
    need(handle != nullptr, name);
    work(handle->is);
  });
}

/// Writes the ticket of the object into `text`.
template <class Handle>
int ticket_of(Handle* handle, const pgas_ticket_options* options, std::size_t bytes, char* text,
              const char* name) noexcept {
  return status_with(handle, name, [&](auto& what) {
    need(text != nullptr, "the room for the ticket");
    const std::string result = what.ticket(options_of(options, bytes));
    std::memcpy(text, result.c_str(), result.size() + 1);
  });
}

/// Stores the object that `make` returns, as a new handle.
template <class Handle, class Make>
int new_handle(bool given, const char* names, Handle** handle, const Make& make) noexcept {
  return status_of([&] {
    need(given && handle != nullptr, names);
    *handle = new Handle{make()};
  });
}

shared_memory_options options_of(unsigned flags) {
  if ((flags & ~unsigned{PGAS_SHARE_READ_ONLY | PGAS_SHARE_WHOLE_BLOCK}) != 0)
    throw error(code::invalid_argument,
                "flags " + std::to_string(flags) + ": PGAS_SHARE_READ_ONLY and PGAS_SHARE_WHOLE_BLOCK are known");
  return {(flags & PGAS_SHARE_READ_ONLY) != 0 ? access::read_only : access::read_write,
          (flags & PGAS_SHARE_WHOLE_BLOCK) != 0 ? whole_block::allow : whole_block::refuse};
}

}  // namespace

}  // namespace pgas

using namespace pgas;  // the header declares the functions below outside the namespace, and exports them

extern "C" {

const char* pgas_sharing_error(void) { return last_error().c_str(); }

int pgas_share_new(int place, size_t bytes, unsigned flags, pgas_shared_memory** memory) {
  return new_handle(true, "pgas_share_new: memory", memory,
                    [&] { return shared_memory::make(place_of(place), bytes, options_of(flags)); });
}

int pgas_share_existing(void* pointer, size_t bytes, unsigned flags, pgas_shared_memory** memory) {
  return new_handle(true, "pgas_share_existing: memory", memory,
                    [&] { return shared_memory::share(pointer, bytes, options_of(flags)); });
}

void* pgas_shared_data(const pgas_shared_memory* memory) { return memory != nullptr ? memory->is.data() : nullptr; }
size_t pgas_shared_size(const pgas_shared_memory* memory) { return memory != nullptr ? memory->is.size() : 0; }

int pgas_shared_ticket_sized(pgas_shared_memory* memory, const pgas_ticket_options* options, size_t options_bytes,
                             char* text) {
  return ticket_of(memory, options, options_bytes, text, "pgas_shared_ticket: memory");
}

int pgas_shared_revoke(pgas_shared_memory* memory) {
  return status_with(memory, "pgas_shared_revoke: memory", [&](auto& what) { what.revoke(); });
}

int pgas_shared_openers_sized(const pgas_shared_memory* memory, pgas_opener* list, size_t opener_bytes, size_t room,
                              size_t* count) {
  return status_of([&] {
    need(memory != nullptr && count != nullptr && (list != nullptr || room == 0), "pgas_shared_openers: an argument");
    const std::vector<opener> all = memory->is.opened_by();
    for (std::size_t i = 0; i < std::min(room, all.size()); ++i) {
      const auto since = all[i].since.time_since_epoch();
      const pgas_opener process{all[i].pid, all[i].uid,
                                std::chrono::duration_cast<std::chrono::seconds>(since).count()};
      char* const place = reinterpret_cast<char*>(list) + i * opener_bytes;
      std::memset(place, 0, opener_bytes);
      std::memcpy(place, &process, std::min(opener_bytes, sizeof process));
    }
    *count = all.size();
  });
}

void pgas_shared_free(pgas_shared_memory* memory) { delete memory; }

int pgas_open_memory(const char* ticket, int place, uint64_t timeout_ms, pgas_opened_memory** opened) {
  return new_handle(ticket != nullptr, "pgas_open_memory: ticket or opened", opened,
                    [&] { return opened_memory::open(ticket, options_of(place, timeout_ms)); });
}

int pgas_open_memory_unready(const char* ticket, int place, uint64_t timeout_ms, pgas_opened_memory** opened) {
  return new_handle(ticket != nullptr, "pgas_open_memory_unready: ticket or opened", opened, [&] {
    open_options options = options_of(place, timeout_ms);
    options.wait_until_ready = false;
    return opened_memory::open(ticket, options);
  });
}

int pgas_opened_has_timeline(const pgas_opened_memory* memory) {
  return memory != nullptr && memory->is.has_timeline() ? 1 : 0;
}

int pgas_opened_wait(const pgas_opened_memory* memory, void* stream) {
  return status_with(memory, "pgas_opened_wait: memory", [&](auto& what) { what.wait(stream); });
}

int pgas_opened_wait_host(const pgas_opened_memory* memory, uint64_t timeout_ms) {
  return status_with(memory, "pgas_opened_wait_host: memory", [&](auto& what) { what.wait_host(wait_of(timeout_ms)); });
}

void* pgas_opened_data(const pgas_opened_memory* memory) { return memory != nullptr ? memory->is.data() : nullptr; }
size_t pgas_opened_size(const pgas_opened_memory* memory) { return memory != nullptr ? memory->is.size() : 0; }

int pgas_opened_read_only(const pgas_opened_memory* memory) {
  return memory == nullptr || memory->is.access() == access::read_only ? 1 : 0;
}

pid_t pgas_opened_exporter(const pgas_opened_memory* memory) {
  return memory != nullptr ? memory->is.exporter().pid : 0;
}

int pgas_opened_check(const pgas_opened_memory* memory) {
  return status_with(memory, "pgas_opened_check: memory", [&](auto& what) { what.check(); });
}

void pgas_opened_close(pgas_opened_memory* memory) { delete memory; }

int pgas_timeline_new(int place, pgas_timeline** timeline) {
  return new_handle(true, "pgas_timeline_new: timeline", timeline, [&] { return timeline::make(place_of(place)); });
}

int pgas_timeline_open(const char* ticket, int place, uint64_t timeout_ms, pgas_timeline** opened) {
  return new_handle(ticket != nullptr, "pgas_timeline_open: ticket or opened", opened,
                    [&] { return timeline::open(ticket, options_of(place, timeout_ms)); });
}

int pgas_timeline_ticket_sized(pgas_timeline* timeline, const pgas_ticket_options* options, size_t options_bytes,
                               char* text) {
  return ticket_of(timeline, options, options_bytes, text, "pgas_timeline_ticket: timeline");
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

int pgas_event_new(int place, pgas_ipc_event** ipc_event) {
  return new_handle(true, "pgas_event_new: ipc_event", ipc_event, [&] { return ipc_event::make(place_of(place)); });
}

int pgas_event_share(int place, void* event, pgas_ipc_event** ipc_event) {
  return new_handle(true, "pgas_event_share: ipc_event", ipc_event,
                    [&] { return ipc_event::share(place_of(place), event); });
}

int pgas_event_open(const char* ticket, uint64_t timeout_ms, pgas_ipc_event** opened) {
  return new_handle(ticket != nullptr, "pgas_event_open: ticket or opened", opened,
                    [&] { return ipc_event::open(ticket, options_of(PGAS_PLACE_ANY, timeout_ms)); });
}

int pgas_event_ticket_sized(pgas_ipc_event* event, const pgas_ticket_options* options, size_t options_bytes,
                            char* text) {
  return ticket_of(event, options, options_bytes, text, "pgas_event_ticket: event");
}

int pgas_event_cuda(const pgas_ipc_event* event, void** cuda_event) {
  return status_with(event, "pgas_event_cuda: event", [&](auto& what) {
    need(cuda_event != nullptr, "pgas_event_cuda: cuda_event");
    *cuda_event = what.cuda_event();
  });
}
int pgas_event_record(pgas_ipc_event* event, void* stream, uint64_t* number) {
  return status_with(event, "pgas_event_record: event", [&](auto& what) {
    const std::uint64_t recorded = what.record(stream);
    if (number != nullptr) *number = recorded;
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
