// register_symmetric on a GPU heap: memory made by the driver's own calls, on any number of PEs.
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "pgas/pgas.hpp"

namespace {

using pgas::code;

void must(cudaError_t result, const char* what) {
  if (result != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(result));
}
void must(CUresult result, const char* what) {
  if (result != CUDA_SUCCESS) throw std::runtime_error(std::string(what) + ": driver error " + std::to_string(result));
}

// The driver, looked up at run time as in the library, so that the program starts on machines without a driver.
struct driver_functions {
  decltype(&cuMemAddressReserve) reserve = find<decltype(&cuMemAddressReserve)>("cuMemAddressReserve");
  decltype(&cuMemAddressFree) unreserve = find<decltype(&cuMemAddressFree)>("cuMemAddressFree");
  decltype(&cuMemCreate) create = find<decltype(&cuMemCreate)>("cuMemCreate");
  decltype(&cuMemRelease) release = find<decltype(&cuMemRelease)>("cuMemRelease");
  decltype(&cuMemMap) map = find<decltype(&cuMemMap)>("cuMemMap");
  decltype(&cuMemUnmap) unmap = find<decltype(&cuMemUnmap)>("cuMemUnmap");
  decltype(&cuMemSetAccess) set_access = find<decltype(&cuMemSetAccess)>("cuMemSetAccess");
  decltype(&cuMemGetAllocationGranularity) granularity =
      find<decltype(&cuMemGetAllocationGranularity)>("cuMemGetAllocationGranularity");

  template <class Function>
  static Function find(const char* name) {
    void* address = nullptr;
    cudaDriverEntryPointQueryResult found{};
    must(cudaGetDriverEntryPointByVersion(name, &address, 12000, cudaEnableDefault, &found), name);
    if (found != cudaDriverEntryPointSuccess) throw std::runtime_error(std::string("the driver has no ") + name);
    return reinterpret_cast<Function>(address);
  }
};

// Contiguous pieces of `units` granules each, as an allocator of the program would make them.
class pieces {
 public:
  pieces(const std::vector<std::size_t>& units, CUmemAllocationHandleType shareable) {
    int ordinal = 0;
    must(cudaGetDevice(&ordinal), "cudaGetDevice");
    CUmemAllocationProp wanted{};
    wanted.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    wanted.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    wanted.location.id = ordinal;
    wanted.requestedHandleTypes = shareable;
    must(driver_.granularity(&unit_, &wanted, CU_MEM_ALLOC_GRANULARITY_MINIMUM), "granularity");
    for (const std::size_t n : units) bytes_ += n * unit_;
    must(driver_.reserve(&base_, bytes_, 0, 0, 0), "reserve");
    CUdeviceptr at = base_;
    for (const std::size_t n : units) {
      CUmemGenericAllocationHandle handle = 0;
      must(driver_.create(&handle, n * unit_, &wanted, 0), "create");
      must(driver_.map(at, n * unit_, 0, handle, 0), "map");
      must(driver_.release(handle), "release");  // the mapping keeps the memory allocated
      at += n * unit_;
    }
    CUmemAccessDesc access{};
    access.location = wanted.location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    must(driver_.set_access(base_, bytes_, &access, 1), "set_access");
    must(cudaMemset(base(), 0, bytes_), "cudaMemset");
    must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }
  ~pieces() { release(); }
  pieces(const pieces&) = delete;
  pieces& operator=(const pieces&) = delete;

  void release() {
    if (base_ == 0) return;
    static_cast<void>(driver_.unmap(base_, bytes_));
    static_cast<void>(driver_.unreserve(base_, bytes_));
    base_ = 0;
  }
  [[nodiscard]] std::byte* base() const { return reinterpret_cast<std::byte*>(base_); }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] std::size_t unit() const { return unit_; }
  [[nodiscard]] std::uint64_t read(std::size_t offset) const {
    std::uint64_t value = 0;
    must(cudaMemcpy(&value, base() + offset, sizeof(value), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return value;
  }

 private:
  driver_functions driver_;
  CUdeviceptr base_ = 0;
  std::size_t bytes_ = 0;
  std::size_t unit_ = 0;
};

class Registration : public testing::Test {
 protected:
  Registration() : world(pgas::world::join(settings())), me(world.my_pe()), n(world.n_pes()) {
    must(cudaSetDevice(world.device()), "cudaSetDevice");
    must(cudaFree(nullptr), "start of the GPU's context");
  }
  // The settings with a kind of handle that every driver supports.
  static pgas::config settings() {
    pgas::config chosen = pgas::config::from_environment();
    chosen.mem_handle = pgas::handle_kind::posix_fd;
    return chosen;
  }
  code code_of_registering(void* pointer, std::size_t bytes) {
    try {
      static_cast<void>(pgas::register_symmetric(world, pointer, bytes));
    } catch (const pgas::error& thrown) {
      return thrown.code();
    }
    ADD_FAILURE() << "expected an error";
    return code::system;
  }

  pgas::world world;
  const int me;
  const int n;
};

TEST_F(Registration, two_pieces_are_shared_without_a_copy) {
  pieces memory({1, 3}, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
  for (int round = 0; round < 3; ++round) {
    const pgas::registration alias(world, memory.base(), memory.bytes());
    auto* const words = static_cast<std::uint64_t*>(alias.data());
    const int right = (me + 1) % n;
    const auto left = static_cast<std::uint64_t>((me + n - 1) % n);
    const std::size_t last = memory.bytes() / 8 - 1;
    const std::size_t second = memory.unit() / 8;
    const std::uint64_t mine = 100 * static_cast<std::uint64_t>(round) + static_cast<std::uint64_t>(me);
    for (const std::size_t i : {std::size_t{0}, second - 1, second, last}) pgas::p(world, words + i, mine + i, right);
    world.barrier_all();
    for (const std::size_t i : {std::size_t{0}, second - 1, second, last})
      EXPECT_EQ(memory.read(i * 8), 100 * static_cast<std::uint64_t>(round) + left + i);
    world.barrier_all();
  }
}

TEST_F(Registration, outlives_the_original) {
  pieces memory({2, 2}, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
  pgas::registration alias(world, memory.base(), memory.bytes());
  auto* const words = static_cast<std::uint64_t*>(alias.data());
  memory.release();
  pgas::p(world, words + 5, std::uint64_t{7} + static_cast<std::uint64_t>(me), (me + 1) % n);
  world.barrier_all();
  EXPECT_EQ(pgas::g(world, words + 5, me), 7u + static_cast<std::uint64_t>((me + n - 1) % n));
  world.barrier_all();
}

TEST_F(Registration, what_cannot_be_shared_is_refused_with_the_reason) {
  const pieces good({2, 2}, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
  const pieces closed({2}, CU_MEM_HANDLE_TYPE_NONE);
  void* plain = nullptr;
  must(cudaMalloc(&plain, 2 * good.unit()), "cudaMalloc");
  EXPECT_EQ(code_of_registering(plain, 2 * good.unit()), code::invalid_argument);
  EXPECT_EQ(code_of_registering(nullptr, good.unit()), code::invalid_argument);
  EXPECT_EQ(code_of_registering(good.base(), good.bytes() - 8), code::invalid_argument);
  EXPECT_EQ(code_of_registering(good.base(), 3 * good.unit()), code::invalid_argument);  // ends inside a piece
  EXPECT_EQ(code_of_registering(good.base() + good.unit(), 3 * good.unit()),
            code::invalid_argument);  // starts inside a piece
  EXPECT_EQ(code_of_registering(closed.base(), closed.bytes()), code::handle_exchange);
  if (n > 1) {
    EXPECT_EQ(code_of_registering(good.base(), me == 0 ? 2 * good.unit() : 4 * good.unit()), code::asymmetric_call);
  }
  must(cudaFree(plain), "cudaFree");
  const pgas::registration alias(world, good.base(), good.bytes());  // the state is unchanged
  EXPECT_EQ(alias.size(), good.bytes());
}

}  // namespace
