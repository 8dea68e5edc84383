#include "host/heap/group_segment.hpp"

#include <exception>

namespace pgas::detail {

group_segment::~group_segment() {
  if (exposed_by_ != nullptr) {
    try {
      exposed_by_->remove_memory(offset_);
    } catch (const std::exception&) {
      return;  // the segment stays mapped until the process ends: proxied peers can still write to it
    }
  }
  if (in_span_) device_.free_part(own_, bytes_);
  for (auto address = mapped_.rbegin(); address != mapped_.rend(); ++address) device_.unmap(*address, bytes_);
  for (auto segment = segments_.rbegin(); segment != segments_.rend(); ++segment) device_.destroy(*segment);
}

void group_segment::create(handle_kind kind) {
  segments_.reserve(segments_.size() + 1);
  segments_.push_back(device_.create(bytes_, kind));
}

void group_segment::adopt(segment_id segment) { segments_.push_back(segment); }

exported_handle group_segment::export_own() { return device_.export_segment(segments_.front()); }

void group_segment::map_own(void* address) {
  map(address, segments_.front());
  own_ = address;
}

void group_segment::place_own(void* address) noexcept { own_ = address; }

void group_segment::map_peer(void* address, const exported_handle& handle) {
  // The mapping keeps the memory alive, so the handle is closed immediately. The number of open descriptors then does
  // not depend on the number of peers.
  const segment_id imported = device_.import_segment(handle, bytes_);
  try {
    map(address, imported);
  } catch (...) {
    device_.destroy(imported);
    throw;
  }
  device_.destroy(imported);
}

void group_segment::open_own(void* address) {
  mapped_.reserve(mapped_.size() + 1);
  own_ = address;
  in_span_ = true;  // set before open_part(), because open_part() can fail and leave memory
  device_.open_part(address, bytes_, true);
  mapped_.push_back(address);
}

void group_segment::open_peer(void* address) {
  mapped_.reserve(mapped_.size() + 1);
  device_.open_part(address, bytes_, false);
  mapped_.push_back(address);
}

blob group_segment::expose(memory_exposure& proxied, std::size_t offset) {
  blob key = proxied.expose(offset, own_, bytes_);
  exposed_by_ = &proxied;
  offset_ = offset;
  return key;
}

void group_segment::map(void* address, segment_id segment) {
  mapped_.reserve(mapped_.size() + 1);
  device_.map(address, bytes_, segment);
  mapped_.push_back(address);
}

}  // namespace pgas::detail
