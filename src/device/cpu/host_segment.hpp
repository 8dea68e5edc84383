/// @file
/// Host memory: segments behind a descriptor, the two ways of exporting them, and how much memory this process may
/// still use.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "common/unique_fd.hpp"
#include "device/device.hpp"

namespace pgas::detail {

/// An anonymous file in memory whose size can't change any more. There is no name anywhere that could outlive the
/// process.
class host_segment {
 public:
  /// Creates a segment. Its pages are allocated at first touch, so that a large segment costs neither time nor unused
  /// memory. That they will exist is checked first: by the rest of the system and of the control group, and under
  /// strict overcommit (vm.overcommit_memory=2) by having the kernel reserve them. *Errors* out_of_memory, system.
  [[nodiscard]] static host_segment create(std::size_t bytes);
  /// Imports another process's segment. *Errors* handle_invalid unless it is such a file, of this user, of exactly
  /// `bytes`, and sealed; files made by a program may be without seals.
  [[nodiscard]] static host_segment import(const exported_handle& handle, std::size_t bytes);

  /// Takes over a file that the program made, whose size is not sealed.
  [[nodiscard]] static host_segment of_program(unique_fd fd, std::size_t bytes);

  [[nodiscard]] exported_handle export_as(handle_kind kind) const;
  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  host_segment(unique_fd fd, std::size_t bytes, std::uint64_t nonce, bool foreign = false)
      : fd_(std::move(fd)), bytes_(bytes), nonce_(nonce), foreign_(foreign) {}

  unique_fd fd_;
  std::size_t bytes_;
  std::uint64_t nonce_;  ///< part of the file's internal name; 0 for imported ones, which are not exported again
  bool foreign_;         ///< made by the program
};

/// The contents of a `named` handle: a descriptor of a process, and enough to recognise that it is still the same. It
/// is the CPU's counterpart of fabric handles, which also travel as 64 bytes.
struct named_handle {
  static constexpr std::uint32_t expected_magic = 0x70676e68;
  static constexpr std::uint32_t current_version = 1;
  std::uint32_t magic = expected_magic;
  std::uint32_t version = current_version;
  std::int32_t pid = 0;
  std::int32_t fd = -1;
  std::uint64_t process_start =
      0;  ///< clock ticks after boot: distinguishes a process from a later one with the same number
  std::uint64_t inode = 0;
  std::uint64_t device = 0;
  std::uint64_t bytes = 0;
  std::uint64_t nonce = 0;
  std::uint64_t reserved = 0;
};
static_assert(sizeof(named_handle) == 64);

/// From the kernel.
[[nodiscard]] std::uint64_t random_number();
/// A new file in memory of `bytes` bytes, without seals. That its pages will exist is checked as by
/// host_segment::create(). *Errors* out_of_memory, system.
[[nodiscard]] unique_fd create_memory_file(const std::string& name, std::size_t bytes);
/// Of the machine, in bytes.
[[nodiscard]] std::size_t physical_memory() noexcept;
/// The memory that could be used now: the least of the kernel's estimate, the control group's rest, and, under strict
/// overcommit, the kernel's remaining commit limit.
[[nodiscard]] std::size_t available_memory();
/// Whether the kernel refuses to overcommit memory (vm.overcommit_memory=2).
[[nodiscard]] bool strict_overcommit();

}  // namespace pgas::detail
