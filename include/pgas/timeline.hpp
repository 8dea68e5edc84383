/// @file
/// A timeline orders the streams, kernels and threads of any two processes: one process records a value, the other
/// waits for the value. A timeline needs no world, no launcher and no common /dev/shm. CUDA graphs can contain records
/// and waits.
///
/// A timeline is a 64-bit word in host memory. A ticket opens a timeline in the same way as a ticket opens memory
/// (`pgas/shared_memory.hpp`). Streams of a GPU access the word by the driver's stream memory operations. The value
/// begins at 0 and grows. A wait ends when the word is at least the awaited value, so a late wait misses no record.
/// Only one process should record in a timeline: use two timelines for two directions.
#pragma once

#include "pgas/detail/names_begin.inc"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pgas/detail/compiler.hpp"
#include "pgas/shared_memory.hpp"

namespace pgas {

namespace detail {
class timeline_state;
}

/// A timeline, made by this process or opened by a ticket. Move-only; initially empty.
///
/// If the place is a GPU, a stream is a `cudaStream_t` of the application (null: CUDA's default stream). If the place
/// is the host, a stream is the native() of a pgas::stream of a world on the host heap; if the stream is null, the
/// calling thread performs the operation immediately.
///
/// If the recording process ends or destroys the timeline, every wait for a value that was not recorded ends within a
/// second. wait_host() then throws peer_lost. When the recording process ends, a waiting stream continues as if the
/// value had arrived. For a stream of the host, the stream's synchronize() throws peer_lost; for a stream of a GPU,
/// check() throws peer_lost. After peer_lost the timeline is unusable.
///
/// *Callers* any thread. A child of fork() may only call the destructor, which does nothing there.
/// *Memory* the object may be destroyed while streams still record and wait: the memory is released when these records
/// and waits have ended. Records that this process enqueued before the destruction still take effect; later records do
/// not. After the destruction the program must not launch graphs that record or wait, or kernels that use word().
/// *Errors* of all functions: invalid_argument on an empty object; forked_process.
class PGAS_API timeline {
 public:
  /// The largest value.
  static constexpr std::uint64_t max_value = std::uint64_t{1} << 62;
  /// The timeout with which wait_host() has no time limit.
  static constexpr std::chrono::milliseconds forever = std::chrono::milliseconds::max();

  timeline() noexcept;
  /// Moves the timeline. `other` is empty afterwards.
  timeline(timeline&& other) noexcept;
  /// Destroys the current timeline as the destructor does, then moves the other object.
  timeline& operator=(timeline&& other) noexcept;
  ~timeline();

  /// Makes a timeline with the value 0 for streams of the device `place`. *Errors* device_unavailable if the GPU does
  /// not exist or has no stream memory operations of 64 bits; also the errors of shared_memory::make().
  [[nodiscard]] static timeline make(memory_place place);
  /// Opens a ticket of timeline::ticket().
  /// @param ticket the text of the ticket
  /// @param options `place` is the device whose streams wait and record in this process. If `place` is not set, the
  /// device is the GPU that the maker of the timeline uses, or the host
  /// *Errors* as opened_memory::open(); handle_invalid for a ticket of memory, even if it carries a timeline;
  /// device_unavailable if this process does not see that GPU; peer_lost if the timeline was destroyed.
  [[nodiscard, gnu::visibility("hidden")]] static timeline open(std::string_view ticket,
                                                                const open_options& options = {}) {
    return open_ticket(ticket, detail::give(options));
  }

  /// Makes a ticket, as shared_memory::ticket(). *Errors* invalid_argument unless this process made the timeline.
  [[nodiscard, gnu::visibility("hidden")]] std::string ticket(const ticket_options& options = {}) {
    return make_ticket(detail::give(options));
  }
  /// Invalidates all tickets made so far, also tickets of memory that carry the timeline. Processes that
  /// have opened the timeline can still use it.
  /// *Errors* as ticket().
  void revoke();
  /// The processes that have the timeline open now. *Errors* as ticket().
  [[nodiscard, gnu::visibility("hidden")]] std::vector<opener> opened_by() const {
    std::vector<opener> found;
    list_openers(detail::want(found));
    return found;
  }
  /// Whether there is a timeline.
  [[nodiscard]] explicit operator bool() const noexcept { return state_ != nullptr; }

  /// Enqueues a record: the stream sets the value. A graph may contain a record; each launch of the graph sets the same
  /// value again.
  /// *Order* a waiter for the value sees all earlier work of the stream.
  /// *Errors* invalid_argument for a value above max_value; device_failed.
  void record(void* stream, std::uint64_t value);
  /// Sets the value immediately, from the calling thread. The place may be a GPU or the host. *Order* as record(), for
  /// this thread's earlier work.
  void set(std::uint64_t value);
  /// Makes the stream wait until the value is at least `value`. A graph may contain a wait. Each launch of a graph with
  /// a wait waits for the same value again, so the program must reset the timeline between two launches. *Order* later
  /// work of the stream sees the work before record(). *Errors* as record(); peer_lost if the timeline has ended
  /// without this value. On the host, the stream's synchronize() throws peer_lost. If `stream` is null, this call
  /// throws peer_lost.
  void wait(void* stream, std::uint64_t value);
  /// The current value. *Order* acquires.
  [[nodiscard]] std::uint64_t query() const;
  /// The value of the last call of record() or set() by any process, even if no stream has reached the record yet. A
  /// wait for the returned value waits for all work that the other process has enqueued before its last record.
  [[nodiscard]] std::uint64_t recorded() const;
  /// Returns when the value is at least `value`. *Order* acquires. *Errors* wait_timeout; peer_lost, naming host and
  /// process, within a second after the end of the process that recorded last, or of the maker if no process has
  /// recorded.
  void wait_host(std::uint64_t value, std::chrono::milliseconds timeout = forever) const;

  /// The address of the word, for kernels on the device of the timeline. A kernel waits for a value by
  /// `signal_wait_until(ctx, word, cmp::ge, value)`. A kernel records a value by `fence(ctx)` and then `signal_set(ctx,
  /// word, value, ctx.my_pe())`. `ctx` may be the context of any world that was joined without PGAS_CHECKS.
  [[nodiscard]] std::uint64_t* word() const;
  /// The device whose streams and kernels use the timeline in this process.
  [[nodiscard]] memory_place place() const;
  /// Whether the recording process can still record. The call takes a few microseconds.
  [[nodiscard]] bool alive() const;
  /// Throws if a wait has ended, or would end, without its value. *Errors* peer_lost, with the process id and the
  /// value.
  void check() const;

 private:
  friend class shared_memory;  // its tickets carry timelines
  // The library's part of the inline functions above.
  [[nodiscard]] static timeline open_ticket(std::string_view ticket, const detail::given<open_options>& options);
  [[nodiscard]] std::string make_ticket(const detail::given<ticket_options>& options);
  void list_openers(const detail::wanted_list<opener>& found) const;

  explicit timeline(std::shared_ptr<detail::timeline_state> state) noexcept;
  [[nodiscard]] detail::timeline_state& state() const;
  std::shared_ptr<detail::timeline_state> state_;
};

}  // namespace pgas

#include "pgas/detail/names_end.inc"
