/// @file
/// A device whose steps can be made to fail. All other calls go to an inner device.
#pragma once

#include <signal.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "pgas/error.hpp"

namespace pgas::unit_test {

/// The steps whose failure can be requested.
enum class step { create, export_segment, import_segment, map, retain, create_span, attach_span, open_part };

class faulty_device : public detail::device {
 public:
  faulty_device() : inner_(detail::make_cpu_device()) {}

  /// The n-th call of `which` from now on throws; n is at least 1.
  void fail_at(step which, int n, code why = code::device_failed) { plan_ = {which, n, why}; }
  /// The n-th call of `which` from now on kills this process.
  void die_at(step which, int n) { plan_ = {which, n, std::nullopt}; }
  /// Every call of `which` for the kind `pointer` throws, like a driver that announces a kind and then refuses it.
  void refuse(step which, handle_kind pointer) { refused_[pointer] = which; }
  void heal() {
    plan_.reset();
    refused_.clear();
  }
  bool spans_slots = false;                      ///< whether the device supports spans, which requires that the inner
                                                 ///< device supports spans
  bool refuse_hints = false;                     ///< whether all requested addresses count as in use
  std::size_t most_addresses = ~std::size_t{0};  ///< larger reservations fail
  heap_kind kind = heap_kind::host;              ///< the kind that the device reports
  std::size_t memory = 0;                        ///< the size of the device's memory; 0: the memory of the machine
  std::vector<handle_kind> kinds;  ///< the handle kinds of the device; empty: the kinds of the inner device
  int segments = 0;                ///< the number of created and imported segments that exist
  int mappings = 0;
  int reservations = 0;

  const detail::device_properties& properties() const noexcept override {
    shown_ = inner_->properties();
    if (memory != 0) shown_.memory_bytes = memory;
    shown_.kind = kind;
    return shown_;
  }

  std::size_t granularity() const noexcept override { return inner_->granularity(); }
  void* reserve(std::size_t bytes, void* hint) override {
    if (hint != nullptr && refuse_hints) return nullptr;
    if (bytes > most_addresses) {
      if (hint != nullptr) return nullptr;
      throw error(code::address_space, "no such many addresses in this test");
    }
    void* got = inner_->reserve(bytes, hint);
    reservations += got != nullptr ? 1 : 0;
    return got;
  }
  void release(void* address, std::size_t bytes) noexcept override {
    inner_->release(address, bytes);
    --reservations;
  }
  std::vector<handle_kind> handle_kinds() const override { return kinds.empty() ? inner_->handle_kinds() : kinds; }
  detail::segment_id create(std::size_t bytes, handle_kind as) override {
    trip(step::create, as);
    // A segment of a kind that the CPU does not have is made with a kind that the CPU has, so that the failure can be
    // in a later step.
    const detail::segment_id result = inner_->create(bytes, as == handle_kind::fabric ? handle_kind::named : as);
    kind_of_[result] = as;
    ++segments;
    return result;
  }
  std::vector<detail::external_segment> retain(void* pointer, std::size_t bytes, handle_kind as) override {
    trip(step::retain, as);
    std::vector<detail::external_segment> pieces = inner_->retain(pointer, bytes, as);
    for (const detail::external_segment& piece : pieces) kind_of_[piece.segment] = as;
    segments += static_cast<int>(pieces.size());
    return pieces;
  }
  detail::exported_handle export_segment(detail::segment_id segment) override {
    trip(step::export_segment, kind_of_[segment]);
    detail::exported_handle handle = inner_->export_segment(segment);
    handle.kind = kind_of_[segment];
    return handle;
  }
  detail::segment_id import_segment(const detail::exported_handle& handle, std::size_t bytes) override {
    trip(step::import_segment, handle.kind);
    detail::segment_id result{};
    if (handle.kind == handle_kind::fabric) {
      detail::exported_handle named;
      named.kind = handle_kind::named;
      named.bytes = handle.bytes;
      result = inner_->import_segment(named, bytes);
    } else {
      result = inner_->import_segment(handle, bytes);
    }
    kind_of_[result] = handle.kind;
    ++segments;
    return result;
  }
  bool spans(handle_kind pointer) const noexcept override { return spans_slots && inner_->spans(pointer); }
  detail::segment_id create_span(std::size_t bytes, handle_kind as) override {
    trip(step::create_span, as);
    const detail::segment_id result = inner_->create_span(bytes, as);
    kind_of_[result] = as;
    ++segments;
    return result;
  }
  void attach_span(void* address, std::size_t bytes, detail::segment_id segment, bool open) override {
    trip(step::attach_span, kind_of_[segment]);
    inner_->attach_span(address, bytes, segment, open);
    --segments;  // the reservation owns it
  }
  void detach_span(void* address, std::size_t bytes) noexcept override { inner_->detach_span(address, bytes); }
  void open_part(void* address, std::size_t bytes, bool own) override {
    trip(step::open_part, handle_kind::automatic);
    inner_->open_part(address, bytes, own);
    ++mappings;
  }
  void free_part(void* address, std::size_t bytes) noexcept override { inner_->free_part(address, bytes); }
  bool places(handle_kind pointer) const noexcept override { return inner_->places(pointer); }
  void* address_of(detail::segment_id segment) override { return inner_->address_of(segment); }
  void map(void* address, std::size_t bytes, detail::segment_id segment) override {
    trip(step::map, kind_of_[segment]);
    inner_->map(address, bytes, segment);
    ++mappings;
  }
  void unmap(void* address, std::size_t bytes) noexcept override {
    inner_->unmap(address, bytes);
    --mappings;
  }
  void destroy(detail::segment_id segment) noexcept override {
    inner_->destroy(segment);
    --segments;
  }

  detail::mapped_memory allocate_mapped(std::size_t bytes) override { return inner_->allocate_mapped(bytes); }
  void free_mapped(detail::mapped_memory m) noexcept override { inner_->free_mapped(m); }
  void* allocate_device(std::size_t bytes) override { return inner_->allocate_device(bytes); }
  void free_device(void* pointer) noexcept override { inner_->free_device(pointer); }
  detail::stream_handle create_stream() override { return inner_->create_stream(); }
  detail::stream_handle wrap_stream(void* native) override { return inner_->wrap_stream(native); }
  void destroy_stream(detail::stream_handle s) noexcept override { inner_->destroy_stream(s); }
  void synchronize(detail::stream_handle s) override { inner_->synchronize(s); }
  bool idle(detail::stream_handle s) override { return inner_->idle(s); }
  void check_work(detail::stream_handle s) override { inner_->check_work(s); }
  void copy(void* to, const void* from, std::size_t bytes, detail::stream_handle s) override {
    inner_->copy(to, from, bytes, s);
  }
  void fill(void* at, unsigned char value, std::size_t bytes, detail::stream_handle s) override {
    inner_->fill(at, value, bytes, s);
  }
  void enqueue(const detail::operation_request& r, detail::stream_handle s) override { inner_->enqueue(r, s); }
  void enqueue(const detail::list_request& r, detail::stream_handle s) override { inner_->enqueue(r, s); }
  void update(std::span<detail::batched_atomic> list, detail::stream_handle s) override { inner_->update(list, s); }
  std::uint64_t fetch(const detail::operation_request& r) override { return inner_->fetch(r); }
  void snapshot(void* to, const void* from, std::size_t count, std::size_t word_bytes) override {
    inner_->snapshot(to, from, count, word_bytes);
  }
  void collective(const context& c, const team_view& t, const detail::collective_request& r, detail::grid_state* blocks,
                  detail::stream_handle s) override {
    inner_->collective(c, t, r, blocks, s);
  }
  void push_context() override { inner_->push_context(); }
  void pop_context() noexcept override { inner_->pop_context(); }
  void range_push(const char* name) noexcept override { inner_->range_push(name); }
  void range_pop() noexcept override { inner_->range_pop(); }
  std::unique_ptr<detail::stream_order> make_stream_order() override { return inner_->make_stream_order(); }

 private:
  struct fault {
    step which;
    int countdown;
    std::optional<code> why;  ///< empty: the process dies
  };
  void trip(step which, handle_kind as) {
    const auto refused = refused_.find(as);
    if (refused != refused_.end() && refused->second == which)
      throw error(code::device_failed, "ERROR_NOT_PERMITTED in this test");
    if (!plan_ || plan_->which != which || --plan_->countdown != 0) return;
    if (!plan_->why) ::raise(SIGKILL);
    throw error(*plan_->why, "made to fail in this test");
  }

  std::unique_ptr<detail::device> inner_;
  mutable detail::device_properties shown_;
  std::optional<fault> plan_;
  std::map<handle_kind, step> refused_;
  std::map<detail::segment_id, handle_kind> kind_of_;
};

}  // namespace pgas::unit_test
