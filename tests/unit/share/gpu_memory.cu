// GPU memory of a program, shared with another program: the kinds that can be shared, the kinds that are refused, and
// the costs.
//
//     gpu_memory         everything; starts itself as the importer
//     gpu_memory import  the importer: a ticket for each line of its input
#include <cuda.h>
#include <cuda_runtime.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include "party.hpp"
#include "pgas/error.hpp"

extern char** environ;

namespace {

int failures = 0;

#define PGAS_EXPECT(condition)                                            \
  do {                                                                    \
    if (!(condition)) {                                                   \
      std::printf("%s:%d: failed: %s\n", __FILE__, __LINE__, #condition); \
      ++failures;                                                         \
    }                                                                     \
  } while (0)

template <class Function>
Function find(const char* name) {
  void* address = nullptr;
  cudaDriverEntryPointQueryResult found{};
  party::check(cudaGetDriverEntryPointByVersion(name, &address, 12000, cudaEnableDefault, &found));
  return reinterpret_cast<Function>(address);
}

void check(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  std::printf("%s: %d\n", what, static_cast<int>(result));
  std::exit(3);
}

constexpr std::size_t unit = std::size_t{2} << 20;

/// Contiguous pieces of cuMemCreate.
class pieces {
 public:
  pieces(std::size_t count, bool exportable) : bytes_(count * unit) {
    CUmemAllocationProp wanted{};
    wanted.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    wanted.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    if (exportable) wanted.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    check(find<decltype(&cuMemAddressReserve)>("cuMemAddressReserve")(&start_, bytes_, 0, 0, 0), "reserve");
    for (std::size_t i = 0; i < count; ++i) {
      CUmemGenericAllocationHandle item = 0;
      check(find<decltype(&cuMemCreate)>("cuMemCreate")(&item, unit, &wanted, 0), "create");
      check(find<decltype(&cuMemMap)>("cuMemMap")(start_ + i * unit, unit, 0, item, 0), "map");
      check(find<decltype(&cuMemRelease)>("cuMemRelease")(item), "release");
    }
    CUmemAccessDesc access{};
    access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    check(find<decltype(&cuMemSetAccess)>("cuMemSetAccess")(start_, bytes_, &access, 1), "access");
  }
  ~pieces() {
    static_cast<void>(find<decltype(&cuMemUnmap)>("cuMemUnmap")(start_, bytes_));
    static_cast<void>(find<decltype(&cuMemAddressFree)>("cuMemAddressFree")(start_, bytes_));
  }
  [[nodiscard]] char* data() const { return reinterpret_cast<char*>(start_); }

 private:
  CUdeviceptr start_ = 0;
  std::size_t bytes_;
};

/// The process of the importer.
class importer {
 public:
  importer() {
    int to[2];
    int from[2];
    if (::pipe(to) != 0 || ::pipe(from) != 0) std::exit(3);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, to[0], 0);
    ::posix_spawn_file_actions_adddup2(&actions, from[1], 1);
    for (const int fd : {to[0], to[1], from[0], from[1]}) ::posix_spawn_file_actions_addclose(&actions, fd);
    char name[] = "gpu_memory";
    char role[] = "import";
    char* arguments[] = {name, role, nullptr};
    if (::posix_spawn(&pid_, "/proc/self/exe", &actions, nullptr, arguments, environ) != 0) std::exit(3);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(to[0]);
    ::close(from[1]);
    to_ = ::fdopen(to[1], "w");
    from_ = ::fdopen(from[0], "r");
  }
  ~importer() {
    std::fclose(to_);
    std::fclose(from_);
    ::waitpid(pid_, nullptr, 0);
  }
  /// The importer's answer: the first and the last word, or an error. Before the answer, the importer has added 1 to
  /// both words.
  std::string open(const std::string& ticket) {
    std::fprintf(to_, "%s\n", ticket.c_str());
    std::fflush(to_);
    char line[2000] = {};
    if (std::fgets(line, sizeof line, from_) == nullptr) return "the importer has ended";
    return std::string(line, std::string(line).find_last_not_of('\n') + 1);
  }

 private:
  pid_t pid_ = -1;
  FILE* to_;
  FILE* from_;
};

int import() {
  for (std::string line; std::getline(std::cin, line);) {
    try {
      double first_us = 0;
      pgas::opened_memory opened;
      first_us = party::time([&] { opened = pgas::opened_memory::open(line); });
      char* const start = static_cast<char*>(opened.data());
      char* const last = start + opened.size() - sizeof(unsigned);
      const unsigned words[2] = {party::read(start), party::read(last)};
      party::write(start, words[0] + 1);
      party::write(last, words[1] + 1);
      std::string again = "shared again";
      try {
        static_cast<void>(pgas::shared_memory::share(opened.data(), opened.size()));
      } catch (const pgas::error& failure) {
        again = pgas::to_string(failure.code());
      }
      std::cout << words[0] << " " << words[1] << " " << again << " " << first_us << " us" << std::endl;
    } catch (const pgas::error& failure) {
      std::cout << failure.what() << std::endl;
    }
  }
  return 0;
}

/// The error of sharing the memory, or an empty string.
std::string refusal(void* pointer, std::size_t bytes, const pgas::shared_memory_options& options = {}) {
  try {
    static_cast<void>(pgas::shared_memory::share(pointer, bytes, options));
  } catch (const pgas::error& failure) {
    return failure.what();
  }
  return "";
}

/// Shares the memory, and checks that the importer's kernel and copies access it.
void expect_shared(importer& other, const char* kind, void* pointer, std::size_t bytes,
                   pgas::whole_block block = pgas::whole_block::refuse) {
  try {
    pgas::shared_memory mine = pgas::shared_memory::share(pointer, bytes, {.block = block});
    char* const last = static_cast<char*>(pointer) + bytes - sizeof(unsigned);
    party::write(pointer, 100);
    party::write(last, 200);
    const std::string said = other.open(mine.ticket());
    std::printf("%s: %s\n", kind, said.c_str());
    PGAS_EXPECT(said.starts_with("100 200 PGAS-E0304"));
    PGAS_EXPECT(party::read(pointer) == 101 && party::read(last) == 201);
  } catch (const pgas::error& failure) {
    std::printf("%s: %s\n", kind, failure.what());
    ++failures;
  }
}

bool refused(const char* kind, const std::string& said, std::string_view text) {
  std::printf("%s: %s\n", kind, said.c_str());
  return said.starts_with("PGAS-E0304") && said.find(text) != std::string::npos;
}

cudaMemPool_t make_pool(cudaMemAllocationHandleType type) {
  cudaMemPoolProps wanted{};
  wanted.allocType = cudaMemAllocationTypePinned;
  wanted.handleTypes = type;
  wanted.location.type = cudaMemLocationTypeDevice;
  cudaMemPool_t pool = nullptr;
  party::check(cudaMemPoolCreate(&pool, &wanted));
  return pool;
}

void adopt(importer& other) {
  void* small = nullptr;
  party::check(cudaMalloc(&small, 1000));
  PGAS_EXPECT(refused("1000 bytes of cudaMalloc", refusal(small, 1000), "2097152 bytes"));
  PGAS_EXPECT(refused("the same, read-only", refusal(small, 1000, {pgas::access::read_only, pgas::whole_block::allow}),
                      "read_only"));
  expect_shared(other, "1000 bytes of cudaMalloc, allowed", small, 1000, pgas::whole_block::allow);

  void* large = nullptr;
  party::check(cudaMalloc(&large, 4 * unit));
  expect_shared(other, "8 MiB of cudaMalloc", large, 4 * unit);
  PGAS_EXPECT(refused("a part of it", refusal(large, unit), "8388608 bytes"));
  PGAS_EXPECT(refused("more than it", refusal(large, 5 * unit), "has 8388608 bytes"));
  expect_shared(other, "a part of it, allowed", static_cast<char*>(large) + unit, unit, pgas::whole_block::allow);

  const pieces several(5, true);
  expect_shared(other, "5 pieces of cuMemCreate", several.data(), 5 * unit);
  expect_shared(other, "2 of them", several.data() + unit, 2 * unit);
  PGAS_EXPECT(refused("a part of one", refusal(several.data() + 4096, 4096), "2097152 bytes"));
  expect_shared(other, "a part of one, allowed", several.data() + 4096, 4096, pgas::whole_block::allow);
  PGAS_EXPECT(refused("more than them", refusal(several.data(), 6 * unit), "ends after"));
  const pieces closed(1, false);
  PGAS_EXPECT(refused("cuMemCreate without descriptors", refusal(closed.data(), unit), "requestedHandleTypes"));

  const cudaMemPool_t pool = make_pool(cudaMemHandleTypePosixFileDescriptor);
  void* of_pool = nullptr;
  party::check(cudaMallocFromPoolAsync(&of_pool, 3000, pool, nullptr));
  party::check(cudaDeviceSynchronize());
  PGAS_EXPECT(refused("a pool", refusal(of_pool, 3000), "all of the pool"));
  expect_shared(other, "a pool, allowed", of_pool, 3000, pgas::whole_block::allow);
  void* of_default = nullptr;
  party::check(cudaMallocAsync(&of_default, 3000, nullptr));
  party::check(cudaDeviceSynchronize());
  PGAS_EXPECT(
      refused("the default pool", refusal(of_default, 3000, {.block = pgas::whole_block::allow}), "handleTypes"));

  void* managed = nullptr;
  party::check(cudaMallocManaged(&managed, unit));
  PGAS_EXPECT(refused("managed memory", refusal(managed, unit), "managed"));
  void* pinned = nullptr;
  party::check(cudaMallocHost(&pinned, unit));
  PGAS_EXPECT(refused("pinned host memory", refusal(pinned, unit), "pinned"));

  party::check(cudaFree(small));
  party::check(cudaFree(large));
  party::check(cudaFreeAsync(of_pool, nullptr));
  party::check(cudaFreeAsync(of_default, nullptr));
  party::check(cudaFree(managed));
  party::check(cudaFreeHost(pinned));
}

/// The driver's import of one piece, from descriptor to mapped memory, without a request to another process.
double own_import() {
  const pieces item(1, true);
  CUmemGenericAllocationHandle handle = 0;
  check(find<decltype(&cuMemRetainAllocationHandle)>("cuMemRetainAllocationHandle")(&handle, item.data()), "retain");
  const auto export_handle = find<decltype(&cuMemExportToShareableHandle)>("cuMemExportToShareableHandle");
  const auto import_handle = find<decltype(&cuMemImportFromShareableHandle)>("cuMemImportFromShareableHandle");
  const auto reserve = find<decltype(&cuMemAddressReserve)>("cuMemAddressReserve");
  const auto map = find<decltype(&cuMemMap)>("cuMemMap");
  const auto set_access = find<decltype(&cuMemSetAccess)>("cuMemSetAccess");
  std::vector<double> times;
  for (int i = 0; i < 50; ++i) {
    int fd = -1;
    check(export_handle(&fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0), "export");
    CUmemGenericAllocationHandle imported = 0;
    CUdeviceptr at = 0;
    times.push_back(party::time([&] {
      check(import_handle(&imported, reinterpret_cast<void*>(static_cast<std::intptr_t>(fd)),
                          CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
            "import");
      check(reserve(&at, unit, 0, 0, 0), "reserve");
      check(map(at, unit, 0, imported, 0), "map");
      CUmemAccessDesc access{};
      access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
      access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
      check(set_access(at, unit, &access, 1), "access");
    }));
    check(find<decltype(&cuMemUnmap)>("cuMemUnmap")(at, unit), "unmap");
    check(find<decltype(&cuMemAddressFree)>("cuMemAddressFree")(at, unit), "free");
    check(find<decltype(&cuMemRelease)>("cuMemRelease")(imported), "release");
    ::close(fd);
  }
  check(find<decltype(&cuMemRelease)>("cuMemRelease")(handle), "release");
  std::sort(times.begin(), times.end());
  return times[25];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "import") return import();
  party::check(cudaFree(nullptr));
  {
    importer other;
    adopt(other);
  }
  std::printf("the driver's own import of 2 MiB, in this process: %.1f us\n", own_import());
  std::printf("%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
