// Windows of memory of different sizes. The tests run with any number of PEs, on either heap.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../code_of.hpp"
#include "../holdings.hpp"
#include "pgas/copy_blocks.hpp"
#include "pgas/device.hpp"
#include "pgas/pgas.hpp"
#include "pgas/shared_memory.hpp"
#include "pgas/window.hpp"

namespace {

using pgas::code;
using pgas_test::code_of;

constexpr std::size_t MiB = std::size_t{1} << 20;

class Window : public testing::Test {
 protected:
  Window() : world(pgas::world::join()), me(world.my_pe()), n(world.n_pes()) {
    if (bytes_of(me) == 0) return;
    mine = pgas::shared_memory::make({world.device()}, bytes_of(me));
    const std::vector<int> numbers = numbers_of(me);
    write(mine.data(), numbers.data(), numbers.size());
  }

  /// The sizes differ, and the last of several PEs has no memory.
  [[nodiscard]] std::size_t bytes_of(int pe) const {
    return pe > 0 && pe == n - 1 ? 0 : static_cast<std::size_t>(pe + 1) * 2 * MiB;
  }
  [[nodiscard]] bool reaches(int pe) const { return bytes_of(pe) != 0 && (pe == me || world.pe(pe).direct); }
  static std::vector<int> numbers_of(int pe) {
    std::vector<int> values(500);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = 1000 * pe + static_cast<int>(i);
    return values;
  }
  /// Copies to and from memory of the host or of a GPU.
  void write(void* to, const int* from, std::size_t count) {
    pgas::put(world, staged.data(), from, count, me);
    copy(to, staged.data(), count);
  }
  std::vector<int> read(const void* from, std::size_t count) {
    std::vector<int> values(count);
    copy(staged.data(), from, count);
    pgas::get(world, values.data(), staged.data(), count, me);
    return values;
  }
  void copy(void* to, const void* from, std::size_t count) {
    const pgas::copy_block block{to, from, count * sizeof(int)};
    pgas::copy_blocks({world.device()}, on.native(), {&block, 1});
    on.synchronize();
  }

  pgas::world world;
  int me;
  int n;
  pgas::symmetric<int> staged = world.allocate<int>(1000);
  pgas::stream on{world};
  pgas::shared_memory mine;
};

TEST_F(Window, each_pe_accesses_the_memory_of_all) {
  pgas::window window(world, mine.data(), bytes_of(me));
  ASSERT_EQ(window.n_pes(), n);
  EXPECT_EQ(window.at(me), mine.data());
  for (int pe = 0; pe < n; ++pe) {
    EXPECT_EQ(window.bytes(pe), bytes_of(pe));
    ASSERT_EQ(window.at(pe) != nullptr, reaches(pe)) << pe;
    if (!reaches(pe)) continue;
    EXPECT_EQ(read(window.at(pe), 500), numbers_of(pe)) << pe;
    const int mark = 77'000 + me;
    write(static_cast<std::byte*>(window.at(pe)) + window.bytes(pe) - static_cast<std::size_t>(me + 1) * sizeof(int),
          &mark, 1);
  }
  world.barrier_all();
  for (int pe = 0; pe < n; ++pe) {
    if (bytes_of(me) == 0 || (pe != me && !world.pe(pe).direct)) continue;
    EXPECT_EQ(read(static_cast<std::byte*>(mine.data()) + bytes_of(me) - static_cast<std::size_t>(pe + 1) * 4, 1)[0],
              77'000 + pe);
  }
  world.barrier_all();
}

/// Adds up the numbers at index `i` of all members whose memory this PE reaches.
struct add_numbers {
  template <pgas::block_group Block>
  PGAS_FN void operator()(Block block, pgas::window_view window, std::size_t i, int* sum) const {
    if (block.thread_rank() != 0) return;
    *sum = 0;
    for (std::int32_t pe = 0; pe < window.n_pes(); ++pe)
      if (const int* const number = window.at<int>(pe, i * sizeof(int)); number != nullptr && window.bytes(pe) > i)
        *sum += *number;
  }
};

TEST_F(Window, kernels_read_the_table) {
  pgas::window result(world, mine.data(), bytes_of(me));
  const pgas::window window = std::move(result);
  EXPECT_FALSE(result);
  EXPECT_EQ(code_of([&] { static_cast<void>(result.view()); }), code::invalid_argument);
  int expected = 0;
  for (int pe = 0; pe < n; ++pe) expected += reaches(pe) ? 1000 * pe + 9 : 0;
  pgas::launch(world, {.blocks = 1, .threads = 1, .on = &on}, add_numbers{}, window.view(), std::size_t{9},
               staged.data());
  on.synchronize();
  EXPECT_EQ(pgas::g(world, staged.data(), me), expected);
  world.barrier_all();
}

TEST_F(Window, windows_of_teams_end_in_any_order) {
  std::optional<pgas::window> first(std::in_place, world, mine.data(), bytes_of(me));
  std::optional<pgas::window> second(std::in_place, world, mine.data(), bytes_of(me));
  const pgas::team halves = world.team().split(me % 2, me);
  const pgas::window of_half(halves, mine.data(), bytes_of(me));
  // Memory of cuMemCreate, which shared_memory::make() allocates on a GPU, is mapped again by each window.
  for (int pe = 0; pe < n && world.heap() == pgas::heap_kind::host; ++pe) {
    EXPECT_EQ(first->at(pe), second->at(pe)) << "the memory is mapped once";
    if (pe % 2 == me % 2) {
      EXPECT_EQ(of_half.at(pe / 2), first->at(pe));
    }
  }
  (me % 2 == 0 ? first : second).reset();
  const pgas::window& left = me % 2 == 0 ? *second : *first;
  for (int pe = 0; pe < n; ++pe) {
    if (reaches(pe)) {
      EXPECT_EQ(read(left.at(pe), 500), numbers_of(pe));
    }
  }
  world.barrier_all();
}

TEST_F(Window, a_file_that_has_grown_is_mapped_again) {
  if (world.heap() != pgas::heap_kind::host) GTEST_SKIP() << "memory files are memory of the host";
  const int fd = ::memfd_create("window", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  ASSERT_EQ(::ftruncate(fd, static_cast<off_t>(2 * MiB)), 0);
  void* const small = ::mmap(nullptr, 2 * MiB, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  const pgas::window first(world, small, 2 * MiB);
  ASSERT_EQ(::ftruncate(fd, static_cast<off_t>(4 * MiB)), 0);
  void* const large = ::mmap(nullptr, 4 * MiB, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  static_cast<char*>(large)[3 * MiB] = static_cast<char>(10 + me);
  const pgas::window second(world, large, 4 * MiB);
  for (int pe = 0; pe < n; ++pe) {
    if (second.at(pe) != nullptr) {
      EXPECT_EQ(static_cast<const char*>(second.at(pe))[3 * MiB], 10 + pe);
    }
  }
  world.barrier_all();
  ::close(fd);
}

TEST_F(Window, wrong_arguments_are_refused_on_all_members) {
  std::vector<int> own(1000);  // memory that no other process can map
  const bool wrong = me == n / 2;
  const auto text = [&](void* pointer, std::size_t bytes) -> std::string {
    try {
      const pgas::window window(world, wrong ? pointer : mine.data(), wrong ? bytes : bytes_of(me));
    } catch (const pgas::error& refused) {
      EXPECT_EQ(refused.code(), code::invalid_argument);
      return refused.what();
    }
    return "";
  };
  const std::string name = "PE " + std::to_string(n / 2);
  for (const std::string& said : {text(own.data(), 4000), text(nullptr, 8), text(own.data(), 0)})
    EXPECT_NE(said.find(name), std::string::npos) << said;
  const pgas::window window(world, mine.data(), bytes_of(me));  // the failures have changed nothing
  EXPECT_EQ(code_of([&] { static_cast<void>(window.at(n)); }), code::pe_out_of_range);
  EXPECT_EQ(code_of([&] { static_cast<void>(window.bytes(-1)); }), code::pe_out_of_range);
  EXPECT_EQ(code_of([&] { static_cast<void>(pgas::window().n_pes()); }), code::invalid_argument);
}

// WINDOWS=100000 sets the number.
TEST_F(Window, many_windows_leave_nothing_behind) {
  const char* const wanted = std::getenv("WINDOWS");
  const int rounds = wanted != nullptr ? std::atoi(wanted) : 400;
  std::optional<pgas::unit_test::holdings> early;
  const pgas::window held(world, mine.data(), bytes_of(me));
  for (int round = 0; round < rounds; ++round) {
    {
      const pgas::window same(world, mine.data(), bytes_of(me));
      if (round % 4 == 0) {
        const pgas::shared_memory other = pgas::shared_memory::make({world.device()}, 2 * MiB);
        const pgas::window different(world, other.data(), 2 * MiB);
        world.barrier_all();
      }
    }
    if (round != rounds / 10) continue;
    world.barrier_all();
    early = pgas::unit_test::settled_holdings();
    world.barrier_all();
  }
  world.barrier_all();
  const pgas::unit_test::holdings late = pgas::unit_test::settle_at(*early);
  world.barrier_all();
  EXPECT_LE(late.fds, early->fds);
  EXPECT_LE(late.mappings, early->mappings);
}

#if defined(__CUDACC__)
TEST_F(Window, memory_of_cudaMalloc) {
  // The sizes are multiples of 2 MiB, so the blocks of cudaMalloc that members map contain no other allocation.
  int* allocated = nullptr;
  ASSERT_EQ(cudaMalloc(&allocated, bytes_of(0)), cudaSuccess);
  const std::vector<int> numbers = numbers_of(me);
  write(allocated, numbers.data(), numbers.size());
  {
    const pgas::window first(world, allocated, bytes_of(0));
    const pgas::window second(world, allocated, bytes_of(0));
    for (int pe = 0; pe < n; ++pe) {
      if (pe != me && !world.pe(pe).direct) continue;
      EXPECT_EQ(first.at(pe), second.at(pe)) << "the memory is mapped once";
      EXPECT_EQ(read(first.at(pe), 500), numbers_of(pe)) << pe;
    }
    world.barrier_all();
  }
  world.barrier_all();
  EXPECT_EQ(cudaFree(allocated), cudaSuccess);
}
#endif

}  // namespace
