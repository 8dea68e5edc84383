/// @file
/// Shared by tests of bootstraps: ranks that are threads, and an exchange that every bootstrap must pass.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/net/tcp_socket.hpp"
#include "pgas/bootstrap.hpp"
#include "pgas/error.hpp"

namespace pgas::boot::test {

using namespace detail;  // namespace of src/common
using std::chrono::milliseconds;
using std::chrono::seconds;

/// Runs `body(rank)` in a thread for each of `ranks`. Returns the error that each rank threw, if any.
inline std::vector<std::optional<error>> run_ranks(const std::vector<int>& ranks,
                                                   const std::function<void(int)>& body) {
  std::vector<std::optional<error>> thrown(ranks.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < ranks.size(); ++i)
    threads.emplace_back([&, i] {
      try {
        body(ranks[i]);
      } catch (const error& e) {
        thrown[i] = e;
      }
    });
  for (std::thread& one : threads) one.join();
  return thrown;
}

inline std::vector<int> all_ranks(int n) {
  std::vector<int> ranks;
  for (int rank = 0; rank < n; ++rank) ranks.push_back(rank);
  return ranks;
}

/// Does the same as run_ranks(), for ranks 0 to n - 1. No rank may throw.
inline void run_all(int n, const std::function<void(int)>& body) {
  for (const auto& thrown : run_ranks(all_ranks(n), body)) EXPECT_FALSE(thrown) << thrown->what();
}

/// A contribution that depends on the rank and the round.
inline blob contribution(int rank, int round, std::size_t bytes) {
  blob mine(bytes);
  for (std::size_t i = 0; i < bytes; ++i)
    mine[i] = static_cast<std::byte>(static_cast<std::size_t>(rank * 31 + round * 7) + i);
  return mine;
}

/// Contributions of different lengths, including an empty contribution and the largest allowed contribution.
inline void exchange_everything(bootstrap& one) {
  constexpr std::size_t lengths[] = {0, 1, 64 << 10, 1000};
  for (int round = 0; round < 4; ++round) {
    const auto length = [&](int rank) { return lengths[(rank + round) % 4]; };
    const auto parts = one.all_gather(contribution(one.rank(), round, length(one.rank())));
    ASSERT_EQ(parts.size(), static_cast<std::size_t>(one.size()));
    for (int from = 0; from < one.size(); ++from)
      ASSERT_EQ(parts[static_cast<std::size_t>(from)], contribution(from, round, length(from))) << "from rank " << from;
    one.barrier();
  }
}

/// The error that `call` throws. Fails the test if `call` throws no error.
inline error thrown_by(const std::function<void()>& call) {
  try {
    call();
  } catch (const error& e) {
    return e;
  }
  ADD_FAILURE() << "nothing was thrown";
  return {code::system, "nothing"};
}

#define EXPECT_SAYS(e, text) EXPECT_NE(std::string{(e).what()}.find(text), std::string::npos) << (e).what()

/// A port that was free a moment ago.
inline int free_port() { return listen_anywhere().port(); }

inline std::size_t open_descriptors() {
  const std::filesystem::directory_iterator all{"/proc/self/fd"};
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

inline bootstrap_options member_of(const std::string& id, int rank, int size, milliseconds timeout = seconds(20)) {
  bootstrap_options options;
  options.unique_id = id;
  options.rank = rank;
  options.size = size;
  options.timeout = timeout;
  return options;
}

inline bootstrap_options member_at(int port, int rank, int size, milliseconds timeout = seconds(20)) {
  bootstrap_options options;
  options.master_address = "127.0.0.1";
  options.master_port = port;
  options.rank = rank;
  options.size = size;
  options.timeout = timeout;
  return options;
}

}  // namespace pgas::boot::test
