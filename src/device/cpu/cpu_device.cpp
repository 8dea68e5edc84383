#include "device/cpu/cpu_device.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <utility>

#include "device/both_backends/execute_collective.hpp"
#include "device/both_backends/execute_operation.hpp"
#include "device/cpu/files_behind_memory.hpp"
#include "device/cpu/host_segment.hpp"
#include "device/cpu/host_stream_order.hpp"
#include "pgas/error.hpp"

namespace pgas::detail {

namespace {

/// The size of a huge page, which is also the unit of GPU heaps. So allocations have the same alignment on both kinds
/// of heap.
constexpr std::size_t unit = std::size_t{2} << 20;

/// Executing work of at most this size takes less time than passing the work to another thread.
constexpr std::size_t small = std::size_t{64} << 10;

host_stream::place place_for(std::size_t bytes) {
  return bytes <= small ? host_stream::place::here_if_idle : host_stream::place::worker;
}

constexpr int reserved = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

/// Executes a collective on the calling thread. *Errors* thread_ended with a failure record if a wait of the thread
/// fails; invalid_argument for an operation that does not support the type.
void execute_collective(const context& ctx, const team_view& team, const collective_request& request) {
  if (moves(request)) return execute_move(ctx, this_thread{}, team, request);
  const auto reduce = [&]<class Types>(Types) { return execute_reduce<Types>(ctx, team, request); };
  if (!dispatch_type_group(request, reduce))
    throw error(code::invalid_argument, "this reduction does not support this type");
}

}  // namespace

std::unique_ptr<device> make_cpu_device() { return std::make_unique<cpu_device>(); }

cpu_device::cpu_device() {
  properties_.kind = heap_kind::host;
  properties_.name = "host memory";
  properties_.memory_bytes = physical_memory();
}

cpu_device::~cpu_device() {
  while (!reservations_.empty()) release(reservations_.begin()->first, reservations_.begin()->second.bytes);
}

std::size_t cpu_device::granularity() const noexcept { return unit; }

void* cpu_device::reserve(std::size_t bytes, void* hint) {
  if (hint != nullptr) {
    // The address is a hint, which Linux follows if the addresses are free. MAP_FIXED_NOREPLACE is not used: a
    // sanitizer that cannot use the address turns the hint into 0, and a privileged process would then get a page at
    // address 0.
    void* got = ::mmap(hint, bytes, PROT_NONE, reserved, -1, 0);
    if (got == MAP_FAILED) return nullptr;
    if (got != hint) {
      ::munmap(got, bytes);
      return nullptr;
    }
    const std::lock_guard lock(mutex_);
    reservations_.emplace(static_cast<std::byte*>(got), reservation{bytes, std::nullopt});
    return got;
  }
  const std::size_t wider = bytes + unit;
  void* got = wider < bytes ? MAP_FAILED : ::mmap(nullptr, wider, PROT_NONE, reserved, -1, 0);
  if (got == MAP_FAILED)
    throw error(code::address_space,
                fmt::format("the system refuses {} bytes of addresses: {}", bytes, std::strerror(errno)));
  auto* start = static_cast<std::byte*>(got);
  const std::size_t before = (unit - reinterpret_cast<std::uintptr_t>(start) % unit) % unit;
  if (before > 0) ::munmap(start, before);
  if (before < unit) ::munmap(start + before + bytes, unit - before);
  const std::lock_guard lock(mutex_);
  reservations_.emplace(start + before, reservation{bytes, std::nullopt});
  return start + before;
}

void cpu_device::release(void* address, std::size_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  if (reservations_.erase(static_cast<std::byte*>(address)) == 1) ::munmap(address, bytes);
}

std::vector<handle_kind> cpu_device::handle_kinds() const { return {handle_kind::posix_fd, handle_kind::named}; }

segment_id cpu_device::create(std::size_t bytes, handle_kind kind) {
  if (kind != handle_kind::posix_fd && kind != handle_kind::named && kind != handle_kind::cuda_ipc)
    throw error(code::device_failed, "host memory can be shared by posix_fd and named handles only");
  if (bytes == 0 || bytes % unit != 0)
    throw error(code::invalid_argument, fmt::format("a segment of {} bytes is not a multiple of {}", bytes, unit));
  const segment_id result = keep(host_segment::create(bytes), kind);
  if (places(kind)) place(result);
  return result;
}

exported_handle cpu_device::export_segment(segment_id segment) {
  const owned_segment& owned = find(segment);
  return owned.memory.export_as(owned.kind);
}

segment_id cpu_device::import_segment(const exported_handle& handle, std::size_t bytes) {
  const segment_id imported = keep(host_segment::import(handle, bytes), handle.kind);
  if (places(handle.kind)) place(imported);
  return imported;
}

segment_id cpu_device::keep(host_segment memory, handle_kind kind) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t id = next_segment_++;
  segments_.emplace(id, owned_segment{std::move(memory), kind});
  return segment_id{id};
}

void cpu_device::place(segment_id segment) {
  const std::size_t bytes = find(segment).memory.bytes();
  void* at = nullptr;
  try {
    constexpr std::uint64_t most_units = std::uint64_t{1} << 23;  // 16 TiB
    constexpr std::uintptr_t first = 0x1100'0000'0000;
    at = reserve(bytes, reinterpret_cast<void*>(first + random_number() % most_units * unit));
    if (at == nullptr) at = reserve(bytes, nullptr);
    map(at, bytes, segment);
  } catch (...) {
    if (at != nullptr) release(at, bytes);
    destroy(segment);
    throw;
  }
  const std::lock_guard lock(mutex_);
  segments_.find(static_cast<std::uint64_t>(segment))->second.at = at;
}

void* cpu_device::address_of(segment_id segment) { return find(segment).at; }

const cpu_device::owned_segment& cpu_device::find(segment_id segment) const {
  const std::lock_guard lock(mutex_);
  const auto found = segments_.find(static_cast<std::uint64_t>(segment));
  if (found == segments_.end()) throw error(code::invalid_argument, "no such segment");
  return found->second;
}

void cpu_device::map(void* address, std::size_t bytes, segment_id segment) {
  const owned_segment& owned = find(segment);
  if (bytes != owned.memory.bytes())
    throw error(code::invalid_argument,
                fmt::format("cannot map {} bytes of a segment of {} bytes", bytes, owned.memory.bytes()));
  // A mapping over addresses that are not reserved would replace another mapping of the process.
  auto* start = static_cast<std::byte*>(address);
  const bool inside = [&] {
    const std::lock_guard lock(mutex_);
    return around(start, bytes) != reservations_.end();
  }();
  if (!inside) throw error(code::invalid_argument, fmt::format("{} is not inside a reservation", address));
  if (::mmap(address, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, owned.memory.fd(), 0) == MAP_FAILED) {
    const int why = errno;
    throw error(why == ENOMEM ? code::out_of_memory : code::device_failed,
                fmt::format("mmap of {} bytes of a segment: {}", bytes, std::strerror(why)));
  }
}

void cpu_device::unmap(void* address, std::size_t bytes) noexcept {
  // Replaces the mapping by reserved addresses in one step, so that no other mapping can get the addresses. If this
  // fails, the segment stays mapped until the layout is released.
  const auto [fd, offset] = span_at(static_cast<std::byte*>(address), bytes);
  static_cast<void>(
      ::mmap(address, bytes, PROT_NONE, fd < 0 ? reserved | MAP_FIXED : MAP_SHARED | MAP_FIXED, fd, offset));
  if (fd >= 0) ::madvise(address, bytes, MADV_DONTDUMP);
}

cpu_device::reservation_map::const_iterator cpu_device::around(const std::byte* start, std::size_t bytes) const {
  const auto after = reservations_.upper_bound(const_cast<std::byte*>(start));
  if (after == reservations_.begin()) return reservations_.end();
  const auto found = std::prev(after);
  const auto offset = static_cast<std::size_t>(start - found->first);
  const std::size_t size = found->second.bytes;
  return offset < size && bytes <= size - offset ? found : reservations_.end();
}

std::pair<int, off_t> cpu_device::span_at(const std::byte* start, std::size_t bytes) const {
  const std::lock_guard lock(mutex_);
  const auto found = around(start, bytes);
  if (found == reservations_.end() || !found->second.span) return {-1, 0};
  const std::ptrdiff_t offset = start - found->first;
  // The slots of a small domain can be shorter than the reservation, which has the size for the largest domain.
  if (static_cast<std::size_t>(offset) + bytes > found->second.span->bytes()) return {-1, 0};
  return {found->second.span->fd(), offset};
}

segment_id cpu_device::create_span(std::size_t bytes, handle_kind kind) {
  return keep(host_segment::create_span(bytes), kind);
}

void cpu_device::attach_span(void* address, std::size_t bytes, segment_id segment, bool open) {
  const int fd = find(segment).memory.fd();
  // Closed addresses have no access rights. An access to closed addresses faults, and mlockall() allocates no memory
  // for these addresses.
  const int rights = open ? PROT_READ | PROT_WRITE : PROT_NONE;
  if (::mmap(address, bytes, rights, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED)
    throw error(code::device_failed, fmt::format("mmap of {} bytes for all slots: {}", bytes, std::strerror(errno)));
  // A core file does not contain the parts of the span that other PEs own. To write these parts, Linux would allocate
  // memory for their missing pages.
  ::madvise(address, bytes, MADV_DONTDUMP);
  const std::lock_guard lock(mutex_);
  const auto found = segments_.find(static_cast<std::uint64_t>(segment));
  reservations_.at(static_cast<std::byte*>(address)).span = std::move(found->second.memory);
  segments_.erase(found);
}

void cpu_device::detach_span(void* address, std::size_t bytes) noexcept {
  static_cast<void>(::mmap(address, bytes, PROT_NONE, reserved | MAP_FIXED, -1, 0));
  const std::lock_guard lock(mutex_);
  const auto found = reservations_.find(static_cast<std::byte*>(address));
  if (found != reservations_.end()) found->second.span.reset();
}

void cpu_device::open_part(void* address, std::size_t bytes, bool own) {
  if (own) {
    const auto [fd, offset] = span_at(static_cast<std::byte*>(address), bytes);
    allocate_in_file(fd, static_cast<std::size_t>(offset), bytes);
    ::madvise(address, bytes, MADV_DODUMP);
  }
  if (::mprotect(address, bytes, PROT_READ | PROT_WRITE) != 0) {
    const int why = errno;
    throw error(why == ENOMEM ? code::out_of_memory : code::device_failed,
                fmt::format("mprotect of {} bytes of a segment: {}", bytes, std::strerror(why)));
  }
}

void cpu_device::free_part(void* address, std::size_t bytes) noexcept {
  if (!world_failed_) ::madvise(address, bytes, MADV_REMOVE);
}

std::vector<external_segment> cpu_device::retain(void* pointer, std::size_t bytes, handle_kind kind) {
  if (kind != handle_kind::posix_fd)
    throw error(code::handle_exchange,
                "the heap shares memory by named handles, and external memory has none: use PGAS_MEM_HANDLE=posix_fd");
  std::vector<external_segment> pieces;
  for (program_file& file : files_behind_memory(pointer, bytes))
    pieces.push_back({keep(host_segment::of_program(std::move(file.fd), file.bytes), kind), file.bytes});
  return pieces;
}

void cpu_device::destroy(segment_id segment) noexcept {
  std::unordered_map<std::uint64_t, owned_segment>::node_type removed;
  {
    const std::lock_guard lock(mutex_);
    removed = segments_.extract(static_cast<std::uint64_t>(segment));
  }
  if (removed && removed.mapped().at != nullptr) release(removed.mapped().at, removed.mapped().memory.bytes());
}

mapped_memory cpu_device::allocate_mapped(std::size_t bytes) {
  constexpr std::size_t line = 128;
  const std::size_t rounded = (bytes + line - 1) / line * line;
  void* memory = rounded < bytes ? nullptr : std::aligned_alloc(line, rounded);
  if (memory == nullptr)
    throw error(code::out_of_memory, fmt::format("cannot allocate {} bytes of host memory", bytes));
  std::memset(memory, 0, rounded);
  return {memory, memory};
}

void cpu_device::free_mapped(mapped_memory memory) noexcept { std::free(memory.host); }

host_stream& cpu_device::queue(stream_handle stream) noexcept {
  return stream == nullptr ? own_ : *static_cast<host_stream*>(stream);
}

stream_handle cpu_device::wrap_stream(void*) {
  throw error(code::invalid_argument,
              "stream::wrap: a world on the host heap has no CUDA streams; make a pgas::stream");
}

stream_handle cpu_device::create_stream() { return std::make_unique<host_stream>().release(); }
void cpu_device::destroy_stream(stream_handle stream) noexcept {
  const std::unique_ptr<host_stream> owned(static_cast<host_stream*>(stream));
}

void cpu_device::synchronize(stream_handle stream) { queue(stream).wait(); }

bool cpu_device::idle(stream_handle stream) { return queue(stream).idle(); }

void cpu_device::copy(void* to, const void* from, std::size_t bytes, stream_handle stream) {
  if (bytes == 0) return;
  queue(stream).run([=] { std::memmove(to, from, bytes); }, place_for(bytes));
}

void cpu_device::fill(void* at, unsigned char value, std::size_t bytes, stream_handle stream) {
  if (bytes == 0) return;
  queue(stream).run([=] { std::memset(at, value, bytes); }, place_for(bytes));
}

void cpu_device::enqueue(const operation_request& request, stream_handle stream) {
  using kind = operation_request::kind;
  // Long work does not run on the calling thread. For example, a wait can depend on later calls of this thread.
  const bool copies = request.what == kind::strided || request.what == kind::put || request.what == kind::get;
  const bool lasts = request.what == kind::wait || (copies && request.bytes * request.count > small);
  queue(stream).run(
      [request] {
        if (request.what == kind::strided)
          execute_strided(request, {0, 1});
        else
          execute_operation(request, this_thread{});
      },
      lasts ? host_stream::place::worker : host_stream::place::here_if_idle);
}

void cpu_device::enqueue(const list_request& request, stream_handle stream) {
  queue(stream).run([request] { execute_list(request, this_thread{}, {0, 1}); }, host_stream::place::worker);
}

void cpu_device::update(std::span<batched_atomic> list, stream_handle stream) {
  queue(stream).run([list] { execute_updates(list.data(), list.size()); }, host_stream::place::here_if_idle);
}

std::uint64_t cpu_device::fetch(const operation_request& request) {
  std::uint64_t old = 0;
  own_.run_and_wait([&] { old = execute_atomic(request); });
  return old;
}

void cpu_device::snapshot(void* to, const void* from, std::size_t count, std::size_t word_bytes) {
  const auto read = [=]<class Word>(Word*) {
    for (std::size_t i = 0; i < count; ++i)
      static_cast<Word*>(to)[i] = load_relaxed(static_cast<const Word*>(from) + i);
  };
  own_.run_and_wait([&] {
    switch (word_bytes) {
      case 2: read(static_cast<std::uint16_t*>(nullptr)); break;
      case 4: read(static_cast<std::uint32_t*>(nullptr)); break;
      default: read(static_cast<std::uint64_t*>(nullptr)); break;
    }
    fence_acquire();
  });
}

std::unique_ptr<stream_order> cpu_device::make_stream_order() { return std::make_unique<host_stream_order>(); }

void cpu_device::collective(const context& context, const team_view& team, const collective_request& request,
                            grid_state*, stream_handle stream) {
  // The collective runs on the stream's thread and not on the calling thread, because other PEs can be waiting for the
  // caller's next steps.
  queue(stream).run([context, team, request] { execute_collective(context, team, request); },
                    host_stream::place::worker);
}

}  // namespace pgas::detail
