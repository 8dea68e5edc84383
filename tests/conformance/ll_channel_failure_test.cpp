// Errors of channels for values in registers: calls that checks refuse, and the failure record after a message is
// missing or was overwritten.
#include "one_sided.hpp"

namespace {

using namespace pgas;
using namespace pgas_test;

enum class mistake { send_twice, receive_twice, outside, no_such_pe, no_such_member, team_outside, not_a_member };

/// PE 0 makes an error. PE 1 sends the message that PE 0 waits for.
struct mistaken_body {
  sym<packet_line> box;
  mistake which;

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    packet_line* const mine = box.at(ctx);
    if (ctx.my_pe() == 0 && which == mistake::outside) ll_channel<int>(ctx, block, mine + (1 << 20), mine, 1);
    if (ctx.my_pe() == 0 && which == mistake::no_such_pe) ll_channel<int>(ctx, block, mine, mine, 2);
    if (ctx.my_pe() == 0 && which == mistake::team_outside)
      ll_team_channel<int>(ctx, block, ctx.team(), mine + (1 << 20));
    if (ctx.my_pe() == 0 && which == mistake::not_a_member) {
      team_view other = ctx.team();
      other.my_pe_ = -1;
      ll_team_channel<int>(ctx, block, other, mine);
    }
    if (which == mistake::no_such_member) {
      ll_team_channel<int> all(ctx, block, ctx.team(), mine);
      broadcast(ctx, all, 1);
      if (ctx.my_pe() == 0) static_cast<void>(receive(ctx, all, 2));
      return;
    }
    ll_channel<int> channel(ctx, block, mine, mine, 1 - ctx.my_pe());
    if (ctx.my_pe() != 0) return send(ctx, channel, 7);
    if (which == mistake::send_twice) {
      send(ctx, channel, 1);
      send(ctx, channel, 2);
    } else {
      static_cast<void>(receive(ctx, channel));
      static_cast<void>(receive(ctx, channel));
    }
  }
};

TEST(ll_channel_failure, mistakes_are_refused_with_checks) {
  using detail::failure;
  using detail::operation;
  const auto caught = [](mistake which, operation what, failure why) {
    pe_set pes(2, {.checks = true});
    const mistaken_body body{pes.allocate<packet_line>(ll_lines<int>(2, 2)), which};
    expect_caught(pes, body, what, why);
    return pes.control(0).record;
  };
  EXPECT_EQ(caught(mistake::send_twice, operation::send, failure::out_of_turn).expected, 2u);
  EXPECT_EQ(caught(mistake::receive_twice, operation::receive, failure::out_of_turn).pe, 1);
  caught(mistake::outside, operation::receive, failure::outside_heap);
  caught(mistake::team_outside, operation::receive, failure::outside_heap);
  caught(mistake::not_a_member, operation::receive, failure::not_a_member);
  caught(mistake::no_such_pe, operation::receive, failure::pe_out_of_range);
  EXPECT_EQ(caught(mistake::no_such_member, operation::receive, failure::pe_out_of_range).pe, 2);
}

/// Executes rounds on a channel whose rounds the program counts. PE 0 does not receive all messages of round 3 before
/// it begins round 4.
struct hasty_body {
  enum missing : int { all, single, none };

  sym<packet_line> box;
  missing what;
  ll_to to;

  template <ll_to To>
  PGAS_FN void rounds(const context& ctx) const {
    PGAS_ROLLED
    for (std::uint32_t begun = 0; begun < 6; ++begun) {
      ll_team_channel<int, To> channel(ctx, ctx.team(), box.at(ctx), {begun});
      if constexpr (To == ll_to::others)
        broadcast_to_others(ctx, channel, 1);
      else
        broadcast(ctx, channel, 1);
      const bool hasty = begun == 2 && ctx.my_pe() == 0 && what != none;
      if (hasty && what == all) continue;
      for (std::int32_t pe = 0; pe < (hasty ? 2 : 3); ++pe) {
        if constexpr (To == ll_to::others)
          static_cast<void>(receive(ctx, channel, pe, 1));
        else
          static_cast<void>(receive(ctx, channel, pe));
      }
    }
  }
  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    if (global_rank(block) != 0) return;
    if (to == ll_to::all)
      rounds<ll_to::all>(ctx);
    else
      rounds<ll_to::others>(ctx);
  }
};

TEST(ll_channel_failure, a_counted_round_that_begins_before_the_last_was_received_is_refused_with_checks) {
  for (const ll_to to : {ll_to::all, ll_to::others}) {
    for (const auto what : {hasty_body::all, hasty_body::single, hasty_body::none}) {
      pe_set pes(3, {.checks = true});
      const hasty_body body{pes.allocate<packet_line>(ll_lines<int>(1, 3)), what, to};
      if (what == hasty_body::none) {
        pes.run({1, 1}, body);
        EXPECT_EQ(pes.control(0).record.complete, 0u);
        continue;
      }
      ASSERT_TRUE(pes.run_out({1, 1}, body)[0]);
      const detail::failure_record& record = pes.control(0).record;
      EXPECT_EQ(record.why, detail::failure::not_received);
      EXPECT_EQ(record.what, detail::operation::send);
      EXPECT_EQ(record.pe, what == hasty_body::all ? 1 : 2);
      EXPECT_EQ(record.heap_offset, body.box.offset);
      EXPECT_EQ(record.expected, 4u);
      EXPECT_EQ(record.seen, 3u);
    }
  }
}

/// A channel stays open over several rounds. The program does not receive all messages, so the channel waits for the
/// remaining messages.
struct patient_body {
  sym<packet_line> box;
  findings found;

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    if (global_rank(block) != 0) return;
    {
      ll_team_channel<std::uint32_t> channel(ctx, ctx.team(), box.at(ctx), {0});
      for (std::uint32_t round = 0; round < 5; ++round) broadcast(ctx, channel, round);
      static_cast<void>(receive(ctx, channel, 1));
      broadcast(ctx, channel, 5);
    }
    ll_team_channel<std::uint32_t> channel(ctx, ctx.team(), box.at(ctx), {6});
    found.equal(ctx, 0, std::uint32_t{15}, receive_reduce(ctx, channel, op::sum{}));
  }
};

TEST(ll_channel_failure, an_open_counted_channel_may_leave_messages_out_with_checks) {
  pe_set pes(3, {.checks = true});
  const patient_body body{pes.allocate<packet_line>(ll_lines<int>(1, 3)), make_findings(pes)};
  pes.run({1, 1}, body);
  expect_nothing_found(pes, body.found);
}

/// The last PE does not send.
struct silent_body {
  sym<packet_line> box;
  scope by;
  bool of_team;

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    const std::int32_t silent = ctx.n_pes() - 1;
    if (ctx.my_pe() == silent || block.block_rank() != 0) return;
    with_scope(by, block, [&](const auto& g) {
      if (of_team) {
        ll_team_channel<packet<16, 8>> all(ctx, g, ctx.team(), box.at(ctx));
        broadcast(ctx, all, {});
        for (std::int32_t pe = 0; pe < ctx.n_pes(); ++pe) static_cast<void>(receive(ctx, all, pe));
      } else if (ctx.my_pe() == 0) {
        ll_channel<packet<16, 8>> channel(ctx, g, box.at(ctx), box.at(ctx), silent);
        send(ctx, channel, {});
        static_cast<void>(receive(ctx, channel));
      }
    });
  }
};

TEST(ll_channel_failure, a_member_that_does_not_send_is_named) {
  for (const scope by : all_scopes) {
    for (const bool of_team : {false, true}) {
      pe_set pes(3, {.timeout = std::chrono::milliseconds(200)});
      const auto lines = ll_lines<packet<16, 8>>(blocks().back().threads, 3);
      const silent_body body{pes.allocate<packet_line>(lines), by, of_team};
      const auto start = std::chrono::steady_clock::now();
      ASSERT_TRUE(pes.run_out(blocks().back(), body)[0]);
      EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
      const detail::failure_record& record = pes.control(0).record;
      if (!of_team) {  // in a team, it is possible that another PE has detected the error first
        EXPECT_EQ(record.why, detail::failure::timed_out);
      }
      EXPECT_EQ(record.what, detail::operation::receive);
      EXPECT_EQ(record.pe, 2);
      EXPECT_EQ(record.expected, of_team ? 2u : 1u);
      EXPECT_EQ(record.seen, 0u);
    }
  }
}

/// PE 0 sends more messages than allowed, without checks. PE 1 receives later.
struct overwritten_body {
  sym<packet_line> box;
  sym<signal_t> sent;

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    if (global_rank(block) != 0) return;
    ll_channel<int> channel(ctx, box.at(ctx), box.at(ctx), 1 - ctx.my_pe());
    if (ctx.my_pe() == 0) {
      for (int i = 0; i < 3; ++i) send(ctx, channel, i);
      fence(ctx);
      signal_set(ctx, sent.at(ctx), 1, 1);
    } else {
      signal_wait_until(ctx, sent.at(ctx), cmp::eq, 1);
      static_cast<void>(receive(ctx, channel));
    }
  }
};

TEST(ll_channel_failure, an_overwritten_message_is_not_taken_for_another) {
  pe_set pes(2, {.timeout = std::chrono::milliseconds(200)});
  const overwritten_body body{pes.allocate<packet_line>(ll_lines<int>(1)), pes.allocate<signal_t>(1)};
  ASSERT_TRUE(pes.run_out({1, 1}, body)[1]);
  if (pes.domain() == 1) {  // if the proxy sends, the rounds are always checked
    EXPECT_EQ(pes.control(0).record.why, detail::failure::out_of_turn);
    return;
  }
  const detail::failure_record& record = pes.control(1).record;
  EXPECT_EQ(record.why, detail::failure::timed_out);
  EXPECT_EQ(record.what, detail::operation::receive);
  EXPECT_EQ(record.pe, 0);
  EXPECT_EQ(record.expected, 1u);
  EXPECT_EQ(record.seen, 3u);
}

}  // namespace
