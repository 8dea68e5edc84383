// GPU memory that is shared without a world: in the process that owns it, and in the processes that open it.
#include "device/sharing.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "common/keyed_hash.hpp"
#include "common/step_times.hpp"
#include "common/system_error.hpp"
#include "device/cuda/primary_context.hpp"
#include "device/visible_gpus.hpp"

namespace pgas::detail {

namespace cuda {

namespace {

/// The size of the blocks that cudaMalloc takes from the driver. A legacy handle shares a whole block.
constexpr std::size_t block_bytes = std::size_t{2} << 20;

CUdeviceptr address_of(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }
void* pointer_to(CUdeviceptr address) { return reinterpret_cast<void*>(address); }
/// The driver expects the number of the descriptor in a pointer parameter.
void* as_pointer(int fd) { return reinterpret_cast<void*>(static_cast<std::intptr_t>(fd)); }

/// A piece of physical memory.
struct chunk {
  CUmemGenericAllocationHandle handle = 0;
  std::size_t bytes = 0;
};

/// Owns pieces of physical memory. After map(), it also owns the contiguous addresses of the pieces.
class chunk_list {
 public:
  chunk_list() = default;
  chunk_list(chunk_list&& other) noexcept
      : chunks_(std::exchange(other.chunks_, {})),
        start_(std::exchange(other.start_, 0)),
        reserved_(std::exchange(other.reserved_, 0)),
        mapped_(std::exchange(other.mapped_, 0)) {}
  chunk_list& operator=(chunk_list&&) = delete;
  ~chunk_list();

  void add(chunk part) { chunks_.push_back(part); }
  void set_bytes_of_last(std::size_t bytes) noexcept { chunks_.back().bytes = bytes; }
  [[nodiscard]] std::span<const chunk> all() const noexcept { return chunks_; }
  [[nodiscard]] std::size_t bytes() const noexcept;
  /// Maps all pieces at a new range of exactly the needed size, for kernels of the GPU `ordinal`. *Errors*
  /// address_space, handle_invalid, peer_unreachable if that GPU cannot access the memory.
  void map(int ordinal, access importers);
  [[nodiscard]] CUdeviceptr start() const noexcept { return start_; }

 private:
  void unmap() noexcept;

  std::vector<chunk> chunks_;
  CUdeviceptr start_ = 0;
  std::size_t reserved_ = 0;
  std::size_t mapped_ = 0;
};

chunk_list::~chunk_list() {
  const relaxed_capture_scope undisturbed;
  unmap();
  for (const chunk& part : chunks_) static_cast<void>(driver().release(part.handle));
}

std::size_t chunk_list::bytes() const noexcept {
  std::size_t sum = 0;
  for (const chunk& part : chunks_) sum += part.bytes;
  return sum;
}

void chunk_list::map(int ordinal, access importers) {
  const std::size_t all = bytes();
  check(driver().address_reserve(&start_, all, 0, 0, 0),
        fmt::format("reserving {} bytes of addresses (cuMemAddressReserve)", all), code::address_space);
  reserved_ = all;
  step_times::lap("reserve");
  try {
    for (const chunk& part : chunks_) {
      check(driver().map(start_ + mapped_, part.bytes, 0, part.handle, 0),
            fmt::format("cuMemMap of {} bytes of shared memory", part.bytes), code::handle_invalid);
      mapped_ += part.bytes;
    }
    step_times::lap("map");
    CUmemAccessDesc wanted{};
    wanted.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    wanted.location.id = ordinal;
    wanted.flags = importers == access::read_only ? CU_MEM_ACCESS_FLAGS_PROT_READ : CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    check(
        driver().set_access(start_, all, &wanted, 1),
        fmt::format("cuMemSetAccess for GPU {} (does it reach the memory's GPU? see nvidia-smi topo -p2p rw)", ordinal),
        code::peer_unreachable);
    step_times::lap("access");
  } catch (...) {
    unmap();
    throw;
  }
}

void chunk_list::unmap() noexcept {
  std::size_t at = 0;
  for (const chunk& part : chunks_) {  // the pieces in the order in which they are mapped
    if (at == mapped_) break;
    static_cast<void>(driver().unmap(start_ + at, part.bytes));
    at += part.bytes;
  }
  if (reserved_ > 0) static_cast<void>(driver().address_free(start_, reserved_));
  start_ = 0;
  mapped_ = 0;
  reserved_ = 0;
}

// ---- in the process that owns the memory

template <class Value>
bool ask(Value& value, CUpointer_attribute what, const void* pointer) {
  return driver().pointer_attribute(&value, what, address_of(pointer)) == CUDA_SUCCESS;
}

sharing_description describe(sharing_way way, int ordinal, std::size_t bytes, std::size_t offset, access importers) {
  sharing_description is;
  is.way = way;
  is.read_only = importers == access::read_only ? 1 : 0;
  is.bytes = bytes;
  is.offset = offset;
  is.gpu = uuid_of_gpu(ordinal);
  is.block = random_bits();
  return is;
}

/// The base class of all kinds of exports.
class gpu_memory : public exportable_memory {
 public:
  gpu_memory(primary_context context, void* data, const sharing_description& is)
      : context_(std::move(context)), data_(data), description_(is) {}
  [[nodiscard]] void* data() const noexcept override { return data_; }
  [[nodiscard]] const sharing_description& description() const noexcept override { return description_; }

 protected:
  const primary_context context_;

 private:
  void* const data_;
  const sharing_description description_;
};

/// Physical memory of cuMemCreate, made here or by the program.
class vmm_memory final : public gpu_memory {
 public:
  vmm_memory(primary_context context, void* data, const sharing_description& is, chunk_list chunks, bool fabric)
      : gpu_memory(std::move(context), data, is), chunks_(std::move(chunks)), fabric_(fabric) {
    if (chunks_.all().size() == 1) kept_ = exported(chunks_.all().front());
  }
  [[nodiscard]] std::size_t pieces() const noexcept override { return chunks_.all().size(); }
  [[nodiscard]] shared_piece piece(std::size_t number) const override {
    const chunk& part = chunks_.all()[number];
    shared_piece result;
    result.bytes = part.bytes;
    result.handle.kind = handle_kind::posix_fd;
    result.handle.fd = kept_ ? unique_fd(::fcntl(kept_.get(), F_DUPFD_CLOEXEC, 0)) : exported(part);
    if (!result.handle.fd) throw_system("a descriptor of GPU memory");
    return result;
  }
  [[nodiscard]] std::vector<shared_piece> fabric_pieces() const override {
    std::vector<shared_piece> result;
    if (!fabric_) return result;
    const current_context current(context_.get());
    for (const chunk& part : chunks_.all()) {
      shared_piece piece;
      piece.bytes = part.bytes;
      piece.handle.kind = handle_kind::fabric;
      if (driver().export_handle(piece.handle.bytes.data(), part.handle, CU_MEM_HANDLE_TYPE_FABRIC, 0) != CUDA_SUCCESS)
        return {};
      result.push_back(std::move(piece));
    }
    return result;
  }

 private:
  [[nodiscard]] unique_fd exported(const chunk& part) const {
    const current_context current(context_.get());
    int fd = -1;
    check(driver().export_handle(&fd, part.handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
          "cuMemExportToShareableHandle (descriptor)");
    return unique_fd(fd);
  }

  chunk_list chunks_;
  bool fabric_;
  /// Set if the memory is one piece. Duplicating this descriptor needs no call of the driver, and close() of the
  /// duplicate takes little time.
  unique_fd kept_;
};

[[noreturn]] void refuse(const void* pointer, std::string_view why) {
  throw error(code::invalid_argument, fmt::format("shared_memory::share: the memory at {} {}", pointer, why));
}

void refuse_read_only(const void* pointer, access importers, std::string_view kind) {
  if (importers == access::read_only)
    refuse(pointer,
           fmt::format("{}, and access::read_only is not enforced by the driver for it: share it read_write, or "
                       "use shared_memory::make()",
                       kind));
}

/// Memory of a pool: the pool's descriptor, and the offset of the memory in the pool.
class pool_memory final : public gpu_memory {
 public:
  pool_memory(primary_context context, void* data, const sharing_description& is, CUmemoryPool pool)
      : gpu_memory(std::move(context), data, is), pool_(pool) {}
  [[nodiscard]] std::size_t pieces() const noexcept override { return 1; }
  [[nodiscard]] shared_piece piece(std::size_t) const override {
    const current_context current(context_.get());
    int fd = -1;
    check(driver().pool_export(&fd, pool_, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
          "cuMemPoolExportToShareableHandle");
    shared_piece result;
    result.bytes = description().bytes;
    result.handle.kind = handle_kind::posix_fd;
    result.handle.fd = unique_fd(fd);
    // Only allocations of an exported pool can be exported.
    CUmemPoolPtrExportData where{};
    static_assert(sizeof where == sizeof(exported_handle::bytes));
    check(driver().pool_export_pointer(&where, address_of(data())), "cuMemPoolExportPointer");
    std::memcpy(result.handle.bytes.data(), &where, sizeof where);
    return result;
  }
  void allow_read_only() const override { refuse_read_only(data(), access::read_only, "is of a memory pool"); }

 private:
  CUmemoryPool pool_;
};

class legacy_memory final : public gpu_memory {
 public:
  legacy_memory(primary_context context, void* data, const sharing_description& is, std::size_t all,
                const CUipcMemHandle& handle)
      : gpu_memory(std::move(context), data, is), all_(all), handle_(handle) {}
  [[nodiscard]] std::size_t pieces() const noexcept override { return 1; }
  [[nodiscard]] shared_piece piece(std::size_t) const override {
    shared_piece result;
    result.bytes = all_;
    result.handle.kind = handle_kind::named;
    static_assert(sizeof handle_ == sizeof(exported_handle::bytes));
    std::memcpy(result.handle.bytes.data(), &handle_, sizeof handle_);
    return result;
  }
  void allow_read_only() const override { refuse_read_only(data(), access::read_only, "is of cudaMalloc"); }
  /// The driver gives each allocation of cudaMalloc a separate number.
  [[nodiscard]] std::optional<bits128> identity() const override {
    static const bits128 key = random_bits();
    const current_context current(context_.get());
    unsigned long long allocation = 0;
    if (!ask(allocation, CU_POINTER_ATTRIBUTE_BUFFER_ID, data())) return std::nullopt;
    const std::uint64_t numbers[] = {allocation, address_of(data()), description().bytes};
    return keyed_hash(key, std::as_bytes(std::span(numbers)));
  }

 private:
  std::size_t all_;
  CUipcMemHandle handle_;
};

std::unique_ptr<exportable_memory> adopt_chunks(primary_context context, void* pointer, std::size_t bytes,
                                                access importers, whole_block block) {
  CUdeviceptr base = 0;
  std::size_t size = 0;
  check(driver().address_range(&base, &size, address_of(pointer)), "cuMemGetAddressRange", code::invalid_argument);
  const std::size_t offset = address_of(pointer) - base;
  chunk_list chunks;
  bool fabric = true;
  for (CUdeviceptr at = base; at < address_of(pointer) + bytes; at += chunks.all().back().bytes) {
    CUdeviceptr start = 0;
    chunk part;
    if (driver().retain_handle(&part.handle, pointer_to(at)) != CUDA_SUCCESS)
      refuse(pointer, fmt::format("ends after {} of the given {} bytes", at - address_of(pointer), bytes));
    chunks.add(part);  // `chunks` releases the piece
    check(driver().address_range(&start, &part.bytes, at), "cuMemGetAddressRange", code::invalid_argument);
    if (start != at) refuse(pointer, "is mapped in a way that this version does not know");
    chunks.set_bytes_of_last(part.bytes);
    CUmemAllocationProp is{};
    check(driver().properties_of(&is, part.handle), "cuMemGetAllocationPropertiesFromHandle", code::invalid_argument);
    const auto types = static_cast<unsigned>(is.requestedHandleTypes);
    if (is.location.type != CU_MEM_LOCATION_TYPE_DEVICE || is.location.id != context.ordinal())
      refuse(pointer, "lies on several devices");
    if ((types & CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) == 0)
      refuse(pointer,
             "was made by cuMemCreate without descriptors: add CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR to its "
             "requestedHandleTypes");
    fabric = fabric && (types & CU_MEM_HANDLE_TYPE_FABRIC) != 0;
  }
  if (const std::size_t all = chunks.bytes(); all != bytes && block == whole_block::refuse)
    refuse(pointer, fmt::format("lies in allocations of {} bytes, and {} were given: importers would get all of them. "
                                "Pass whole allocations, or allow it (whole_block::allow)",
                                all, bytes));
  const sharing_description is = describe(sharing_way::vmm, context.ordinal(), bytes, offset, importers);
  return std::make_unique<vmm_memory>(std::move(context), pointer, is, std::move(chunks), fabric);
}

std::unique_ptr<exportable_memory> adopt_pool(primary_context context, void* pointer, std::size_t bytes,
                                              access importers, whole_block block, CUmemoryPool pool) {
  refuse_read_only(pointer, importers, "is of a memory pool");
  CUdeviceptr base = 0;
  std::size_t size = 0;
  check(driver().address_range(&base, &size, address_of(pointer)), "cuMemGetAddressRange", code::invalid_argument);
  if (base != address_of(pointer) || bytes > size)
    refuse(pointer, fmt::format("is part of an allocation of {} bytes at {}: share that", size, pointer_to(base)));
  std::uint64_t all = 0;
  static_cast<void>(driver().pool_attribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &all));
  if (block == whole_block::refuse)
    refuse(pointer,
           fmt::format("is of a memory pool, and importers get a descriptor of all of the pool, now {} bytes: use "
                       "shared_memory::make(), or allow it (whole_block::allow)",
                       all));
  const sharing_description is = describe(sharing_way::pool, context.ordinal(), bytes, 0, importers);
  auto result = std::make_unique<pool_memory>(std::move(context), pointer, is, pool);
  try {
    static_cast<void>(result->piece(0));
  } catch (const error& why) {
    refuse(pointer, fmt::format("is of a pool that can't be shared: make the pool with handleTypes = "
                                "cudaMemHandleTypePosixFileDescriptor (cudaMemPoolCreate) and allocate from it; {}",
                                why.what()));
  }
  return result;
}

std::unique_ptr<exportable_memory> adopt_legacy(primary_context context, void* pointer, std::size_t bytes,
                                                access importers, whole_block block) {
  refuse_read_only(pointer, importers, "is of cudaMalloc");
  CUdeviceptr base = 0;
  std::size_t size = 0;
  check(driver().address_range(&base, &size, address_of(pointer)), "cuMemGetAddressRange", code::invalid_argument);
  const std::size_t offset = address_of(pointer) - base;
  if (bytes > size - offset) refuse(pointer, fmt::format("has {} bytes, not {}", size - offset, bytes));
  // The driver reports the size of the allocation, but not its block. A handle shares all memory in the block.
  const CUdeviceptr first = base / block_bytes * block_bytes;
  const CUdeviceptr last = (base + size + block_bytes - 1) / block_bytes * block_bytes;
  if (block == whole_block::refuse && (offset != 0 || bytes != size || first != base || last != base + size))
    refuse(
        pointer,
        fmt::format(
            "is of cudaMalloc: importers would get the {} bytes of the surrounding blocks, and {} were given. Use "
            "shared_memory::make(), pass a whole allocation of a multiple of 2 MiB, or allow it (whole_block::allow)",
            last - first, bytes));
  CUipcMemHandle handle{};
  check(driver().ipc_export(&handle, address_of(pointer)),
        fmt::format("the memory at {} can't be shared: it may be of another process, or of an allocator that keeps its "
                    "kind (cuIpcGetMemHandle)",
                    pointer),
        code::invalid_argument);
  const sharing_description is = describe(sharing_way::legacy, context.ordinal(), bytes, offset, importers);
  return std::make_unique<legacy_memory>(std::move(context), pointer, is, size, handle);
}

// ---- in a process that opens the memory

class vmm_import final : public mapped_import {
 public:
  vmm_import(primary_context context, chunk_list chunks, std::size_t offset)
      : context_(std::move(context)), chunks_(std::move(chunks)), offset_(offset) {}
  [[nodiscard]] void* data() const noexcept override { return pointer_to(chunks_.start() + offset_); }
  [[nodiscard]] int ordinal() const noexcept override { return context_.ordinal(); }

 private:
  primary_context context_;  // must outlive the mapping
  chunk_list chunks_;
  std::size_t offset_;
};

class pool_import final : public mapped_import {
 public:
  pool_import(primary_context context, CUmemoryPool pool) : context_(std::move(context)), pool_(pool) {}
  ~pool_import() override {
    const quiet_context current(context_.get());
    if (start_ != 0) static_cast<void>(driver().free(start_));
    static_cast<void>(driver().pool_destroy(pool_));
  }
  void open(const shared_piece& piece, bool own_gpu) {
    CUmemAccessDesc wanted{};
    wanted.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    wanted.location.id = context_.ordinal();
    wanted.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    // The pool's own GPU always has access.
    if (!own_gpu) check(driver().pool_set_access(pool_, &wanted, 1), "cuMemPoolSetAccess", code::peer_unreachable);
    CUmemPoolPtrExportData where{};
    std::memcpy(&where, piece.handle.bytes.data(), sizeof where);
    check(driver().pool_import_pointer(&start_, pool_, &where), "cuMemPoolImportPointer", code::handle_invalid);
  }
  [[nodiscard]] void* data() const noexcept override { return pointer_to(start_); }
  [[nodiscard]] int ordinal() const noexcept override { return context_.ordinal(); }

 private:
  primary_context context_;
  CUmemoryPool pool_;
  CUdeviceptr start_ = 0;
};

class legacy_import final : public mapped_import {
 public:
  legacy_import(primary_context context, const shared_piece& piece, std::size_t offset)
      : context_(std::move(context)), offset_(offset) {
    CUipcMemHandle handle{};
    std::memcpy(&handle, piece.handle.bytes.data(), sizeof handle);
    check(driver().ipc_open(&start_, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS),
          "cuIpcOpenMemHandle (a process can't open memory of its own, nor of one that sees other kernels' processes)",
          code::peer_unreachable);
  }
  ~legacy_import() override {
    const quiet_context current(context_.get());
    static_cast<void>(driver().ipc_close(start_));
  }
  [[nodiscard]] void* data() const noexcept override { return pointer_to(start_ + offset_); }
  [[nodiscard]] int ordinal() const noexcept override { return context_.ordinal(); }

 private:
  primary_context context_;
  CUdeviceptr start_ = 0;
  std::size_t offset_;
};

[[noreturn]] void contradicts(std::string_view why) {
  throw error(code::handle_invalid, fmt::format("opening memory of a GPU: the exporter sent {}", why));
}

std::unique_ptr<mapped_import> import_chunks(primary_context context, const sharing_description& what,
                                             std::span<shared_piece> pieces) {
  chunk_list chunks;
  for (shared_piece& piece : pieces) {
    chunk part{0, static_cast<std::size_t>(piece.bytes)};
    if (piece.handle.kind == handle_kind::fabric) {
      check(driver().import_handle(&part.handle, piece.handle.bytes.data(), CU_MEM_HANDLE_TYPE_FABRIC),
            "a fabric handle: is the exporter's host in this one's NVLink domain, with the same IMEX channel? "
            "(cuMemImportFromShareableHandle)",
            code::peer_unreachable);
    } else {
      check(driver().import_handle(&part.handle, as_pointer(piece.handle.fd.get()),
                                   CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
            "a descriptor (cuMemImportFromShareableHandle)", code::handle_invalid);
    }
    chunks.add(part);
  }
  step_times::lap("import");
  chunks.map(context.ordinal(), what.read_only != 0 ? access::read_only : access::read_write);
  return std::make_unique<vmm_import>(std::move(context), std::move(chunks), what.offset);
}

std::unique_ptr<mapped_import> import_pool(primary_context context, const sharing_description& what,
                                           const shared_piece& piece) {
  CUmemoryPool pool = nullptr;
  check(driver().pool_import(&pool, as_pointer(piece.handle.fd.get()), CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
        "cuMemPoolImportFromShareableHandle", code::handle_invalid);
  const bool own_gpu = uuid_of_gpu(context.ordinal()) == what.gpu;
  auto result = std::make_unique<pool_import>(std::move(context), pool);
  result->open(piece, own_gpu);
  return result;
}

std::unique_ptr<mapped_import> import_on(int ordinal, const sharing_description& what, std::span<shared_piece> pieces) {
  step_times::lap("find the GPU");
  primary_context context(ordinal);
  const current_context current(context.get());
  step_times::lap("context");
  switch (what.way) {
    case sharing_way::vmm: return import_chunks(std::move(context), what, pieces);
    case sharing_way::pool: return import_pool(std::move(context), what, pieces.front());
    case sharing_way::legacy: return std::make_unique<legacy_import>(std::move(context), pieces.front(), what.offset);
    case sharing_way::memory_file: break;
  }
  contradicts("host memory");
}

void inspect(const sharing_description& what, std::span<const shared_piece> pieces) {
  std::uint64_t all = 0;
  for (const shared_piece& piece : pieces) {
    const bool by_descriptor = what.way == sharing_way::pool || piece.handle.kind == handle_kind::posix_fd;
    if (by_descriptor && !piece.handle.fd) contradicts("a handle without its descriptor");
    if (what.way == sharing_way::legacy
            ? piece.handle.kind != handle_kind::named
            : piece.handle.kind != handle_kind::posix_fd &&
                  (what.way == sharing_way::pool || piece.handle.kind != handle_kind::fabric))
      contradicts("a handle of another kind than announced");
    if (piece.bytes == 0 || all + piece.bytes < all) contradicts("pieces without an end");
    all += piece.bytes;
  }
  if (what.way != sharing_way::vmm && pieces.size() != 1) contradicts("several handles where there is one");
  if (what.bytes == 0 || what.offset > all || what.bytes > all - what.offset)
    contradicts("a description that does not match its pieces");
}

}  // namespace

}  // namespace cuda

bool is_gpu_memory(const void* pointer) noexcept {
  try {
    unsigned type = 0;
    return cuda::ask(type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, pointer);
  } catch (const error&) {
    return false;  // no driver
  }
}

std::unique_ptr<exportable_memory> make_gpu_memory(int ordinal, std::size_t bytes, access importers) {
  using namespace cuda;
  static_cast<void>(uuid_of_gpu(ordinal));  // throws if there is no such GPU
  primary_context context(ordinal);
  const current_context current(context.get());
  CUmemAllocationProp wanted{};
  wanted.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  wanted.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  wanted.location.id = ordinal;
  wanted.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  // The memory supports RDMA, like segments of the heap, because a program can register the memory with a team that has
  // proxied members.
  int has_rdma = 0;
  static_cast<void>(
      driver().attribute(&has_rdma, CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED, ordinal));
  wanted.allocFlags.gpuDirectRDMACapable = has_rdma != 0 ? 1 : 0;
  std::size_t unit = 0;
  check(driver().granularity(&unit, &wanted, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED), "cuMemGetAllocationGranularity");
  unit = std::max(unit, block_bytes);
  const std::size_t rounded = (bytes + unit - 1) / unit * unit;
  if (rounded < bytes) throw error(code::out_of_memory, fmt::format("{} bytes exceed the memory of any GPU", bytes));
  int has_fabric = 0;
  static_cast<void>(driver().attribute(&has_fabric, CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED, ordinal));
  chunk part{0, rounded};
  CUresult result = CUDA_ERROR_NOT_PERMITTED;
  // The attribute can report fabric handles although cuMemCreate refuses them (no IMEX channel).
  if (has_fabric != 0) {
    CUmemAllocationProp both = wanted;
    both.requestedHandleTypes =
        static_cast<CUmemAllocationHandleType>(static_cast<unsigned>(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) |
                                               static_cast<unsigned>(CU_MEM_HANDLE_TYPE_FABRIC));
    result = driver().create(&part.handle, rounded, &both, 0);
  }
  const bool fabric = result == CUDA_SUCCESS;
  if (!fabric) result = driver().create(&part.handle, rounded, &wanted, 0);
  if (result == CUDA_ERROR_OUT_OF_MEMORY) {
    std::size_t free = 0;
    std::size_t total = 0;
    static_cast<void>(driver().memory_info(&free, &total));
    throw error(code::out_of_memory, fmt::format("{} bytes to be shared do not fit GPU {}, which has {} of {} free",
                                                 rounded, ordinal, free, total));
  }
  check(result, fmt::format("cuMemCreate of {} bytes to be shared", rounded));
  chunk_list chunks;
  chunks.add(part);
  chunks.map(ordinal, access::read_write);
  void* const data = pointer_to(chunks.start());
  const sharing_description is = describe(sharing_way::vmm, ordinal, bytes, 0, importers);
  return std::make_unique<vmm_memory>(std::move(context), data, is, std::move(chunks), fabric);
}

std::unique_ptr<exportable_memory> adopt_gpu_memory(void* pointer, std::size_t bytes, access importers,
                                                    whole_block block) {
  using namespace cuda;
  unsigned managed = 0;
  if (ask(managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, pointer) && managed != 0)
    refuse(pointer, "is managed memory, which no handle can share: use shared_memory::make() or cudaMalloc");
  unsigned type = 0;
  if (!ask(type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, pointer) || type != CU_MEMORYTYPE_DEVICE)
    refuse(pointer,
           "is host memory that the driver has pinned (cudaHostAlloc, cudaHostRegister), which no handle can "
           "share: use shared_memory::make(memory_place::host(), ...) and register that");
  int ordinal = -1;
  if (!ask(ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, pointer)) refuse(pointer, "is on no GPU of this process");
  primary_context context(ordinal);
  const current_context current(context.get());
  CUmemoryPool pool = nullptr;
  if (ask(pool, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, pointer) && pool != nullptr)
    return adopt_pool(std::move(context), pointer, bytes, importers, block, pool);
  CUmemGenericAllocationHandle handle = 0;
  if (driver().retain_handle(&handle, pointer) == CUDA_SUCCESS) {
    static_cast<void>(driver().release(handle));
    return adopt_chunks(std::move(context), pointer, bytes, importers, block);
  }
  return adopt_legacy(std::move(context), pointer, bytes, importers, block);
}

std::unique_ptr<mapped_import> import_gpu_memory(const sharing_description& what, std::span<shared_piece> pieces,
                                                 int ordinal) {
  using namespace cuda;
  inspect(what, pieces);
  if (ordinal >= 0) {
    static_cast<void>(uuid_of_gpu(ordinal));  // throws if there is no such GPU
    return import_on(ordinal, what, pieces);
  }
  if (const std::optional<int> own = find_gpu(what.gpu)) return import_on(*own, what, pieces);
  std::string tried = fmt::format("{} is not visible here (CUDA_VISIBLE_DEVICES)", text_of(what.gpu));
  const int count = visible_gpus();
  for (int peer = 0; peer < count; ++peer) {
    try {
      return import_on(peer, what, pieces);
    } catch (const error& why) {
      tried += fmt::format("; GPU {} as its peer: {}", peer, why.what());
    }
  }
  throw error(code::peer_unreachable, "memory of a GPU can't be used here: " + tried);
}

}  // namespace pgas::detail
