/// @file
/// Other processes that connect to rank 0 must neither break nor delay a job.
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

#include "bootstrap/hub/hub_client.hpp"
#include "bootstrap/tcp/reach_rank0.hpp"
#include "bootstrap/tcp/unique_id.hpp"
#include "common/deadline.hpp"
#include "common/net/socket.hpp"
#include "common/system_error.hpp"
#include "support.hpp"

namespace pgas::boot::test {
namespace {

/// A connection to rank 0 by a process that is not a member.
class stranger {
 public:
  explicit stranger(const std::string& id) : id_(unique_id::parse(id)), socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    const tcp_address to = tcp_address::parse_host("127.0.0.1", id_.addresses.front().port()).value();
    EXPECT_EQ(::connect(socket_.get(), to.raw(), to.length()), 0) << errno_text(errno);
  }

  void say(std::span<const std::byte> bytes) {
    EXPECT_EQ(::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  }
  void say(std::string_view text) { say(std::as_bytes(std::span{text})); }

  [[nodiscard]] hello_answer hear_answer() {
    hello_answer heard;
    EXPECT_EQ(::recv(socket_.get(), &heard, sizeof heard, MSG_WAITALL), static_cast<ssize_t>(sizeof heard));
    return heard;
  }
  [[nodiscard]] bits128 proof_for(const hello& greeting, const hello_answer& heard) const {
    return handshake::code_of(id_.secret, handshake::role::connecting, greeting, heard.nonce);
  }
  /// Waits until rank 0 closes the connection. Returns true if rank 0 has sent nothing more.
  [[nodiscard]] bool is_hung_up_on() {
    char byte;
    return wait_for_events(socket_.get(), POLLIN, deadline{seconds(15)}) && ::recv(socket_.get(), &byte, 1, 0) <= 0;
  }

 private:
  unique_id id_;
  unique_fd socket_;
};

constexpr hello rank2_of_3{.from = 2, .size = 3};

/// Joins a world of three ranks. Strangers execute `act` while ranks 0 and 1 wait for rank 2, and the strangers'
/// connections stay open.
void join_despite(const std::function<void(const std::string& id, std::vector<stranger>& all)>& act) {
  const std::string id = make_unique_id();
  std::vector<stranger> all;
  const auto began = clock::now();
  run_all(3, [&](int rank) {
    if (rank == 2) act(id, all);
    exchange_everything(*make_bootstrap(member_of(id, rank, 3)).exchange);
  });
  EXPECT_LT(clock::now() - began, seconds(5)) << "strangers delayed the job";
}

TEST(strangers, who_speak_http) {
  join_despite([](const std::string& id, auto& all) {
    all.emplace_back(id).say("GET / HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\r\n");
    EXPECT_TRUE(all.back().is_hung_up_on());
  });
}

TEST(strangers, who_send_garbage) {
  join_despite([](const std::string& id, auto& all) {
    std::uint32_t state = 1;
    for (int i = 0; i < 20; ++i) {
      blob noise(static_cast<std::size_t>(40 + i * 50));
      for (std::byte& b : noise) b = static_cast<std::byte>((state = state * 1664525 + 1013904223) >> 24);
      all.emplace_back(id).say(noise);
    }
  });
}

TEST(strangers, who_say_nothing_and_stay) {
  join_despite([](const std::string& id, auto& all) {
    for (int i = 0; i < 100; ++i) all.emplace_back(id);
  });
}

/// Processes that connect to rank 0 as fast as they can until the object is destroyed. The processes never wait: while
/// the listener's queue is full, Linux drops further packets, so a blocking connect would take a second. The processes
/// reset their connections, so that Linux keeps no connection.
class flood {
 public:
  flood(const tcp_address& to, int processes, seconds longest) {
    for (int i = 0; i < processes; ++i) {
      const pid_t child = ::fork();
      if (child == 0) run(to, clock::now() + longest);
      children_.push_back(child);
    }
  }
  ~flood() {
    for (const pid_t child : children_) ::kill(child, SIGKILL);
    for (const pid_t child : children_) ::waitpid(child, nullptr, 0);
  }
  flood(const flood&) = delete;
  flood& operator=(const flood&) = delete;

 private:
  [[noreturn]] static void run(const tcp_address& to, clock::time_point end) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (clock::now() < end) {
      const int one = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
      const linger reset{1, 0};
      ::setsockopt(one, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
      (void)::connect(one, to.raw(), to.length());
      ::close(one);
    }
    ::_exit(0);
  }

  std::vector<pid_t> children_;
};

TEST(strangers, who_flood_rank0_with_connections) {
  constexpr seconds longest{40};
  const std::string id = make_unique_id();
  const tcp_address to = tcp_address::parse_host("127.0.0.1", unique_id::parse(id).addresses.front().port()).value();
  const auto began = clock::now();
  const flood all{to, 4, longest};
  run_all(3, [&](int rank) {
    if (rank > 0) std::this_thread::sleep_for(milliseconds(300));  // the flood begins before the other ranks connect
    exchange_everything(*make_bootstrap(member_of(id, rank, 3, longest + seconds(20))).exchange);
  });
  EXPECT_LT(clock::now() - began, longest - seconds(5)) << "members came when the flood was over";
}

TEST(strangers, who_connect_more_often_than_rank0_remembers) {
  join_despite([](const std::string& id, auto& all) {
    for (int i = 0; i < 700; ++i) {
      all.emplace_back(id);
      if (i % 2 == 0) all.back().say(bytes_of(rank2_of_3));
    }
  });
}

TEST(strangers, who_stop_in_the_middle_of_a_hello) {
  join_despite([](const std::string& id, auto& all) {
    for (std::size_t bytes = 1; bytes < sizeof(hello); bytes += 3)
      all.emplace_back(id).say(bytes_of(rank2_of_3).first(bytes));
  });
}

TEST(strangers, who_say_hello_and_cannot_prove_it) {
  join_despite([](const std::string& id, auto& all) {
    all.emplace_back(id).say(bytes_of(rank2_of_3));
    (void)all.back().hear_answer();
    all.back().say(random_bits());
    EXPECT_TRUE(all.back().is_hung_up_on());
    all.emplace_back(id).say(bytes_of(rank2_of_3));  // this connection sends no proof
    (void)all.back().hear_answer();
  });
}

TEST(strangers, who_send_our_own_proof_back) {
  join_despite([](const std::string& id, auto& all) {
    all.emplace_back(id).say(bytes_of(rank2_of_3));
    all.back().say(all.back().hear_answer().code);
    EXPECT_TRUE(all.back().is_hung_up_on());
  });
}

TEST(strangers, who_replay_a_recorded_handshake) {
  join_despite([](const std::string& id, auto& all) {
    bits128 recorded;
    {
      stranger honest{id};  // an attacker records the proof of this connection, and the proof does not arrive
      honest.say(bytes_of(rank2_of_3));
      recorded = honest.proof_for(rank2_of_3, honest.hear_answer());
    }
    all.emplace_back(id).say(bytes_of(rank2_of_3));
    (void)all.back().hear_answer();
    all.back().say(recorded);
    EXPECT_TRUE(all.back().is_hung_up_on());
  });
}

TEST(strangers, who_claim_a_version_of_their_own) {
  join_despite([](const std::string& id, auto& all) {
    hello newer = rank2_of_3;
    newer.version = 99;
    all.emplace_back(id).say(bytes_of(newer));
    EXPECT_EQ(all.back().hear_answer().version, hello::expected_version);
    EXPECT_TRUE(all.back().is_hung_up_on());
  });
}

/// The error that a member of the first world gets if it knows the secret and connects as rank `rank` of `size`.
error refusal(const std::string& text, int rank, int size) {
  const unique_id id = unique_id::parse(text);
  const hello me{.from = rank, .size = static_cast<std::uint32_t>(size)};
  const deadline limit{seconds(5)};
  const auto where = [&](std::string&, const deadline&) {
    return std::vector<stream_address>(id.addresses.begin(), id.addresses.end());
  };
  proven_socket reached = reach_rank0(where, id.secret, me, limit);
  hub_client one{std::move(reached.fd), rank, size, seconds(5), {"rank 0", 0}, reached.keys};
  return thrown_by([&] { (void)one.join(limit); });
}

TEST(strangers, a_second_process_with_the_same_rank) {
  const std::string id = make_unique_id();
  run_all(3, [&](int rank) {
    if (rank == 2) {
      std::this_thread::sleep_for(milliseconds(300));  // ranks 0 and 1 have joined
      const error e = refusal(id, 1, 3);
      EXPECT_EQ(e.code(), code::bootstrap_protocol);
      EXPECT_SAYS(e, "there is a rank 1 in this job already");
    }
    exchange_everything(*make_bootstrap(member_of(id, rank, 3)).exchange);
  });
}

TEST(strangers, a_process_that_counts_differently) {
  const std::string id = make_unique_id();
  run_all(3, [&](int rank) {
    if (rank == 2) {
      const error e = refusal(id, 5, 8);
      EXPECT_EQ(e.code(), code::bootstrap_protocol);
      EXPECT_SAYS(e, "rank 5 says that the job has 8 processes, rank 0 that it has 3");
    }
    exchange_everything(*make_bootstrap(member_of(id, rank, 3)).exchange);
  });
}

TEST(strangers, a_member_that_talks_nonsense_is_named) {
  const std::string id = make_unique_id();
  const auto thrown = run_ranks(all_ranks(3), [&](int rank) {
    if (rank < 2) return exchange_everything(*make_bootstrap(member_of(id, rank, 3)).exchange);
    stranger traitor{id};
    traitor.say(bytes_of(rank2_of_3));
    traitor.say(traitor.proof_for(rank2_of_3, traitor.hear_answer()));
    frame_header endless{.kind = frame_kind::contribute, .what = collective::join, .bytes = 0xffffffff};
    traitor.say(std::as_bytes(std::span{&endless, 1}));
    std::this_thread::sleep_for(milliseconds(200));
  });
  for (const int rank : {0, 1}) {
    const auto& e = thrown[static_cast<std::size_t>(rank)];
    ASSERT_TRUE(e);
    EXPECT_EQ(e->code(), code::peer_lost);
    EXPECT_EQ(e->pe(), 2);
  }
}

TEST(strangers, an_impostor_of_rank0_is_not_believed) {
  // Another process listens at the address of rank 0. This process uses the protocol and does not know the secret.
  const tcp_listener listener = listen_anywhere();
  std::thread impostor{[&] {
    for (;;) {
      if (!wait_for_events(listener.fd(), POLLIN, deadline{milliseconds(600)})) return;
      const unique_fd visitor{::accept4(listener.fd(), nullptr, nullptr, 0)};
      hello heard;
      if (::recv(visitor.get(), &heard, sizeof heard, MSG_WAITALL) != static_cast<ssize_t>(sizeof heard)) continue;
      const hello_answer forged{.nonce = random_bits(), .code = random_bits()};
      (void)::send(visitor.get(), &forged, sizeof forged, MSG_NOSIGNAL);
    }
  }};
  bootstrap_options member = member_at(listener.port(), 1, 2, milliseconds(500));
  member.secret = "of the job";
  const error e = thrown_by([&] { (void)make_bootstrap(member); });
  impostor.join();
  EXPECT_EQ(e.code(), code::authentication);
}

}  // namespace
}  // namespace pgas::boot::test
