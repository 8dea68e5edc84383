/// @file
/// CUDA's interprocess events, for programs that already use them. New programs should use a timeline
/// (`pgas/timeline.hpp`): it works in graphs, between containers and on the host, and pgas-why reports waits for it.
///
/// An interprocess event works only if both processes see the same /dev/shm. A wait waits for the record that is the
/// newest at the time of the call. With CUDA's own functions, a wait before the first record returns immediately. This
/// class reports an error for a wait before the first record.
///
/// Records and waits of this class also use a word in a page that the processes share. A wait therefore ends if the
/// recording process ends; CUDA's own wait would never end (measured with driver 580). For records of
/// `cudaEventRecord`, use `cudaStreamWaitEvent` with cuda_event() in either process.
#pragma once

#include "pgas/detail/names_begin.inc"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pgas/detail/compiler.hpp"
#include "pgas/shared_memory.hpp"

namespace pgas {

namespace detail {
class event_state;
}

/// An interprocess event, made by this process or opened by a ticket. Move-only; initially empty.
///
/// CUDA's event exists until no process has the event open and no stream of this process uses it, even after the
/// destructor has run. Each object registers 7 pages of host memory with CUDA.
///
/// *Callers* any thread. A child of fork() may only call the destructor, which does nothing there.
/// *Errors* of all functions: invalid_argument on an empty object; forked_process; device_failed.
class PGAS_API ipc_event {
 public:
  ipc_event() noexcept;
  /// Moves the event. `other` is empty afterwards.
  ipc_event(ipc_event&& other) noexcept;
  /// Destroys the current event as the destructor does, then moves the other object.
  ipc_event& operator=(ipc_event&& other) noexcept;
  ~ipc_event();

  /// Makes an event of a GPU. *Errors* device_unavailable for the host, which has no events.
  [[nodiscard]] static ipc_event make(memory_place place);
  /// Shares an event that the program has created by `cudaEventCreateWithFlags(&event, cudaEventInterprocess |
  /// cudaEventDisableTiming)` on the GPU `place`. The program must not destroy its event while this object exists, or
  /// while opened_by() is not empty. *Errors* as make(); invalid_argument if CUDA cannot share the event.
  [[nodiscard]] static ipc_event share(memory_place place, void* event);
  /// Opens a ticket of ipc_event::ticket(), on the same GPU.
  /// *Errors* as opened_memory::open(); handle_invalid if the ticket does not belong to an event, or if the driver
  /// refuses the ticket; peer_unreachable if the two processes see different /dev/shm; device_unavailable if this
  /// process does not see the GPU; peer_lost if the event was destroyed.
  [[nodiscard, gnu::visibility("hidden")]] static ipc_event open(std::string_view ticket,
                                                                 const open_options& options = {}) {
    return open_ticket(ticket, detail::give(options));
  }

  /// Makes a ticket, as shared_memory::ticket(). *Errors* invalid_argument unless this process made the event.
  [[nodiscard, gnu::visibility("hidden")]] std::string ticket(const ticket_options& options = {}) {
    return make_ticket(detail::give(options));
  }
  /// Invalidates all tickets made so far. *Errors* as ticket().
  void revoke();
  /// The processes that have the event open now. *Errors* as ticket().
  [[nodiscard, gnu::visibility("hidden")]] std::vector<opener> opened_by() const {
    std::vector<opener> found;
    list_openers(detail::want(found));
    return found;
  }
  /// Whether there is an event.
  [[nodiscard]] explicit operator bool() const noexcept { return state_ != nullptr; }

  /// CUDA's event, a `cudaEvent_t`, for streams of its GPU. `cudaStreamWaitEvent` with a stream of another GPU ends the
  /// process (driver 580); wait() works with streams of any GPU. This object owns the event. If a process ends before
  /// its stream has reached a record, CUDA cannot record the event again, and the event stays at that record.
  [[nodiscard]] void* cuda_event() const;

  /// Records the event in a stream of the GPU (a `cudaStream_t`), as `cudaEventRecord` does. The call waits while 1024
  /// records of all processes are in progress. Returns the number of the record; the records of all processes are
  /// numbered together, from 1. *Errors* capturing: a graph cannot record an interprocess event; peer_lost as wait();
  /// wait_timeout if another process was stopped for 10 s while it recorded.
  std::uint64_t record(void* stream);
  /// The number of record() calls of all processes. A process that needs record n polls until records() is at least n,
  /// and then calls wait().
  [[nodiscard]] std::uint64_t records() const;
  /// Makes the stream wait until the last record has been reached. If the recording process ends before its stream
  /// reaches the record, the waiting stream continues within a second, a line is logged, and check() throws. Call
  /// check() after the synchronization of the stream and before the program uses the results. *Errors* capturing: CUDA
  /// does not allow waits for interprocess events in a graph; invalid_argument if the event was never recorded;
  /// peer_lost, naming host and process, if the maker of the event has ended or has destroyed it.
  void wait(void* stream);
  /// Whether the last record has been reached. *Errors* as wait(), except capturing.
  [[nodiscard]] bool reached() const;
  /// Throws if a wait has ended without its record, or would never end. *Errors* peer_lost, naming the process.
  void check() const;

 private:
  // The library's part of the inline functions above.
  [[nodiscard]] static ipc_event open_ticket(std::string_view ticket, const detail::given<open_options>& options);
  [[nodiscard]] std::string make_ticket(const detail::given<ticket_options>& options);
  void list_openers(const detail::wanted_list<opener>& found) const;

  explicit ipc_event(std::shared_ptr<detail::event_state> state) noexcept;
  [[nodiscard]] detail::event_state& state() const;
  std::shared_ptr<detail::event_state> state_;
};

}  // namespace pgas

#include "pgas/detail/names_end.inc"
