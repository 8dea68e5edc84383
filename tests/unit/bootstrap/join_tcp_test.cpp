/// @file
/// Worlds over TCP whose ranks are threads of this process.
#include <sys/socket.h>

#include <atomic>

#include "bootstrap/hub/hub_client.hpp"
#include "bootstrap/join_methods.hpp"
#include "bootstrap/tcp/reach_rank0.hpp"
#include "common/deadline.hpp"
#include "common/net/address.hpp"
#include "support.hpp"

namespace pgas::boot::test {
namespace {

class tcp : public testing::TestWithParam<int> {};

TEST_P(tcp, exchange_by_unique_id) {
  const std::string id = make_unique_id();
  run_all(GetParam(), [&](int rank) {
    const chosen_bootstrap mine = make_bootstrap(member_of(id, rank, GetParam()));
    EXPECT_EQ(mine.exchange->rank(), rank);
    EXPECT_EQ(mine.exchange->size(), GetParam());
    exchange_everything(*mine.exchange);
  });
}

TEST_P(tcp, exchange_by_address) {
  for (const char* secret : {"", "of this job"}) {
    const int port = free_port();
    run_all(GetParam(), [&](int rank) {
      bootstrap_options mine = member_at(port, rank, GetParam());
      mine.secret = secret;
      exchange_everything(*make_bootstrap(mine).exchange);
    });
  }
}
INSTANTIATE_TEST_SUITE_P(sizes, tcp, testing::Values(2, 3, 8));

TEST(tcp, two_worlds_at_once_and_again_after_leaving) {
  const std::string id = make_unique_id();
  const int port = free_port();
  for (const auto& options : {member_of(id, 0, 4), member_at(port, 0, 4)})
    run_all(4, [&](int rank) {
      auto mine = options;
      mine.rank = rank;
      for (int repeat = 0; repeat < 4; ++repeat) {
        const chosen_bootstrap first = make_bootstrap(mine);
        const chosen_bootstrap second = make_bootstrap(mine);
        // Rank 1 can still be in the first world while the other ranks are already in the second world. Messages of the
        // two worlds must not be mixed up.
        exchange_everything(*(first.exchange));
        exchange_everything(*(second.exchange));
        exchange_everything(*(first.exchange));
      }
    });
}

TEST(tcp, worlds_of_different_subsets) {
  const std::string all = make_unique_id();
  const std::string some = make_unique_id();
  run_all(4, [&](int rank) {
    const chosen_bootstrap large = make_bootstrap(member_of(all, rank, 4));
    if (rank < 2) exchange_everything(*make_bootstrap(member_of(some, 1 - rank, 2)).exchange);
    exchange_everything(*large.exchange);
  });
}

TEST(tcp, rank0_may_come_last) {
  const int port = free_port();
  run_all(3, [&](int rank) {
    if (rank == 0) std::this_thread::sleep_for(milliseconds(400));
    exchange_everything(*make_bootstrap(member_at(port, rank, 3)).exchange);
  });
}

TEST(tcp, leaves_no_descriptor_behind) {
  const auto join_and_leave = [] {
    const std::string id = make_unique_id();
    run_all(3, [&](int rank) { exchange_everything(*make_bootstrap(member_of(id, rank, 3)).exchange); });
  };
  join_and_leave();
  const std::size_t before = open_descriptors();
  join_and_leave();
  EXPECT_EQ(open_descriptors(), before);
}

TEST(tcp, missing_ranks_are_named_by_all_other_ranks) {
  const std::string id = make_unique_id();
  const auto join = [&](int rank) { (void)make_bootstrap(member_of(id, rank, 6, milliseconds(800))); };
  for (const auto& e : run_ranks({0, 1, 3}, join)) {
    ASSERT_TRUE(e);
    EXPECT_EQ(e->code(), code::bootstrap_timeout);
    EXPECT_EQ(e->pe(), 2);
    EXPECT_SAYS(*e, "ranks 2, 4, 5 of 6 did not reach the start of the world within 0.");
  }
  // A failed attempt does not prevent the next attempt.
  run_all(6, [&](int rank) { exchange_everything(*make_bootstrap(member_of(id, rank, 6)).exchange); });
}

TEST(tcp, a_rank_that_does_not_come_to_a_barrier_is_named) {
  const std::string id = make_unique_id();
  std::atomic<bool> over = false;
  const auto thrown = run_ranks(all_ranks(3), [&](int rank) {
    const chosen_bootstrap mine = make_bootstrap(member_of(id, rank, 3, seconds(2)));
    if (rank == 1) {
      while (!over) std::this_thread::sleep_for(milliseconds(10));
    } else {
      const auto e = thrown_by([&] { mine.exchange->barrier(); });
      over = true;
      throw e;
    }
  });
  for (const int rank : {0, 2}) {
    const auto& e = thrown[static_cast<std::size_t>(rank)];
    ASSERT_TRUE(e);
    EXPECT_EQ(e->code(), code::bootstrap_timeout);
    EXPECT_SAYS(*e, "rank 1 of 3 did not reach a barrier");
  }
}

TEST(tcp, without_rank0_every_address_tried_is_reported) {
  const int port = free_port();
  const auto began = clock::now();
  const error e = thrown_by([&] { (void)make_bootstrap(member_at(port, 1, 2, milliseconds(500))); });
  EXPECT_LT(clock::now() - began, seconds(3));
  EXPECT_EQ(e.code(), code::bootstrap_timeout);
  EXPECT_EQ(e.pe(), 0);
  EXPECT_SAYS(e, "-" + std::to_string(port) + " (Connection refused)");
  bootstrap_options with_secret = member_at(port, 1, 2, milliseconds(500));
  with_secret.secret = "s";
  EXPECT_SAYS(thrown_by([&] { (void)make_bootstrap(with_secret); }),
              "127.0.0.1:" + std::to_string(port) + " (Connection refused)");

  bootstrap_options nowhere = member_at(port, 1, 2, milliseconds(500));
  nowhere.master_address = "no-such-host.invalid";
  EXPECT_SAYS(thrown_by([&] { (void)make_bootstrap(nowhere); }), "no-such-host.invalid");
}

TEST(tcp, another_secret_is_refused_and_reported_at_both_ends) {
  const int port = free_port();
  const auto thrown = run_ranks({0, 1}, [&](int rank) {
    bootstrap_options mine = member_at(port, rank, 2, milliseconds(800));
    mine.secret = rank == 0 ? "right" : "wrong";
    (void)make_bootstrap(mine);
  });
  ASSERT_TRUE(thrown[0]);
  EXPECT_EQ(thrown[0]->code(), code::bootstrap_timeout);
  EXPECT_SAYS(*thrown[0], "rank 1 of 2 did not reach");
  EXPECT_SAYS(*thrown[0], "it does not know this job's secret");
  ASSERT_TRUE(thrown[1]);
  EXPECT_EQ(thrown[1]->code(), code::authentication);
}

TEST(tcp, another_secret_is_reported_also_where_rank0_has_given_up_meanwhile) {
  for (const bool none_at_rank0 : {false, true}) {
    const int port = free_port();
    const auto thrown = run_ranks({0, 1}, [&](int rank) {
      // Both ranks first derive their keys, which takes long on a busy machine. So rank 0 still listens after 2 s.
      bootstrap_options mine = member_at(port, rank, 2, seconds(rank == 0 ? 2 : 4));
      mine.secret = rank == 1 ? "wrong" : none_at_rank0 ? "" : "right";
      (void)make_bootstrap(mine);
    });
    ASSERT_TRUE(thrown[1]);
    EXPECT_EQ(thrown[1]->code(), code::authentication) << thrown[1]->what();
    EXPECT_SAYS(*thrown[1], "it does not know this job's secret");
  }
}

/// Whether a process listens at a port of the loopback address, or of another address of this host.
bool listens(const std::string& host, int port) {
  const tcp_address where = tcp_address::parse_host(host, static_cast<std::uint16_t>(port)).value();
  const unique_fd fd{::socket(where.family(), SOCK_STREAM, 0)};
  return ::connect(fd.get(), where.raw(), where.length()) == 0;
}

TEST(tcp, without_a_secret_rank0_listens_only_where_other_hosts_need_it) {
  const host_addresses own = own_addresses("");
  for (const std::string& secret : {std::string(), std::string("of this job")}) {
    const int port = free_port();
    run_all(2, [&](int rank) {
      bootstrap_options mine = member_at(port, rank, 2);
      mine.secret = secret;
      if (rank == 1) std::this_thread::sleep_for(milliseconds(300));
      if (rank == 1) {
        EXPECT_EQ(listens("127.0.0.1", port), !secret.empty());
        for (const tcp_address& one : own.reachable)
          EXPECT_EQ(listens(one.host(), port), !secret.empty()) << one.text();
      }
      exchange_everything(*make_bootstrap(mine).exchange);
    });
  }
}

TEST(tcp, without_a_secret_nobody_of_this_host_gets_in_over_the_network) {
  const host_addresses own = own_addresses("");
  if (own.reachable.empty()) GTEST_SKIP() << "this host has no address but the loopback";
  const int port = free_port();
  bootstrap_options mine = member_at(port, 0, 2, seconds(2));
  mine.master_address = own.reachable.front().host();
  const auto thrown = run_ranks({0, 1}, [&](int rank) {
    if (rank == 0) {
      (void)make_bootstrap(mine);
      return;
    }
    // A process of another user knows all inputs of the key, so its proof is correct.
    const hello me{.from = 1, .size = 2};
    const auto where = [&](std::string&, const deadline&) {
      return std::vector<stream_address>{own.reachable.front().with_port(static_cast<std::uint16_t>(port))};
    };
    const deadline limit{seconds(1)};
    proven_socket reached = reach_rank0(where, key_of_job(mine), me, limit);
    hub_client one{std::move(reached.fd), 1, 2, seconds(1), {"rank 0", 0}, reached.keys};
    EXPECT_FALSE(one.join(limit)) << "it was let in";
  });
  ASSERT_TRUE(thrown[0]);
  EXPECT_EQ(thrown[0]->code(), code::bootstrap_timeout);
  EXPECT_SAYS(*thrown[0], "it connected over TCP from this host");
}

TEST(tcp, without_a_secret_an_address_of_another_host_is_refused_with_the_remedy) {
  bootstrap_options mine = member_at(free_port(), 0, 2, seconds(2));
  mine.master_address = "192.0.2.1";  // an address that no host has, RFC 5737
  const error e = thrown_by([&] { (void)make_bootstrap(mine); });
  EXPECT_EQ(e.code(), code::bootstrap_unavailable);
  EXPECT_SAYS(e, "PGAS_SECRET");
}

TEST(tcp, the_same_secret_lets_in) {
  const int port = free_port();
  run_all(3, [&](int rank) {
    bootstrap_options mine = member_at(port, rank, 3);
    mine.secret = "shared";
    exchange_everything(*make_bootstrap(mine).exchange);
  });
}

TEST(tcp, a_port_in_use_is_reported) {
  const tcp_listener taken = listen_anywhere();
  bootstrap_options mine = member_at(taken.port(), 0, 2, seconds(1));
  mine.secret = "s";
  const error e = thrown_by([&] { (void)make_bootstrap(mine); });
  EXPECT_EQ(e.code(), code::bootstrap_unavailable);
  EXPECT_SAYS(e, "Choose another MASTER_PORT");
}

TEST(tcp, the_launchers_port_is_left_alone_and_the_next_free_one_found) {
  // The launcher's own server, and a server on the next port that accepts connections and sends nothing, like a server
  // of an unrelated program.
  std::vector<tcp_listener> launcher;
  std::vector<tcp_listener> stranger;
  while (stranger.empty()) {
    launcher = listen_on("", 0);
    stranger = listen_on("", static_cast<std::uint16_t>(launcher.front().port() + 1));
  }
  run_all(4, [&](int rank) {
    bootstrap_options mine = member_at(launcher.front().port(), rank, 4);
    mine.master_port_taken = true;
    mine.secret = "s";
    exchange_everything(*make_bootstrap(mine).exchange);
  });
}

TEST(tcp, jobs_at_one_address_are_told_apart_by_their_run_id) {
  const int port = free_port();
  const auto thrown = run_ranks({0, 1}, [&](int rank) {
    bootstrap_options mine = member_at(port, rank, 2, milliseconds(600));
    mine.run_id = rank == 0 ? "one" : "another";
    (void)make_bootstrap(mine);
  });
  EXPECT_TRUE(thrown[0] && thrown[1]);
}

TEST(tcp, abort_reaches_waiting_ranks) {
  const std::string id = make_unique_id();
  const auto thrown = run_ranks(all_ranks(4), [&](int rank) {
    const chosen_bootstrap mine = make_bootstrap(member_of(id, rank, 4));
    if (rank == 2) mine.exchange->abort("the input is wrong");
    for (;;) mine.exchange->barrier();
  });
  for (const auto& e : thrown) {
    ASSERT_TRUE(e);
    EXPECT_EQ(e->code(), code::aborted);
    EXPECT_EQ(e->pe(), 2);
    EXPECT_SAYS(*e, "rank 2 of 4 aborted the job: the input is wrong");
  }
}

TEST(tcp, a_rank_that_leaves_early_is_named) {
  for (const int leaver : {0, 1}) {
    const std::string id = make_unique_id();
    const auto thrown = run_ranks(all_ranks(3), [&](int rank) {
      const chosen_bootstrap mine = make_bootstrap(member_of(id, rank, 3));
      if (rank != leaver) mine.exchange->barrier();
    });
    for (int rank = 0; rank < 3; ++rank) {
      const auto& e = thrown[static_cast<std::size_t>(rank)];
      if (rank == leaver) continue;
      ASSERT_TRUE(e);
      EXPECT_EQ(e->code(), code::peer_lost);
      EXPECT_EQ(e->pe(), leaver);
    }
  }
}

TEST(tcp, different_calls_are_noticed) {
  const std::string id = make_unique_id();
  const auto thrown = run_ranks({0, 1}, [&](int rank) {
    const chosen_bootstrap mine = make_bootstrap(member_of(id, rank, 2));
    if (rank == 0)
      mine.exchange->barrier();
    else
      (void)mine.exchange->all_gather({});
  });
  for (const auto& e : thrown) {
    ASSERT_TRUE(e);
    EXPECT_EQ(e->code(), code::asymmetric_call);
  }
}

TEST(tcp, a_contribution_that_is_too_large_is_refused_and_the_job_continues) {
  const std::string id = make_unique_id();
  run_all(2, [&](int rank) {
    const chosen_bootstrap mine = make_bootstrap(member_of(id, rank, 2));
    const blob big((64 << 10) + 1);
    EXPECT_EQ(thrown_by([&] { (void)mine.exchange->all_gather(big); }).code(), code::invalid_argument);
    exchange_everything(*mine.exchange);
  });
}

}  // namespace
}  // namespace pgas::boot::test
