/// @file
/// Registered buffers: memory of the program or of another library that becomes symmetric memory without a copy. All
/// members of a team register a buffer, and each buffer gets a second address inside the heap.
/// `pgas::shared_memory::make()` creates suitable memory.
#pragma once

#include "pgas/detail/names_begin.inc"

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

#include "pgas/detail/struct_members.hpp"
#include "pgas/symmetric_memory.hpp"

namespace pgas {

class team;
class world;

/// @brief Gives memory of every member a second address, at the same offset in the slots of all members.
///
/// Collective over the team. The second address is the alias. Put, get, atomics, kernels and world::ptr() take the
/// alias. Loads and stores through either address access the same memory. On GPUs, a store of a kernel through one
/// address might be invisible through the other address until the kernel ends (CUDA C++ Programming Guide, "Virtual
/// Aliasing Support"): a kernel must use only one of the two addresses.
///
/// The registration keeps the registered pieces of memory alive, even if their owner frees them. One piece of memory
/// may be registered with several teams and several times with one team; each registration has its own alias and ends
/// separately. An alias cannot be registered, because it is symmetric memory already. PEs that are not members have no
/// memory at the alias: host operations on these PEs throw outside_heap, and device operations must not address these
/// PEs.
///
/// *Callers* all members, with buffers of the same size that consist of pieces of the same sizes; the pointers may
/// differ.
/// *Memory* each PE may create its buffer alone, at any time. `shared_memory::make({w.device()}, bytes)` creates memory
/// of the right kind in one piece, on the host heap and on GPUs; without a ticket no other process can open it. Memory
/// of other libraries must fulfil the following conditions. On a GPU heap, the memory is one or more adjacent pieces of
/// cuMemCreate on this PE's GPU with the handle type of the heap (a file descriptor; a fabric handle if the log says
/// so). Memory of cudaMalloc and of memory pools has no handle. On the host heap, the memory is a shared mapping of one
/// or more memory files (memfd, or a file in /dev/shm) that this process has open for writing. A handle exports its
/// whole piece, so the call refuses a part of a piece and names the size of the piece. All sizes are multiples of 2
/// MiB, or of the GPU's larger granularity; shared_memory::make() rounds sizes up to the granularity.
/// PGAS_MEM_HANDLE=cuda_ipc does not support registration.
/// *On return* the alias is valid on all members until it is unregistered, the team is destroyed or the PE leaves the
/// world.
///
/// @throws error invalid_argument, handle_exchange or out_of_memory naming the PE and the reason; asymmetric_call
/// naming the first PE whose size differs, with both sizes. All members throw the same error, and the call has changed
/// nothing.
[[nodiscard]] PGAS_API void* register_symmetric(const team& t, void* pointer, std::size_t bytes);
/// @brief Calls register_symmetric() with world::team().
[[nodiscard]] PGAS_API void* register_symmetric(world& w, void* pointer, std::size_t bytes);
/// @brief Like register_symmetric(), for all PEs, with a preferred address.
///
/// The alias is `preferred` if that address is in this PE's slot, a multiple of the granularity, and free on all PEs;
/// so a program can reuse the address of an alias that it has unregistered. If the alias cannot be at `preferred`, it
/// is at the next free address. If PEs prefer different offsets, the highest offset is used.
[[nodiscard]] PGAS_API void* register_symmetric(world& w, void* pointer, std::size_t bytes, const void* preferred);

/// @brief Unmaps the alias.
///
/// Collective over the team. If all members pass null, the call has no effect.
///
/// *Memory* the original memory does not change.
/// *Order* as a barrier of the members. Kernels and streams that use the alias must have ended on all members.
///
/// @throws error invalid_free if register_symmetric() did not return `alias` for this team, or if it is already
/// unregistered; asymmetric_call. All members throw the same error, and the call has changed nothing.
PGAS_API void unregister_symmetric(const team& t, void* alias);
/// @brief Calls unregister_symmetric() with world::team().
PGAS_API void unregister_symmetric(world& w, void* alias);

/// @brief Ends the registrations that all members have released.
///
/// Collective over the team. Calls of the team in which the members exchange data also end the registrations that all
/// members have released: register_symmetric(), unregister_symmetric(), team::free(), team::allocate() if it needs new
/// memory or checks are on, and the splits of the team. Barriers and collectives on data do not end registrations.
///
/// *Order* on a PE that has released a registration, the call first completes the host operations of this PE. Kernels
/// and streams that use a released registration must have ended before the call.
///
/// @return The number of registrations that have ended.
PGAS_API std::size_t collect_released(const team& t);
/// @brief Calls collect_released() with world::team().
PGAS_API std::size_t collect_released(world& w);

/// @brief The registrations of a team on one member.
struct registration_usage {
  std::size_t registered = 0;  ///< number of registrations that have not ended
  std::size_t bytes = 0;       ///< bytes of the registrations that have not ended, in each member's slot
  std::size_t released = 0;    ///< registrations that this PE has released, but another member, as far as known, not
};
namespace detail {
template <>
struct [[gnu::visibility("hidden")]] members_of<registration_usage>
    : member_list<&registration_usage::registered, &registration_usage::bytes, &registration_usage::released> {
  static constexpr const char* name = "registration_usage";
};

/// Implements registrations().
PGAS_API void count_registrations(const team& t, const wanted<registration_usage>& usage);
PGAS_API void count_registrations(const world& w, const wanted<registration_usage>& usage);
}  // namespace detail

/// @brief The registrations of a team.
///
/// *Callers* any thread. If a collective host call of the team is in progress, registrations() waits for that call.
[[nodiscard, gnu::visibility("hidden")]] inline registration_usage registrations(const team& t) {
  registration_usage usage;
  detail::count_registrations(t, detail::want(usage));
  return usage;
}
/// @brief Calls registrations() with world::team().
[[nodiscard, gnu::visibility("hidden")]] inline registration_usage registrations(const world& w) {
  registration_usage usage;
  detail::count_registrations(w, detail::want(usage));
  return usage;
}

/// @brief Owns one registration.
///
/// Move-only.
///
/// *Callers* construction is collective over the team. Destruction and release() are local: any thread may call them,
/// at any time, and in a different order on each member. Neither of them waits. Destruction and release() have no
/// effect after the team was destroyed or the PE has left the world.
/// *Memory* the alias stays mapped until all members have released the registration and then make one of the calls that
/// collect_released() names, so a late store of a peer never faults. The registered pieces of memory live as long as
/// the alias. If a member never releases a registration, all members keep the addresses and the pieces of the
/// registration until the team is destroyed or the members leave the world. If addresses run out, register_symmetric()
/// names a PE that has not released its registration.
class PGAS_API registration {
 public:
  registration() = default;
  /// @brief Calls register_symmetric().
  registration(const team& t, void* pointer, std::size_t bytes);
  /// @brief Calls register_symmetric().
  registration(world& w, void* pointer, std::size_t bytes);
  /// @brief Moves the registration.
  ///
  /// `other` is empty afterwards.
  registration(registration&& other) noexcept
      : released_(std::move(other.released_)),
        alias_(std::exchange(other.alias_, nullptr)),
        bytes_(std::exchange(other.bytes_, 0)) {}
  /// @brief Calls release(), then moves the registration.
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
  /// @brief Calls release().
  ~registration() { release(); }

  /// @brief This PE's alias.
  [[nodiscard]] void* data() const noexcept { return alias_; }
  /// @brief The size in bytes.
  [[nodiscard]] std::size_t size() const noexcept { return bytes_; }
  /// @brief Whether the object owns a registration.
  [[nodiscard]] explicit operator bool() const noexcept { return alias_ != nullptr; }
  /// @brief Declares that this PE no longer uses the alias.
  ///
  /// The object is empty afterwards. Work that this PE has enqueued may still use the alias, see collect_released().
  void release() noexcept;

 private:
  std::shared_ptr<std::atomic<bool>> released_;  ///< shared with the team; collective calls of the team read the flag
  void* alias_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace pgas

#include "pgas/detail/names_end.inc"
