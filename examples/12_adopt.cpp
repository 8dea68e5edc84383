// A program allocates memory without pgas. pgas shares this memory in place, and an unrelated program opens tickets to
// read and write the memory. On the host: memory files. On a GPU: memory of cudaMalloc, of a memory pool, and of
// cuMemCreate.
//
//     12_adopt own FILE     allocates the memory; writes the tickets to FILE
//     12_adopt use FILE     opens the tickets, and adds 1 to each value
//
// Sharing that would disclose more than the requested range is refused unless whole_block::allow permits it.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "pgas/error.hpp"
#include "pgas/shared_memory.hpp"
#include "pgas/timeline.hpp"

#if defined(__CUDACC__)
#include <cuda.h>
#include <cuda_runtime.h>
#endif

namespace {

/// A block of memory as the program allocated it.
struct block {
  std::string name;
  void* start;
  std::size_t bytes;
  pgas::whole_block disclosed = pgas::whole_block::refuse;
};

// ---- the program without pgas

#if defined(__CUDACC__)

void check(cudaError_t result) {
  if (result != cudaSuccess) throw std::runtime_error(cudaGetErrorString(result));
}
void check(CUresult result) {
  if (result != CUDA_SUCCESS) throw std::runtime_error("the driver says " + std::to_string(result));
}

/// A function of the driver, looked up at run time, because the program is not linked to the driver.
template <class Function>
Function driver(const char* name) {
  void* address = nullptr;
  cudaDriverEntryPointQueryResult found{};
  check(cudaGetDriverEntryPointByVersion(name, &address, 12000, cudaEnableDefault, &found));
  return reinterpret_cast<Function>(address);
}

constexpr std::size_t unit = std::size_t{2} << 20;

/// Allocates memory as allocators based on cuMemCreate do: two adjacent pieces, with descriptors.
void* map_pieces() {
  CUmemAllocationProp wanted{};
  wanted.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  wanted.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  wanted.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  CUdeviceptr start = 0;
  check(driver<decltype(&cuMemAddressReserve)>("cuMemAddressReserve")(&start, 2 * unit, 0, 0, 0));
  for (std::size_t at = 0; at < 2 * unit; at += unit) {
    CUmemGenericAllocationHandle piece = 0;
    check(driver<decltype(&cuMemCreate)>("cuMemCreate")(&piece, unit, &wanted, 0));
    check(driver<decltype(&cuMemMap)>("cuMemMap")(start + at, unit, 0, piece, 0));
    check(driver<decltype(&cuMemRelease)>("cuMemRelease")(piece));
  }
  CUmemAccessDesc access{};
  access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  check(driver<decltype(&cuMemSetAccess)>("cuMemSetAccess")(start, 2 * unit, &access, 1));
  return reinterpret_cast<void*>(start);
}

void* from_pool(std::size_t bytes) {
  cudaMemPoolProps wanted{};
  wanted.allocType = cudaMemAllocationTypePinned;
  wanted.handleTypes = cudaMemHandleTypePosixFileDescriptor;
  wanted.location.type = cudaMemLocationTypeDevice;
  cudaMemPool_t pool = nullptr;
  check(cudaMemPoolCreate(&pool, &wanted));
  void* start = nullptr;
  check(cudaMallocFromPoolAsync(&start, bytes, pool, nullptr));
  check(cudaDeviceSynchronize());
  return start;
}

std::vector<block> allocate() {
  check(cudaFree(nullptr));
  void* large = nullptr;
  void* small = nullptr;
  check(cudaMalloc(&large, 2 * unit));
  check(cudaMalloc(&small, 4000));
  return {{"4 MiB of cudaMalloc", large, 2 * unit},
          {"4000 bytes of cudaMalloc", small, 4000, pgas::whole_block::allow},
          {"64 KiB of a memory pool", from_pool(64 << 10), 64 << 10, pgas::whole_block::allow},
          {"two pieces of cuMemCreate", map_pieces(), 2 * unit}};
}

/// Adds one to each word.
__global__ void add_one(unsigned* words, std::size_t count) {
  for (std::size_t i = threadIdx.x; i < count; i += blockDim.x) words[i] += 1;
}

void raise(void* start, std::size_t bytes) {
  add_one<<<1, 256>>>(static_cast<unsigned*>(start), bytes / sizeof(unsigned));
  check(cudaDeviceSynchronize());
}

void copy(void* to, const void* from, std::size_t bytes) {
  check(cudaMemcpy(to, from, bytes, cudaMemcpyDefault));
  check(cudaDeviceSynchronize());
}

/// The GPU that uses the memory. The memory's owner can be on another GPU.
pgas::memory_place here() {
  int device = 0;
  check(cudaGetDevice(&device));
  return pgas::memory_place::gpu(device);
}

void* private_memory() {
  void* managed = nullptr;
  check(cudaMallocManaged(&managed, unit));
  return managed;
}
constexpr const char* private_name = "managed memory";

#else

void* map_file(std::size_t bytes, void* at = nullptr) {
  const int file = ::memfd_create("of the program", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (file < 0 || ::ftruncate(file, static_cast<off_t>(bytes)) != 0) throw std::runtime_error("no file of memory");
  void* const start = ::mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | (at != nullptr ? MAP_FIXED : 0), file, 0);
  if (start == MAP_FAILED) throw std::runtime_error("no addresses");
  return start;
}

std::vector<block> allocate() {
  constexpr std::size_t bytes = 1 << 16;
  char* const row = static_cast<char*>(::mmap(nullptr, 3 * bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  for (std::size_t at = 0; at < 3 * bytes; at += bytes) map_file(bytes, row + at);
  return {{"a memory file", map_file(bytes), bytes}, {"three files in a row", row, 3 * bytes}};
}

void raise(void* start, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes / sizeof(unsigned); ++i) static_cast<unsigned*>(start)[i] += 1;
}

void copy(void* to, const void* from, std::size_t bytes) { __builtin_memcpy(to, from, bytes); }

pgas::memory_place here() { return pgas::memory_place::host(); }

void* private_memory() { return ::operator new(1 << 16); }
constexpr const char* private_name = "memory of operator new";

#endif

// ---- the part with pgas

unsigned value(std::size_t block, std::size_t word) { return static_cast<unsigned>(block * 1000003 + word); }

/// The number of words whose value is their initial value plus `more`.
std::size_t count_right(const void* start, std::size_t bytes, std::size_t block, unsigned more) {
  std::vector<unsigned> words(bytes / sizeof(unsigned));
  copy(words.data(), start, bytes);
  std::size_t right = 0;
  for (std::size_t i = 0; i < words.size(); ++i) right += words[i] == value(block, i) + more;
  return right;
}

/// Shares all memory that can be shared, and prints why other memory cannot be shared.
int own(const std::string& file) {
  const std::vector<block> blocks = allocate();
  try {
    static_cast<void>(pgas::shared_memory::share(private_memory(), 1 << 16));
    return 1;
  } catch (const pgas::error& refused) {
    std::printf("%s: refused, %s\n", private_name, pgas::to_string(refused.code()).data());
  }
  std::vector<pgas::shared_memory> shared;
  auto taken = pgas::timeline::make(pgas::memory_place::host());
  std::ofstream tickets(file + ".new");
  tickets << taken.ticket() << '\n';
  for (std::size_t number = 0; number < blocks.size(); ++number) {
    const block& item = blocks[number];
    std::vector<unsigned> words(item.bytes / sizeof(unsigned));
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = value(number, i);
    copy(item.start, words.data(), item.bytes);
    if (item.disclosed == pgas::whole_block::allow) {
      try {
        static_cast<void>(pgas::shared_memory::share(item.start, item.bytes));
        return 1;
      } catch (const pgas::error& refused) {
        std::printf("%s: refused without whole_block::allow, %s\n", item.name.c_str(),
                    pgas::to_string(refused.code()).data());
      }
    }
    shared.push_back(pgas::shared_memory::share(item.start, item.bytes, {.block = item.disclosed}));
    tickets << shared.back().ticket() << ' ' << item.name << '\n';
  }
  tickets.close();
  if (std::rename((file + ".new").c_str(), file.c_str()) != 0) throw std::runtime_error("can't write " + file);
  taken.wait_host(1, std::chrono::seconds(60));
  int status = 0;
  for (std::size_t number = 0; number < blocks.size(); ++number) {
    const block& item = blocks[number];
    const std::size_t all = item.bytes / sizeof(unsigned);
    const std::size_t right = count_right(item.start, item.bytes, number, 1);
    std::printf("%s: %zu of %zu values are one more\n", item.name.c_str(), right, all);
    if (right != all) status = 1;
  }
  return status;
}

int use(const std::string& file) {
  std::ifstream lines(file);
  std::string ticket;
  std::string name;
  std::getline(lines, ticket);
  auto taken = pgas::timeline::open(ticket);
  int status = 0;
  for (std::size_t number = 0; lines >> ticket && std::getline(lines >> std::ws, name); ++number) {
    const auto theirs = pgas::opened_memory::open(ticket, {.place = here()});
    const std::size_t all = theirs.size() / sizeof(unsigned);
    const std::size_t right = count_right(theirs.data(), theirs.size(), number, 0);
    std::printf("%s: %zu of %zu values came through\n", name.c_str(), right, all);
    if (right != all) status = 1;
    raise(theirs.data(), theirs.size());
  }
  taken.set(1);
  return status;
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string role = argc == 3 ? argv[1] : "";
  if (role == "own") return own(argv[2]);
  if (role == "use") return use(argv[2]);
  std::fprintf(stderr, "usage: %s own|use FILE\n", argv[0]);
  return 2;
} catch (const std::exception& failed) {
  std::fprintf(stderr, "%s\n", failed.what());
  return 1;
}
