// Symmetric memory, registered memory, queue pairs.
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support.hpp"

namespace {

using NvshmemMemory = Nvshmem;

TEST_F(NvshmemMemory, is_where_peers_can_reach_it) {
  int* const cells = static_cast<int*>(nvshmem_calloc(4, sizeof(int)));
  ASSERT_NE(cells, nullptr);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(cells[i], 0);
  const int right = (me + 1) % n;
  int* const position = static_cast<int*>(nvshmem_ptr(cells, right));
  ASSERT_NE(position, nullptr);
  EXPECT_EQ(position == cells, right == me);
  nvshmem_barrier_all();
  position[1] = 100 + me;
  nvshmem_barrier_all();
  EXPECT_EQ(cells[1], 100 + (me + n - 1) % n);
  EXPECT_EQ(nvshmem_ptr(cells, n), nullptr);
  EXPECT_EQ(nvshmem_ptr(cells, -1), nullptr);
  EXPECT_EQ(nvshmem_ptr(&right, me), nullptr);
  EXPECT_EQ(nvshmemx_mc_ptr(NVSHMEM_TEAM_WORLD, cells), nullptr);
  EXPECT_EQ(nvshmemx_mc_ptr(77, cells), nullptr);
  nvshmem_free(cells);
}

TEST_F(NvshmemMemory, is_aligned_as_asked) {
  for (const size_t alignment : {size_t{1}, size_t{8}, size_t{64}, size_t{4096}, size_t{2} << 20, size_t{16} << 20}) {
    void* const memory = nvshmem_align(alignment, 100);
    ASSERT_NE(memory, nullptr) << alignment;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % alignment, 0u) << alignment;
    nvshmem_free(memory);
  }
  void* const rounded = nvshmem_align(3000, 100);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(rounded) % 4096, 0u);
  nvshmem_free(rounded);
  EXPECT_EQ(nvshmem_align(size_t{1} << 61, 100), nullptr);
}

TEST_F(NvshmemMemory, is_aligned_to_512_bytes_even_if_small) {
  for (const size_t bytes : {size_t{1}, size_t{16}, size_t{100}, size_t{511}}) {
    void* const result[] = {nvshmem_malloc(bytes), nvshmem_malloc(bytes), nvshmem_calloc(bytes, 1)};
    for (void* const memory : result) {
      EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 512, 0u) << bytes << " bytes";
      nvshmem_free(memory);
    }
  }
}

TEST_F(NvshmemMemory, of_impossible_sizes_is_null_and_the_heap_lives_on) {
  EXPECT_EQ(nvshmem_malloc(0), nullptr);
  EXPECT_EQ(nvshmem_malloc(SIZE_MAX), nullptr);
  EXPECT_EQ(nvshmem_malloc(size_t{1} << 50), nullptr);
  EXPECT_EQ(nvshmem_calloc(SIZE_MAX / 2, 4), nullptr);
  void* const memory = nvshmem_malloc(100);
  EXPECT_NE(memory, nullptr);
  nvshmem_free(memory);
}

TEST_F(NvshmemMemory, freeing_waits_for_what_others_still_write) {
  for (int round = 0; round < 20; ++round) {
    int* const first = static_cast<int*>(nvshmem_malloc(sizeof(int)));
    if (me != 0) nvshmem_int_p(first, -1, 0);
    nvshmem_free(first);
    int* const second = static_cast<int*>(nvshmem_calloc(1, sizeof(int)));
    if (me == 0) usleep(200);
    EXPECT_EQ(nvshmem_int_g(second, 0), 0);
    nvshmem_free(second);
  }
}

TEST_F(NvshmemMemory, registration_of_local_buffers_finds_mistakes) {
  char buffer[256];
  EXPECT_EQ(nvshmemx_buffer_register(buffer, 128), 0);
  EXPECT_EQ(nvshmemx_buffer_register(buffer + 128, 128), 0);
  EXPECT_EQ(nvshmemx_buffer_register(buffer + 64, 16), NVSHMEMX_ERROR_INVALID_VALUE);
  EXPECT_EQ(nvshmemx_buffer_register(buffer, 128), NVSHMEMX_ERROR_INVALID_VALUE);
  EXPECT_EQ(nvshmemx_buffer_register(nullptr, 128), NVSHMEMX_ERROR_INVALID_VALUE);
  EXPECT_EQ(nvshmemx_buffer_register(buffer, 0), NVSHMEMX_ERROR_INVALID_VALUE);
  EXPECT_EQ(nvshmemx_buffer_unregister(buffer + 1), NVSHMEMX_ERROR_INVALID_VALUE);
  EXPECT_EQ(nvshmemx_buffer_unregister(buffer), 0);
  EXPECT_EQ(nvshmemx_buffer_unregister(buffer), NVSHMEMX_ERROR_INVALID_VALUE);
  nvshmemx_buffer_unregister_all();
  EXPECT_EQ(nvshmemx_buffer_unregister(buffer + 128), NVSHMEMX_ERROR_INVALID_VALUE);
}

TEST_F(NvshmemMemory, of_the_program_becomes_symmetric) {
  constexpr size_t bytes = size_t{2} << 20;
  const int file = memfd_create("of the program", 0);
  ASSERT_EQ(ftruncate(file, bytes), 0);
  int* const own = static_cast<int*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
  int* const alias = static_cast<int*>(nvshmemx_buffer_register_symmetric(own, bytes, 0));
  ASSERT_NE(alias, nullptr);
  nvshmem_int_p(alias + 3, 500 + me, (me + 1) % n);
  nvshmem_barrier_all();
  EXPECT_EQ(own[3], 500 + (me + n - 1) % n);
  EXPECT_EQ(nvshmemx_buffer_unregister_symmetric(alias, bytes), 0);
  EXPECT_EQ(nvshmemx_buffer_unregister_symmetric(alias, bytes), NVSHMEMX_ERROR_INVALID_VALUE);
  int local = 0;
  EXPECT_EQ(nvshmemx_buffer_register_symmetric(&local, sizeof local, 0), nullptr);
  munmap(own, bytes);
  close(file);
}

/// Memory of the program, which can be registered.
class OwnMemory {
 public:
  static constexpr size_t bytes = size_t{2} << 20;
  OwnMemory() : file_(memfd_create("of the program", 0)) {
    if (ftruncate(file_, bytes) == 0) at_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
  }
  ~OwnMemory() {
    munmap(at_, bytes);
    close(file_);
  }
  OwnMemory(const OwnMemory&) = delete;
  OwnMemory& operator=(const OwnMemory&) = delete;
  operator void*() const { return at_; }

 private:
  int file_;
  void* at_ = MAP_FAILED;
};

TEST_F(NvshmemMemory, of_the_program_comes_back_to_the_address_that_it_had) {
  const OwnMemory first, second;
  constexpr size_t bytes = OwnMemory::bytes;
  const auto at = [](void* memory, void* preferred) {
    return static_cast<char*>(nvshmemx_buffer_register_symmetric_at_preferred_address(memory, bytes, preferred, 0));
  };
  char* const low = at(first, nullptr);
  char* const high = at(second, low + 16 * bytes);
  EXPECT_EQ(high, low + 16 * bytes);
  nvshmem_char_p(high, static_cast<char>('a' + me), (me + 1) % n);
  nvshmem_barrier_all();
  EXPECT_EQ(*high, 'a' + (me + n - 1) % n);
  // The requested range is in use and begins in the middle of a page, so the library chooses another address.
  const OwnMemory third;
  for (char* const preferred : {high, low + 1, reinterpret_cast<char*>(uintptr_t{4096})}) {
    char* const elsewhere = at(third, preferred);
    ASSERT_NE(elsewhere, nullptr);
    EXPECT_NE(elsewhere, preferred);
    EXPECT_EQ(nvshmemx_buffer_unregister_symmetric(elsewhere, bytes), 0);
  }
  EXPECT_EQ(nvshmemx_buffer_unregister_symmetric(high, bytes), 0);
  EXPECT_EQ(at(second, high), high);
  // If the PEs request different offsets, the highest offset is used.
  char* const mine = low + static_cast<ptrdiff_t>(bytes) * (32 + me);
  EXPECT_EQ(at(third, mine), low + static_cast<ptrdiff_t>(bytes) * (31 + n));
  EXPECT_EQ(nvshmemx_buffer_unregister_symmetric(low + static_cast<ptrdiff_t>(bytes) * (31 + n), bytes), 0);
  EXPECT_EQ(nvshmemx_buffer_unregister_symmetric(high, bytes), 0);
  EXPECT_EQ(nvshmemx_buffer_unregister_symmetric(low, bytes), 0);
}

TEST_F(NvshmemMemory, queue_pairs_have_numbers) {
  nvshmemx_qp_handle_t* handles = nullptr;
  ASSERT_EQ(nvshmemx_qp_create(3, &handles), 0);
  for (int i = 0; i < 3; ++i) EXPECT_GT(handles[i], NVSHMEMX_QP_DEFAULT);
  EXPECT_NE(handles[0], handles[1]);
  delete[] handles;
  EXPECT_NE(nvshmemx_qp_create(0, &handles), 0);
  EXPECT_NE(nvshmemx_qp_create(1, nullptr), 0);
}

}  // namespace
