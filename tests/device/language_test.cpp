// Kernels may be C++17, and this file is compiled as C++17. Every device operation has the same effect as in C++20.
#include <string>

#include "every_operation.hpp"
#include "harness.hpp"

static_assert(__cplusplus < 202002L);

namespace {

using namespace pgas;
using namespace pgas_test;

/// The caller of an operation: a thread without a group argument, a thread, a warp, a block, or all blocks.
enum class caller { nobody, thread, warp, block, grid };

/// The context, and the form in which PEs are passed.
enum class manner { general, general_peer, direct, direct_peer };

struct all_operations {
  sym<workplace> place;
  findings found;
  caller who;
  manner how;

  template <class... Group>
  void call(const context& ctx, const Group&... g) const {
    found.equal(ctx, static_cast<std::uint64_t>(who), 0, failed_check(ctx, g...));
  }
  template <class... Group>
  int failed_check(const context& ctx, const Group&... g) const {
    workplace& here = *place.at(ctx);
    switch (how) {
      case manner::general: return do_every_operation(ctx, here, g...);
      case manner::general_peer: return do_every_operation<naming::peer>(ctx, here, g...);
      case manner::direct: return do_every_operation(direct_context(ctx), here, g...);
      case manner::direct_peer: return do_every_operation<naming::peer>(direct_context(ctx), here, g...);
    }
    return -1;
  }

  void operator()(const block& b, const context& ctx) const {
    const bool first = b.block_rank() == 0;
    const bool leads = first && b.thread_rank() == 0;
    switch (who) {
      case caller::nobody: return leads ? call(ctx) : void();
      case caller::thread: return leads ? call(ctx, this_thread{}) : void();
      case caller::warp: return leads ? call(ctx, this_warp(b)) : void();
      case caller::block: return first ? call(ctx, b) : void();
      case caller::grid: return call(ctx, this_grid(b));
    }
  }
};

void try_every_operation(const pe_options& options, manner how) {
  for (const int n_pes : {2, 3}) {
    pe_set pes(n_pes, options);
    const findings found = make_findings(pes);
    for (const caller who : {caller::nobody, caller::thread, caller::warp, caller::block, caller::grid}) {
      pes.run({2, 3}, all_operations{pes.allocate<workplace>(1), found, who, how});
      if (testing::Test::HasFatalFailure()) return;
    }
    expect_nothing_found(pes, found);
  }
}

TEST(language, every_operation_works_in_cxx17) {
  for (const bool checks : {false, true}) {
    pe_options options;
    options.checks = checks;
    try_every_operation(options, manner::general);
    try_every_operation(options, manner::general_peer);
  }
}

TEST(language, every_operation_takes_peers_of_all_routes) {
  pe_options options;
  options.domain = 1;
  try_every_operation(options, manner::general_peer);
  options.domain = 2;
  try_every_operation(options, manner::general_peer);
}

TEST(language, every_operation_takes_a_direct_context) {
  try_every_operation({}, manner::direct);
  try_every_operation({}, manner::direct_peer);
}

/// A type with all members of a group except sync().
struct no_group {
  [[nodiscard]] static int thread_rank() { return 0; }
  [[nodiscard]] static int size() { return 1; }
};
/// An operation that accepts only integers.
struct integers_only {
  [[nodiscard]] int operator()(int a, int b) const { return a > b ? a : b; }
};

// The C++17 equivalents of the concepts.
static_assert(is_group<this_thread> && is_group<cpu_block> && is_group<grid> && !is_group<no_group> && !is_group<int>);
static_assert(is_block_group<cpu_block> && !is_block_group<warp>);
static_assert(is_rma_type<workplace> && !is_rma_type<const int> && !is_rma_type<std::string>);
static_assert(is_amo_type<float> && !is_amo_integer<float> && !is_amo_type<float16> && is_amo_add_type<float16>);
static_assert(is_amo_add_type<bfloat16_pair> && !is_amo_add_type<short> && !is_amo_add_type<bool>);
static_assert(is_wait_type<short> && !is_wait_type<char> && !is_wait_type<float>);
static_assert(is_reduce_op<op::sum, workplace::complex> && !is_reduce_op<op::min, workplace::complex>);
static_assert(is_reduce_op<op::min, float16> && !is_reduce_op<op::bit_and, float16> &&
              !is_reduce_op<op::bit_and, float>);
static_assert(is_reduce_op<integers_only, int> && !is_scan_op<integers_only, int> && is_scan_op<op::sum, int>);
static_assert(is_reduce_op<op::maxloc, indexed<float>> && !is_reduce_op<op::maxloc, float>);
static_assert(!is_reduce_op<op::maxloc, indexed<bool>> && !is_reduce_op<op::sum, std::string>);

}  // namespace
