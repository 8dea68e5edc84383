/// @file
/// The contract between the host library and a backend for memory that is shared without a world. As for device.hpp,
/// there are two backends: host memory and GPUs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "pgas/shared_memory.hpp"

namespace pgas::detail {

/// The way in which the pieces of shared memory are exported.
enum class sharing_way : std::uint8_t {
  memory_file = 1,  ///< host memory with file descriptors
  vmm = 2,          ///< cuMemCreate, by descriptor or fabric handle
  pool = 3,         ///< a memory pool's descriptor and a pointer in it
  legacy = 4        ///< cudaIpcMemHandle
};

/// The data that importers need besides the handles.
struct sharing_description {
  sharing_way way = sharing_way::memory_file;
  std::uint8_t read_only = 0;
  std::uint8_t carries_timeline = 0;  ///< in a ticket: whether the ticket also carries a timeline
  std::uint8_t reserved[5] = {};
  std::uint64_t bytes = 0;            ///< the size of the shared memory
  std::uint64_t offset = 0;           ///< the offset of the shared memory in the pieces, which follow one another
  std::array<std::byte, 16> gpu{};    ///< the UUID of the GPU; zeros for the host
  std::array<std::byte, 16> block{};  ///< identifies this memory among all memory of its exporter
};
static_assert(sizeof(sharing_description) == 56);

/// One piece of a shared object.
struct shared_piece {
  exported_handle handle;
  std::uint64_t bytes = 0;
};

/// Memory of this process that can be exported. The destructor frees the memory if the backend made it. *Callers* any
/// thread; piece() may run at the same time as other calls.
class exportable_memory {
 public:
  virtual ~exportable_memory() = default;
  exportable_memory() = default;
  exportable_memory(const exportable_memory&) = delete;
  exportable_memory& operator=(const exportable_memory&) = delete;

  /// The memory that was requested.
  [[nodiscard]] virtual void* data() const noexcept = 0;
  [[nodiscard]] virtual const sharing_description& description() const noexcept = 0;
  [[nodiscard]] virtual std::size_t pieces() const noexcept = 0;
  /// *Errors* device_failed, system.
  [[nodiscard]] virtual shared_piece piece(std::size_t number) const = 0;
  /// The handles for importers that may only read the memory. GPU memory uses the same handles as for other importers,
  /// because the access rights of a GPU's mapping prevent writes. *Errors* device_failed, system.
  [[nodiscard]] virtual shared_piece read_only_piece(std::size_t number) const { return piece(number); }
  /// Called before a read-only ticket is made. *Errors* invalid_argument if read-only access cannot be enforced.
  virtual void allow_read_only() const {}
  /// Identifies the memory among all memory of this process. Two objects have the same identity if they share exactly
  /// the same memory, so that an importer of one object has also mapped the memory of the other object. Empty if the
  /// system has no number that identifies the memory.
  [[nodiscard]] virtual std::optional<std::array<std::byte, 16>> identity() const { return std::nullopt; }
  /// The fabric handles of all pieces, for importers on other hosts. Empty if the memory has no fabric handles.
  [[nodiscard]] virtual std::vector<shared_piece> fabric_pieces() const { return {}; }
};

/// Memory of another process that is mapped in this process. The destructor unmaps the memory.
class mapped_import {
 public:
  virtual ~mapped_import() = default;
  mapped_import() = default;
  mapped_import(const mapped_import&) = delete;
  mapped_import& operator=(const mapped_import&) = delete;

  /// The shared memory, which starts description.offset bytes after the start of the first piece.
  [[nodiscard]] virtual void* data() const noexcept = 0;
  /// The number of the GPU that uses the mapping; -1: the host.
  [[nodiscard]] virtual int ordinal() const noexcept { return -1; }
};

// ---- host memory

/// *Errors* out_of_memory, system.
[[nodiscard]] std::unique_ptr<exportable_memory> make_host_memory(std::size_t bytes, access importers);
/// *Errors* invalid_argument.
[[nodiscard]] std::unique_ptr<exportable_memory> adopt_host_memory(void* pointer, std::size_t bytes, access importers);
/// *Errors* handle_invalid, out_of_memory, system.
[[nodiscard]] std::unique_ptr<mapped_import> import_host_memory(const sharing_description& what,
                                                                std::span<shared_piece> pieces);

// ---- memory of GPUs; *Errors* device_unavailable on machines without GPUs

/// Whether the driver knows the pointer. False without a driver.
[[nodiscard]] bool is_gpu_memory(const void* pointer) noexcept;
/// *Errors* out_of_memory, device_failed.
[[nodiscard]] std::unique_ptr<exportable_memory> make_gpu_memory(int ordinal, std::size_t bytes, access importers);
/// *Errors* invalid_argument, device_failed.
[[nodiscard]] std::unique_ptr<exportable_memory> adopt_gpu_memory(void* pointer, std::size_t bytes, access importers,
                                                                  whole_block block);
/// Maps the memory for the GPU `ordinal`, or, if `ordinal` is negative, for the GPU with the UUID of the description.
/// *Errors* peer_unreachable with a list of the attempts, handle_invalid, out_of_memory, device_failed.
[[nodiscard]] std::unique_ptr<mapped_import> import_gpu_memory(const sharing_description& what,
                                                               std::span<shared_piece> pieces, int ordinal);

}  // namespace pgas::detail
