// The handshake: mutual proof of the secret, refusals, replays, and secrecy of the key.
#include "common/net/handshake.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <vector>

#include "host/connect/peer_descriptor.hpp"
#include "unit/connect/fixtures.hpp"
#include "unit/connect/strangers.hpp"

namespace pgas::unit_test {
namespace {

using namespace pgas::detail;
using status = handshake::status;

constexpr hello from_5_to_2{.from = 5, .to = 2};

job_secret secret_of(int number) {
  job_secret secret;
  for (std::size_t i = 0; i < secret.size(); ++i) secret[i] = static_cast<std::byte>(static_cast<int>(i) * number + 1);
  return secret;
}

TEST(handshake, two_that_know_the_secret_believe_one_another) {
  auto [a, b] = connected_pair();
  const job_secret secret = secret_of(3);
  handshake caller(std::move(a), secret, from_5_to_2);
  handshake callee(std::move(b), secret, 2);
  ASSERT_EQ(caller.send_hello(), 0);
  EXPECT_FALSE(callee.introduced());
  EXPECT_EQ(callee.receive(), status::pending);
  EXPECT_TRUE(callee.introduced());
  EXPECT_EQ(caller.receive(), status::proven);
  EXPECT_EQ(callee.receive(), status::proven);
  EXPECT_EQ(callee.introduction().from, 5);
  EXPECT_EQ(caller.receive(), status::pending) << "the other side has not taken the connection yet";
  EXPECT_EQ(callee.welcome(), 0);
  EXPECT_EQ(caller.receive(), status::welcomed);
}

TEST(handshake, another_secret_is_refused_at_both_ends) {
  auto [a, b] = connected_pair();
  const job_secret secret = secret_of(3);
  const job_secret other = secret_of(4);
  handshake caller(std::move(a), secret, from_5_to_2);
  handshake callee(std::move(b), other, 2);
  ASSERT_EQ(caller.send_hello(), 0);
  EXPECT_EQ(callee.receive(), status::pending);
  EXPECT_EQ(caller.receive(), status::refused);
  EXPECT_EQ(callee.receive(), status::refused);
}

TEST(handshake, another_pe_than_meant_refuses_and_proves_nothing) {
  auto [a, b] = connected_pair();
  const job_secret secret = secret_of(3);
  handshake caller(std::move(a), secret, from_5_to_2);
  {
    handshake callee(std::move(b), secret, 3);
    ASSERT_EQ(caller.send_hello(), 0);
    EXPECT_EQ(callee.receive(), status::refused);
    EXPECT_EQ(caller.receive(), status::pending);
  }
  EXPECT_EQ(caller.receive(), status::ended);
}

TEST(handshake, either_half_of_the_secret_is_needed) {
  for (const std::size_t byte : {std::size_t{0}, std::size_t{15}, std::size_t{16}, std::size_t{31}}) {
    auto [a, b] = connected_pair();
    const job_secret secret = secret_of(3);
    job_secret other = secret;
    other[byte] ^= std::byte{1};
    handshake caller(std::move(a), secret, from_5_to_2);
    handshake callee(std::move(b), other, 2);
    ASSERT_EQ(caller.send_hello(), 0);
    EXPECT_EQ(callee.receive(), status::pending);
    EXPECT_EQ(caller.receive(), status::refused) << "byte " << byte;
    EXPECT_EQ(callee.receive(), status::refused) << "byte " << byte;
  }
}

TEST(handshake, the_halves_of_the_secret_are_not_exchangeable) {
  const job_secret secret = secret_of(3);
  job_secret swapped;
  std::rotate_copy(secret.begin(), secret.begin() + 16, secret.end(), swapped.begin());
  const bits128 nonce = random_bits();
  EXPECT_FALSE(same_bits(handshake::code_of(secret, handshake::role::connecting, from_5_to_2, nonce),
                         handshake::code_of(swapped, handshake::role::connecting, from_5_to_2, nonce)));
}

TEST(handshake, both_sides_have_the_same_keys_and_no_other_connection_has_them) {
  const job_secret secret = secret_of(3);
  std::vector<frame_cipher::key> keys;
  for (int repeat = 0; repeat < 2; ++repeat) {
    auto [a, b] = connected_pair();
    handshake caller(std::move(a), secret, from_5_to_2);
    handshake callee(std::move(b), secret, 2);
    ASSERT_EQ(caller.send_hello(), 0);
    EXPECT_EQ(callee.receive(), status::pending);
    EXPECT_EQ(caller.receive(), status::proven);
    EXPECT_EQ(callee.receive(), status::proven);
    EXPECT_EQ(caller.keys().to_send, callee.keys().to_receive);
    EXPECT_EQ(caller.keys().to_receive, callee.keys().to_send);
    keys.push_back(caller.keys().to_send);
    keys.push_back(caller.keys().to_receive);
  }
  for (std::size_t i = 0; i < keys.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(keys[i], keys[j]);
}

TEST(handshake, codes_cover_all_that_is_said_and_differ_by_side) {
  const job_secret secret = secret_of(3);
  const bits128 nonce = random_bits();
  const auto code_of = [&](handshake::role part, const hello& said, const bits128& number) {
    return handshake::code_of(secret, part, said, number);
  };
  const bits128 code = code_of(handshake::role::connecting, from_5_to_2, nonce);
  EXPECT_FALSE(same_bits(code, code_of(handshake::role::accepting, from_5_to_2, nonce)));
  EXPECT_FALSE(same_bits(code, code_of(handshake::role::connecting, from_5_to_2, random_bits())));
  for (const hello& other : {hello{.from = 4, .to = 2}, hello{.from = 5, .to = 1}, hello{.from = 5, .to = 2, .size = 9},
                             hello{.from = 5, .to = 2, .world = 1}, hello{.from = 5, .to = 2, .nonce = random_bits()}})
    EXPECT_FALSE(same_bits(code, code_of(handshake::role::connecting, other, nonce)));
}

TEST(handshake, its_own_messages_are_no_answer) {
  const job_secret secret = secret_of(3);
  {
    auto [a, b] = connected_pair();  // this side receives its own hello
    handshake caller(std::move(a), secret, from_5_to_2);
    ASSERT_EQ(caller.send_hello(), 0);
    send_message(b, receive_message<hello>(b));
    const status outcome = caller.receive();
    EXPECT_NE(outcome, status::proven);
    EXPECT_NE(outcome, status::pending);
  }
  auto [a, b] = connected_pair();  // this side receives its own code as the proof
  handshake callee(std::move(a), secret, 2);
  send_message(b, from_5_to_2);
  EXPECT_EQ(callee.receive(), status::pending);
  send_message(b, receive_message<hello_answer>(b).code);
  EXPECT_EQ(callee.receive(), status::refused);
}

TEST(handshake, a_recorded_proof_is_worth_nothing) {
  const job_secret secret = secret_of(3);
  auto [a, b] = connected_pair();
  auto [c, d] = connected_pair();
  handshake caller(std::move(a), secret, from_5_to_2);
  handshake first_callee(std::move(c), secret, 2);
  ASSERT_EQ(caller.send_hello(), 0);
  const auto said = receive_message<hello>(b);
  send_message(d, said);
  EXPECT_EQ(first_callee.receive(), status::pending);
  send_message(b, receive_message<hello_answer>(d));
  EXPECT_EQ(caller.receive(), status::proven);
  const auto proof = receive_message<bits128>(b);

  auto [e, f] = connected_pair();
  handshake callee(std::move(e), secret, 2);
  send_message(f, said);
  EXPECT_EQ(callee.receive(), status::pending);
  send_message(f, proof);
  EXPECT_EQ(callee.receive(), status::refused);
}

TEST(handshake, nothing_of_the_secret_is_sent_and_nothing_twice) {
  const job_secret secret = secret_of(3);
  std::vector<bits128> sent;
  for (int repeat = 0; repeat < 2; ++repeat) {
    auto [a, b] = connected_pair();
    handshake caller(std::move(a), secret, from_5_to_2);
    ASSERT_EQ(caller.send_hello(), 0);
    sent.push_back(receive_message<hello>(b).nonce);
    send_message(b, hello_answer{});
    EXPECT_EQ(caller.receive(), status::refused);
    sent.push_back(receive_message<bits128>(b));
  }
  for (std::size_t i = 0; i < sent.size(); ++i) {
    for (auto at = sent[i].begin(); at != sent[i].end(); at += 4)
      EXPECT_EQ(std::search(secret.begin(), secret.end(), at, at + 4), secret.end());
    for (std::size_t j = 0; j < i; ++j) EXPECT_FALSE(same_bits(sent[i], sent[j]));
  }
}

TEST(handshake, what_is_no_hello_is_refused_and_an_end_is_one) {
  const job_secret secret = secret_of(3);
  auto [a, b] = connected_pair();
  handshake callee(std::move(a), secret, 0);
  EXPECT_EQ(::send(b.get(), "GET /", 5, 0), 5);
  EXPECT_EQ(callee.receive(), status::foreign);

  auto [c, d] = connected_pair();
  handshake other(std::move(c), secret, 0);
  EXPECT_EQ(::send(d.get(), "GET", 3, 0), 3);
  EXPECT_EQ(other.receive(), status::pending);
  d.reset();
  EXPECT_EQ(other.receive(), status::ended);

  auto [e, f] = connected_pair();
  handshake third(std::move(e), secret, 2);
  hello newer = from_5_to_2;
  newer.version = 99;
  send_message(f, newer);
  EXPECT_EQ(third.receive(), status::wrong_version);
  EXPECT_EQ(receive_message<hello_answer>(f).version, hello::expected_version) << "so that both can say why";
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
  const host_addresses lo = own_addresses("lo");
  ASSERT_FALSE(lo.loopback.empty());
  EXPECT_TRUE(lo.reachable.empty());
  EXPECT_EQ(lo.loopback.front().text(), "127.0.0.1:0");
  const host_addresses all = own_addresses("");
  ASSERT_FALSE(all.loopback.empty());
  for (const tcp_address& address : all.reachable)
    EXPECT_EQ(address.text().find("[fe80"), std::string::npos) << address.text();
  const auto none = thrown_by([] { static_cast<void>(own_addresses("nosuch0")); });
  ASSERT_TRUE(none);
  EXPECT_EQ(none->code(), code::config_value);
}

TEST(tcp_endpoints, travels_whole_or_is_refused) {
  tcp_endpoints mine;
  mine.addresses = {*tcp_address::parse("10.0.0.1:4711"), *tcp_address::parse("[fd00::2]:4711")};
  tcp_endpoints failed;
  failed.failure = "no, really";
  const tcp_endpoints both[] = {decode_endpoints(encode(mine), 0), decode_endpoints(encode(failed), 1)};
  ASSERT_EQ(both[0].addresses.size(), 2u);
  EXPECT_EQ(both[0].addresses[0].text(), "10.0.0.1:4711");
  EXPECT_EQ(both[0].addresses[1].text(), "[fd00::2]:4711");
  EXPECT_TRUE(both[0].failure.empty());
  EXPECT_TRUE(both[1].addresses.empty());
  EXPECT_EQ(both[1].failure, "no, really");

  const blob good = encode(mine);
  const blob nowhere = bytes_of(std::string_view("pgas-tcp\0\0nowhere\0", 18));
  for (const blob& bad : {blob(), bytes_of("nonsense"), blob(good.begin(), good.end() - 5), nowhere}) {
    const auto end = thrown_by([&] { static_cast<void>(decode_endpoints(bad, 1)); });
    ASSERT_TRUE(end);
    EXPECT_EQ(end->code(), code::bootstrap_protocol);
    EXPECT_EQ(end->pe(), 1);
  }
}

}  // namespace
}  // namespace pgas::unit_test
