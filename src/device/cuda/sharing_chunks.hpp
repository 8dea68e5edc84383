/// @file
/// Pieces of physical GPU memory that are mapped to one range of addresses. The export and the import of GPU memory use
/// this file.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "device/cuda/primary_context.hpp"
#include "pgas/shared_memory.hpp"

namespace pgas::detail::cuda {

/// A piece of physical memory.
struct chunk {
  CUmemGenericAllocationHandle handle = 0;
  std::size_t bytes = 0;
};

/// Owns pieces of physical memory. After map(), it also owns the contiguous addresses of the pieces.
class chunk_list {
 public:
  chunk_list() = default;
  chunk_list(chunk_list&& other) noexcept
      : chunks_(std::exchange(other.chunks_, {})),
        start_(std::exchange(other.start_, 0)),
        reserved_(std::exchange(other.reserved_, 0)),
        mapped_(std::exchange(other.mapped_, 0)) {}
  chunk_list& operator=(chunk_list&&) = delete;
  ~chunk_list();

  void add(chunk part) { chunks_.push_back(part); }
  void set_bytes_of_last(std::size_t bytes) noexcept { chunks_.back().bytes = bytes; }
  [[nodiscard]] std::span<const chunk> all() const noexcept { return chunks_; }
  [[nodiscard]] std::size_t bytes() const noexcept;
  /// Maps all pieces at a new range of exactly the needed size, for kernels of the GPU `ordinal`. *Errors*
  /// address_space, handle_invalid, peer_unreachable if that GPU cannot access the memory.
  void map(int ordinal, access importers);
  [[nodiscard]] CUdeviceptr start() const noexcept { return start_; }

 private:
  void unmap() noexcept;

  std::vector<chunk> chunks_;
  CUdeviceptr start_ = 0;
  std::size_t reserved_ = 0;
  std::size_t mapped_ = 0;
};

}  // namespace pgas::detail::cuda
