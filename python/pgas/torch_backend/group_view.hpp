/// @file
/// A group's view of a block.
#pragma once

#include <c10/core/Device.h>

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "block.hpp"
#include "group.hpp"

namespace pgas::torch_backend {

/// A block that a group has registered. Dropping a view is local. The addresses stay mapped, and the block stays alive,
/// until all ranks have dropped their views.
///
/// *Memory* torch accesses this rank's part only by its first address, the address of the tensor. The backend accesses
/// words by the second address, the alias.
class group_view {
 public:
  /// Collective over the group. @param device torch's device @param number number of the allocation in the group
  group_view(world& w, const std::shared_ptr<group>& of, const std::shared_ptr<block>& from, c10::Device device,
             std::uint64_t number);

  [[nodiscard]] const std::vector<void*>& buffers() const { return buffers_; }
  [[nodiscard]] const std::vector<void*>& pads() const { return pads_; }
  [[nodiscard]] void** buffers_on_device() const { return table_; }
  [[nodiscard]] void** pads_on_device() const { return buffers_on_device() + buffers_.size(); }
  [[nodiscard]] int* ranks_on_device() const {
    return reinterpret_cast<int*>(buffers_on_device() + 2 * buffers_.size());
  }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] std::uint64_t number() const { return number_; }
  [[nodiscard]] const group& registered_group() const { return *group_; }
  [[nodiscard]] c10::Device device() const { return device_; }
  /// The symmetric address of a byte of the buffer.
  [[nodiscard]] std::byte* alias(std::size_t offset) const {
    return static_cast<std::byte*>(registered_.data()) + offset;
  }

  /// On a GPU, the operations run in torch's current stream. On the host heap, the calls block.
  void barrier(int channel, std::size_t timeout_ms);
  /// Waits until rank `to` has received the previous signal of this channel, as torch's own backends do. Then sends
  /// another signal.
  void put_signal(int to, int channel, std::size_t timeout_ms);
  void wait_signal(int from, int channel, std::size_t timeout_ms);

 private:
  /// The kinds of words, in the order in which they are in memory.
  enum class kind : std::size_t { of_barrier, of_signal, of_answer };
  /// The words of a channel, one for each rank. *Errors* invalid_argument.
  [[nodiscard]] signal_t* words(int channel, kind which, const char* what) const;
  /// Calls body(stream). On the host heap, also waits for the stream.
  template <class Body>
  void on_stream(int channel, const Body& body);

  world& world_;
  std::shared_ptr<group> group_;
  c10::Device device_;
  std::size_t bytes_;
  std::uint64_t number_;
  std::size_t words_offset_;
  std::size_t words_;
  registration registered_;
  std::vector<void*> buffers_;
  std::vector<void*> pads_;
  void** table_;  ///< the table in the block: addresses of buffers and pads, and global ranks
  std::mutex streams_lock_;
  std::map<int, stream> streams_;  ///< streams of the host heap, by channel
};

}  // namespace pgas::torch_backend
