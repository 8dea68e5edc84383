#include "fake_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

namespace fake_cuda {

namespace {

void* pointer(CUdeviceptr address) { return reinterpret_cast<void*>(address); }
CUdeviceptr address_of(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

/// The content of an exported CUipcMemHandle: a descriptor of the exporting process.
struct block_name {
  int process;
  int descriptor;
};

}  // namespace

CUmemGenericAllocationHandle memory::add(int descriptor, std::size_t bytes, const CUmemAllocationProp& what) {
  const CUmemGenericAllocationHandle handle = ++last_;
  physical_[handle] = {descriptor, bytes, 1, what};
  return handle;
}

void memory::drop(CUmemGenericAllocationHandle handle) {
  const auto found = physical_.find(handle);
  if (found == physical_.end() || --found->second.users > 0) return;
  ::close(found->second.descriptor);
  physical_.erase(found);
}

std::map<CUdeviceptr, memory::block>::iterator memory::block_at(CUdeviceptr address) {
  auto after = blocks_.upper_bound(address);
  if (after == blocks_.begin()) return blocks_.end();
  --after;
  return address - after->first < after->second.bytes ? after : blocks_.end();
}

CUresult memory::create(CUmemGenericAllocationHandle* handle, std::size_t bytes, const CUmemAllocationProp* what) {
  if ((what->requestedHandleTypes & CU_MEM_HANDLE_TYPE_FABRIC) != 0) return CUDA_ERROR_NOT_PERMITTED;
  const int descriptor = ::memfd_create("fake GPU", MFD_CLOEXEC);
  if (descriptor < 0 || ::ftruncate(descriptor, static_cast<off_t>(bytes)) != 0) return CUDA_ERROR_OUT_OF_MEMORY;
  const std::lock_guard lock(mutex_);
  *handle = add(descriptor, bytes, *what);
  return CUDA_SUCCESS;
}

CUresult memory::release(CUmemGenericAllocationHandle handle) {
  const std::lock_guard lock(mutex_);
  if (!physical_.contains(handle)) return CUDA_ERROR_INVALID_VALUE;
  drop(handle);
  return CUDA_SUCCESS;
}

CUresult memory::export_descriptor(void* descriptor, CUmemGenericAllocationHandle handle) {
  const std::lock_guard lock(mutex_);
  const auto found = physical_.find(handle);
  if (found == physical_.end()) return CUDA_ERROR_INVALID_VALUE;
  const int copy = ::fcntl(found->second.descriptor, F_DUPFD_CLOEXEC, 0);
  std::memcpy(descriptor, &copy, sizeof copy);
  return copy >= 0 ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM;
}

CUresult memory::import_descriptor(CUmemGenericAllocationHandle* handle, int descriptor) {
  struct stat about {};
  const int copy = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (copy < 0 || ::fstat(copy, &about) != 0) return CUDA_ERROR_INVALID_VALUE;
  CUmemAllocationProp what{};
  what.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  what.location = {CU_MEM_LOCATION_TYPE_DEVICE, {0}};
  const std::lock_guard lock(mutex_);
  *handle = add(copy, static_cast<std::size_t>(about.st_size), what);
  return CUDA_SUCCESS;
}

CUresult memory::retain(CUmemGenericAllocationHandle* handle, void* address) {
  const std::lock_guard lock(mutex_);
  const auto found = block_at(address_of(address));
  if (found == blocks_.end() || found->second.handle == 0) return CUDA_ERROR_INVALID_VALUE;
  *handle = found->second.handle;
  ++physical_[*handle].users;
  return CUDA_SUCCESS;
}

CUresult memory::properties(CUmemAllocationProp* what, CUmemGenericAllocationHandle handle) {
  const std::lock_guard lock(mutex_);
  const auto found = physical_.find(handle);
  if (found == physical_.end()) return CUDA_ERROR_INVALID_VALUE;
  *what = found->second.what;
  return CUDA_SUCCESS;
}

CUresult memory::reserve(CUdeviceptr* address, std::size_t bytes, std::size_t alignment, CUdeviceptr hint) {
  constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  if (hint != 0) {
    void* const at = ::mmap(pointer(hint), bytes, PROT_NONE, flags | MAP_FIXED_NOREPLACE, -1, 0);
    if (at != MAP_FAILED) {
      *address = hint;
      return CUDA_SUCCESS;
    }
  }
  alignment = alignment == 0 ? std::size_t{2} << 20 : alignment;
  void* const at = ::mmap(nullptr, bytes + alignment, PROT_NONE, flags, -1, 0);
  if (at == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
  const CUdeviceptr first = address_of(at);
  *address = (first + alignment - 1) / alignment * alignment;
  if (*address != first) ::munmap(at, *address - first);
  if (const CUdeviceptr rest = first + alignment - *address; rest != 0) ::munmap(pointer(*address + bytes), rest);
  return CUDA_SUCCESS;
}

CUresult memory::free_reservation(CUdeviceptr address, std::size_t bytes) {
  return ::munmap(pointer(address), bytes) == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult memory::map(CUdeviceptr address, std::size_t bytes, CUmemGenericAllocationHandle handle) {
  const std::lock_guard lock(mutex_);
  const auto found = physical_.find(handle);
  if (found == physical_.end() || found->second.bytes < bytes) return CUDA_ERROR_INVALID_VALUE;
  if (::mmap(pointer(address), bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, found->second.descriptor, 0) == MAP_FAILED)
    return CUDA_ERROR_OUT_OF_MEMORY;
  ++found->second.users;
  blocks_[address] = {bytes, CU_MEMORYTYPE_DEVICE, handle};
  return CUDA_SUCCESS;
}

CUresult memory::allow(CUdeviceptr address, std::size_t bytes, bool writes) {
  return ::mprotect(pointer(address), bytes, PROT_READ | (writes ? PROT_WRITE : 0)) == 0 ? CUDA_SUCCESS
                                                                                         : CUDA_ERROR_INVALID_VALUE;
}

CUresult memory::unmap(CUdeviceptr address, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  for (auto each = blocks_.lower_bound(address); each != blocks_.end() && each->first < address + bytes;) {
    drop(each->second.handle);
    each = blocks_.erase(each);
  }
  constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
  return ::mmap(pointer(address), bytes, PROT_NONE, flags, -1, 0) != MAP_FAILED ? CUDA_SUCCESS
                                                                                : CUDA_ERROR_INVALID_VALUE;
}

CUresult memory::allocate(CUdeviceptr* address, std::size_t bytes, CUmemorytype type) {
  CUmemAllocationProp what{};
  what.requestedHandleTypes = CU_MEM_HANDLE_TYPE_NONE;
  what.location = {CU_MEM_LOCATION_TYPE_DEVICE, {0}};
  CUmemGenericAllocationHandle handle = 0;
  constexpr std::size_t page = 4096;
  const std::size_t rounded = (bytes + page - 1) / page * page;
  CUresult result = create(&handle, rounded, &what);
  if (result == CUDA_SUCCESS) result = reserve(address, rounded, 0, 0);
  if (result == CUDA_SUCCESS) result = map(*address, rounded, handle);
  if (result == CUDA_SUCCESS) result = allow(*address, rounded, true);
  static_cast<void>(release(handle));  // the mapping keeps the memory alive
  const std::lock_guard lock(mutex_);
  blocks_[*address].type = type;
  return result;
}

CUresult memory::free(CUdeviceptr address) {
  std::size_t bytes = 0;
  {
    const std::lock_guard lock(mutex_);
    const auto found = blocks_.find(address);
    if (found == blocks_.end()) return CUDA_ERROR_INVALID_VALUE;
    bytes = found->second.bytes;
  }
  static_cast<void>(unmap(address, bytes));
  return free_reservation(address, bytes);
}

CUresult memory::add_host(void* address, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  blocks_[address_of(address)] = {bytes, CU_MEMORYTYPE_HOST, 0};
  return CUDA_SUCCESS;
}

CUresult memory::remove_host(void* address) {
  const std::lock_guard lock(mutex_);
  return blocks_.erase(address_of(address)) == 1 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult memory::export_block(CUipcMemHandle* handle, CUdeviceptr address) {
  const std::lock_guard lock(mutex_);
  const auto found = block_at(address);
  if (found == blocks_.end() || found->second.handle == 0) return CUDA_ERROR_INVALID_VALUE;
  const block_name name{::getpid(), physical_[found->second.handle].descriptor};
  std::memset(handle, 0, sizeof *handle);
  std::memcpy(handle, &name, sizeof name);
  return CUDA_SUCCESS;
}

CUresult memory::open_block(CUdeviceptr* address, const CUipcMemHandle& handle) {
  block_name name{};
  std::memcpy(&name, &handle, sizeof name);
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/fd/%d", name.process, name.descriptor);
  struct stat about {};
  const int descriptor = ::open(path, O_RDWR | O_CLOEXEC);
  if (descriptor < 0 || ::fstat(descriptor, &about) != 0) return CUDA_ERROR_INVALID_VALUE;
  const auto bytes = static_cast<std::size_t>(about.st_size);
  CUmemGenericAllocationHandle imported = 0;
  {
    const std::lock_guard lock(mutex_);
    imported = add(descriptor, bytes, {});
  }
  CUresult result = reserve(address, bytes, 0, 0);
  if (result == CUDA_SUCCESS) result = map(*address, bytes, imported);
  if (result == CUDA_SUCCESS) result = allow(*address, bytes, true);
  static_cast<void>(release(imported));
  return result;
}

CUresult memory::range(CUdeviceptr* base, std::size_t* bytes, CUdeviceptr address) {
  const std::lock_guard lock(mutex_);
  const auto found = block_at(address);
  if (found == blocks_.end()) return CUDA_ERROR_INVALID_VALUE;
  if (base != nullptr) *base = found->first;
  if (bytes != nullptr) *bytes = found->second.bytes;
  return CUDA_SUCCESS;
}

unsigned memory::type_at(CUdeviceptr address) {
  const std::lock_guard lock(mutex_);
  const auto found = block_at(address);
  return found == blocks_.end() ? 0 : static_cast<unsigned>(found->second.type);
}

}  // namespace fake_cuda
