/// @file
/// The backend of the host heap.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

#include "device/cpu/host_segment.hpp"
#include "device/cpu/host_stream.hpp"
#include "device/device.hpp"

namespace pgas::detail {

/// Host memory and CPU threads as a device. Implements the contract of device.
class cpu_device final : public device {
 public:
  cpu_device();
  ~cpu_device() override;

  [[nodiscard]] const device_properties& properties() const noexcept override { return properties_; }

  [[nodiscard]] std::size_t granularity() const noexcept override;
  [[nodiscard]] void* reserve(std::size_t bytes, void* hint) override;
  void release(void* address, std::size_t bytes) noexcept override;

  [[nodiscard]] std::vector<handle_kind> handle_kinds() const override;
  [[nodiscard]] segment_id create(std::size_t bytes, handle_kind kind) override;
  [[nodiscard]] exported_handle export_segment(segment_id segment) override;
  [[nodiscard]] segment_id import_segment(const exported_handle& handle, std::size_t bytes) override;
  void map(void* address, std::size_t bytes, segment_id segment) override;
  void unmap(void* address, std::size_t bytes) noexcept override;
  [[nodiscard]] std::vector<external_segment> retain(void* pointer, std::size_t bytes, handle_kind kind) override;
  [[nodiscard]] bool places(handle_kind kind) const noexcept override { return kind == handle_kind::cuda_ipc; }
  [[nodiscard]] void* address_of(segment_id segment) override;
  void destroy(segment_id segment) noexcept override;

  [[nodiscard]] bool spans(handle_kind kind) const noexcept override { return !places(kind); }
  [[nodiscard]] segment_id create_span(std::size_t bytes, handle_kind kind) override;
  void attach_span(void* address, std::size_t bytes, segment_id segment, bool open) override;
  void detach_span(void* address, std::size_t bytes) noexcept override;
  void open_part(void* address, std::size_t bytes, bool own) override;
  void free_part(void* address, std::size_t bytes) noexcept override;
  void world_failed() noexcept override { world_failed_ = true; }

  [[nodiscard]] mapped_memory allocate_mapped(std::size_t bytes) override;
  void free_mapped(mapped_memory memory) noexcept override;
  [[nodiscard]] void* allocate_device(std::size_t bytes) override { return allocate_mapped(bytes).host; }
  void free_device(void* memory) noexcept override { free_mapped({memory, memory}); }

  [[nodiscard]] stream_handle create_stream() override;
  [[nodiscard]] stream_handle wrap_stream(void* native) override;
  void destroy_stream(stream_handle stream) noexcept override;
  void synchronize(stream_handle stream) override;
  [[nodiscard]] bool idle(stream_handle stream) override;
  void check_work(stream_handle stream) override { queue(stream).check(); }
  void copy(void* to, const void* from, std::size_t bytes, stream_handle stream) override;
  void fill(void* at, unsigned char value, std::size_t bytes, stream_handle stream) override;
  void enqueue(const operation_request& request, stream_handle stream) override;
  void enqueue(const list_request& request, stream_handle stream) override;
  void update(std::span<batched_atomic> list, stream_handle stream) override;
  [[nodiscard]] std::uint64_t fetch(const operation_request& request) override;
  void snapshot(void* to, const void* from, std::size_t count, std::size_t word_bytes) override;
  void collective(const context& context, const team_view& team, const collective_request& request, grid_state* blocks,
                  stream_handle stream) override;

  void push_context() override {}
  void pop_context() noexcept override {}

  void range_push(const char*) noexcept override {}
  void range_pop() noexcept override {}
  [[nodiscard]] std::unique_ptr<stream_order> make_stream_order() override;

  /// The queue of a stream; if the handle is null, the device's own queue.
  [[nodiscard]] host_stream& queue(stream_handle stream) noexcept;

 private:
  struct owned_segment {
    host_segment memory;
    handle_kind kind;
    void* at = nullptr;  ///< set only if the device chooses the address
  };
  /// A range of addresses, and the span that is mapped there, if any.
  struct reservation {
    std::size_t bytes;
    std::optional<host_segment> span;
  };
  using reservation_map = std::map<std::byte*, reservation>;
  /// The reservation that contains the range, or the end of the map if no reservation contains the range. *Callers*
  /// hold the mutex.
  [[nodiscard]] reservation_map::const_iterator around(const std::byte* start, std::size_t bytes) const;
  /// The descriptor of the span that is mapped at an address, and the offset of the address in the span; -1 without a
  /// span.
  [[nodiscard]] std::pair<int, off_t> span_at(const std::byte* start, std::size_t bytes) const;
  [[nodiscard]] segment_id keep(host_segment memory, handle_kind kind);
  [[nodiscard]] const owned_segment& find(segment_id segment) const;
  /// Maps a segment of a kind whose address the device chooses. An attacker cannot derive other addresses of the
  /// process from this address. On failure, nothing stays mapped.
  void place(segment_id segment);

  device_properties properties_;
  std::atomic<bool> world_failed_{false};
  mutable std::mutex mutex_;  ///< guards the members below, up to the streams
  reservation_map reservations_;
  std::unordered_map<std::uint64_t, owned_segment> segments_;
  std::uint64_t next_segment_ = 1;
  host_stream own_;
};

/// Executes a reduction on the calling thread. `Types` is a type_group. Returns false if the request's type is not in
/// this group.
template <class Types>
bool execute_reduce(const context& ctx, const team_view& team, const collective_request& request);

}  // namespace pgas::detail
