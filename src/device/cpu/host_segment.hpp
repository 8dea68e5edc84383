/// @file
/// A piece of host memory behind a descriptor, and the two ways of handing it to another process.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "device/device.hpp"
#include "common/unique_fd.hpp"

namespace pgas::detail {

/// An anonymous file in memory whose size can't change any more. There is no name anywhere that could outlive the
/// process.
class host_segment {
 public:
  /// Makes one. Its pages come into being when they are first touched, so that a large segment costs neither time nor
  /// memory that nobody uses; that they will exist is made sure of beforehand: by what the system and the control group
  /// have left, and where the kernel itself keeps account (vm.overcommit_memory=2) by having it set the pages aside.
  /// *Errors* out_of_memory, system.
  [[nodiscard]] static host_segment create(std::size_t bytes);
  /// Takes over what another process made. *Errors* handle_invalid unless it is such a file, of this user, of exactly
  /// `bytes`, and sealed; what its program made may be without seals.
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

/// What a `named` handle says: which descriptor of which process, and enough to recognise that it is still the same. It
/// stands in for the fabric handles of GPUs, which also travel as 64 bytes.
struct named_handle {
  static constexpr std::uint32_t expected_magic = 0x70676e68;
  static constexpr std::uint32_t current_version = 1;
  std::uint32_t magic = expected_magic;
  std::uint32_t version = current_version;
  std::int32_t pid = 0;
  std::int32_t fd = -1;
  std::uint64_t process_start = 0;  ///< clock ticks after boot: tells a process from a later one with the same number
  std::uint64_t inode = 0;
  std::uint64_t device = 0;
  std::uint64_t bytes = 0;
  std::uint64_t nonce = 0;
  std::uint64_t reserved = 0;
};
static_assert(sizeof(named_handle) == 64);

}  // namespace pgas::detail
