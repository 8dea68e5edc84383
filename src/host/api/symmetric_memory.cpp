#include "pgas/symmetric_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>

#include "common/value_bytes.hpp"
#include "host/connect/control_message.hpp"
#include "host/heap/offset_allocator.hpp"
#include "host/team/team_state.hpp"
#include "host/world/host_call.hpp"
#include "host/world/world_state.hpp"
#include "pgas/detail/host/untyped_operations.hpp"

namespace pgas {

namespace detail {

namespace {

/// The arguments of a reallocation. The PEs compare the arguments first.
struct resize_call {
  std::uint64_t offset = 0;  ///< the offset of the old block
  std::uint64_t bytes = 0;
  std::uint64_t alignment = 0;
  bool operator==(const resize_call&) const = default;
};

/// Returns the error if this PE cannot reallocate. Does not communicate.
std::optional<error> validate(world_state& world, const void* pointer, std::size_t alignment) {
  const int me = world.context().my_pe();
  if (pointer != nullptr && world.heap().allocation_bytes(pointer) == 0)
    return error(code::invalid_free,
                 fmt::format("PE {} could not reallocate {}: no allocation of this world starts there", me, pointer),
                 me);
  return world.heap().memory().refuse_alignment(alignment);
}

/// Collective, and also a barrier. Returns on all PEs if all PEs can reallocate and have passed the same arguments.
/// Otherwise throws the same error on all PEs.
void agree_on_resize(world_state& world, const resize_call& mine, const std::optional<error>& refused) {
  blob bytes;
  const auto append = [&bytes](std::span<const std::byte> more) {
    bytes.insert(bytes.end(), more.begin(), more.end());
  };
  append(bytes_of(mine));
  if (refused) append(encode_error(*refused));
  const auto all = world.control_plane().all_gather(bytes);
  std::optional<resize_call> first;
  for (std::size_t pe = 0; pe < all.size(); ++pe) {
    std::span<const std::byte> from(all[pe].bytes);
    resize_call theirs;
    const bool known = take_value(from, theirs);
    if (known && !from.empty()) throw decode_error(from);
    if (!known || (first && theirs != *first))
      throw error(code::asymmetric_call,
                  fmt::format("PE {} and PE 0 reallocate different memory or sizes: all PEs must make the same calls "
                              "with the same sizes",
                              pe),
                  static_cast<int>(pe));
    first = theirs;
  }
}

}  // namespace

world_state& world_of(world_state* world) {
  if (world == nullptr)
    throw error(code::invalid_argument,
                "resize: this symmetric object is empty, or of a team, whose memory keeps its size");
  return *world;
}

void* reallocate(world_state& world, void* pointer, std::size_t count, std::size_t size, std::size_t alignment) {
  world.check();
  const host_call listed(world, "pgas::reallocate");
  const std::lock_guard lock(world.collective_mutex());
  const std::size_t bytes = byte_count(count, size);
  heap& heap = world.heap();
  const std::uint64_t offset = pointer != nullptr ? world.context().offset(pointer) : ~std::uint64_t{0};
  world.check_device();
  // The quiet and the following exchange act like barrier_all(): no PE then has an operation in flight on the old
  // block. So the block can be copied, or returned to the program.
  world.quiet();
  agree_on_resize(world, {offset, bytes, alignment}, validate(world, pointer, alignment));
  if (pointer == nullptr) return heap.allocate(bytes, alignment);
  const std::size_t before = heap.allocation_bytes(pointer);
  const bool same =
      bytes != 0 && bytes <= offset_allocator::largest_request &&
      offset_allocator::rounded(bytes, alignment).bytes == before &&
      reinterpret_cast<std::uintptr_t>(pointer) % offset_allocator::rounded(bytes, alignment).alignment == 0;
  if (same) {
    world.control_plane().barrier();
    return pointer;
  }
  void* const memory = heap.allocate(bytes, alignment);
  if (memory != nullptr) {
    world.device().copy(memory, pointer, std::min(before, bytes), nullptr);
    world.synchronize(nullptr);
  }
  heap.free(pointer);  // free() is also a barrier; after the barrier all PEs have copied
  return memory;
}

void release(world_state& world, void* pointer, int exceptions) noexcept {
  world.destroy_object(exceptions, [&] {
    const std::lock_guard lock(world.collective_mutex());
    world.check();
    world.heap().free(pointer);
  });
}

void release(team_state& team, void* pointer, int exceptions) noexcept {
  if (team.released()) return;
  team.world().destroy_object(exceptions, [&] {
    const std::lock_guard lock(team.collective_mutex());
    team.check();
    team.memory().free(pointer);
  });
}

}  // namespace detail

}  // namespace pgas
