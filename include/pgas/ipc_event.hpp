/// @file
/// CUDA's interprocess events, for programs that have them already. New ones take a timeline (`pgas/timeline.hpp`): it
/// works in graphs, between containers and on the host, and a wait for it says what it waits for.
///
/// An interprocess event resolves only where both processes see the same /dev/shm. A wait is for the last record at the
/// time of the call: one that comes before the first record would wait for nothing, and is an error here.
///
/// Records and waits by the functions of this file also go through a word of a page that the processes share, so that a
/// wait ends when the process that was to reach the record has ended; CUDA's own wait has no end then (measured with
/// driver 580). What is recorded by `cudaEventRecord` is for `cudaStreamWaitEvent`, in either process: cuda_event().
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

/// An interprocess event, made here or opened by a ticket. Move-only; empty at first.
///
/// The event of CUDA is kept until nobody has it open and no stream of this process uses it, also after the destructor.
/// Registers 7 pages of host memory with CUDA.
///
/// *Callers* any thread. In a child of fork() only the destructor may be called, which does nothing there.
/// *Errors* of all: invalid_argument on an empty object; forked_process; device_failed.
class PGAS_API ipc_event {
 public:
  ipc_event() noexcept;
  /// Takes over the event of `other`, which is empty then.
  ipc_event(ipc_event&& other) noexcept;
  /// The same, after what the destructor does.
  ipc_event& operator=(ipc_event&& other) noexcept;
  ~ipc_event();

  /// A new event of a GPU. *Errors* device_unavailable on the host, which has no events.
  [[nodiscard]] static ipc_event make(memory_place place);
  /// An event that the program has made, by `cudaEventCreateWithFlags(&event, cudaEventInterprocess |
  /// cudaEventDisableTiming)` on the GPU `place`. The program destroys it, after this object and when opened_by() is
  /// empty. *Errors* as make(); invalid_argument where CUDA does not share it.
  [[nodiscard]] static ipc_event of(memory_place place, void* event);
  /// Opens a ticket of ipc_event::ticket(), on the same GPU.
  /// *Errors* as opened_memory::open(); handle_invalid where it is no ticket of an event, or the driver refuses it;
  /// peer_unreachable where the two processes see different /dev/shm; device_unavailable where this process does not
  /// see the GPU; peer_lost where the event was destroyed.
  [[nodiscard]] static ipc_event open(std::string_view ticket, const open_options& options = {});

  /// A new ticket, as shared_memory::ticket(). *Errors* invalid_argument unless the event was made here.
  [[nodiscard]] std::string ticket(const ticket_options& options = {});
  /// Makes all tickets made so far invalid. *Errors* as ticket().
  void revoke();
  /// The processes that have the event open now. *Errors* as ticket().
  [[nodiscard]] std::vector<opener> opened_by() const;
  /// Whether there is an event.
  [[nodiscard]] explicit operator bool() const noexcept { return state_ != nullptr; }

  /// CUDA's event, a `cudaEvent_t`, for code that takes one, in streams of its GPU: `cudaStreamWaitEvent` by a stream
  /// of another GPU ends the process (driver 580), which wait() does not. It belongs to this object. After a process
  /// has ended before its stream had reached its record, this event stays at that record: CUDA can't record it again.
  [[nodiscard]] void* cuda_event() const;

  /// Records the event in a stream of the GPU (a `cudaStream_t`), as `cudaEventRecord` does. Waits while 1024 records
  /// are under way, over all processes. *On return* the number of the record, from 1 on, over all processes. *Errors*
  /// capturing: a graph can't record an interprocess event; peer_lost as wait(); wait_timeout where another process was
  /// stopped for 10 s while it recorded.
  std::uint64_t record(void* stream);
  /// How often record() has been called, by all processes. The host may wait for a number before it calls wait().
  [[nodiscard]] std::uint64_t records() const;
  /// Holds the stream until the last record has been reached. Where the process that was to reach it ends, the stream
  /// goes on within a second, the log says so, and check() throws: call it after the stream was synchronized and before
  /// the results are used.
  /// *Errors* capturing: CUDA allows no such wait in a graph; invalid_argument where the event was never recorded;
  /// peer_lost, naming host and process, where the one that has made the event has ended or has destroyed it.
  void wait(void* stream);
  /// Whether the last record has been reached. *Errors* as wait(), less capturing.
  [[nodiscard]] bool reached() const;
  /// *Errors* peer_lost, naming the process, where a wait has ended without its record, or would have no end.
  void check() const;

 private:
  explicit ipc_event(std::shared_ptr<detail::event_state> state) noexcept;
  [[nodiscard]] detail::event_state& state() const;
  std::shared_ptr<detail::event_state> state_;
};

}  // namespace pgas

#include "pgas/detail/names_end.inc"
