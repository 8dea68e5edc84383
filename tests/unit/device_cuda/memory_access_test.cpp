// A proxy's access to GPU memory, on a GPU: the order of operations, tested with a model, and the cost.
#include "host/proxy/memory_access.hpp"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <deque>
#include <iterator>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "device/device.hpp"

namespace pgas::unit_test {
namespace {

using namespace detail;

class memory_access_on_gpu : public ::testing::Test {
 protected:
  static constexpr std::size_t bytes = std::size_t{1} << 20;

  ~memory_access_on_gpu() override { gpu_->free_device(there_); }

  static batched_atomic update(void* at, atomic_update how, datatype as, std::uint64_t value,
                               std::uint64_t condition = 0, bool fenced = false) {
    batched_atomic what;
    what.at = at;
    what.how = how;
    what.as = as;
    what.fenced = fenced;
    what.value = value;
    what.condition = condition;
    return what;
  }
  static std::byte* at(std::uint64_t& place) { return reinterpret_cast<std::byte*>(&place); }

  std::unique_ptr<device> gpu_ = make_cuda_device({}, 0);
  std::byte* there_ = static_cast<std::byte*>(gpu_->allocate_device(bytes));
};

/// Applies `what` to a word of host memory.
std::uint64_t on_model(std::byte* word, const batched_atomic& what) {
  const std::size_t size = size_of(what.as);
  std::uint64_t old = 0;
  std::memcpy(&old, word, size);
  std::uint64_t now = old;
  switch (what.how) {
    case atomic_update::set:
    case atomic_update::swap: now = what.value; break;
    case atomic_update::add: now = old + what.value; break;
    case atomic_update::bit_xor: now = old ^ what.value; break;
    case atomic_update::max: now = std::max(old, what.value); break;
    case atomic_update::compare_swap: now = old == what.condition ? what.value : old; break;
    default: break;
  }
  std::memcpy(word, &now, size);
  return old;
}

TEST_F(memory_access_on_gpu, everything_takes_effect_in_its_order) {
  constexpr atomic_update hows[] = {atomic_update::fetch,       atomic_update::set, atomic_update::add,
                                    atomic_update::bit_xor,     atomic_update::max, atomic_update::swap,
                                    atomic_update::compare_swap};
  // There are few words, so that most updates collide with other updates of the same warp, also on parts of a word.
  constexpr std::size_t words = 20;
  for (const pinned_sizes sizes :
       {pinned_sizes{}, pinned_sizes{.staging_bytes = 200, .updates = 50, .buffer_bytes = 8}}) {
    const std::unique_ptr<memory_access> memory = make_device_memory_access(*gpu_, sizes);
    std::mt19937_64 random(sizes.updates);
    std::vector<std::byte> model(8 * words);
    memory->write(there_, model.data(), {model.size()});
    std::deque<std::pair<std::uint64_t, std::uint64_t>> results;  // each pair is the found and the expected value
    for (int i = 0; i < 200'000; ++i) {
      const bool wide = random() % 2 == 0;
      const std::size_t place = wide ? random() % words * 8 : random() % (2 * words) * 4;
      const std::uint64_t mask = wide ? ~std::uint64_t{0} : 0xffffffffu;
      std::uint64_t value = random() & mask;
      const unsigned kind = static_cast<unsigned>(random() % 100);
      if (kind == 0) {
        memory->write(there_ + place, &value, {wide ? 8u : 4u});
        std::memcpy(model.data() + place, &value, wide ? 8 : 4);
      } else if (kind == 1) {
        auto& [found, expected] = results.emplace_back(0, 0);
        memory->read(&found, there_ + place, {wide ? 8u : 4u});
        std::memcpy(&expected, model.data() + place, wide ? 8 : 4);
      } else {
        std::uint64_t condition = 0;
        std::memcpy(&condition, model.data() + place, wide ? 8 : 4);
        if (random() % 2 == 0) condition = random() & mask;
        const batched_atomic what = update(there_ + place, hows[random() % std::size(hows)],
                                           wide ? datatype::u64 : datatype::u32, value, condition, random() % 8 == 0);
        const std::uint64_t old = on_model(model.data() + place, what);
        if (what.how == atomic_update::set || random() % 2 == 0) {
          memory->update(what, nullptr);
        } else {
          auto& [found, expected] = results.emplace_back(~old, old);
          memory->update(what, at(found));
        }
      }
      if (random() % 1000 == 0) memory->complete();
    }
    std::vector<std::byte> end(model.size());
    memory->read(end.data(), there_, {end.size()});
    memory->complete();
    EXPECT_EQ(end, model);
    std::size_t wrong = 0;
    for (const auto& [found, expected] : results) wrong += found != expected ? 1u : 0u;
    EXPECT_EQ(wrong, 0u) << "of " << results.size();
  }
}

TEST_F(memory_access_on_gpu, numbers_of_all_kinds_are_added) {
  const std::unique_ptr<memory_access> memory = make_device_memory_access(*gpu_);
  const float one_32 = 1;
  const double one_64 = 1;
  std::uint64_t ones[12] = {0, 0, 1, 1, 1, 1};
  std::memcpy(&ones[6], &one_32, sizeof one_32);
  std::memcpy(&ones[7], &one_64, sizeof one_64);
  ones[8] = 0x3c00;
  ones[9] = 0x3f80;
  ones[10] = 0x3c003c00;
  ones[11] = 0x3f803f80;
  const std::vector<std::uint64_t> zero(12);
  memory->write(there_, zero.data(), {8 * zero.size()});
  std::uint64_t old[12] = {};
  for (unsigned k = 2; k < 12; ++k) {
    const auto as = static_cast<datatype>(k);
    memory->update(update(there_ + 8 * k, atomic_update::add, as, ones[k]), nullptr);
    memory->update(update(there_ + 8 * k, atomic_update::add, as, ones[k]), at(old[k]));
  }
  memory->complete();
  for (unsigned k = 2; k < 12; ++k) EXPECT_EQ(old[k], ones[k]) << k;
}

/// The time in microseconds of each of `count` calls of `one`, with one complete() after all of them.
template <class F>
void report(const char* what, memory_access& memory, std::size_t count, const F& item) {
  constexpr int rounds = 20;
  memory.complete();
  const auto start = std::chrono::steady_clock::now();
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < count; ++i) item(i);
    memory.complete();
  }
  const std::chrono::duration<double, std::micro> all = std::chrono::steady_clock::now() - start;
  std::printf("%-46s %5zu at once: %8.2f us all, %7.3f us each\n", what, count, all.count() / rounds,
              all.count() / rounds / static_cast<double>(count));
}

TEST_F(memory_access_on_gpu, what_it_costs) {
  const std::unique_ptr<memory_access> memory = make_device_memory_access(*gpu_);
  std::vector<std::uint64_t> here(4096, 1);
  std::byte* const message = memory->buffers().data();
  for (const std::size_t count : {std::size_t{1}, std::size_t{32}, std::size_t{256}, std::size_t{4096}}) {
    const auto add = [&](std::byte* word, bool fenced, std::byte* old) {
      memory->update(update(word, atomic_update::add, datatype::u64, 1, 0, fenced), old);
    };
    report("add to different words", *memory, count, [&](std::size_t i) { add(there_ + 8 * i, false, nullptr); });
    report("fetch and add to different words", *memory, count,
           [&](std::size_t i) { add(there_ + 8 * i, false, at(here[i])); });
    report("add to different words, each behind a fence", *memory, count,
           [&](std::size_t i) { add(there_ + 8 * i, true, nullptr); });
    report("add to one word", *memory, count, [&](std::size_t) { add(there_, false, nullptr); });
    report("write 8 bytes", *memory, count, [&](std::size_t i) { memory->write(there_ + 8 * i, &here[i], {8}); });
    report("read 8 bytes to a message", *memory, count,
           [&](std::size_t i) { memory->read(message + 8 * i, there_ + 8 * i, {8}); });
    report("read 8 bytes to elsewhere", *memory, count,
           [&](std::size_t i) { memory->read(at(here[i]), there_ + 8 * i, {8}); });
  }
}

}  // namespace
}  // namespace pgas::unit_test

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  int gpus = 0;
  if (cudaGetDeviceCount(&gpus) != cudaSuccess || gpus == 0) {
    std::puts("skipped: no GPU");
    return 77;  // the exit status that ctest treats as "skipped"
  }
  cudaDeviceProp properties{};
  if (cudaGetDeviceProperties(&properties, 0) == cudaSuccess) std::printf("GPU 0: %s\n", properties.name);
  return RUN_ALL_TESTS();
}
