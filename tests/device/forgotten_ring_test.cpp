// Waits for a proxy that does not work have a deadline, like all waits. The test runs only on the CPU, because the test
// makes the ring itself.
#include "harness.hpp"

namespace {

using namespace pgas;
using namespace pgas_test;

/// A ring without a proxy.
struct forgotten_ring {
  detail::ring_heads heads[2] = {};  // the second element is memory for the data that follows the first element
  detail::ring_progress progress{};
  std::vector<detail::command> commands = std::vector<detail::command>(2);
  std::vector<detail::answer> answers = std::vector<detail::answer>(2);

  [[nodiscard]] detail::ring_view view() { return {commands.data(), answers.data(), &progress, heads, 1, 1}; }
};

TEST(route, deadlines_end_waits_for_an_answer_and_for_room) {
  for (const auto what : {detail::operation::atomic_fetch_add, detail::operation::p}) {
    pe_set pes(2, {.domain = 1, .timeout = std::chrono::milliseconds(100)});
    const sym<std::uint64_t> word = pes.allocate<std::uint64_t>(1);
    forgotten_ring ring;
    const std::vector<bool> gave_up = pes.run_out({1, 1}, [&](const auto&, context ctx) {
      if (ctx.my_pe() != 0) return;
      detail::routes table = *ctx.routes_;
      table.ring = ring.view();
      ctx.routes_ = &table;
      ctx.copy_ = &ctx;
      if (what == detail::operation::atomic_fetch_add) {
        static_cast<void>(atomic_fetch_add(ctx, word.at(ctx), 1, 1));
      } else {
        for (std::uint64_t i = 0; i < 3; ++i) p(ctx, word.at(ctx), i, 1);
      }
    });
    const detail::failure_record& record = pes.control(0).record;
    EXPECT_TRUE(gave_up[0]);
    EXPECT_EQ(record.why, detail::failure::timed_out);
    EXPECT_EQ(record.what, what);
    EXPECT_EQ(record.pe, 1);
    EXPECT_EQ(record.heap_offset, word.offset);
  }
}

}  // namespace
