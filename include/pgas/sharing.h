/// @file
/// Memory, timelines and events shared by handle, for C. `pgas/shared_memory.hpp`, `pgas/timeline.hpp` and
/// `pgas/ipc_event.hpp` describe each function. Functions that can fail return 0 or the number of an error code (401
/// for PGAS-E0401, see docs/errors.md). A function that fails leaves its results unchanged, and
/// pgas_sharing_error() returns the text.
///
/// Structs grow at their end in later versions. Inline functions of this header pass the size of the program's struct
/// to the library, by the functions whose names end in `_sized`. Other languages call the functions whose names end in
/// `_sized` directly. Set all members of a struct that you do not use to 0, for example by `= {0}`.
#pragma once

#include "pgas/detail/names_begin.inc"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "pgas/version.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/// Memory of this process that other processes may open: pgas::shared_memory.
typedef struct pgas_shared_memory pgas_shared_memory;
/// Memory of another process: pgas::opened_memory.
typedef struct pgas_opened_memory pgas_opened_memory;

/// Values for `flags`.
enum {
  PGAS_SHARE_READ_ONLY = 1,   ///< importers may only read
  PGAS_SHARE_WHOLE_BLOCK = 2  ///< importers may access more than the requested range
};
/// A value for `place`; other values are numbers of GPUs. pgas_open_memory() also accepts PGAS_PLACE_ANY: the place of
/// the memory.
enum { PGAS_PLACE_HOST = -1, PGAS_PLACE_ANY = -2 };
/// The size of a ticket's text, including its final 0.
enum { PGAS_TICKET_BYTES = 1025 };
/// A value for `timeout_ms` of pgas_timeline_wait_host() and pgas_opened_wait_host(): no time limit.
#define PGAS_FOREVER UINT64_MAX

/// The options of a ticket: pgas::ticket_options. If all fields except `user` are 0, the ticket is valid until it is
/// revoked. If the program sets a member that the library does not have, the library returns 106 (version_mismatch).
typedef struct pgas_ticket_options {
  uint64_t lifetime_s;                ///< 0: until it is revoked
  int opens;                          ///< 0: any number
  int64_t user;                       ///< the user whose processes may open the ticket; -1: this process's user
  const struct pgas_timeline* ready;  ///< tells when the memory is ready; null: the ticket carries no timeline
  int read_only;  ///< if not 0, an importer that uses this ticket may only read; other tickets are not affected
  int reserved;   ///< 0
} pgas_ticket_options;

/// A process that has opened memory of this process and has not closed it: pgas::opener.
typedef struct pgas_opener {
  pid_t pid;
  uid_t user;
  int64_t since_s;  ///< seconds since 1970
} pgas_opener;

struct pgas_timeline;
struct pgas_ipc_event;

/// The library's part of the inline functions below. @param options_bytes the size of the program's pgas_ticket_options
/// @param opener_bytes the size of the program's pgas_opener
int pgas_shared_ticket_sized(pgas_shared_memory* memory, const pgas_ticket_options* options, size_t options_bytes,
                             char* text);
int pgas_timeline_ticket_sized(struct pgas_timeline* timeline, const pgas_ticket_options* options, size_t options_bytes,
                               char* text);
int pgas_event_ticket_sized(struct pgas_ipc_event* event, const pgas_ticket_options* options, size_t options_bytes,
                            char* text);
int pgas_shared_openers_sized(const pgas_shared_memory* memory, pgas_opener* list, size_t opener_bytes, size_t room,
                              size_t* count);

/// The text of the last error on the calling thread; initially empty. The text is valid until the thread's next failing
/// call.
const char* pgas_sharing_error(void);

/// shared_memory::make().
int pgas_share_new(int place, size_t bytes, unsigned flags, pgas_shared_memory** memory);
/// shared_memory::share().
int pgas_share_existing(void* pointer, size_t bytes, unsigned flags, pgas_shared_memory** memory);
/// The memory in this process.
void* pgas_shared_data(const pgas_shared_memory* memory);
/// The size in bytes.
size_t pgas_shared_size(const pgas_shared_memory* memory);
/// Makes a ticket. @param options may be null @param text has room for PGAS_TICKET_BYTES
static inline int pgas_shared_ticket(pgas_shared_memory* memory, const pgas_ticket_options* options, char* text) {
  return pgas_shared_ticket_sized(memory, options, sizeof(pgas_ticket_options), text);
}
/// Invalidates all tickets made so far.
int pgas_shared_revoke(pgas_shared_memory* memory);
/// The processes that have the memory open now. @param list has space for `room` processes @param count the number of
/// processes, which may be larger than `room`
static inline int pgas_shared_openers(const pgas_shared_memory* memory, pgas_opener* list, size_t room, size_t* count) {
  return pgas_shared_openers_sized(memory, list, sizeof(pgas_opener), room, count);
}
/// Invalidates all tickets, and frees the memory if pgas_share_new() allocated it. Null is ignored.
void pgas_shared_free(pgas_shared_memory* memory);

/// opened_memory::open(). If the ticket carries a timeline, waits until the memory is ready.
/// @param timeout_ms time limit for the exporter's answer and for the memory to become ready
int pgas_open_memory(const char* ticket, int place, uint64_t timeout_ms, pgas_opened_memory** opened);
/// Like pgas_open_memory(), but does not wait until the memory is ready. The program must call pgas_opened_wait() or
/// pgas_opened_wait_host() before it uses the memory.
int pgas_open_memory_unready(const char* ticket, int place, uint64_t timeout_ms, pgas_opened_memory** opened);
/// Returns 1 if the ticket carries a timeline, otherwise 0.
int pgas_opened_has_timeline(const pgas_opened_memory* memory);
/// opened_memory::wait(): waits for all records that the exporter has enqueued so far. @param stream a `cudaStream_t`,
/// null on the host
int pgas_opened_wait(const pgas_opened_memory* memory, void* stream);
/// opened_memory::wait_host(). Returns 403 (wait_timeout) if the memory is not ready in time. With PGAS_FOREVER there
/// is no time limit.
int pgas_opened_wait_host(const pgas_opened_memory* memory, uint64_t timeout_ms);
/// The memory in this process.
void* pgas_opened_data(const pgas_opened_memory* memory);
/// The size in bytes.
size_t pgas_opened_size(const pgas_opened_memory* memory);
/// Returns 1 if this process may only read the memory, otherwise 0.
int pgas_opened_read_only(const pgas_opened_memory* memory);
/// The exporter's process id, in its own PID namespace.
pid_t pgas_opened_exporter(const pgas_opened_memory* memory);
/// Returns 0 while the exporter runs, otherwise 401 (peer_lost).
int pgas_opened_check(const pgas_opened_memory* memory);
/// Closes the memory. Unmaps the memory if no other object of this process has it open. Null is ignored.
void pgas_opened_close(pgas_opened_memory* memory);

/// A timeline, made by this process or opened: pgas::timeline. A stream is a `cudaStream_t` on a GPU, and null on the
/// host.
typedef struct pgas_timeline pgas_timeline;
/// timeline::make().
int pgas_timeline_new(int place, pgas_timeline** timeline);
/// timeline::open(). @param timeout_ms time limit for the exporter's answer
int pgas_timeline_open(const char* ticket, int place, uint64_t timeout_ms, pgas_timeline** opened);
/// Makes a ticket. @param options may be null @param text has room for PGAS_TICKET_BYTES
static inline int pgas_timeline_ticket(pgas_timeline* timeline, const pgas_ticket_options* options, char* text) {
  return pgas_timeline_ticket_sized(timeline, options, sizeof(pgas_ticket_options), text);
}
/// timeline::record().
int pgas_timeline_record(pgas_timeline* timeline, void* stream, uint64_t value);
/// timeline::set().
int pgas_timeline_set(pgas_timeline* timeline, uint64_t value);
/// timeline::wait().
int pgas_timeline_wait(pgas_timeline* timeline, void* stream, uint64_t value);
/// timeline::wait_host(). Returns 403 (wait_timeout) if the value is not reached in time.
int pgas_timeline_wait_host(const pgas_timeline* timeline, uint64_t value, uint64_t timeout_ms);
/// timeline::query().
int pgas_timeline_query(const pgas_timeline* timeline, uint64_t* value);
/// timeline::recorded().
int pgas_timeline_recorded(const pgas_timeline* timeline, uint64_t* value);
/// timeline::check(). Returns 0, or 401 (peer_lost).
int pgas_timeline_check(const pgas_timeline* timeline);
/// timeline::word().
int pgas_timeline_word(const pgas_timeline* timeline, uint64_t** word);
/// Destroys or closes the timeline. Null is ignored.
void pgas_timeline_free(pgas_timeline* timeline);

/// An interprocess event, made by this process or opened: pgas::ipc_event.
typedef struct pgas_ipc_event pgas_ipc_event;

/// ipc_event::make().
int pgas_event_new(int place, pgas_ipc_event** ipc_event);
/// ipc_event::share(). @param event a cudaEvent_t
int pgas_event_share(int place, void* event, pgas_ipc_event** ipc_event);
/// ipc_event::open(). @param timeout_ms time limit for the exporter's answer
int pgas_event_open(const char* ticket, uint64_t timeout_ms, pgas_ipc_event** opened);
/// Makes a ticket. @param options may be null @param text has room for PGAS_TICKET_BYTES
static inline int pgas_event_ticket(pgas_ipc_event* event, const pgas_ticket_options* options, char* text) {
  return pgas_event_ticket_sized(event, options, sizeof(pgas_ticket_options), text);
}
/// ipc_event::cuda_event().
int pgas_event_cuda(const pgas_ipc_event* event, void** cuda_event);
/// ipc_event::record(). @param number receives the number of the record; may be null
int pgas_event_record(pgas_ipc_event* event, void* stream, uint64_t* number);
/// ipc_event::records().
int pgas_event_records(const pgas_ipc_event* event, uint64_t* records);
/// ipc_event::wait().
int pgas_event_wait(pgas_ipc_event* event, void* stream);
/// ipc_event::reached(). @param reached receives 1 or 0
int pgas_event_reached(const pgas_ipc_event* event, int* reached);
/// ipc_event::check(). Returns 0, or 401 (peer_lost).
int pgas_event_check(const pgas_ipc_event* event);
/// Destroys or closes the event. Null is ignored.
void pgas_event_free(pgas_ipc_event* event);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#include "pgas/detail/names_end.inc"
