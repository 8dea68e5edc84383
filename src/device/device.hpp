/// @file
/// The contract between the host library and a backend: memory that can be shared, copies, and the operations that the
/// library runs on a device. Two backends fulfil it: `cpu/` (host heap) and `cuda/` (GPU heap).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/unique_fd.hpp"
#include "device/operation_request.hpp"
#include "device/stream_order.hpp"
#include "pgas/config.hpp"
#include "pgas/device/context.hpp"
#include "pgas/device/impl/reduce/collective_request.hpp"
#include "pgas/error.hpp"

namespace pgas::detail {

/// A PE's device, for other PEs and for messages.
struct device_properties {
  heap_kind kind = heap_kind::host;
  std::string name;                     ///< "NVIDIA H200", "host memory"
  std::string uuid;                     ///< printable; two PEs with the same uuid share a device
  std::string pci;                      ///< where it is, "0000:19:00.0"; empty for the host
  int ordinal = -1;                     ///< as this process counts its devices, -1 for the host
  std::size_t memory_bytes = 0;         ///< of the whole device
  unsigned multiprocessors = 0;         ///< that this process may use; 0 for the host
  unsigned registers = 0;               ///< of a multiprocessor
  unsigned proxy_registers = 0;         ///< of each thread of update()'s kernel, which is one warp; 0 for the host
  bool runs_processes_at_once = false;  ///< kernels of several processes run side by side (MPS), not in time slices
};

struct grid_state;

/// One physical piece of memory, created here or imported from a peer. Meaningful to the backend that made it.
enum class segment_id : std::uint64_t {};

/// One of the physical pieces that memory of the program consists of.
struct external_segment {
  segment_id segment;
  std::size_t bytes;
};

/// What travels to a peer so that it can import a segment: 64 bytes by all-gather, or a descriptor by SCM_RIGHTS.
struct exported_handle {
  handle_kind kind = handle_kind::posix_fd;
  std::array<std::byte, 64> bytes{};
  unique_fd fd;          ///< only for posix_fd
  bool foreign = false;  ///< of memory that the program made, not this library
};

/// An in-order queue of work: a CUstream, or a worker thread of the CPU backend. Null: the device's own internal queue.
using stream_handle = void*;

/// When kernels see the writes of a network device.
enum class remote_writes { visible, after_flush, never };

/// A reading of the clock of kernels, and the host's steady clock before and after it. Nanoseconds.
struct clock_reading {
  std::int64_t before = 0;
  std::int64_t kernels = 0;
  std::int64_t after = 0;
};

/// Memory that the host and running kernels both see, at these two addresses.
struct mapped_memory {
  void* host = nullptr;
  void* device = nullptr;
};

/// A backend. *Callers* any thread; one at a time for each segment and each range of addresses. *Errors* pgas::error
/// with code::device_failed (the driver's error by name) unless said otherwise.
class device {
 public:
  virtual ~device() = default;
  device() = default;
  device(const device&) = delete;
  device& operator=(const device&) = delete;

  [[nodiscard]] virtual const device_properties& properties() const noexcept = 0;

  // ---- virtual layout

  /// Every size and address below is a multiple of this.
  [[nodiscard]] virtual std::size_t granularity() const noexcept = 0;
  /// Reserves addresses without memory. With a hint: exactly there, or null when the addresses are taken. *Errors*
  /// address_space when no hint was given and the system refuses.
  [[nodiscard]] virtual void* reserve(std::size_t bytes, void* hint) = 0;
  virtual void release(void* address, std::size_t bytes) noexcept = 0;

  // ---- segments

  /// Kinds worth probing on this device, best first. That a kind is listed does not mean that it works.
  [[nodiscard]] virtual std::vector<handle_kind> handle_kinds() const = 0;
  /// Physical memory that can be exported as `kind`. *Errors* out_of_memory; device_failed where the kind does not
  /// work.
  [[nodiscard]] virtual segment_id create(std::size_t bytes, handle_kind kind) = 0;
  [[nodiscard]] virtual exported_handle export_segment(segment_id segment) = 0;
  /// *Errors* handle_invalid when the handle is truncated, foreign, or of another size than `bytes`.
  [[nodiscard]] virtual segment_id import_segment(const exported_handle& handle, std::size_t bytes) = 0;
  /// Maps the segment at `address` (inside a reservation) and makes it readable and writable for this device.
  virtual void map(void* address, std::size_t bytes, segment_id segment) = 0;
  virtual void unmap(void* address, std::size_t bytes) noexcept = 0;
  /// The pieces behind memory that the program made, in order, as segments that can be exported as `kind` and mapped.
  /// They live until destroy(), even if the program frees its own. *Errors* invalid_argument, handle_exchange with the
  /// reason.
  [[nodiscard]] virtual std::vector<external_segment> retain(void* pointer, std::size_t bytes, handle_kind kind) = 0;
  /// Whether the device itself chooses where segments of this kind lie, from create() or import_segment() to destroy():
  /// address_of() tells, and map() does not take them. Not all such kinds are among handle_kinds().
  [[nodiscard]] virtual bool places(handle_kind) const noexcept { return false; }
  /// The address of a segment of such a kind, readable and writable for this device.
  [[nodiscard]] virtual void* address_of(segment_id) {
    throw error(code::invalid_argument, "a segment has the address that it is mapped at");
  }
  /// Releases a created or imported segment; the memory is freed when the last mapping anywhere is gone.
  virtual void destroy(segment_id segment) noexcept = 0;

  // ---- memory for control words

  [[nodiscard]] virtual mapped_memory allocate_mapped(std::size_t bytes) = 0;  ///< zeroed, 128-byte aligned
  virtual void free_mapped(mapped_memory memory) noexcept = 0;
  /// Memory for this device's kernels alone, zeroed, 256-byte aligned.
  [[nodiscard]] virtual void* allocate_device(std::size_t bytes) = 0;
  virtual void free_device(void* memory) noexcept = 0;

  // ---- writes of network devices to this device's memory (GPUDirect RDMA)

  /// When kernels that a later event tells of such a write see it; kernels of peers that have mapped the memory, too,
  /// where `for_peers`.
  [[nodiscard]] virtual remote_writes order_of_remote_writes(bool) const noexcept { return remote_writes::visible; }
  /// Makes earlier writes visible to kernels that see a later event.
  virtual void flush_remote_writes([[maybe_unused]] bool for_peers) {}

  // ---- work; thread-safe, in order within one stream

  [[nodiscard]] virtual stream_handle create_stream() = 0;
  /// A stream with priority where the device has priorities: for short work that others wait for.
  [[nodiscard]] virtual stream_handle create_urgent_stream() { return create_stream(); }
  /// The handle of a stream that the application made, its default stream (null) included. *Errors* invalid_argument
  /// where applications have no streams.
  [[nodiscard]] virtual stream_handle wrap_stream(void* native) = 0;
  virtual void destroy_stream(stream_handle stream) noexcept = 0;
  /// The number of a stream, different for streams that run at once. Handles may be equal: CUDA has one for the default
  /// streams of all threads.
  [[nodiscard]] virtual std::uint64_t number_of(stream_handle stream) {
    return reinterpret_cast<std::uintptr_t>(stream);
  }
  /// Returns when all earlier work of the stream is done. *Errors* those of this work.
  virtual void synchronize(stream_handle stream) = 0;
  /// Whether all work of the stream is done, as far as can be told without waiting. A stream that is being captured has
  /// none.
  [[nodiscard]] virtual bool idle(stream_handle stream) = 0;
  /// Looks whether work has failed, without waiting for it: of the stream, and on a GPU of any stream, as that ends all
  /// work. *Errors* the failure, which synchronize() throws as well.
  virtual void check_work(stream_handle stream) = 0;
  /// Told when the world has failed, from any thread: kernels that wait are ending, and synchronize() no longer waits
  /// for one that does not. A backend that cannot lose a kernel ignores it.
  virtual void world_failed() noexcept {}
  /// Whether work enqueued now is recorded (CUDA graphs) instead of executed; nothing may wait for such a stream.
  [[nodiscard]] virtual bool capturing(stream_handle) { return false; }
  /// Copies between any two places that this device reaches, pageable host memory included.
  virtual void copy(void* to, const void* from, std::size_t bytes, stream_handle stream) = 0;
  virtual void fill(void* at, unsigned char value, std::size_t bytes, stream_handle stream) = 0;
  /// Executes the operation when the stream gets there. Local memory of a strided copy that kernels can't access is
  /// copied in another way; status, values and result must be accessible.
  virtual void enqueue(const operation_request& request, stream_handle stream) = 0;
  /// Executes a list of atomic operations when the stream gets there. Earlier work of the stream is visible to whoever
  /// acquires one of their values. @param list in mapped_memory, as kernels address it; stays until the stream has been
  /// waited for
  virtual void update(std::span<batched_atomic> list, stream_handle stream) = 0;
  /// Carries out an atomic operation on the internal queue and returns the bits of the old value. Blocking.
  [[nodiscard]] virtual std::uint64_t fetch(const operation_request& request) = 0;
  /// Reads `count` words of 2, 4 or 8 bytes into host memory, each whole; everything released before a value is visible
  /// when its word has been read. Blocking, on the internal queue.
  virtual void snapshot(void* to, const void* from, std::size_t count, std::size_t word_bytes) = 0;
  /// Whether kernels of this device can load and store there.
  [[nodiscard]] virtual bool reaches(const void*) { return true; }
  /// A collective over `team` when the stream gets there, as the device operation of the same name; on the channel that
  /// `team` is on. Arguments have been checked. @param blocks the shared state of a kernel's blocks
  virtual void collective(const context& context, const team_view& team, const collective_request& request,
                          grid_state* blocks, stream_handle stream) = 0;

  /// Has the memory of kernels' stacks set aside, so that no launch has to: the driver would wait for all kernels
  /// first.
  /// @param bytes of the largest stack of a thread, of kernels that are loaded
  virtual void make_room_for_stacks(std::size_t) {}

  /// Some readings of clock_ns(); none where that is the host's steady clock. Blocking, on the internal queue. *Errors*
  /// device_failed, also where the device carries out nothing for ten seconds.
  [[nodiscard]] virtual std::vector<clock_reading> read_clock() { return {}; }

  /// Makes the device current on the calling thread, for code that launches kernels itself; calls nest.
  virtual void push_context() = 0;
  virtual void pop_context() noexcept = 0;

  // ---- profiler ranges on the calling thread; no-ops where there is no profiler

  virtual void range_push(const char* name) noexcept = 0;
  virtual void range_pop() noexcept = 0;

  // ---- order

  /// For work that shares state and is enqueued on several streams. *Memory* it does not outlive the device.
  [[nodiscard]] virtual std::unique_ptr<stream_order> make_stream_order() = 0;
};

/// The host heap. Never fails.
[[nodiscard]] std::unique_ptr<device> make_cpu_device();

/// A GPU that this process cannot use until the program is changed: a world does not fall back to the host heap then.
class misused_gpu : public error {
 public:
  explicit misused_gpu(std::string_view message) : error(pgas::code::device_unavailable, message) {}
};

/// `settings.device` if given, else the GPU that the application has selected (a current context), else the
/// `local_rank`-th of the visible ones, wrapping around. *Errors* device_unavailable with the reason: built without
/// CUDA, no driver, no GPU; misused_gpu where the application's current context is one that the library does not use.
[[nodiscard]] std::unique_ptr<device> make_cuda_device(const config& settings, int local_rank);

}  // namespace pgas::detail
