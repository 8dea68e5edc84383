/// @file
/// Symmetric memory: all PEs have an allocation at the same offset of their slots.
#pragma once

#include "pgas/detail/names_begin.inc"

#include <cstddef>
#include <exception>
#include <memory>
#include <utility>

#include "pgas/detail/struct_members.hpp"
#include "pgas/type_requirements.hpp"

namespace pgas {

/// @brief Sizes of the calling PE's part of the heap, in bytes.
struct heap_usage {
  std::size_t used = 0;          ///< bytes in live allocations, including rounding
  std::size_t mapped = 0;        ///< physical memory of the slot
  std::size_t limit = 0;         ///< largest size of `mapped`
  std::size_t largest_free = 0;  ///< largest allocation that needs no new segment
  std::size_t allocations = 0;   ///< number of live allocations
};

/// @brief The addresses of the heap on the calling PE.
struct heap_layout {
  void* base = nullptr;    ///< start of this PE's slot
  std::size_t mapped = 0;  ///< the bytes of the slot that have physical memory
  std::size_t stride = 0;  ///< bytes between slots of successive PEs; with PGAS_MEM_HANDLE=cuda_ipc, bytes of a slot
  bool same_base = false;  ///< whether slots have the same addresses on all PEs, so that pointers are valid on every PE
};

/// @brief Whether allocated memory starts as zeros.
enum class initialize : bool { no = false, zero = true };

/// @brief The purpose of an allocation.
///
/// `|` combines hints. An allocation with a hint has separate cache lines: it starts at a multiple of memory_hint_line
/// bytes, and no other allocation shares its last line. Updates of the allocation's words and traffic to neighbouring
/// memory therefore do not slow each other down. Words inside the allocation remain adjacent.
enum class memory_hint : std::uint32_t {
  none = 0,
  atomics_remote = 1,  ///< other PEs update the memory atomically (SHMEM_MALLOC_ATOMICS_REMOTE)
  signal_remote = 2,   ///< other PEs send signals to words of the memory (SHMEM_MALLOC_SIGNAL_REMOTE)
};
/// @brief Both hints.
[[nodiscard]] constexpr memory_hint operator|(memory_hint a, memory_hint b) {
  return static_cast<memory_hint>(static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b));
}
/// @brief The unit of memory transfers on GPUs, and on CPUs that prefetch the neighbouring cache line.
inline constexpr std::size_t memory_hint_line = 128;

namespace detail {
template <>
struct [[gnu::visibility("hidden")]] members_of<heap_usage>
    : member_list<&heap_usage::used, &heap_usage::mapped, &heap_usage::limit, &heap_usage::largest_free,
                  &heap_usage::allocations> {
  static constexpr const char* name = "heap_usage";
};

template <>
struct [[gnu::visibility("hidden")]] members_of<heap_layout>
    : member_list<&heap_layout::base, &heap_layout::mapped, &heap_layout::stride, &heap_layout::same_base> {
  static constexpr const char* name = "heap_layout";
};

class team_state;
class world_state;
/// Frees one allocation of symmetric<T>. Collective. `exceptions` is the number of exceptions in flight on the calling
/// thread. Does nothing after the PE has left the world.
PGAS_API void release(world_state& world, void* pointer, int exceptions) noexcept;
/// Frees one allocation of a team's symmetric<T>. Does nothing after the team has been destroyed.
PGAS_API void release(team_state& team, void* pointer, int exceptions) noexcept;
/// The world that `world` points to. *Errors* invalid_argument if `world` is null.
[[nodiscard]] PGAS_API world_state& world_of(world_state* world);
/// Implements world::reallocate_bytes().
[[nodiscard]] PGAS_API void* reallocate(world_state& world, void* pointer, std::size_t count, std::size_t size,
                                        std::size_t alignment);
}  // namespace detail

/// @brief Owns `size()` objects of type T in the symmetric heap on every PE, or on every member of a team.
/// world::allocate() and team::allocate() create such objects.
///
/// *Callers* construction and destruction are collective. Destruction after leave() is allowed.
/// *Memory* if the elements are in GPU memory, only kernels and the host operations of rma.hpp may access the elements.
/// *Errors* the destructor never throws. If an exception unwinds this PE, the destructor aborts the world, because
/// other PEs might never call the destructor.
template <rma_type T>
class symmetric {
 public:
  symmetric() = default;
  /// @brief Takes ownership of an allocation. world::allocate() and team::allocate() call this constructor.
  symmetric(std::shared_ptr<detail::world_state> world, T* data, std::size_t size,
            std::shared_ptr<detail::team_state> team = nullptr) noexcept
      : world_(std::move(world)), team_(std::move(team)), data_(data), size_(size) {}
  /// @brief Moves the elements.
  ///
  /// `other` is empty afterwards.
  symmetric(symmetric&& other) noexcept
      : world_(std::move(other.world_)),
        team_(std::move(other.team_)),
        data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)) {}
  /// @brief Calls reset(), then moves the elements.
  ///
  /// The call is collective if this object owns elements.
  symmetric& operator=(symmetric&& other) noexcept {
    if (this != &other) {
      reset();
      world_ = std::move(other.world_);
      team_ = std::move(other.team_);
      data_ = std::exchange(other.data_, nullptr);
      size_ = std::exchange(other.size_, 0);
    }
    return *this;
  }
  symmetric(const symmetric&) = delete;
  symmetric& operator=(const symmetric&) = delete;
  ~symmetric() { reset(); }

  /// @brief This PE's elements.
  ///
  /// Device and host operations take this address for any PE.
  [[nodiscard]] T* data() const noexcept { return data_; }
  /// @brief The number of elements on each PE.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// @brief Whether the object owns elements.
  [[nodiscard]] explicit operator bool() const noexcept { return data_ != nullptr; }
  /// @brief Changes the number of elements.
  ///
  /// The first elements are kept, up to the smaller of the old and the new number. New elements are not initialised.
  ///
  /// *Callers* collective, as world::reallocate_bytes(); the object must own elements. *Memory* data() may change.
  /// *Order* as a barrier of all PEs.
  ///
  /// @throws error out_of_memory and asymmetric_call: nothing has changed on any PE. invalid_argument for an object
  /// without elements, which belongs to no world (assign a new allocation instead), and for memory of a team, whose
  /// size cannot change.
  void resize(std::size_t count, std::size_t alignment = alignof(T)) {
    detail::world_state& world = detail::world_of(team_ == nullptr ? world_.get() : nullptr);
    data_ = static_cast<T*>(detail::reallocate(world, data_, count, sizeof(T), alignment));
    size_ = count;
    if (count == 0) world_.reset();
  }
  /// @brief Frees the elements.
  ///
  /// Collective.
  void reset() noexcept {
    void* const freed = std::exchange(data_, nullptr);
    if (freed != nullptr && team_ != nullptr) detail::release(*team_, freed, std::uncaught_exceptions());
    if (freed != nullptr && team_ == nullptr) detail::release(*world_, freed, std::uncaught_exceptions());
    team_.reset();
    world_.reset();
    size_ = 0;
  }

 private:
  std::shared_ptr<detail::world_state> world_;
  std::shared_ptr<detail::team_state> team_;  ///< null: memory of all PEs
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace pgas

#include "pgas/detail/names_end.inc"
