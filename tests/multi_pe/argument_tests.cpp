// Wrong arguments of host-called operations. Each call is refused with the name of the operation. The tests run on
// either heap, compiled by g++ and by nvcc.
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>

#include "../code_of.hpp"
#include "pgas/device.hpp"
#include "pgas/pgas.hpp"

namespace {

using pgas::cmp;
using pgas::code;
using pgas::signal_op;
using pgas_test::code_of;

struct nothing {
  template <class Block>
  PGAS_FN void operator()(Block) const {}
};

TEST(BadInput, is_refused_by_every_operation) {
  pgas::world world = pgas::world::join();
  pgas::world other = pgas::world::join();
  pgas::stream on(world);
  pgas::stream foreign(other);
  pgas::stream empty(world);
  const pgas::stream taken(std::move(empty));
  auto word = world.allocate<std::uint64_t>(4, pgas::initialize::zero);
  std::uint64_t local[4] = {};
  std::uint64_t* const w = word.data();
  std::uint64_t* const at_end = reinterpret_cast<std::uint64_t*>(reinterpret_cast<char*>(w) + 4);
  for (const int pe : {-1, world.n_pes(), std::numeric_limits<int>::max(), std::numeric_limits<int>::min()}) {
    EXPECT_EQ(code_of([&] { pgas::iput(world, w, local, 1, 1, 1, pe); }), code::pe_out_of_range);
    EXPECT_EQ(code_of([&] { pgas::ibget_nbi(world, local, w, 1, 1, 1, 1, pe); }), code::pe_out_of_range);
    EXPECT_EQ(code_of([&] { pgas::put_signal_nbi(world, w, local, 1, w, 1, signal_op::add, pe); }),
              code::pe_out_of_range);
    EXPECT_EQ(code_of([&] { pgas::atomic_fetch_max_nbi(world, local, w, 1, pe); }), code::pe_out_of_range);
    EXPECT_EQ(code_of([&] { pgas::iget(world, on, local, w, 1, 1, 1, pe); }), code::pe_out_of_range);
    EXPECT_EQ(code_of([&] { pgas::p(world, on, w, 1, pe); }), code::pe_out_of_range);
    EXPECT_EQ(code_of([&] { pgas::signal_add(world, on, w, 1, pe); }), code::pe_out_of_range);
    EXPECT_EQ(code_of([&] { pgas::atomic_swap(world, on, w, w, 1, pe); }), code::pe_out_of_range);
  }
  EXPECT_EQ(code_of([&] { pgas::iput(world, local, w, 1, 1, 2, 0); }), code::outside_heap);
  EXPECT_EQ(code_of([&] { pgas::iput(world, w, local, std::ptrdiff_t{1} << 40, 1, 2, 0); }), code::outside_heap);
  EXPECT_EQ(code_of([&] { pgas::iput(world, w, local, -(std::ptrdiff_t{1} << 40), 1, 2, 0); }), code::outside_heap);
  EXPECT_EQ(code_of([&] { pgas::iget(world, local, w, 1, 1, std::size_t{1} << 62, 0); }), code::invalid_argument);
  EXPECT_EQ(code_of([&] { pgas::ibput(world, w, local, 1, 1, ~std::size_t{0}, 2, 0); }), code::invalid_argument);
  EXPECT_EQ(code_of([&] { pgas::iput<std::uint64_t>(world, w, nullptr, 1, 1, 1, 0); }), code::invalid_argument);
  EXPECT_EQ(code_of([&] { pgas::put_list(world, {}, 99); }), code::pe_out_of_range);
  EXPECT_EQ(code_of([&] { pgas::get_list(world, on, {}, -1); }), code::pe_out_of_range);
  EXPECT_EQ(code_of([&] { pgas::put_list(world, {nullptr, 3}, 0); }), code::invalid_argument);
  const auto pages = [](void* to, const void* from, std::size_t stride, std::size_t count) {
    return pgas::copy_list(pgas::page_side<void, std::int32_t>{to, stride},
                           pgas::page_side<const void, std::int64_t>{from, stride}, 8, count);
  };
  EXPECT_EQ(code_of([&] { pgas::put_list(world, pages(w, nullptr, 8, 1), 0); }), code::invalid_argument);
  EXPECT_EQ(code_of([&] { pgas::get_list(world, on, pages(nullptr, w, 8, 1), 0); }), code::invalid_argument);
  EXPECT_EQ(code_of([&] { pgas::put_list(world, pages(nullptr, w, 8, 1), 0); }), code::outside_heap);
  EXPECT_EQ(code_of([&] { pgas::get_list(world, pages(w, local, 8, 1), 0); }), code::outside_heap);
  EXPECT_EQ(code_of([&] { pgas::put_list(world, pages(w, w, std::size_t{1} << 40, 2), 0); }), code::outside_heap);
  EXPECT_EQ(code_of([&] { pgas::put_list(world, pages(w, w, std::size_t{1} << 62, 9), 0); }), code::invalid_argument);
  EXPECT_EQ(code_of([&] { pgas::get(world, on, local, local, 1, 0); }), code::outside_heap);
  EXPECT_EQ(code_of([&] { pgas::put_signal(world, w, local, 1, local, 1, signal_op::set, 0); }), code::outside_heap);
  EXPECT_EQ(code_of([&] { pgas::signal_set(world, on, at_end, 1, 0); }), code::misaligned);
  EXPECT_EQ(code_of([&] { pgas::atomic_fetch_or_nbi(world, local, at_end, 1, 0); }), code::misaligned);
  EXPECT_EQ(code_of([&] { pgas::atomic_fetch_or(world, on, at_end, w, 1, 0); }), code::misaligned);
  EXPECT_EQ(code_of([&] { pgas::atomic_fetch_nbi<std::uint64_t>(world, nullptr, w, 0); }), code::invalid_argument);
  EXPECT_EQ(code_of([&] { pgas::atomic_fetch<std::uint64_t>(world, on, nullptr, w, 0); }), code::invalid_argument);
  EXPECT_EQ(code_of([&] { static_cast<void>(pgas::test(world, local, cmp::eq, 0)); }), code::outside_heap);
  EXPECT_EQ(code_of([&] { pgas::wait_until(world, at_end, cmp::eq, 0); }), code::misaligned);
  EXPECT_EQ(code_of([&] { pgas::wait_until_all(world, w, ~std::size_t{0}, nullptr, cmp::eq, 0); }),
            code::invalid_argument);
  EXPECT_EQ(code_of([&] { pgas::wait_until_some(world, w, 1, nullptr, nullptr, cmp::eq, 0); }), code::invalid_argument);
  EXPECT_EQ(code_of([&] { pgas::wait_until(world, on, local, cmp::eq, 0); }), code::outside_heap);
  EXPECT_EQ(code_of([&] { pgas::wait_until_all(world, on, w, std::size_t{1} << 40, nullptr, cmp::eq, 0); }),
            code::outside_heap);
  for (const pgas::stream* wrong : {&std::as_const(foreign), &std::as_const(empty)}) {
    EXPECT_EQ(code_of([&] { pgas::put(world, *wrong, w, local, 1, 0); }), code::invalid_argument);
    EXPECT_EQ(code_of([&] { pgas::wait_until(world, *wrong, w, cmp::eq, 0); }), code::invalid_argument);
    EXPECT_EQ(code_of([&] { pgas::quiet(world, *wrong); }), code::invalid_argument);
    EXPECT_EQ(code_of([&] { pgas::barrier_all(world, *wrong); }), code::invalid_argument);
    EXPECT_EQ(code_of([&] { pgas::launch(world, {.on = wrong}, nothing{}); }), code::invalid_argument);
  }
  const auto no_cmp = static_cast<cmp>(99);
  EXPECT_EQ(code_of([&] { static_cast<void>(pgas::test(world, w, no_cmp, 0)); }), code::invalid_argument);
  EXPECT_EQ(code_of([&] { pgas::wait_until(world, w, static_cast<cmp>(-1), 0); }), code::invalid_argument);
  EXPECT_EQ(code_of([&] { pgas::wait_until_all(world, w, 1, nullptr, no_cmp, 0); }), code::invalid_argument);
  EXPECT_EQ(code_of([&] { pgas::wait_until(world, on, w, no_cmp, 0); }), code::invalid_argument);
  const std::uint64_t* const no_values = nullptr;
  EXPECT_EQ(code_of([&] { pgas::wait_until_all(world, w, 1, nullptr, cmp::eq, no_values); }), code::invalid_argument);
  EXPECT_EQ(code_of([&] { pgas::put_signal(world, w, local, 1, w, 1, static_cast<signal_op>(77), 0); }),
            code::invalid_argument);
  EXPECT_EQ(code_of([&] { static_cast<void>(world.allocate_bytes(8, 1, static_cast<pgas::memory_hint>(99))); }),
            code::invalid_argument);
  const auto said = [](auto&& call) -> std::string {
    try {
      call();
    } catch (const pgas::error& refused) {
      return std::string(refused.what()).substr(sizeof("PGAS-E0000: ") - 1);
    }
    return "";
  };
  EXPECT_TRUE(said([&] { static_cast<void>(pgas::g(world, local, 0)); }).starts_with("g: "));
  EXPECT_TRUE(said([&] { pgas::g(world, on, w, local, 0); }).starts_with("g: "));
  EXPECT_TRUE(said([&] { pgas::atomic_add(world, local, 1, 0); }).starts_with("atomic_add: "));
  EXPECT_TRUE(said([&] { pgas::atomic_fetch_add(world, local, 1, 0); }).starts_with("atomic_fetch_add: "));
  EXPECT_TRUE(said([&] { pgas::atomic_fetch_xor_nbi(world, w, local, 1, 0); }).starts_with("atomic_fetch_xor: "));
  EXPECT_TRUE(said([&] { pgas::atomic_swap(world, on, w, local, 1, 0); }).starts_with("atomic_swap: "));
  pgas::iput(world, w, local, 1, 1, 0, 0);  // a call with zero elements is not an error
  pgas::put(world, on, w, local, 0, 0);
  on.synchronize();
  EXPECT_EQ(pgas::g(world, w, world.my_pe()), 0u);
  world.barrier_all();
}

}  // namespace
