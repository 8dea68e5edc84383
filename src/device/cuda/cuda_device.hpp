/// @file
/// The GPU backend. Memory is physical memory of cuMemCreate, shared as fabric handles or POSIX descriptors and mapped
/// into the layout; or it is memory of cuMemAlloc, shared by legacy handles.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <set>

#include "device/cuda/context_scope.hpp"
#include "device/cuda/cuda_stream_order.hpp"
#include "device/cuda/gpu_properties.hpp"
#include "device/cuda/kernels/library_kernels.hpp"
#include "device/cuda/legacy_segments.hpp"
#include "device/device.hpp"

namespace pgas::detail::cuda {

/// A GPU, as the device of a world.
class cuda_device final : public device {
 public:
  /// @param ordinal the number of the GPU in this process
  explicit cuda_device(int ordinal);
  ~cuda_device() override;

  [[nodiscard]] const device_properties& properties() const noexcept override { return properties_; }

  [[nodiscard]] std::size_t granularity() const noexcept override { return granularity_; }
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
  [[nodiscard]] void* address_of(segment_id segment) override { return legacy_.address_of(segment); }
  void destroy(segment_id segment) noexcept override;

  [[nodiscard]] mapped_memory allocate_mapped(std::size_t bytes) override;
  void free_mapped(mapped_memory memory) noexcept override;
  [[nodiscard]] void* allocate_device(std::size_t bytes) override;
  void free_device(void* memory) noexcept override;

  [[nodiscard]] remote_writes order_of_remote_writes(bool for_peers) const noexcept override;
  void flush_remote_writes(bool for_peers) override;

  [[nodiscard]] stream_handle create_stream() override;
  [[nodiscard]] stream_handle create_urgent_stream() override;
  [[nodiscard]] stream_handle wrap_stream(void* native) override;
  void destroy_stream(stream_handle stream) noexcept override;
  [[nodiscard]] std::uint64_t number_of(stream_handle stream) override;
  void synchronize(stream_handle stream) override;
  [[nodiscard]] bool idle(stream_handle stream) override;
  void check_work(stream_handle stream) override;
  void world_failed() noexcept override;
  [[nodiscard]] bool capturing(stream_handle stream) override;
  void copy(void* to, const void* from, std::size_t bytes, stream_handle stream) override;
  void fill(void* at, unsigned char value, std::size_t bytes, stream_handle stream) override;
  void enqueue(const operation_request& request, stream_handle stream) override;
  void enqueue(const list_request& request, stream_handle stream) override;
  void update(std::span<batched_atomic> list, stream_handle stream) override;
  [[nodiscard]] std::uint64_t fetch(const operation_request& request) override;
  void snapshot(void* to, const void* from, std::size_t count, std::size_t word_bytes) override;
  [[nodiscard]] bool reaches(const void* memory) override;
  [[nodiscard]] bool is_pageable(const void* memory) override;
  void collective(const context& context, const team_view& team, const collective_request& request, grid_state* blocks,
                  stream_handle stream) override;

  void make_room_for_stacks(std::size_t bytes) override;
  [[nodiscard]] std::vector<clock_reading> read_clock() override;
  void push_context() override;
  void pop_context() noexcept override;
  void range_push(const char* name) noexcept override;
  void range_pop() noexcept override;
  [[nodiscard]] std::unique_ptr<stream_order> make_stream_order() override;

 private:
  [[nodiscard]] CUmemAllocationProp allocation_properties(handle_kind kind) const;
  /// The piece of the program's memory that starts at `at`. `most` is the number of bytes from `at` to the end of the
  /// range that the program has passed.
  [[nodiscard]] external_segment retain_piece(void* at, std::size_t most, handle_kind kind);
  void destroy_legacy(segment_id segment) noexcept;
  /// The part of the constructor that needs a context.
  void set_up();
  void release() noexcept;
  [[nodiscard]] bool has(CUdevice_attribute attribute) const noexcept { return cuda::has(ordinal_, attribute); }
  [[nodiscard]] static CUstream make_stream(int priority);
  [[nodiscard]] CUstream stream_of(stream_handle stream) const noexcept;
  /// The scope of a call that enqueues work. Makes the context current and provides the stream. Work on the internal
  /// stream is counted at the end of the call, and does not invalidate captures of other streams.
  class enqueuing {
   public:
    enqueuing(cuda_device& on, stream_handle stream) : on_(on), context_(on.context_), stream_(on.stream_of(stream)) {
      if (stream == nullptr) undisturbed_.emplace();
      // Work on the default stream would invalidate the capture of a stream that waits for the default stream.
      CUstreamCaptureStatus ignored = CU_STREAM_CAPTURE_STATUS_NONE;
      if (stream_ == CU_STREAM_LEGACY)
        check(driver().stream_is_capturing(stream_, &ignored), "enqueuing on CUDA's default stream");
    }
    ~enqueuing() {
      if (stream_ == on_.internal_) on_.enqueued_.fetch_add(1, std::memory_order_release);
    }
    enqueuing(const enqueuing&) = delete;
    enqueuing& operator=(const enqueuing&) = delete;
    [[nodiscard]] CUstream stream() const noexcept { return stream_; }

   private:
    cuda_device& on_;
    std::optional<relaxed_capture_scope> undisturbed_;
    in_context context_;
    const CUstream stream_;
  };
  /// Records that the first `count` operations on the internal stream are done.
  void note_done(std::uint64_t count) noexcept;
  /// A strided copy by the copy engines.
  void copy_blocks(const operation_request& request, CUstream stream);

  int ordinal_;
  CUcontext context_ = nullptr;
  device_properties properties_;
  std::size_t granularity_ = 0;
  bool reaches_pageable_ = false;
  /// The internal stream, for operations that the host calls; it never waits for streams of the application.
  CUstream internal_ = nullptr;
  /// The number of operations on the internal stream, and the number of completed ones. If both are equal, the driver
  /// is not queried, because a query takes 1.6 us, as long as a small copy.
  std::atomic<std::uint64_t> enqueued_{0};
  std::atomic<std::uint64_t> done_{0};
  std::optional<library_kernels> kernels_;  ///< loaded by set_up()
  mapped_memory result_;                    ///< receives the values of fetching atomic operations and clock readings
  std::mutex result_mutex_;                 ///< the operation that uses result_ holds this lock
  /// The time of the failure on the steady clock; 0: the world has not failed.
  std::atomic<std::int64_t> failed_at_ms_{0};
  /// Whether a kernel did not end in time. Memory that the kernel can still use is not freed before the process ends,
  /// because freeing would wait for the kernel.
  std::atomic<bool> lost_kernel_{false};
  live_streams streams_;  ///< the streams of the application
  legacy_segments legacy_;
  std::mutex handles_mutex_;
  /// The requested handle kind of each created segment. The driver cannot report this kind. Imported segments have no
  /// entry, because they are never exported.
  std::vector<std::pair<segment_id, handle_kind>> created_;
};

}  // namespace pgas::detail::cuda
