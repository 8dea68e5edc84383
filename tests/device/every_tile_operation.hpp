/// @file
/// The part of every_operation in which one thread uses a bulk_copier and an mbarrier, on tiles that are not in shared
/// memory. tests/conformance tests tiles in shared memory.
#pragma once

#include <pgas/device.hpp>

namespace pgas_test {

/// Whether the received data is what the neighbours send: `out[i]` is 100 * PE + i. Adds values to `real` and `half` of
/// the right neighbour, and subtracts these values again.
/// @param to_right the neighbour, as a number or a peer
template <class Context, class Workplace, class Name>
PGAS_FN bool do_every_tile_operation(const Context& ctx, Workplace& here, int left, int right, Name to_right) {
  constexpr int n = Workplace::n;
  int* const in = here.in;
  bool good = true;
  const auto expect_from = [&](int pe, const int* at, int count) {
    for (int i = 0; i < count; ++i) good = good && at[i] == 100 * pe + i;
  };
  pgas::bulk_copier by;
  pgas::put(ctx, by, in, here.out, n, to_right);
  pgas::put_nbi(ctx, by, in + n, here.out, n, to_right);
  pgas::ibput_nbi(ctx, by, in + 2 * n, here.out, 4, 2, 2, 2, to_right);
  pgas::flush(by);
  pgas::fence(ctx, by);
  pgas::put_signal(ctx, by, in, here.out, 0, &here.arrived, 4, pgas::signal_op::set, to_right);
  pgas::signal_wait_until(ctx, &here.arrived, pgas::cmp::eq, 4);
  expect_from(left, in, n);
  expect_from(left, in + n, n);
  good = good && in[2 * n] == 100 * left && in[2 * n + 5] == 100 * left + 3;

  void* const shared = pgas::detail::block_memory<128>();
  const pgas::mbarrier full(shared != nullptr ? static_cast<pgas::signal_t*>(shared) : &here.phase);
  full.init(1);
  pgas::get(ctx, by, in + 4 * n, here.out, n, to_right);
  pgas::get_nbi(ctx, full, in + 5 * n, here.out, n, to_right);
  pgas::ibget_nbi(ctx, full, in + 6 * n, here.out, 4, 2, 2, 2, to_right);
  full.arrive_and_expect((n + 4) * sizeof(int));
  full.wait(ctx, 0);
  good = good && full.test(0) && !full.test(1) && full.word() != nullptr;
  full.end();
  expect_from(right, in + 4 * n, n);
  expect_from(right, in + 5 * n, n);
  good = good && in[6 * n] == 100 * right && in[6 * n + 5] == 100 * right + 3;

  const float reals[2] = {1, -1};
  const pgas::float16 halves[2] = {pgas::float16(2.0F), pgas::float16(-2.0F)};
  for (int i = 0; i < 2; ++i) {
    pgas::add_nbi(ctx, by, &here.real, reals + i, 1, to_right);
    pgas::ibadd_nbi(ctx, by, &here.half, halves + i, 1, 1, 1, 1, to_right);
  }
  pgas::quiet(ctx, by);
  return good;
}

}  // namespace pgas_test
