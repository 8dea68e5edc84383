/// @file
/// Memory of the backend: each allocation of torch is a block of its own, local until a group meets over it.
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

/// One allocation: the buffer, the signal pad of torch's kernels, and the words of this backend's barriers.
///
/// *Memory* pieces of its own, in multiples of 2 MiB; freed when the last reference is gone and no group has it
/// registered.
class block {
 public:
  /// How many groups that share members may have views of one block at the same time.
  static constexpr std::size_t groups = 16;

  block(int device, std::size_t bytes, std::size_t pad_bytes, std::optional<std::string> group);

  [[nodiscard]] std::byte* data() const { return static_cast<std::byte*>(memory_.data()); }
  /// Of the buffer, as asked for.
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  /// Of all of it, as it is registered.
  [[nodiscard]] std::size_t total() const { return total_; }
  [[nodiscard]] std::size_t pad_offset() const { return pad_offset_; }
  [[nodiscard]] std::size_t pad_bytes() const { return pad_bytes_; }
  /// Where the words of a group begin: those of barriers, those of put_signal(), and those by which it is answered.
  [[nodiscard]] std::size_t words_offset(std::size_t group_slot) const;
  /// Words of barriers; as many of each other kind.
  [[nodiscard]] std::size_t words() const { return pad_bytes_ / sizeof(std::uint32_t); }
  static constexpr std::size_t kinds_of_words = 3;
  [[nodiscard]] int device() const { return device_; }
  /// The group that it was allocated for, if one was named.
  [[nodiscard]] const std::optional<std::string>& group() const { return group_; }

  /// The views of it, by group. *Callers* hold the lock of the backend, or have taken the block out of the table.
  std::map<const pgas::torch_backend::group*, std::shared_ptr<group_view>> views;
  /// Whether the pad has been zeroed: at the first rendezvous.
  bool zeroed = false;

 private:
  int device_;
  std::size_t bytes_;
  std::size_t pad_bytes_;
  std::size_t pad_offset_;
  std::size_t words_begin_;
  std::size_t total_;
  shared_memory memory_;
  std::optional<std::string> group_;
};

/// The blocks of this process. *Callers* any thread.
class block_table {
 public:
  explicit block_table(int device) : device_(device) {}

  /// A new block's buffer. Local. *Errors* out_of_memory, device_failed.
  [[nodiscard]] void* allocate(std::size_t bytes, std::size_t pad_bytes, std::optional<std::string> group);
  /// Forgets a block. Local; the memory is given back by the next allocate() or release_freed() that finds no handle of
  /// it left and the GPU idle, as work that uses it may be under way. *Errors* invalid_free.
  void free(void* buffer);
  /// Waits for the work of the GPU, and gives back what was freed before and has no handle. Does nothing while a stream
  /// is captured.
  void release_freed();

  struct place {
    std::shared_ptr<block> of;
    std::size_t offset = 0;  ///< in the buffer
  };
  /// The block in whose buffer an address lies. Nothing if there is none.
  [[nodiscard]] std::optional<place> find(const void* address);
  /// All blocks but those that were freed. None of them is given back while the caller has it.
  [[nodiscard]] std::vector<std::shared_ptr<block>> all();
  /// Waits for the work of the GPU. False, at once, while a stream is captured.
  [[nodiscard]] bool wait_for_work() const;

 private:
  int device_;
  std::mutex lock_;
  std::map<std::byte*, std::shared_ptr<block>> blocks_;  ///< by the buffer's address
  std::vector<std::shared_ptr<block>> freed_;
};

}  // namespace pgas::torch_backend
