/// @file
/// The contract between the host library and a backend: memory that can be shared, copies, and the operations that the
/// library runs on a device. Two backends implement it: `cpu/` (host heap) and `cuda/` (GPU heap).
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

/// Describes a PE's device, for other PEs and for messages.
struct device_properties {
  heap_kind kind = heap_kind::host;
  std::string name;              ///< "NVIDIA H200", "host memory"
  std::string uuid;              ///< printable; two PEs with the same uuid use the same device
  std::string pci;               ///< the PCI address, "0000:19:00.0"; empty for the host
  int ordinal = -1;              ///< the number of the device in this process; -1 for the host
  std::size_t memory_bytes = 0;  ///< the memory of the whole device
  unsigned multiprocessors = 0;  ///< the number of multiprocessors that this process can use; 0 for the host
  unsigned registers = 0;        ///< the registers of a multiprocessor
  /// The number of registers per thread of the kernel that update() launches; 0 for the host. This kernel has one warp.
  unsigned proxy_registers = 0;
  /// Whether kernels of several processes can run at the same time (MPS). If false, the processes use the device in
  /// time slices.
  bool runs_processes_at_once = false;
};

struct grid_state;

/// The id of a physical piece of memory that this device has created or has imported from a peer. Only the backend that
/// made the id can interpret it.
enum class segment_id : std::uint64_t {};

/// A physical piece of memory that the program made. The memory that a program registers can consist of several pieces.
struct external_segment {
  segment_id segment;
  std::size_t bytes;
};

/// The data that a peer needs to import a segment: 64 bytes sent by all-gather, or a descriptor sent by SCM_RIGHTS.
struct exported_handle {
  handle_kind kind = handle_kind::posix_fd;
  std::array<std::byte, 64> bytes{};
  unique_fd fd;          ///< set only for posix_fd
  bool foreign = false;  ///< whether the program, and not this library, made the memory
};

/// An in-order queue of work: a CUstream, or a worker thread of the CPU backend. Null is the device's own internal
/// queue.
using stream_handle = void*;

/// Whether and when kernels see the writes of a network device.
enum class remote_writes { visible, after_flush, never };

/// A reading of the clock of kernels, and the host's steady clock before and after the reading, in nanoseconds.
struct clock_reading {
  std::int64_t before = 0;
  std::int64_t kernels = 0;
  std::int64_t after = 0;
};

/// Memory that both the host and running kernels can access: its address for the host, and its address for kernels.
struct mapped_memory {
  void* host = nullptr;
  void* device = nullptr;
};

/// A backend. *Callers* any thread, but only one thread at a time for the same segment or the same addresses. *Errors*
/// pgas::error with code::device_failed and the driver's name of the error, unless stated otherwise.
class device {
 public:
  virtual ~device() = default;
  device() = default;
  device(const device&) = delete;
  device& operator=(const device&) = delete;

  [[nodiscard]] virtual const device_properties& properties() const noexcept = 0;

  // ---- virtual layout

  /// The granularity of memory: every size and every address of segments and reservations is a multiple of it.
  [[nodiscard]] virtual std::size_t granularity() const noexcept = 0;
  /// Reserves addresses without memory. With a hint, reserves exactly these addresses, or returns null if they are in
  /// use. *Errors* address_space if no hint was given and the system reserves no addresses.
  [[nodiscard]] virtual void* reserve(std::size_t bytes, void* hint) = 0;
  virtual void release(void* address, std::size_t bytes) noexcept = 0;

  // ---- segments

  /// The handle kinds that are worth a probe on this device, the best first. Only the probe shows whether a listed kind
  /// works.
  [[nodiscard]] virtual std::vector<handle_kind> handle_kinds() const = 0;
  /// Allocates physical memory that can be exported as `kind`. *Errors* out_of_memory; device_failed if the kind does
  /// not work.
  [[nodiscard]] virtual segment_id create(std::size_t bytes, handle_kind kind) = 0;
  [[nodiscard]] virtual exported_handle export_segment(segment_id segment) = 0;
  /// *Errors* handle_invalid if the handle is truncated, was made by another library, or is for a segment of another
  /// size than `bytes`.
  [[nodiscard]] virtual segment_id import_segment(const exported_handle& handle, std::size_t bytes) = 0;
  /// Maps the segment at `address` (inside a reservation) and makes it readable and writable for this device.
  virtual void map(void* address, std::size_t bytes, segment_id segment) = 0;
  virtual void unmap(void* address, std::size_t bytes) noexcept = 0;
  /// Returns segments for memory that the program made: one segment for each physical piece, in order. The segments can
  /// be exported as `kind` and mapped. The segments stay valid until destroy(), even if the program frees its memory.
  /// *Errors* invalid_argument, handle_exchange with the reason.
  [[nodiscard]] virtual std::vector<external_segment> retain(void* pointer, std::size_t bytes, handle_kind kind) = 0;
  /// Whether the device itself chooses the addresses of segments of this kind. If true, a segment of this kind has its
  /// address from create() or import_segment() to destroy(). address_of() returns the address, and map() refuses the
  /// segment. handle_kinds() can omit a kind for which this function returns true.
  [[nodiscard]] virtual bool places(handle_kind) const noexcept { return false; }
  /// The address of a segment whose address the device chose. This device can read and write the memory at this
  /// address.
  [[nodiscard]] virtual void* address_of(segment_id) {
    throw error(code::invalid_argument, "a segment has the address that it is mapped at");
  }
  /// Releases a created or imported segment. The memory is freed when no process maps it any more.
  virtual void destroy(segment_id segment) noexcept = 0;

  // ---- one segment for the slots of several PEs

  /// Whether one segment of this kind, called a span, can contain the memory of all slots of a domain. A span has
  /// memory only in the parts that PEs open. The PEs of a domain exchange one handle when they join.
  [[nodiscard]] virtual bool spans(handle_kind) const noexcept { return false; }
  /// Creates a span, which is exported, imported and destroyed as other segments are. *Errors* as create().
  [[nodiscard]] virtual segment_id create_span(std::size_t, handle_kind) {
    throw error(code::invalid_argument, "this device has no spans");
  }
  /// Maps the span to reserved addresses of `bytes` bytes, and takes ownership of the span. If `open` is true, the
  /// whole span is accessible immediately. If `open` is false, a part becomes accessible by open_part(). unmap() of a
  /// part makes the addresses of the part inaccessible again; so does unmap() of a segment that was mapped at these
  /// addresses.
  virtual void attach_span(void*, std::size_t, segment_id, [[maybe_unused]] bool open) {}
  /// Unmaps the span. The addresses stay reserved.
  virtual void detach_span(void*, std::size_t) noexcept {}
  /// Makes a part of an attached span accessible. `own` means that the part belongs to this PE; its pages then get
  /// memory on first access. *Errors* out_of_memory for an own part if the memory is not available.
  virtual void open_part(void*, std::size_t, [[maybe_unused]] bool own) {}
  /// Frees the memory of an own part, for all PEs. Has no effect after world_failed(), because peers can still read the
  /// memory.
  virtual void free_part(void*, std::size_t) noexcept {}

  // ---- memory for control words

  [[nodiscard]] virtual mapped_memory allocate_mapped(std::size_t bytes) = 0;  ///< zeroed, aligned to 128 bytes
  virtual void free_mapped(mapped_memory memory) noexcept = 0;
  /// Allocates memory for kernels of this device only, zeroed and aligned to 256 bytes.
  [[nodiscard]] virtual void* allocate_device(std::size_t bytes) = 0;
  virtual void free_device(void* memory) noexcept = 0;

  // ---- writes of network devices to this device's memory (GPUDirect RDMA)

  /// A network device writes, and a later event informs a kernel of the write. Returns whether and when that kernel
  /// sees the write. If the argument (`for_peers`) is true, the answer also holds for kernels of peers that have mapped
  /// the memory.
  [[nodiscard]] virtual remote_writes order_of_remote_writes(bool) const noexcept { return remote_writes::visible; }
  /// Makes earlier writes of network devices visible to kernels that see a later event.
  virtual void flush_remote_writes([[maybe_unused]] bool for_peers) {}

  // ---- work; thread-safe, in order within one stream

  [[nodiscard]] virtual stream_handle create_stream() = 0;
  /// A stream with high priority if the device has priorities. The stream is for short work that other work waits for.
  [[nodiscard]] virtual stream_handle create_urgent_stream() { return create_stream(); }
  /// The handle of a stream that the application made, or of its default stream (null). *Errors* invalid_argument if
  /// the device has no streams of applications.
  [[nodiscard]] virtual stream_handle wrap_stream(void* native) = 0;
  virtual void destroy_stream(stream_handle stream) noexcept = 0;
  /// The number of a stream. Streams that exist at the same time have different numbers, but can have equal handles:
  /// CUDA has one handle for the default streams of all threads.
  [[nodiscard]] virtual std::uint64_t number_of(stream_handle stream) {
    return reinterpret_cast<std::uintptr_t>(stream);
  }
  /// Waits until all earlier work of the stream is done. *Errors* the errors of this work.
  virtual void synchronize(stream_handle stream) = 0;
  /// Whether all work of the stream is done, as far as this is known without waiting. A stream that is being captured
  /// has no work.
  [[nodiscard]] virtual bool idle(stream_handle stream) = 0;
  /// Checks without waiting whether work has failed: work of the stream, and on a GPU work of any stream, because a
  /// failure on a GPU ends all work. *Errors* the failure, which synchronize() throws too.
  virtual void check_work(stream_handle stream) = 0;
  /// Called from any thread when the world has failed. Waiting kernels end because of the failure. After this call,
  /// synchronize() no longer waits for a kernel that does not end. A backend whose kernels always end ignores the call.
  virtual void world_failed() noexcept {}
  /// Whether the stream is being captured: work that is enqueued now is recorded in a CUDA graph and not executed. Code
  /// must not wait for a stream that is being captured.
  [[nodiscard]] virtual bool capturing(stream_handle) { return false; }
  /// Copies between any two addresses that this device can access, including pageable host memory.
  virtual void copy(void* to, const void* from, std::size_t bytes, stream_handle stream) = 0;
  virtual void fill(void* at, unsigned char value, std::size_t bytes, stream_handle stream) = 0;
  /// Enqueues the operation on the stream. If kernels cannot access the local memory of a strided copy, the copy is
  /// made in another way. Kernels must be able to access the arrays `status` and `values` and the result.
  virtual void enqueue(const operation_request& request, stream_handle stream) = 0;
  /// Enqueues the copies of a list. Kernels must be able to access all blocks. If kernels cannot access an array of the
  /// list, the call reads this array. *Errors* capturing, if the stream is being captured and kernels cannot access an
  /// array.
  virtual void enqueue(const list_request& request, stream_handle stream) = 0;
  /// Enqueues a list of atomic operations on the stream. Earlier work of the stream is visible to a PE that acquires a
  /// value that one of these operations has written.
  /// @param list a list in mapped_memory, at its address for kernels. The list must stay valid until a wait for the
  /// stream has returned.
  virtual void update(std::span<batched_atomic> list, stream_handle stream) = 0;
  /// Executes an atomic operation on the internal queue and returns the bits of the old value. Blocking.
  [[nodiscard]] virtual std::uint64_t fetch(const operation_request& request) = 0;
  /// Reads `count` words of 2, 4 or 8 bytes into host memory. Each word is read by a single access. After the return,
  /// the writes that a PE released before it wrote these values are visible. Blocking, on the internal queue.
  virtual void snapshot(void* to, const void* from, std::size_t count, std::size_t word_bytes) = 0;
  /// Whether kernels of this device can access the address by loads and stores.
  [[nodiscard]] virtual bool reaches(const void*) { return true; }
  /// Whether the memory is host memory that the device's driver does not know. Always false on the host heap.
  [[nodiscard]] virtual bool is_pageable(const void*) { return false; }
  /// Enqueues the requested collective over `team` on the stream. The collective has the effect of the device operation
  /// with the same name, and uses the channel of `team`. The arguments have been checked.
  /// @param blocks the shared state of the kernel's blocks
  virtual void collective(const context& context, const team_view& team, const collective_request& request,
                          grid_state* blocks, stream_handle stream) = 0;

  /// Reserves the memory for stacks of kernels. If this memory is not reserved, the launch must reserve it. For
  /// that, the driver first waits until all kernels have ended.
  /// @param bytes the largest stack of a thread of the loaded kernels
  virtual void make_room_for_stacks(std::size_t) {}

  /// Several readings of clock_ns(). Empty if that clock is the host's steady clock. Blocking, on the internal queue.
  /// *Errors* device_failed, also if the device executes no work for ten seconds.
  [[nodiscard]] virtual std::vector<clock_reading> read_clock() { return {}; }

  /// Makes the device current on the calling thread, for code that launches kernels itself. Calls may be nested.
  virtual void push_context() = 0;
  virtual void pop_context() noexcept = 0;

  // ---- profiler ranges on the calling thread; no-ops where there is no profiler

  virtual void range_push(const char* name) noexcept = 0;
  virtual void range_pop() noexcept = 0;

  // ---- order

  /// An order for work that shares state and is enqueued on several streams. *Memory* the device must outlive the
  /// order.
  [[nodiscard]] virtual std::unique_ptr<stream_order> make_stream_order() = 0;
};

/// The host heap. Never fails.
[[nodiscard]] std::unique_ptr<device> make_cpu_device();

/// The error for a GPU that this process cannot use unless the program is changed. After this error a world does not
/// fall back to the host heap.
class misused_gpu : public error {
 public:
  explicit misused_gpu(std::string_view message) : error(pgas::code::device_unavailable, message) {}
};

/// Returns the device of a GPU. This is the GPU `settings.device`, if the setting is set. Otherwise it is the GPU whose
/// context the application has made current. If no context is current, it is the visible GPU with the number
/// `local_rank` modulo the number of GPUs. *Errors* device_unavailable with the reason: built without CUDA, no driver,
/// no GPU; misused_gpu if the application's current context is not one that the library uses.
[[nodiscard]] std::unique_ptr<device> make_cuda_device(const config& settings, int local_rank);

}  // namespace pgas::detail
