// Proving over a connection that both ends know the secret: who is believed, who is not, and what can be overheard.
#include "host/control/handshake.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>

#include "host/control/tcp_endpoints.hpp"
#include "unit/control/fixtures.hpp"
#include "unit/control/strangers.hpp"

namespace pgas::unit_test {
namespace {

using namespace pgas::detail;
using role = handshake::role;
using status = handshake::status;
constexpr auto tcp = handshake::transport::tcp;

job_secret secret_of(int number) {
  job_secret secret;
  for (std::size_t i = 0; i < secret.size(); ++i) secret[i] = static_cast<std::byte>(static_cast<int>(i) * number + 1);
  return secret;
}

TEST(handshake, two_that_know_the_secret_believe_one_another) {
  auto [a, b] = connected_pair();
  const job_secret secret = secret_of(3);
  handshake caller(std::move(a), tcp, role::connecting, secret, 5, 2);
  handshake callee(std::move(b), tcp, role::accepting, secret, 2);
  ASSERT_EQ(caller.begin(), 0);
  ASSERT_EQ(callee.begin(), 0);
  EXPECT_EQ(callee.hear(), status::under_way);
  EXPECT_FALSE(caller.has_proved());
  EXPECT_EQ(caller.hear(), status::under_way);
  EXPECT_TRUE(caller.has_proved());
  EXPECT_EQ(callee.hear(), status::proven);
  EXPECT_EQ(callee.peer(), 5);
  EXPECT_EQ(caller.hear(), status::under_way) << "the other side has not confirmed yet";
  EXPECT_EQ(callee.confirm(), 0);
  EXPECT_EQ(caller.hear(), status::proven);
}

TEST(handshake, another_secret_or_another_pe_than_meant_is_refused) {
  // Whom the caller means, the callee's number, and its secret.
  struct attempt {
    int meant, callee, number;
  };
  for (const attempt& one : {attempt{2, 2, 4}, attempt{2, 3, 3}}) {
    auto [a, b] = connected_pair();
    const job_secret secret = secret_of(3);
    const job_secret other = secret_of(one.number);
    handshake caller(std::move(a), tcp, role::connecting, secret, 5, one.meant);
    handshake callee(std::move(b), tcp, role::accepting, other, one.callee);
    ASSERT_EQ(caller.begin(), 0);
    ASSERT_EQ(callee.begin(), 0);
    EXPECT_EQ(caller.hear(), status::under_way);
    EXPECT_EQ(callee.hear(), status::refused);
    ASSERT_EQ(callee.confirm(), 0);
    EXPECT_EQ(caller.hear(), status::refused);
  }
}

TEST(handshake, either_half_of_the_secret_is_needed) {
  for (const std::size_t byte : {std::size_t{0}, std::size_t{15}, std::size_t{16}, std::size_t{31}}) {
    auto [a, b] = connected_pair();
    const job_secret secret = secret_of(3);
    job_secret other = secret;
    other[byte] ^= std::byte{1};
    handshake caller(std::move(a), tcp, role::connecting, secret, 1, 0);
    handshake callee(std::move(b), tcp, role::accepting, other, 0);
    ASSERT_EQ(caller.begin(), 0);
    ASSERT_EQ(callee.begin(), 0);
    EXPECT_EQ(caller.hear(), status::under_way);
    EXPECT_EQ(callee.hear(), status::refused) << "byte " << byte;
  }
}

TEST(handshake, own_words_are_no_answer) {
  auto [a, b] = connected_pair();
  const job_secret secret = secret_of(3);
  handshake caller(std::move(a), tcp, role::connecting, secret, 1, 0);
  ASSERT_EQ(caller.begin(), 0);
  say(b, read_words(b));
  EXPECT_EQ(caller.hear(), status::under_way);
  words proof = read_words(b);
  say(b, proof);
  EXPECT_EQ(caller.hear(), status::refused);
}

TEST(handshake, a_recorded_proof_is_worth_nothing) {
  const job_secret secret = secret_of(3);
  auto [a, b] = connected_pair();
  handshake caller(std::move(a), tcp, role::connecting, secret, 1, 0);
  ASSERT_EQ(caller.begin(), 0);
  const words first = read_words(b);
  say(b, challenge());
  EXPECT_EQ(caller.hear(), status::under_way);
  const words second = read_words(b);

  auto [c, d] = connected_pair();
  handshake callee(std::move(c), tcp, role::accepting, secret, 0);
  ASSERT_EQ(callee.begin(), 0);
  say(d, first);
  EXPECT_EQ(callee.hear(), status::under_way);
  say(d, second);
  EXPECT_EQ(callee.hear(), status::refused);
}

TEST(handshake, nothing_of_the_secret_is_said_over_tcp_and_nothing_twice) {
  const job_secret secret = secret_of(3);
  std::vector<words> said;
  for (int repeat = 0; repeat < 2; ++repeat) {
    auto [a, b] = connected_pair();
    handshake caller(std::move(a), tcp, role::connecting, secret, 1, 0);
    ASSERT_EQ(caller.begin(), 0);
    words same;
    same.magic = handshake::challenge_magic;
    say(b, same);
    EXPECT_EQ(caller.hear(), status::under_way);
    said.push_back(read_words(b));
    said.push_back(read_words(b));
  }
  for (std::size_t i = 0; i < said.size(); ++i) {
    const auto& content = said[i].content;
    for (std::size_t at = 0; at + 4 <= content.size(); at += 4)
      EXPECT_EQ(std::search(secret.begin(), secret.end(), content.begin() + static_cast<std::ptrdiff_t>(at),
                            content.begin() + static_cast<std::ptrdiff_t>(at) + 4),
                secret.end());
    for (std::size_t j = 0; j < i; ++j) EXPECT_FALSE(same_bits(content, said[j].content));
  }
}

TEST(handshake, what_is_no_challenge_is_refused_and_an_end_is_one) {
  const job_secret secret = secret_of(3);
  auto [a, b] = connected_pair();
  handshake callee(std::move(a), tcp, role::accepting, secret, 0);
  ASSERT_EQ(callee.begin(), 0);
  EXPECT_EQ(::send(b.get(), "GET / HTTP/1.1\r\nHost: somewhere\r\n\r\n", 36, 0), 36);
  EXPECT_EQ(callee.hear(), status::refused);

  auto [c, d] = connected_pair();
  handshake other(std::move(c), tcp, role::accepting, secret, 0);
  ASSERT_EQ(other.begin(), 0);
  EXPECT_EQ(::send(d.get(), "GET", 3, 0), 3);
  EXPECT_EQ(other.hear(), status::under_way);
  d.reset();
  EXPECT_EQ(other.hear(), status::ended);
}

TEST(tcp_address, reads_what_it_prints) {
  for (const char* text : {"10.0.0.1:4711", "[fd00::2]:1", "[::1]:65535", "0.0.0.0:0"}) {
    const auto address = tcp_address::parse(text);
    ASSERT_TRUE(address) << text;
    EXPECT_EQ(address->text(), text);
  }
  for (const char* text : {"", ":", ":1", "10.0.0.1", "10.0.0.1:", "10.0.0.1:x", "10.0.0.1:65536", "10.0.0.1:-1",
                           "host:1", "[fd00::2:1", "fd00::2]:1", "[10.0.0.1]:1", "[]:1", "10.0.0.1:1 "})
    EXPECT_FALSE(tcp_address::parse(text)) << text;
}

TEST(tcp_address, a_host_has_addresses_and_those_of_an_interface_can_be_had) {
  const auto lo = own_addresses("lo");
  ASSERT_FALSE(lo.empty());
  EXPECT_EQ(lo.front().text(), "127.0.0.1:0");
  const auto all = own_addresses("");
  ASSERT_FALSE(all.empty());
  for (const tcp_address& address : all) EXPECT_EQ(address.text().find("[fe80"), std::string::npos) << address.text();
}

TEST(tcp_endpoints, travels_whole_or_is_refused) {
  tcp_endpoints mine;
  mine.addresses = {*tcp_address::parse("10.0.0.1:4711"), *tcp_address::parse("[fd00::2]:4711")};
  mine.peer_timeout = std::chrono::milliseconds(1500);
  tcp_endpoints failed;
  failed.peer_timeout = std::chrono::seconds(30);
  failed.failure = "no, really";
  const auto both = decode_offers({encode(mine), encode(failed)});
  ASSERT_EQ(both.size(), 2u);
  ASSERT_EQ(both[0].addresses.size(), 2u);
  EXPECT_EQ(both[0].addresses[0].text(), "10.0.0.1:4711");
  EXPECT_EQ(both[0].addresses[1].text(), "[fd00::2]:4711");
  EXPECT_EQ(both[0].peer_timeout, std::chrono::milliseconds(1500));
  EXPECT_TRUE(both[0].failure.empty());
  EXPECT_TRUE(both[1].addresses.empty());
  EXPECT_EQ(both[1].failure, "no, really");

  const blob good = encode(mine);
  const blob nowhere = bytes_of(std::string_view("pgas-tcp\0001000\0\0nowhere\0", 24));
  const blob never = bytes_of(std::string_view("pgas-tcp\0000\0\0\0", 13));
  for (const blob& bad : {blob(), bytes_of("nonsense"), blob(good.begin(), good.end() - 5), nowhere, never}) {
    const auto end = thrown_by([&] { static_cast<void>(decode_offers({good, bad})); });
    ASSERT_TRUE(end);
    EXPECT_EQ(end->code(), code::bootstrap_protocol);
    EXPECT_EQ(end->pe(), 1);
  }
}

}  // namespace
}  // namespace pgas::unit_test
