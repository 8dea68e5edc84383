/// @file
/// Registered buffers: memory that a PE, or another library, has made by itself gets a second address inside the heap,
/// without a copy, once all members of a team register theirs. `pgas::shared_memory::make()` makes such memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

#include "pgas/symmetric_memory.hpp"

namespace pgas {

class team;
class world;

/// Collective over the team: maps the memory at [pointer, pointer + bytes) of every member a second time, at the same
/// offset of the members' slots, and returns this PE's new address, the alias. Put, get, atomics, kernels and
/// world::ptr() take the alias; loads and stores through either address access the same memory. On GPUs a store of a
/// kernel through one address may be invisible through the other until that kernel ends (CUDA C++ Programming Guide,
/// "Virtual Aliasing Support"): use one within a kernel.
///
/// *Callers* all members, with the same size, in pieces of the same sizes; pointers may differ.
/// *Memory* each PE may make its own alone, at any time: `shared_memory::make({w.device()}, bytes)` gives memory of the
/// right kind, in one piece, on the host heap and on GPUs, and discloses nothing as long as no ticket is made. Memory
/// of others works too. On a GPU heap: pieces of cuMemCreate on this PE's GPU with the kind of handle of the heap (a
/// file descriptor; a fabric handle where the log says so), one or more, one behind the other; memory of cudaMalloc and
/// of pools has none. On the host heap: a shared mapping of memory files (memfd, or a file in /dev/shm) that are open
/// for writing in this process, one or more. A handle stands for all of its piece, so each piece is given whole: part
/// of one is refused, with its size. All sizes are multiples of 2 MiB, or of the larger granularity of the GPU, to
/// which shared_memory::make() rounds up. With PGAS_MEM_HANDLE=cuda_ipc there is no such memory.
///
/// The pieces live until the registration has ended, even if their maker frees its own before. The same memory may be
/// registered with several teams, and several times with one: each has an alias and an end of its own. An alias is
/// symmetric memory already, and is refused. PEs that are not members have no memory there: host operations on them
/// throw outside_heap, device operations must not address them.
///
/// *On return* the alias is valid on all members, until it is unregistered, the team is destroyed or the world left.
/// *Errors* invalid_argument, handle_exchange or out_of_memory naming the PE and the reason; asymmetric_call naming
/// the first PE whose size differs, with both sizes: the same on all members, and nothing has changed anywhere.
[[nodiscard]] PGAS_API void* register_symmetric(const team& t, void* pointer, std::size_t bytes);
/// The same for all PEs: with world::team().
[[nodiscard]] PGAS_API void* register_symmetric(world& w, void* pointer, std::size_t bytes);
/// The same for all PEs, at the address that the caller prefers: the alias is `preferred` where that address is in this
/// PE's slot, a multiple of the granularity, and free on all PEs; so an alias that was unregistered can be had again.
/// Elsewhere it is at the next free address. Of PEs that prefer different offsets the highest counts.
[[nodiscard]] PGAS_API void* register_symmetric(world& w, void* pointer, std::size_t bytes, const void* preferred);

/// Collective over the team: unmaps the alias at once. Null is ignored, where all members pass it.
/// *Memory* the original stays as it is. *Order* as a barrier of the members; kernels and streams that use the alias
/// must have ended on all of them.
/// *Errors* invalid_free when `alias` is not what register_symmetric() returned for this team, or was unregistered
/// before; asymmetric_call: the same on all members, and nothing has changed.
PGAS_API void unregister_symmetric(const team& t, void* alias);
/// The same for what was registered for all PEs.
PGAS_API void unregister_symmetric(world& w, void* alias);

/// Collective over the team: ends the registrations that all members have released, and returns how many. Also done,
/// without a call of its own, by each of the team's calls in which its members exchange something anyway:
/// register_symmetric(), unregister_symmetric(), team::free(), team::allocate() where it needs new memory or checks are
/// on, and the splits of the team. Barriers and collectives on data don't.
/// *Order* completes the host operations of this PE first, where it has released something. Kernels and streams that
/// use what this PE has released must have ended when it makes one of these calls.
PGAS_API std::size_t collect_released(const team& t);
/// The same for what was registered for all PEs.
PGAS_API std::size_t collect_released(world& w);

/// The registrations of a team, as one member sees them.
struct registration_usage {
  std::size_t registered = 0;  ///< that have not ended
  std::size_t bytes = 0;       ///< of them, in each member's slot
  std::size_t released = 0;    ///< of them, by this PE: other members have not, or it is not yet known
};
/// *Callers* any thread; waits for a collective host call of the team that is under way.
[[nodiscard]] PGAS_API registration_usage registrations(const team& t);
/// The same for what was registered for all PEs.
[[nodiscard]] PGAS_API registration_usage registrations(const world& w);

/// Owns one registration. Move-only.
///
/// *Callers* construction is collective over the team. Destruction and release() are local: any thread, at any time, in
/// any order on the members. They never wait, and do nothing else once the team was destroyed or the world left.
/// *Memory* the alias stays mapped until all members have released the registration and then make one of the calls of
/// collect_released(): a late store of a peer never faults. The pieces live as long. Where a member never releases one,
/// its addresses and pieces stay taken on all members until the team is destroyed or the world left, and nothing else
/// does; register_symmetric() names that PE if addresses run out.
class PGAS_API registration {
 public:
  registration() = default;
  /// register_symmetric().
  registration(const team& t, void* pointer, std::size_t bytes);
  /// register_symmetric().
  registration(world& w, void* pointer, std::size_t bytes);
  /// Takes over the registration of `other`, which is empty then.
  registration(registration&& other) noexcept
      : released_(std::move(other.released_)),
        alias_(std::exchange(other.alias_, nullptr)),
        bytes_(std::exchange(other.bytes_, 0)) {}
  /// The same after release().
  registration& operator=(registration&& other) noexcept {
    if (this != &other) {
      release();
      released_ = std::move(other.released_);
      alias_ = std::exchange(other.alias_, nullptr);
      bytes_ = std::exchange(other.bytes_, 0);
    }
    return *this;
  }
  registration(const registration&) = delete;
  registration& operator=(const registration&) = delete;
  /// release().
  ~registration() { release(); }

  /// This PE's alias.
  [[nodiscard]] void* data() const noexcept { return alias_; }
  /// In bytes.
  [[nodiscard]] std::size_t size() const noexcept { return bytes_; }
  /// Whether anything is registered.
  [[nodiscard]] explicit operator bool() const noexcept { return alias_ != nullptr; }
  /// This PE uses the alias no more; the object is empty then. What it has enqueued before may still be under way: see
  /// collect_released().
  void release() noexcept;

 private:
  std::shared_ptr<std::atomic<bool>> released_;  ///< shared with the team, which reads it at its collective calls
  void* alias_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace pgas
