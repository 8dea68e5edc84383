#include "contract_test.hpp"

#include <algorithm>
#include <thread>

#include "code_of.hpp"

namespace pgas_test {
namespace {

using pgas::code;

constexpr std::size_t margin = 64;

// ---- messages

TEST_P(contract, messages_of_all_sizes) {
  run(2, [](test_pe& pe) {
    const std::size_t most = pe.link->max_message();
    ASSERT_GE(most, std::size_t{4096});
    std::vector<blob> sent;
    for (const std::size_t bytes :
         {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{8}, std::size_t{100}, std::size_t{1000},
          std::size_t{4000}, std::size_t{8192}, std::size_t{9001}, most - 1, most})
      sent.push_back(pattern(std::min(bytes, most), pe.me, static_cast<int>(bytes)));
    for (const blob& item : sent) pe.send(1 - pe.me, item);
    pe.until_done();
    pe.until_messages(sent.size());
    ASSERT_EQ(pe.messages.size(), sent.size());
    for (const auto& [from, bytes] : pe.messages) EXPECT_EQ(from, 1 - pe.me);
    for (std::size_t i = 0; i < sent.size(); ++i) {
      blob expected = pattern(sent[i].size(), 1 - pe.me, static_cast<int>(sent[i].size()));
      EXPECT_EQ(std::count(pe.messages.begin(), pe.messages.end(), std::pair(1 - pe.me, expected)), 1)
          << sent[i].size();
    }
  });
}

TEST_P(contract, many_messages_of_several_to_one) {
  constexpr int n = 4;
  constexpr int each = 400;
  run(n, [](test_pe& pe) {
    std::vector<blob> sent;
    for (int i = 0; i < each; ++i) sent.push_back(pattern(static_cast<std::size_t>(i * 7 % 3000 + 4), pe.me, i));
    for (int i = 0; i < each; ++i) std::memcpy(sent[static_cast<std::size_t>(i)].data(), &i, sizeof i);
    for (const blob& item : sent) pe.send(0, item);  // PE 0 also sends to itself
    pe.until_done();
    if (pe.me != 0) return;
    pe.until_messages(std::size_t{n} * each);
    std::map<std::pair<int, int>, int> seen;
    for (const auto& [from, bytes] : pe.messages) {
      int i = 0;
      std::memcpy(&i, bytes.data(), sizeof i);
      EXPECT_EQ(++seen[std::pair(from, i)], 1);
      blob expected = pattern(static_cast<std::size_t>(i * 7 % 3000 + 4), from, i);
      std::memcpy(expected.data(), &i, sizeof i);
      EXPECT_EQ(bytes, expected);
    }
    EXPECT_EQ(seen.size(), std::size_t{n} * each);
  });
}

TEST_P(contract, answers_from_within_the_events) {
  constexpr int rounds = 200;
  run(2, [](test_pe& pe) {
    std::vector<blob> kept(rounds + 1);
    pe.on_message = [&](int from, const blob& ball) {
      const auto turn = static_cast<std::size_t>(ball.size());
      if (turn >= rounds) return;
      kept[turn] = blob(turn + 1);
      pe.send(from, kept[turn]);
    };
    if (pe.me == 0) pe.send(1, kept[0]);
    pe.until_messages(rounds / 2);
    pe.until_done();
    pe.barrier();
    pe.on_message = nullptr;
  });
}

// ---- puts and gets

TEST_P(contract, puts_and_gets_of_all_sizes) {
  constexpr std::size_t sizes[] = {0, 1, 3, 8, 64, 100, 1023, 4097, 65'537, 1 << 20, (3 << 20) + 5};
  constexpr std::size_t most = (3 << 20) + 5;
  run(2, [&](test_pe& pe) {
    const int peer = 1 - pe.me;
    blob memory(most + 2 * margin, std::byte{0xee});
    const exposed_memory exposed = pe.expose(memory);
    pe.barrier();
    const std::uint64_t imported = pe.import_from(peer);
    int round = 0;
    for (const std::size_t bytes : sizes) {
      for (const std::size_t skew : {std::size_t{0}, std::size_t{1}, std::size_t{12}}) {
        const blob source = pattern(bytes + skew, pe.me, ++round);
        const std::size_t offset = margin - skew;
        pe.put(imported, offset, source.data() + skew, bytes);
        pe.until_done();
        blob back(bytes + 2, std::byte{0xdd});
        pe.get(imported, offset, back.data() + 1, bytes);
        pe.until_done();
        EXPECT_EQ(back.front(), std::byte{0xdd});
        EXPECT_EQ(back.back(), std::byte{0xdd});
        EXPECT_TRUE(std::equal(back.begin() + 1, back.end() - 1, source.begin() + static_cast<std::ptrdiff_t>(skew)))
            << bytes << " bytes at offset " << offset;
        pe.barrier();  // the owner checks its own memory
        const blob theirs = pattern(bytes + skew, peer, round);
        EXPECT_TRUE(
            std::equal(theirs.begin() + static_cast<std::ptrdiff_t>(skew), theirs.end(), memory.data() + offset))
            << bytes << " at " << offset;
        EXPECT_EQ(memory[offset + bytes], std::byte{0xee}) << "written behind the end";
        EXPECT_EQ(memory[offset - 1], std::byte{0xee}) << "written before the start";
        std::fill(memory.begin(), memory.end(), std::byte{0xee});
        pe.barrier();
      }
    }
    pe.link->forget(imported);
    pe.barrier();
    pe.link->withdraw(exposed);
  });
}

TEST_P(contract, many_puts_and_gets_in_flight) {
  constexpr int n = 3;
  constexpr int each = 300;
  constexpr std::size_t slot = 256;
  run(n, [](test_pe& pe) {
    blob memory(n * each * slot);
    const exposed_memory exposed = pe.expose(memory);
    pe.barrier();
    std::vector<std::uint64_t> imported;
    for (int to = 0; to < n; ++to) imported.push_back(pe.import_from(to));
    const auto place = [](int from, int i) { return static_cast<std::size_t>(from * each + i) * slot; };
    std::vector<blob> sources;
    for (int i = 0; i < each; ++i) sources.push_back(pattern(static_cast<std::size_t>(i) % slot + 1, pe.me, i));
    for (int i = 0; i < each; ++i)
      for (int to = 0; to < n; ++to) {  // a PE also sends to itself
        const blob& source = sources[static_cast<std::size_t>(i)];
        pe.put(imported[static_cast<std::size_t>(to)], place(pe.me, i), source.data(), source.size());
      }
    pe.until_done();
    pe.barrier();
    for (int from = 0; from < n; ++from)
      for (int i = 0; i < each; ++i) {
        const blob expected = pattern(static_cast<std::size_t>(i) % slot + 1, from, i);
        EXPECT_EQ(std::memcmp(memory.data() + place(from, i), expected.data(), expected.size()), 0);
      }
    std::vector<blob> copies(n, blob(memory.size()));
    for (int source = 0; source < n; ++source)
      for (std::size_t at = 0; at < memory.size(); at += 3 * slot)
        pe.get(imported[static_cast<std::size_t>(source)], at, copies[static_cast<std::size_t>(source)].data() + at,
               3 * slot);
    pe.until_done();
    for (const int from : {0, n - 1}) {
      const blob expected = pattern(slot, from, static_cast<int>(slot) - 1);
      EXPECT_EQ(std::memcmp(copies[0].data() + place(from, slot - 1), expected.data(), expected.size()), 0);
    }
    pe.barrier();
    for (const std::uint64_t unit : imported) pe.link->forget(unit);
    pe.link->withdraw(exposed);
  });
}

// A PE that learns from a message of a finished put sees the data of the put. The proxy relies on this guarantee.
TEST_P(contract, a_pe_that_learns_of_a_finished_put_sees_it) {
  constexpr int n = 3;
  constexpr int rounds = 60;
  constexpr std::size_t bytes = 20'000;
  run(n, [](test_pe& pe) {
    blob memory(n * bytes);
    const exposed_memory exposed = pe.expose(memory);
    if (pe.me == 0) {  // PE 0 sends before the barrier, and the first messages may arrive during the barrier
      pe.on_message = [&](int from, const blob& round) {
        const blob expected = pattern(bytes, from, static_cast<int>(round.size()));
        EXPECT_EQ(std::memcmp(memory.data() + static_cast<std::size_t>(from) * bytes, expected.data(), bytes), 0)
            << "from PE " << from << ", round " << round.size();
        static const blob seen(1);
        pe.send(from, seen);
      };
    }
    pe.barrier();
    const std::uint64_t imported = pe.import_from(0);
    if (pe.me == 0) {
      pe.until_messages((n - 1) * rounds);
      pe.until_done();
    } else {
      for (int round = 1; round <= rounds; ++round) {
        const blob source = pattern(bytes, pe.me, round);
        pe.put(imported, static_cast<std::size_t>(pe.me) * bytes, source.data(), bytes);
        pe.until_done();
        const blob number(static_cast<std::size_t>(round));
        pe.send(0, number);
        pe.until_messages(static_cast<std::size_t>(round));
        pe.until_done();
      }
    }
    pe.barrier();
    pe.on_message = nullptr;
    pe.link->forget(imported);
    pe.link->withdraw(exposed);
  });
}

// ---- memory

TEST_P(contract, memory_comes_and_goes_on_another_thread) {
  run(2, [](test_pe& pe) {
    for (int round = 0; round < 20; ++round) {
      blob memory(5000 + static_cast<std::size_t>(round) * 1000);
      exposed_memory exposed;
      std::thread([&] { exposed = pe.expose(memory); }).join();
      blob ping(8);
      pe.send(1 - pe.me, ping);
      pe.barrier();
      const std::uint64_t imported = pe.import_from(1 - pe.me);
      const blob source = pattern(memory.size(), pe.me, round);
      pe.put(imported, 0, source.data(), source.size());
      pe.until_done();
      pe.barrier();
      EXPECT_EQ(memory, pattern(memory.size(), 1 - pe.me, round));
      pe.link->forget(imported);
      pe.barrier();
      std::thread([&] { pe.link->withdraw(exposed); }).join();
    }
  });
}

TEST_P(contract, malformed_keys_are_refused) {
  run(2, [](test_pe& pe) {
    blob memory(1000);
    const exposed_memory exposed = pe.expose(memory);
    pe.barrier();
    const blob& key = pe.key_of(1 - pe.me);
    const auto refused = [&](const blob& bad) {
      return code_of([&] { (void)pe.link->import_memory(1 - pe.me, bad); }) == code::handle_invalid;
    };
    EXPECT_TRUE(refused({}));
    for (std::size_t bytes = 0; bytes < key.size(); ++bytes)
      EXPECT_TRUE(refused({key.begin(), key.begin() + static_cast<std::ptrdiff_t>(bytes)})) << bytes;
    blob longer = key;
    longer.push_back(std::byte{0});
    EXPECT_TRUE(refused(longer));
    EXPECT_TRUE(refused(blob(key.size())));
    for (std::size_t i = 0; i < key.size(); ++i) {
      blob other = key;
      other[i] ^= std::byte{0x40};
      EXPECT_TRUE(refused(other)) << "byte " << i;
    }
    EXPECT_EQ(code_of([&] { (void)pe.link->import_memory(2, key); }), code::handle_invalid);
    EXPECT_EQ(code_of([&] { (void)pe.link->import_memory(-1, key); }), code::handle_invalid);
    const std::uint64_t imported = pe.import_from(1 - pe.me);
    pe.put(imported, 999, "x", 1);
    pe.until_done();
    pe.link->forget(imported);
    pe.barrier();
    pe.link->withdraw(exposed);
  });
}

TEST_P(contract, too_much_is_refused) {
  run(2, [](test_pe& pe) {
    const blob big(pe.link->max_message() + 1);
    EXPECT_EQ(code_of([&] { pe.link->send(1 - pe.me, big, 1); }), code::transport_failed);
    EXPECT_EQ(code_of([&] { pe.link->send(2, {}, 1); }), code::transport_failed);
    EXPECT_EQ(code_of([&] { pe.link->send(-1, {}, 1); }), code::transport_failed);
    EXPECT_EQ(code_of([&] { pe.link->put(99, 0, "x", 1, 1); }), code::transport_failed);
    EXPECT_TRUE(pe.done_count.empty());
  });
}

// ---- waiting

TEST_P(contract, wait_ends_by_itself) {
  run(1, [](test_pe& pe) {
    while (pe.link->progress()) {
    }
    pe.link->wait(milliseconds(0));
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 3; ++i) pe.link->wait(milliseconds(20));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, seconds(20));
  });
}

TEST_P(contract, wake_ends_a_wait_or_the_next) {
  run(1, [](test_pe& pe) {
    const auto wait_long = [&] {
      const auto begin = std::chrono::steady_clock::now();
      pe.until([woken = false]() mutable { return std::exchange(woken, true); }, "to be woken", seconds(35));
      pe.link->wait(seconds(35));
      EXPECT_LT(std::chrono::steady_clock::now() - begin, seconds(30)) << "wake() did not end the wait";
    };
    pe.link->wake();
    pe.link->wait(seconds(35));  // returns immediately, because wake() was called before
    std::atomic<bool> over{false};
    std::thread waker([&] {
      while (!over) {
        pe.link->wake();
        std::this_thread::yield();
      }
    });
    wait_long();
    over = true;
    waker.join();
  });
}

TEST_P(contract, an_arrival_ends_a_wait) {
  run(2, [](test_pe& pe) {
    const auto begin = std::chrono::steady_clock::now();
    const blob ball(100);
    for (int round = 1; round <= 20; ++round) {
      if (pe.me == 0) pe.send(1, ball);
      pe.until([&] { return pe.messages.size() >= static_cast<std::size_t>(round); }, "the ball", seconds(30));
      if (pe.me == 1) pe.send(0, ball);
    }
    pe.until_done();
    EXPECT_LT(std::chrono::steady_clock::now() - begin, seconds(25)) << "an arrival did not end a wait";
  });
}

// ---- disconnect

TEST_P(contract, ends_without_ever_being_used) {
  for (int round = 0; round < 3; ++round) run(3, [](test_pe&) {});
}

// If PE A disconnects while PE B still has operations in flight to PE A, PE B can lose PE A.
TEST_P(contract, operations_in_flight_are_abandoned) {
  std::vector<blob> memory(2, blob(4 << 20));
  const blob source(4 << 20);
  const blob message(1000);
  const auto body = [&](test_pe& pe) {
    (void)pe.expose(memory[static_cast<std::size_t>(pe.me)]);
    pe.barrier();
    const std::uint64_t imported = pe.import_from(1 - pe.me);
    for (int i = 0; i < 5; ++i) {
      pe.put(imported, 0, source.data(), source.size());
      pe.send(1 - pe.me, message);
    }
    (void)pe.link->progress();
  };
  run_pes(GetParam(), 2, body, true);
}

}  // namespace
}  // namespace pgas_test
