// Memory of the program as symmetric memory on the host heap: shared mappings of memory files.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <tuple>

#include "unit/heap/heap_fixture.hpp"

namespace pgas::unit_test {
namespace {

/// Memory files that are mapped contiguously.
class chunks {
 public:
  explicit chunks(const std::vector<std::size_t>& sizes, int rights = PROT_READ | PROT_WRITE, int how = MAP_SHARED) {
    for (const std::size_t size : sizes) bytes_ += size;
    base_ =
        static_cast<std::byte*>(::mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    std::byte* at = base_;
    for (const std::size_t size : sizes) {
      detail::unique_fd fd(::memfd_create("a test's memory", MFD_CLOEXEC));
      if (::ftruncate(fd.get(), static_cast<off_t>(size)) != 0) throw std::runtime_error("ftruncate");
      if (::mmap(at, size, rights, how | MAP_FIXED, fd.get(), 0) == MAP_FAILED) throw std::runtime_error("mmap");
      fds_.push_back(std::move(fd));
      at += size;
    }
  }
  ~chunks() { release(); }
  chunks(const chunks&) = delete;
  chunks& operator=(const chunks&) = delete;

  void close() { fds_.clear(); }
  void release() {
    close();
    if (base_ != nullptr) ::munmap(base_, bytes_);
    base_ = nullptr;
  }
  [[nodiscard]] std::byte* base() const { return base_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  template <class T>
  [[nodiscard]] T* as(std::size_t offset) const {
    return reinterpret_cast<T*>(base_ + offset);
  }

 private:
  std::byte* base_ = nullptr;
  std::size_t bytes_ = 0;
  std::vector<detail::unique_fd> fds_;
};

class registered_by : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(pes, registered_by, testing::Values(1, 2, 4));

TEST_P(registered_by, chunks_are_shared_without_a_copy_and_outlive_the_original) {
  const holdings before = count_holdings();
  expect_no_error(run_threads(GetParam(), [](bootstrap& exchange) {
    heap_pe at(exchange);
    chunks memory({2 * MiB, 6 * MiB, 4 * MiB});
    auto* const alias = static_cast<std::byte*>(at.heap->registered_buffers().add(memory.base(), memory.bytes()));
    ASSERT_TRUE(at.heap->contains(alias, memory.bytes()));
    EXPECT_FALSE(at.heap->contains(alias, memory.bytes() + 1));
    const int right = (at.me + 1) % at.n;
    for (const std::size_t offset : {std::size_t{0}, 2 * MiB - 8, 2 * MiB, 9 * MiB, 12 * MiB - 8})
      *at.remote(reinterpret_cast<std::uint64_t*>(alias + offset), right) = offset + static_cast<std::size_t>(at.me);
    at.pe.control_plane.barrier();
    const auto left = static_cast<std::size_t>((at.me + at.n - 1) % at.n);
    for (const std::size_t offset : {std::size_t{0}, 2 * MiB - 8, 2 * MiB, 9 * MiB, 12 * MiB - 8})
      // The program accesses the memory by its own address.
      EXPECT_EQ(*memory.as<std::uint64_t>(offset), offset + left);
    *memory.as<std::uint64_t>(4 * MiB) = 77;
    memory.release();
    at.pe.control_plane.barrier();
    EXPECT_EQ(*at.remote(reinterpret_cast<std::uint64_t*>(alias + 4 * MiB), right), 77u);
    // If the heap grows while memory is registered, it does not use the addresses of the registered memory.
    int* const cells = at.allocate<int>(1000);
    *cells = 5;
    at.heap->free(cells);
    at.heap->registered_buffers().remove(alias);
    EXPECT_FALSE(at.heap->contains(alias, 1));
    at.leave();
  }));
  EXPECT_EQ(settle_at(before), before);
}

TEST_P(registered_by, the_same_memory_can_come_again_and_again) {
  const holdings before = count_holdings();
  expect_no_error(run_threads(GetParam(), [](bootstrap& exchange) {
    heap_pe at(exchange);
    const chunks memory({2 * MiB, 2 * MiB});
    void* first = nullptr;
    for (int round = 0; round < 100; ++round) {
      void* const alias = at.heap->registered_buffers().add(memory.base(), memory.bytes());
      if (round == 0) first = alias;
      EXPECT_EQ(alias, first);
      at.heap->registered_buffers().remove(alias);
    }
    auto* const item = static_cast<int*>(at.heap->registered_buffers().add(memory.base(), memory.bytes()));
    auto* const two = static_cast<int*>(at.heap->registered_buffers().add(memory.base(), memory.bytes()));
    EXPECT_NE(item, two);
    *item = 3;
    EXPECT_EQ(*two, 3);
    at.heap->registered_buffers().remove(item);
    EXPECT_EQ(*two, 3);
    at.heap->registered_buffers().remove(nullptr);
    at.heap->registered_buffers().remove(two);
    EXPECT_EQ(thrown_by([&] { at.heap->registered_buffers().remove(two); })->code(), code::invalid_free);
    at.leave();
  }));
  EXPECT_EQ(settle_at(before), before);
}

/// PE 1 of two passes memory that is not allowed, and PE 0 passes valid memory.
void expect_refused(const std::function<void(heap_pe&, const std::function<void(void*, std::size_t)>&)>& prepare,
                    code expected, const std::string& text) {
  const holdings before = count_holdings();
  expect_no_error(run_threads(2, [&](bootstrap& exchange) {
    heap_pe at(exchange);
    const chunks good({4 * MiB});
    const auto attempt = [&](void* pointer, std::size_t bytes) {
      const auto failed = thrown_by([&] { static_cast<void>(at.heap->registered_buffers().add(pointer, bytes)); });
      ASSERT_TRUE(failed);
      EXPECT_EQ(failed->code(), expected) << failed->what();
      EXPECT_NE(std::string(failed->what()).find(text), std::string::npos) << failed->what();
    };
    if (at.me == 0)
      attempt(good.base(), good.bytes());
    else
      prepare(at, attempt);
    void* const alias = at.heap->registered_buffers().add(good.base(), good.bytes());  // the state is unchanged
    at.heap->registered_buffers().remove(alias);
    at.leave();
  }));
  EXPECT_EQ(settle_at(before), before);
}

TEST(registration, what_is_no_shared_memory_is_refused_with_the_reason) {
  expect_refused([](heap_pe&, const auto& attempt) { attempt(nullptr, 4 * MiB); }, code::invalid_argument, "no memory");
  expect_refused(
      [](heap_pe&, const auto& attempt) {
        const std::unique_ptr<void, decltype(&std::free)> memory(std::aligned_alloc(2 * MiB, 8 * MiB), &std::free);
        attempt(memory.get(), 4 * MiB);
      },
      code::invalid_argument, "private memory");
  expect_refused(
      [](heap_pe&, const auto& attempt) {
        const chunks memory({4 * MiB}, PROT_READ);
        attempt(memory.base(), 4 * MiB);
      },
      code::invalid_argument, "may not be read and written");
  expect_refused(
      [](heap_pe&, const auto& attempt) {
        chunks memory({4 * MiB});
        memory.close();
        attempt(memory.base(), 4 * MiB);
      },
      code::invalid_argument, "descriptor");
  expect_refused(
      [](heap_pe&, const auto& attempt) {
        const chunks memory({4 * MiB, 4 * MiB});
        attempt(memory.base() + 2 * MiB, 4 * MiB);
      },
      code::invalid_argument, "before the given address");
  expect_refused(
      [](heap_pe&, const auto& attempt) {
        const chunks memory({2 * MiB, 4 * MiB});
        attempt(memory.base(), 4 * MiB);
      },
      code::invalid_argument, "larger than the given range");
  expect_refused(
      [](heap_pe&, const auto& attempt) {
        const chunks memory({4 * MiB});
        attempt(memory.base(), 4 * MiB + 4096);
      },
      code::invalid_argument, "not a multiple");
  expect_refused([](heap_pe& at, const auto& attempt) { attempt(at.heap->slot(at.me), 4 * MiB); },
                 code::invalid_argument, "already symmetric memory");
}

TEST(registration, sizes_must_be_the_same_on_all_pes) {
  expect_refused(
      [](heap_pe&, const auto& attempt) {
        const chunks memory({6 * MiB});
        attempt(memory.base(), memory.bytes());
      },
      code::asymmetric_call, "PE 1");
  expect_refused(
      [](heap_pe&, const auto& attempt) {
        const chunks memory({2 * MiB, 2 * MiB});
        attempt(memory.base(), memory.bytes());
      },
      code::asymmetric_call, "segments");
}

TEST(registration, a_heap_of_named_handles_cannot_take_it) {
  run_threads(2, [](bootstrap& exchange) {
    config settings = small_heap();
    settings.mem_handle = handle_kind::named;
    heap_pe at(exchange, settings);
    const chunks memory({2 * MiB});
    const auto refused =
        thrown_by([&] { static_cast<void>(at.heap->registered_buffers().add(memory.base(), memory.bytes())); });
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->code(), code::handle_exchange);
    EXPECT_NE(std::string(refused->what()).find("PGAS_MEM_HANDLE=posix_fd"), std::string::npos) << refused->what();
    at.leave();
  });
}

class registering_fails : public testing::TestWithParam<std::tuple<step, int>> {};
INSTANTIATE_TEST_SUITE_P(at, registering_fails,
                         testing::Values(std::tuple(step::retain, 1), std::tuple(step::export_segment, 1),
                                         std::tuple(step::export_segment, 2), std::tuple(step::import_segment, 1),
                                         std::tuple(step::import_segment, 4), std::tuple(step::map, 1),
                                         std::tuple(step::map, 6)));

TEST_P(registering_fails, on_one_pe_and_leaves_nothing_on_any) {
  const holdings before = count_holdings();
  expect_no_error(run_threads(3, [&](bootstrap& exchange) {
    const auto [which, nth] = GetParam();
    heap_pe at(exchange);
    const chunks memory({2 * MiB, 4 * MiB});
    int* const cells = at.allocate<int>(10);
    const int segments = at.device.segments;
    const int mappings = at.device.mappings;
    if (at.me == 1) at.device.fail_at(which, nth);
    const auto failed =
        thrown_by([&] { static_cast<void>(at.heap->registered_buffers().add(memory.base(), memory.bytes())); });
    ASSERT_TRUE(failed);
    EXPECT_EQ(failed->pe(), 1);
    EXPECT_EQ(failed->code(), code::device_failed);
    EXPECT_EQ(at.device.segments, segments);
    EXPECT_EQ(at.device.mappings, mappings);
    EXPECT_EQ(at.heap->team_segment_map().count(), 0u);
    at.device.heal();
    void* const alias = at.heap->registered_buffers().add(memory.base(), memory.bytes());
    EXPECT_TRUE(at.heap->contains(alias, memory.bytes()));
    at.heap->registered_buffers().remove(alias);
    at.heap->free(cells);
    at.leave();
  }));
  EXPECT_EQ(settle_at(before), before);
}

}  // namespace
}  // namespace pgas::unit_test
