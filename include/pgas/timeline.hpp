/// @file
/// A timeline orders the streams, kernels and threads of any two processes: one records a value, the other waits for
/// it. It needs no world, no launcher and no common /dev/shm, and CUDA graphs may record and wait.
///
/// A timeline is a 64-bit word in host memory that a ticket opens, as it opens memory (`pgas/shared_memory.hpp`).
/// Streams of a GPU reach it by the driver's stream memory operations. Its value begins at 0 and grows; a wait is for
/// at least a value, so that a late waiter misses nothing. One process should record in a timeline: for two directions
/// make two.
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

/// A timeline, made here or opened by a ticket. Move-only; empty at first.
///
/// Streams are the application's own: a `cudaStream_t` (null: CUDA's default stream) where the place is a GPU. On the
/// host they are pgas::stream::native() of a world on the host heap; null means the calling thread, at once.
///
/// When the process that records has ended, or has destroyed the timeline, waits for values that will not come end
/// within a second. wait_host() throws peer_lost. A stream goes on as if the value had come: one of the host throws at
/// its synchronize(), for one of a GPU check() tells the difference, and the timeline is of no use any more.
///
/// *Callers* any thread. In a child of fork() only the destructor may be called, which does nothing there.
/// *Memory* the object may be destroyed while streams still record and wait: what they use is released when they have
/// passed. What the maker had recorded by then still comes, nothing else does. No graph that records or waits is
/// launched after that, nor a kernel that uses word().
/// *Errors* of all: invalid_argument on an empty object; forked_process.
class PGAS_API timeline {
 public:
  /// The largest value.
  static constexpr std::uint64_t max_value = std::uint64_t{1} << 62;
  /// wait_host() without an end of its own.
  static constexpr std::chrono::milliseconds forever = std::chrono::milliseconds::max();

  timeline() noexcept;
  /// Takes over the timeline of `other`, which is empty then.
  timeline(timeline&& other) noexcept;
  /// The same, after what the destructor does.
  timeline& operator=(timeline&& other) noexcept;
  ~timeline();

  /// A new timeline with the value 0, for streams of this place. *Errors* device_unavailable where there is no such
  /// GPU, or it has no stream memory operations of 64 bits; as shared_memory::make().
  [[nodiscard]] static timeline make(memory_place place);
  /// Opens a ticket of timeline::ticket().
  /// @param ticket its text
  /// @param options place: whose streams wait and record here. Not set: those of the maker's GPU or the host.
  /// *Errors* as opened_memory::open(); handle_invalid where the ticket is one of memory, even if it carries a
  /// timeline; device_unavailable where this process does not see the maker's GPU; peer_lost where the timeline has
  /// ended.
  [[nodiscard]] static timeline open(std::string_view ticket, const open_options& options = {});

  /// A new ticket, as shared_memory::ticket(). *Errors* invalid_argument unless the timeline was made here.
  [[nodiscard]] std::string ticket(const ticket_options& options = {});
  /// Makes all tickets made so far invalid, also those of memory that carry it. Who has the timeline open keeps it.
  /// *Errors* as ticket().
  void revoke();
  /// The processes that have the timeline open now. *Errors* as ticket().
  [[nodiscard]] std::vector<opener> opened_by() const;
  /// Whether there is a timeline.
  [[nodiscard]] explicit operator bool() const noexcept { return state_ != nullptr; }

  /// Sets the value when the stream gets there. A graph may contain it: each launch sets the same value again.
  /// *Order* whoever has waited for the value sees all earlier work of the stream.
  /// *Errors* invalid_argument for a value above max_value; device_failed.
  void record(void* stream, std::uint64_t value);
  /// Sets the value now, from the calling thread, at any place. *Order* as record(), for this thread's earlier work.
  void set(std::uint64_t value);
  /// Holds the stream until the value is at least `value`. A graph may contain it: each launch waits for the same value
  /// again, so that one who launches it twice sets the timeline back between. *Order* later work of the stream sees
  /// what came before record().
  /// *Errors* as record(); peer_lost where the timeline has ended before. On the host: peer_lost at the stream's
  /// synchronize(), or here where `stream` is null.
  void wait(void* stream, std::uint64_t value);
  /// The value now. *Order* acquires.
  [[nodiscard]] std::uint64_t query() const;
  /// The value that the last call of record() or set(), by whichever process, has asked for, reached or not. Whoever
  /// waits for it waits for all that the other process has enqueued up to now.
  [[nodiscard]] std::uint64_t recorded() const;
  /// Returns when the value is at least `value`. *Order* acquires. *Errors* wait_timeout; peer_lost, naming host and
  /// process, within a second after the end of the one that recorded last, or of the maker if nobody has.
  void wait_host(std::uint64_t value, std::chrono::milliseconds timeout = forever) const;

  /// The word for kernels of the place: one waits with `signal_wait_until(ctx, word, cmp::ge, value)`, and records with
  /// `fence(ctx)` and `signal_set(ctx, word, value, ctx.my_pe())`, with the context of any world without PGAS_CHECKS.
  [[nodiscard]] std::uint64_t* word() const;
  /// The place whose streams and kernels use it here.
  [[nodiscard]] memory_place place() const;
  /// Whether the values still to come can come. Takes a few microseconds.
  [[nodiscard]] bool alive() const;
  /// *Errors* peer_lost, with process and value, where a wait has ended, or would end, without its value.
  void check() const;

 private:
  friend class shared_memory;  // whose tickets carry timelines
  explicit timeline(std::shared_ptr<detail::timeline_state> state) noexcept;
  [[nodiscard]] detail::timeline_state& state() const;
  std::shared_ptr<detail::timeline_state> state_;
};

}  // namespace pgas

#include "pgas/detail/names_end.inc"
