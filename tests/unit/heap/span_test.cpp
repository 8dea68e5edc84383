// Heaps whose slots are the parts of one segment. The tests check which memory peers can reach, which resources remain
// after a failed step, and when memory is released.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "unit/heap/heap_fixture.hpp"

namespace pgas::unit_test {
namespace {

void with_spans(faulty_device& device) { device.spans_slots = true; }

/// Whether a system call of this process can read a byte at the address.
bool readable(const std::byte* at) {
  int pipe[2];
  require(::pipe(pipe) == 0, "a pipe");
  const bool read = ::write(pipe[1], at, 1) == 1;
  require(read || errno == EFAULT, "EFAULT");
  ::close(pipe[0]);
  ::close(pipe[1]);
  return read;
}

/// The number of pages of this range that exist in memory.
std::size_t pages_at(std::byte* at, std::size_t bytes) {
  std::vector<unsigned char> resident(bytes / static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)));
  require(::mincore(at, bytes, resident.data()) == 0, "mincore");
  return static_cast<std::size_t>(std::count_if(resident.begin(), resident.end(), [](auto page) { return page & 1; }));
}

class span_kinds : public testing::TestWithParam<handle_kind> {};
INSTANTIATE_TEST_SUITE_P(all, span_kinds, testing::Values(handle_kind::posix_fd, handle_kind::named));

TEST_P(span_kinds, everyone_reaches_everyones_memory_and_nothing_behind_it) {
  const auto ends = run_processes(4, [kind = GetParam()](bootstrap& exchange) {
    config settings = small_heap();
    settings.mem_handle = kind;
    heap_pe at(exchange, settings, with_spans);
    const std::size_t fds = count_holdings().fds;
    auto* mine = at.allocate<int>(1000);
    auto* large = at.allocate<int>(4 * MiB);  // 16 MiB, so the heap grows
    require(count_holdings().fds == fds, "growth takes no descriptor");
    for (int pe = 0; pe < at.n; ++pe) {
      at.remote(mine, pe)[at.me] = 100 * at.me + pe;
      at.remote(large, pe)[4 * MiB - 1 - static_cast<std::size_t>(at.me)] = at.me;
      require(readable(at.heap->slot(pe) + at.heap->mapped_bytes() - 1), "the memory of a PE");
      require(!readable(at.heap->slot(pe) + at.heap->mapped_bytes()), "nothing behind the memory of a PE");
    }
    at.pe.control_plane.barrier();
    for (int pe = 0; pe < at.n; ++pe) {
      require(mine[pe] == 100 * pe + at.me, "what each PE has written");
      require(large[4 * MiB - 1 - static_cast<std::size_t>(pe)] == pe, "what each PE has written");
    }
    at.pe.control_plane.barrier();
    at.leave();
  });
  for (const auto& end : ends) EXPECT_EQ(end.message, "");
}

TEST_P(span_kinds, the_memory_of_a_dead_pe_stays_readable) {
  const auto ends = run_processes(3, [kind = GetParam()](bootstrap& exchange) {
    config settings = small_heap();
    settings.mem_handle = kind;
    heap_pe at(exchange, settings, with_spans);
    auto* p = at.allocate<int>(5 * MiB);
    p[5 * MiB - 1] = 100 + at.me;
    at.pe.control_plane.barrier();
    if (at.me == 0) ::kill(::getpid(), SIGKILL);  // PE 0 has made the segment
    const auto end = thrown_by([&] { at.pe.control_plane.barrier(); });
    require(end && end->code() == code::peer_lost && end->pe() == 0, end ? end->what() : "an error");
    require(at.remote(p, 0)[5 * MiB - 1] == 100, "what it left");
    at.remote(p, 0)[0] = 1;
  });
  EXPECT_EQ(ends[0].signal, SIGKILL);
  EXPECT_EQ(ends[1].message, "");
  EXPECT_EQ(ends[2].message, "");
}

TEST(span, memory_that_a_team_frees_is_free_and_clean) {
  const auto ends = run_processes(2, [](bootstrap& exchange) {
    heap_pe at(exchange, small_heap(), with_spans);
    for (int round = 0; round < 2; ++round) {
      const auto memory = at.heap->make_allocator(at.pe.control_plane);
      auto* const p = static_cast<std::byte*>(memory->allocate(4 * MiB, 16));
      require(pages_at(p, 4 * MiB) == 0, "no memory before the first access");
      require(p[MiB] == std::byte{0}, "zeros");
      p[MiB] = std::byte{7};
      at.pe.control_plane.barrier();
      require(at.remote(p, 1 - at.me)[MiB] == std::byte{7}, "the memory of the peer");
      at.pe.control_plane.barrier();
      memory->clear();
      require(!readable(p), "nothing can be read after the end");
      at.pe.control_plane.barrier();
    }
    at.leave();
  });
  for (const auto& end : ends) EXPECT_EQ(end.message, "");
}

class failing_span_steps : public testing::TestWithParam<std::tuple<step, int>> {};
INSTANTIATE_TEST_SUITE_P(all, failing_span_steps,
                         testing::Combine(testing::Values(step::create_span, step::attach_span),
                                          testing::Values(0, 1)));  // the PE on which the call fails

TEST_P(failing_span_steps, leave_a_heap_of_single_segments) {
  const auto [which, where] = GetParam();
  const holdings before = count_holdings();
  expect_no_error(run_threads(2, [which = which, where = where](bootstrap& exchange) {
    const int me = exchange.rank();
    heap_pe at(exchange, small_heap(), [&](faulty_device& device) {
      device.spans_slots = true;
      if (me == where) device.fail_at(which, 1);
    });
    auto* p = at.allocate<int>(4 * MiB);
    at.remote(p, 1 - at.me)[0] = at.me;
    at.pe.control_plane.barrier();
    EXPECT_EQ(p[0], 1 - at.me);
    at.pe.control_plane.barrier();
    at.leave();
  }));
  EXPECT_EQ(settle_at(before), before);
}

TEST(span, a_failed_growth_is_undone_on_all_pes) {
  expect_no_error(run_threads(3, [](bootstrap& exchange) {
    heap_pe at(exchange, small_heap(), with_spans);
    auto* kept = at.allocate<int>(1000);
    kept[0] = at.me;
    const int mappings = at.device.mappings;
    for (int nth = 1; nth <= 3; ++nth) {
      at.pe.control_plane.barrier();
      if (at.me == 1) at.device.fail_at(step::open_part, nth);
      const auto end = thrown_by([&] { static_cast<void>(at.heap->allocate(16 * MiB, 16)); });
      ASSERT_TRUE(end);
      EXPECT_EQ(end->code(), code::device_failed) << end->what();
      EXPECT_EQ(end->pe(), 1);
      EXPECT_EQ(at.device.mappings, mappings);
      EXPECT_FALSE(readable(at.heap->slot(2) + at.heap->mapped_bytes()));
      at.device.heal();
    }
    auto* p = at.allocate<int>(4 * MiB);
    at.remote(p, (at.me + 1) % 3)[4 * MiB - 1] = at.me;
    at.pe.control_plane.barrier();
    EXPECT_EQ(p[4 * MiB - 1], (at.me + 2) % 3);
    EXPECT_EQ(kept[0], at.me);
    at.leave();
  }));
}

TEST(span, a_registered_buffer_leaves_the_span_behind) {
  const auto ends = run_processes(2, [](bootstrap& exchange) {
    config settings = small_heap();
    settings.mem_handle = handle_kind::posix_fd;
    heap_pe at(exchange, settings, with_spans);
    const int file = ::memfd_create("of the program", MFD_CLOEXEC);
    require(file >= 0 && ::ftruncate(file, 4 * MiB) == 0, "a file");
    void* const own = ::mmap(nullptr, 4 * MiB, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    auto* const alias = static_cast<int*>(at.heap->registered_buffers().add(own, 4 * MiB, {}, nullptr));
    alias[0] = at.me;
    at.pe.control_plane.barrier();
    require(*at.remote(alias, 1 - at.me) == 1 - at.me, "the buffer of the peer");
    at.pe.control_plane.barrier();
    at.heap->registered_buffers().remove(alias);
    // The next segment of a team lies at the same addresses.
    const auto memory = at.heap->make_allocator(at.pe.control_plane);
    auto* const p = static_cast<int*>(memory->allocate(4 * MiB, 16));
    require(p == alias, "the same addresses");
    require(p[0] == 0, "not the buffer");
    p[0] = 10 + at.me;
    at.pe.control_plane.barrier();
    require(*at.remote(p, 1 - at.me) == 11 - at.me, "the memory of the peer");
    at.pe.control_plane.barrier();
    memory->clear();
    at.leave();
  });
  for (const auto& end : ends) EXPECT_EQ(end.message, "");
}

}  // namespace
}  // namespace pgas::unit_test
