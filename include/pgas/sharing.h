/// @file
/// Memory, timelines and events shared by handle, for C: `pgas/shared_memory.hpp`, `pgas/timeline.hpp` and
/// `pgas/ipc_event.hpp` say what each function does. Every function that can fail
/// returns 0 or the number of an error code (401 for PGAS-E0401, see docs/errors.md) and leaves its results as they
/// were; pgas_sharing_error() has the text.
#pragma once

#include "pgas/detail/names_begin.inc"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/// Memory of this process that others may open: pgas::shared_memory.
typedef struct pgas_shared_memory pgas_shared_memory;
/// Memory of another process: pgas::opened_memory.
typedef struct pgas_opened_memory pgas_opened_memory;

/// For `flags`.
enum {
  PGAS_SHARE_READ_ONLY = 1,   ///< importers may only read
  PGAS_SHARE_WHOLE_BLOCK = 2  ///< importers may get more than what was asked for
};
/// For `place`: this, or the number of a GPU. In pgas_open_memory() also PGAS_PLACE_ANY: where the memory lies.
enum { PGAS_PLACE_HOST = -1, PGAS_PLACE_ANY = -2 };
/// A ticket's text and its final 0 fit so many bytes.
enum { PGAS_TICKET_BYTES = 1025 };
/// For `timeout_ms` of pgas_timeline_wait_host() and pgas_opened_wait_host(): no end.
#define PGAS_FOREVER UINT64_MAX

/// What a ticket allows: pgas::ticket_options. All zeros but `user`: this process's own user, until it is revoked.
typedef struct pgas_ticket_options {
  uint64_t lifetime_s;                ///< 0: until it is revoked
  int opens;                          ///< 0: any number
  int64_t user;                       ///< whose processes may open it; -1: those of this process's own user
  const struct pgas_timeline* ready;  ///< says when the memory is ready; null: the ticket carries no timeline
  int read_only;                      ///< not 0: importers by this ticket may only read, though others may write
} pgas_ticket_options;

/// A process that has memory of this one open: pgas::opener.
typedef struct pgas_opener {
  pid_t pid;
  uid_t user;
  int64_t since_s;  ///< seconds since 1970
} pgas_opener;

/// The text of the last error on the calling thread; empty at first. Valid until the thread's next failing call.
const char* pgas_sharing_error(void);

/// shared_memory::make().
int pgas_share_new(int place, size_t bytes, unsigned flags, pgas_shared_memory** made);
/// shared_memory::of().
int pgas_share_existing(void* pointer, size_t bytes, unsigned flags, pgas_shared_memory** made);
/// The memory in this process.
void* pgas_shared_data(const pgas_shared_memory* memory);
/// In bytes.
size_t pgas_shared_size(const pgas_shared_memory* memory);
/// A new ticket. @param options may be null @param text room for PGAS_TICKET_BYTES
int pgas_shared_ticket(pgas_shared_memory* memory, const pgas_ticket_options* options, char* text);
/// Makes all tickets made so far invalid.
int pgas_shared_revoke(pgas_shared_memory* memory);
/// Who has the memory open now. @param list room for `room` of them @param count how many there are, even if more
int pgas_shared_openers(const pgas_shared_memory* memory, pgas_opener* list, size_t room, size_t* count);
/// Forgets all tickets, and frees the memory where it was made here. Null is ignored.
void pgas_shared_free(pgas_shared_memory* memory);

/// opened_memory::open(). Waits until the memory is ready, where the ticket carries a timeline.
/// @param timeout_ms how long the exporter may take to answer and to get it ready
int pgas_open_memory(const char* ticket, int place, uint64_t timeout_ms, pgas_opened_memory** opened);
/// The same without waiting until the memory is ready: pgas_opened_wait() or pgas_opened_wait_host() does.
int pgas_open_memory_unready(const char* ticket, int place, uint64_t timeout_ms, pgas_opened_memory** opened);
/// 1 where the ticket carries a timeline.
int pgas_opened_has_timeline(const pgas_opened_memory* memory);
/// opened_memory::wait(): for what the exporter has recorded by now. @param stream a `cudaStream_t`, null on the host
int pgas_opened_wait(const pgas_opened_memory* memory, void* stream);
/// opened_memory::wait_host(). 403 (wait_timeout) where the memory is not ready in time; PGAS_FOREVER: no end.
int pgas_opened_wait_host(const pgas_opened_memory* memory, uint64_t timeout_ms);
/// The memory in this process.
void* pgas_opened_data(const pgas_opened_memory* memory);
/// In bytes.
size_t pgas_opened_size(const pgas_opened_memory* memory);
/// 1 where this process may only read it.
int pgas_opened_read_only(const pgas_opened_memory* memory);
/// The exporter's number, as it calls itself.
pid_t pgas_opened_exporter(const pgas_opened_memory* memory);
/// 0 while the exporter still runs, else 401 (peer_lost).
int pgas_opened_check(const pgas_opened_memory* memory);
/// Unmaps the memory with the last object of this process that has it open. Null is ignored.
void pgas_opened_close(pgas_opened_memory* memory);

/// A timeline, made here or opened: pgas::timeline. Streams are a `cudaStream_t` on a GPU, null on the host.
typedef struct pgas_timeline pgas_timeline;
/// timeline::make().
int pgas_timeline_new(int place, pgas_timeline** made);
/// timeline::open(). @param timeout_ms how long the exporter may take to answer
int pgas_timeline_open(const char* ticket, int place, uint64_t timeout_ms, pgas_timeline** opened);
/// A new ticket. @param options may be null @param text room for PGAS_TICKET_BYTES
int pgas_timeline_ticket(pgas_timeline* timeline, const pgas_ticket_options* options, char* text);
/// timeline::record().
int pgas_timeline_record(pgas_timeline* timeline, void* stream, uint64_t value);
/// timeline::set().
int pgas_timeline_set(pgas_timeline* timeline, uint64_t value);
/// timeline::wait().
int pgas_timeline_wait(pgas_timeline* timeline, void* stream, uint64_t value);
/// timeline::wait_host(). 403 (wait_timeout) where the value has not come.
int pgas_timeline_wait_host(const pgas_timeline* timeline, uint64_t value, uint64_t timeout_ms);
/// timeline::query().
int pgas_timeline_query(const pgas_timeline* timeline, uint64_t* value);
/// timeline::recorded().
int pgas_timeline_recorded(const pgas_timeline* timeline, uint64_t* value);
/// timeline::check(): 0, or 401 (peer_lost).
int pgas_timeline_check(const pgas_timeline* timeline);
/// timeline::word().
int pgas_timeline_word(const pgas_timeline* timeline, uint64_t** word);
/// Destroys or closes it. Null is ignored.
void pgas_timeline_free(pgas_timeline* timeline);

/// An interprocess event, made here or opened: pgas::ipc_event.
typedef struct pgas_ipc_event pgas_ipc_event;

/// ipc_event::make().
int pgas_event_new(int place, pgas_ipc_event** made);
/// ipc_event::of(). @param event a cudaEvent_t
int pgas_event_of(int place, void* event, pgas_ipc_event** made);
/// ipc_event::open(). @param timeout_ms how long the exporter may take to answer
int pgas_event_open(const char* ticket, uint64_t timeout_ms, pgas_ipc_event** opened);
/// A new ticket. @param options may be null @param text room for PGAS_TICKET_BYTES
int pgas_event_ticket(pgas_ipc_event* event, const pgas_ticket_options* options, char* text);
/// ipc_event::cuda_event().
int pgas_event_cuda(const pgas_ipc_event* event, void** cuda_event);
/// ipc_event::record(). @param number of the record; may be null
int pgas_event_record(pgas_ipc_event* event, void* stream, uint64_t* number);
/// ipc_event::records().
int pgas_event_records(const pgas_ipc_event* event, uint64_t* records);
/// ipc_event::wait().
int pgas_event_wait(pgas_ipc_event* event, void* stream);
/// ipc_event::reached(). @param reached 1 or 0
int pgas_event_reached(const pgas_ipc_event* event, int* reached);
/// ipc_event::check(): 0, or 401 (peer_lost).
int pgas_event_check(const pgas_ipc_event* event);
/// Destroys or closes it. Null is ignored.
void pgas_event_free(pgas_ipc_event* event);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#include "pgas/detail/names_end.inc"
