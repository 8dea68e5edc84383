/// @file
/// Memory of the backend. Each allocation of torch is a separate block. A block is local until a group makes a
/// rendezvous with it.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "pgas/pgas.hpp"
#include "pgas/shared_memory.hpp"

namespace pgas::torch_backend {

class group;
class group_view;

/// One allocation: the buffer, the signal pad that torch's kernels use, and the words that the barriers and signals of
/// this backend use.
///
/// *Memory* a separate piece whose size is a multiple of 2 MiB. The piece is freed when no reference to the block
/// exists and no group has registered the block.
class block {
 public:
  /// The maximum number of groups with common members that may have views of one block at the same time.
  static constexpr std::size_t groups = 16;

  /// @param ranks the maximum number of ranks of a group
  block(int device, int ranks, std::size_t bytes, std::size_t pad_bytes, std::optional<std::string> group);

  [[nodiscard]] std::byte* data() const { return static_cast<std::byte*>(memory_.data()); }
  /// The requested size of the buffer.
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  /// The size of the registered memory.
  [[nodiscard]] std::size_t total() const { return total_; }
  [[nodiscard]] std::size_t pad_offset() const { return pad_offset_; }
  [[nodiscard]] std::size_t pad_bytes() const { return pad_bytes_; }
  /// The offset of the words of a group: words for barriers, for put_signal(), and for acknowledgements of
  /// put_signal().
  [[nodiscard]] std::size_t words_offset(std::size_t group_slot) const;
  /// The offset of the table of a group: the addresses of the buffers and the pads of all ranks, then the ranks.
  [[nodiscard]] std::size_t table_offset(std::size_t group_slot) const;
  /// The number of words of each kind.
  [[nodiscard]] std::size_t words() const { return pad_bytes_ / sizeof(std::uint32_t); }
  static constexpr std::size_t kinds_of_words = 3;
  [[nodiscard]] int device() const { return device_; }
  /// The group that the program named in the allocation; nothing if it named no group.
  [[nodiscard]] const std::optional<std::string>& group() const { return group_; }

  /// The views of the block, by group. *Callers* hold the lock of the backend, or have removed the block from the
  /// table.
  std::map<const pgas::torch_backend::group*, std::shared_ptr<group_view>> views;
  /// Whether the pad has been zeroed. The first rendezvous zeroes the pad.
  bool zeroed = false;
  /// Whether the memory belongs to the pool of a capture. If so, only the graph of this capture uses the memory again.
  bool of_graph = false;

 private:
  int device_;
  std::size_t bytes_;
  std::size_t pad_bytes_;
  std::size_t pad_offset_;
  std::size_t words_begin_;
  std::size_t table_bytes_;
  std::size_t tables_begin_;
  std::size_t total_;
  shared_memory memory_;
  std::optional<std::string> group_;
};

/// The blocks of this process. *Callers* any thread.
class block_table {
 public:
  /// @param ranks the number of ranks of the world
  block_table(int device, int ranks) : device_(device), ranks_(ranks) {}

  /// Allocates a new block and returns its buffer. Local. *Errors* out_of_memory, device_failed.
  [[nodiscard]] void* allocate(std::size_t bytes, std::size_t pad_bytes, std::optional<std::string> group);
  /// Removes a block from the table. Local. A later allocate() or release_freed() frees the memory when the block has
  /// no handle and the GPU is idle, because work that uses the memory may be in progress. *Errors* invalid_free.
  void free(void* buffer);
  /// Waits for the work of the GPU, and frees the removed blocks without handles. Does nothing while a stream is
  /// captured.
  void release_freed();

  struct place {
    std::shared_ptr<block> of;
    std::size_t offset = 0;  ///< offset in the buffer
  };
  /// The block with a buffer that contains the address; nothing if no buffer contains the address.
  [[nodiscard]] std::optional<place> find(const void* address);
  /// All blocks except freed blocks. A block is not released while the caller holds it.
  [[nodiscard]] std::vector<std::shared_ptr<block>> all();
  /// Waits for the work of the GPU. Returns false immediately while a stream is captured.
  [[nodiscard]] bool wait_for_work() const;

 private:
  int device_;
  int ranks_;
  std::mutex lock_;
  std::map<std::byte*, std::shared_ptr<block>> blocks_;  ///< the blocks by the address of the buffer
  std::vector<std::shared_ptr<block>> freed_;
};

}  // namespace pgas::torch_backend
