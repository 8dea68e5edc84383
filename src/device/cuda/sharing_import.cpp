// GPU memory that is shared without a world, in the processes that open it.
#include <fmt/format.h>

#include <cstring>

#include "common/step_times.hpp"
#include "device/cuda/sharing_chunks.hpp"
#include "device/sharing.hpp"
#include "device/visible_gpus.hpp"

namespace pgas::detail {

namespace cuda {

namespace {

void* pointer_to(CUdeviceptr address) { return reinterpret_cast<void*>(address); }
/// The driver expects the number of the descriptor in a pointer parameter.
void* as_pointer(int fd) { return reinterpret_cast<void*>(static_cast<std::intptr_t>(fd)); }

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
