/// @file
/// A mapped segment of memory, for checks that try to share memory. The segment was made by this process or imported,
/// and stays mapped until the end of a scope.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device/device.hpp"

namespace pgas::doctor {

class mapped_segment {
 public:
  /// Owns segment `id` of `bytes`, which was made or imported for handles of `kind`. *Errors* those of the device;
  /// after an error the segment is released.
  mapped_segment(detail::device& on, detail::segment_id id, handle_kind kind, std::size_t bytes)
      : device_(on), id_(id), bytes_(bytes) {
    try {
      if (on.places(kind)) {
        at_ = on.address_of(id);
      } else {
        at_ = reserved_ = on.reserve(bytes, nullptr);
        on.map(reserved_, bytes, id);
        mapped_ = true;
      }
    } catch (...) {
      close();
      throw;
    }
  }
  ~mapped_segment() { close(); }
  mapped_segment(const mapped_segment&) = delete;
  mapped_segment& operator=(const mapped_segment&) = delete;

  [[nodiscard]] detail::segment_id id() const noexcept { return id_; }
  [[nodiscard]] std::uint64_t* words() const noexcept { return static_cast<std::uint64_t*>(at_); }

 private:
  void close() {
    if (mapped_) device_.unmap(reserved_, bytes_);
    if (reserved_ != nullptr) device_.release(reserved_, bytes_);
    device_.destroy(id_);
  }

  detail::device& device_;
  detail::segment_id id_;
  std::size_t bytes_;
  void* at_ = nullptr;
  void* reserved_ = nullptr;  ///< null if the device chooses the segment's address
  bool mapped_ = false;
};

}  // namespace pgas::doctor
