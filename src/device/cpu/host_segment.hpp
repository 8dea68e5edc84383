/// @file
/// Host memory: segments with a descriptor, the two ways of exporting them, and the amount of memory that this process
/// can still use.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "common/unique_fd.hpp"
#include "device/device.hpp"

namespace pgas::detail {

/// An anonymous memory file whose size cannot change. The file has no name that could outlive the process.
class host_segment {
 public:
  /// Creates a segment. Its pages are allocated at first touch, so the creation of a large segment takes no time, and
  /// unused pages take no memory. The function first checks whether the system and the control group have enough memory
  /// left for the pages. Under strict overcommit (vm.overcommit_memory=2), the function allocates the pages. *Errors*
  /// out_of_memory, system.
  [[nodiscard]] static host_segment create(std::size_t bytes);
  /// Creates a segment for the slots of several PEs. The segment has no memory until allocate_in_file(). *Errors*
  /// system.
  [[nodiscard]] static host_segment create_span(std::size_t bytes);
  /// Imports another process's segment. *Errors* handle_invalid unless the file is a sealed memory file of this user
  /// with exactly `bytes` bytes. A file that the program of the exporter made needs no seals.
  [[nodiscard]] static host_segment import(const exported_handle& handle, std::size_t bytes);

  /// Takes ownership of a file that the program made. The size of the file is not sealed.
  [[nodiscard]] static host_segment of_program(unique_fd fd, std::size_t bytes);

  [[nodiscard]] exported_handle export_as(handle_kind kind) const;
  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  host_segment(unique_fd fd, std::size_t bytes, std::uint64_t nonce, bool foreign = false)
      : fd_(std::move(fd)), bytes_(bytes), nonce_(nonce), foreign_(foreign) {}

  [[nodiscard]] static host_segment sealed(unique_fd fd, std::size_t bytes, std::uint64_t nonce);

  unique_fd fd_;
  std::size_t bytes_;
  std::uint64_t nonce_;  ///< part of the file's internal name; 0 for an imported segment, which is not exported again
  bool foreign_;         ///< whether the program made the file
};

/// The contents of a `named` handle: the process id and the number of a descriptor, and data that shows whether the
/// descriptor still refers to the same file. Named handles are the CPU's counterpart of fabric handles, which also have
/// 64 bytes.
struct named_handle {
  static constexpr std::uint32_t expected_magic = 0x70676e68;
  static constexpr std::uint32_t current_version = 1;
  std::uint32_t magic = expected_magic;
  std::uint32_t version = current_version;
  std::int32_t pid = 0;
  std::int32_t fd = -1;
  /// The start time of the process, in clock ticks after boot. This time distinguishes the process from a later process
  /// with the same process id.
  std::uint64_t process_start = 0;
  std::uint64_t inode = 0;
  std::uint64_t device = 0;
  std::uint64_t bytes = 0;
  std::uint64_t nonce = 0;
  std::uint64_t reserved = 0;
};
static_assert(sizeof(named_handle) == 64);

/// A random number from the operating system.
[[nodiscard]] std::uint64_t random_number();
/// Makes a memory file of `bytes` bytes without seals. Checks that its pages can be allocated, as
/// host_segment::create() does. *Errors* out_of_memory, system.
[[nodiscard]] unique_fd create_memory_file(const std::string& name, std::size_t bytes);
/// Checks that the pages of the range [offset, offset + bytes) of a memory file can be allocated.
/// host_segment::create() makes the same check. *Errors* out_of_memory.
void allocate_in_file(int fd, std::size_t offset, std::size_t bytes);
/// The memory of the machine in bytes.
[[nodiscard]] std::size_t physical_memory() noexcept;
/// The memory that can be used now. The result is the smallest of these values: Linux's estimate of the available
/// memory; the memory that the control group has left; under strict overcommit, also the rest of Linux's commit limit.
[[nodiscard]] std::size_t available_memory();
/// Whether Linux refuses to overcommit memory (vm.overcommit_memory=2).
[[nodiscard]] bool strict_overcommit();

}  // namespace pgas::detail
