// Messages over a stream of bytes arrive whole and in order, no matter how the stream is split. Malformed messages end
// the stream.
#include "host/connect/connection.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cstring>
#include <map>
#include <thread>

#include "unit/connect/fixtures.hpp"
#include "unit/connect/strangers.hpp"

namespace pgas::unit_test {
namespace {

using namespace pgas::detail;
using packet_status = received_packet::status;

constexpr session_keys keys_of_channel{{std::byte{1}}, {std::byte{2}}};
constexpr session_keys keys_of_other{{std::byte{2}}, {std::byte{1}}};

/// A connection, and its other end as a socket.
struct one_end {
  one_end() : one_end(make_pair()) {}
  unique_fd other;
  frame_cipher seal{keys_of_other.to_send};  ///< seals packets from the other end
  tcp_connection channel;

  blob sealed(std::span<const std::byte> packet) {
    blob bytes;
    seal.seal(packet, {}, bytes);
    return bytes;
  }

 private:
  static std::array<unique_fd, 2> make_pair() {
    std::array<unique_fd, 2> ends = connected_pair();
    const int small = 4096;  // the buffer is small, so that the socket splits messages of a few thousand bytes
    ::setsockopt(ends[1].get(), SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
    return ends;
  }
  explicit one_end(std::array<unique_fd, 2> ends)
      : other(std::move(ends[0])), channel(std::move(ends[1]), keys_of_channel) {}
};

control_header header_of(std::uint64_t sequence, std::size_t bytes) {
  control_header header;
  header.sequence = sequence;
  header.bytes = bytes;
  return header;
}

void write_to(const unique_fd& socket, std::span<const std::byte> bytes) {
  ASSERT_EQ(::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
}

blob packet_of(std::uint64_t sequence, const std::string& text) {
  const control_header header = header_of(sequence, text.size());
  blob bytes(std::as_bytes(std::span(&header, 1)).begin(), std::as_bytes(std::span(&header, 1)).end());
  const blob body = bytes_of(text);
  bytes.insert(bytes.end(), body.begin(), body.end());
  return bytes;
}

TEST(tcp_connection, a_packet_may_come_in_single_bytes) {
  one_end end;
  for (const std::string& text : {std::string("slowly"), std::string(), std::string("again")}) {
    const blob packet = packet_of(7, text);
    const blob bytes = end.sealed(packet);
    for (std::size_t i = 0; i + 1 < bytes.size(); ++i) {
      write_to(end.other, std::span(bytes).subspan(i, 1));
      EXPECT_EQ(end.channel.receive().what, packet_status::nothing_yet);
    }
    write_to(end.other, std::span(bytes).last(1));
    const received_packet message = end.channel.receive();
    ASSERT_EQ(message.what, packet_status::complete);
    EXPECT_EQ(blob(message.bytes.begin(), message.bytes.end()), packet);
  }
}

TEST(tcp_connection, several_packets_may_come_at_once) {
  one_end end;
  blob bytes;
  for (std::uint64_t i = 0; i < 3; ++i) {
    const blob one = end.sealed(packet_of(i, std::string(i * 10, 'x')));
    bytes.insert(bytes.end(), one.begin(), one.end());
  }
  write_to(end.other, bytes);
  for (std::uint64_t i = 0; i < 3; ++i) {
    const received_packet message = end.channel.receive();
    ASSERT_EQ(message.what, packet_status::complete);
    EXPECT_EQ(message.bytes.size(), sizeof(control_header) + i * 10);
  }
  EXPECT_EQ(end.channel.receive().what, packet_status::nothing_yet);
}

TEST(tcp_connection, what_is_no_packet_or_too_long_ends_it) {
  for (const bool too_long : {true, false}) {
    one_end end;
    control_header bad = header_of(0, too_long ? max_contribution + 1 : 3);
    if (!too_long) bad.magic ^= 1;
    write_to(end.other, end.sealed(packet_of(1, "good")));
    write_to(end.other, end.sealed(std::as_bytes(std::span(&bad, 1))));
    write_to(end.other, end.sealed(packet_of(2, "after")));
    EXPECT_EQ(end.channel.receive().what, packet_status::complete);
    EXPECT_EQ(end.channel.receive().what, packet_status::oversized);
    EXPECT_EQ(end.channel.receive().what, packet_status::closed) << "nobody knows where the next packet begins";
    EXPECT_EQ(end.channel.receive().what, packet_status::closed);
  }
}

TEST(tcp_connection, an_end_within_a_packet_is_an_end) {
  for (const std::size_t bytes : {std::size_t{1}, sizeof(control_header), sizeof(control_header) + 2}) {
    one_end end;
    const blob whole = end.sealed(packet_of(1, "four"));
    write_to(end.other, std::span(whole).first(bytes));
    end.other.reset();
    EXPECT_EQ(end.channel.receive().what, packet_status::closed);
    EXPECT_EQ(end.channel.send(blob(8), {}, {}), EPIPE);
  }
}

TEST(tcp_connection, what_another_process_puts_into_the_stream_ends_it) {
  one_end sender;
  const blob good = sender.sealed(packet_of(1, "good"));
  blob changed = good;
  changed.back() ^= std::byte{1};
  for (const blob& injected : {packet_of(1, "a failure"), changed, good}) {
    one_end end;
    if (injected == good) {  // repeated
      write_to(end.other, good);
      EXPECT_EQ(end.channel.receive().what, packet_status::complete);
    }
    write_to(end.other, injected);
    write_to(end.other, end.sealed(packet_of(2, "after")));
    EXPECT_EQ(end.channel.receive().what, packet_status::oversized);
    EXPECT_TRUE(end.channel.is_forged());
    EXPECT_EQ(end.channel.receive().what, packet_status::closed);
  }
}

TEST(tcp_connection, descriptors_are_refused) {
  one_end end;
  const int zero = 0;
  EXPECT_EQ(end.channel.send(blob(8), {}, std::span(&zero, 1)), EINVAL);
}

TEST(tcp_connection, a_packet_that_was_taken_in_part_is_sent_before_any_other) {
  one_end end;
  tcp_connection reader(std::move(end.other), keys_of_other);
  const control_header first = header_of(1, max_contribution);
  const blob body(max_contribution, std::byte{1});
  ASSERT_EQ(end.channel.send(std::as_bytes(std::span(&first, 1)), body, {}), EINPROGRESS);
  const control_header second = header_of(2, 0);
  const auto send_second = [&] { return end.channel.send(std::as_bytes(std::span(&second, 1)), {}, {}); };
  EXPECT_EQ(send_second(), EAGAIN);
  EXPECT_EQ(end.channel.flush(), EAGAIN);

  received_packet message = reader.receive();
  for (; message.what == packet_status::nothing_yet; message = reader.receive()) {
    const int rest = end.channel.flush();
    EXPECT_TRUE(rest == 0 || rest == EAGAIN) << rest;
  }
  ASSERT_EQ(message.what, packet_status::complete);
  EXPECT_EQ(message.bytes.size(), sizeof(control_header) + body.size());
  EXPECT_EQ(end.channel.flush(), 0);
  EXPECT_EQ(send_second(), 0);
  message = reader.receive();
  ASSERT_EQ(message.what, packet_status::complete);
  EXPECT_EQ(message.bytes.size(), sizeof(control_header));
}

TEST(packet_queue, messages_of_several_threads_come_whole_and_in_order) {
  constexpr std::uint64_t messages = 100;
  constexpr int threads = 4;
  one_end end;
  packet_queue queue(end.channel);
  tcp_connection reader(std::move(end.other), keys_of_other);
  std::vector<std::thread> senders;
  for (int id = 0; id < threads; ++id)
    senders.emplace_back([&, id] {
      for (std::uint64_t i = 0; i < messages; ++i) {
        outgoing_message message = message_of(
            message_kind::up, id, 7, blob(1000 + static_cast<std::size_t>(id) * 30'000, static_cast<std::byte>(id)));
        message.header.sequence = i;
        EXPECT_NE(queue.send(message), packet_queue::state::closed);
      }
    });
  std::map<std::int32_t, std::uint64_t> next;
  message_assembler assembler;
  for (std::uint64_t left = messages * threads; left > 0;) {
    EXPECT_NE(queue.send_waiting(), packet_queue::state::closed);
    const received_packet packet = reader.receive();
    if (packet.what == packet_status::nothing_yet) continue;
    ASSERT_EQ(packet.what, packet_status::complete);
    control_header header;
    std::memcpy(&header, packet.bytes.data(), sizeof(header));
    const auto message = assembler.add(header, packet.bytes.subspan(sizeof(header)), {}, false);
    if (!message) continue;
    EXPECT_EQ(message->header.sequence, next[header.from]++);
    EXPECT_EQ(message->bytes.size(), 1000 + static_cast<std::size_t>(header.from) * 30'000);
    for (const std::byte b : message->bytes) ASSERT_EQ(b, static_cast<std::byte>(header.from));
    --left;
  }
  for (std::thread& sender : senders) sender.join();
  EXPECT_EQ(queue.waiting(), 0u);
}

TEST(message_assembler, a_packet_that_does_not_continue_its_message_is_refused) {
  control_header first;
  first.from = 3;
  first.bytes = 10;
  first.all_bytes = 20;
  control_header other = first;
  other.sequence = 1;
  control_header longer = first;
  longer.bytes = 11;
  for (const control_header& second : {other, longer}) {
    message_assembler assembler;
    EXPECT_FALSE(assembler.add(first, blob(10), {}, false));
    const auto refused = thrown_by([&] { static_cast<void>(assembler.add(second, blob(second.bytes), {}, false)); });
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->code(), code::bootstrap_protocol);
    EXPECT_EQ(refused->pe(), 3);
  }
}

}  // namespace
}  // namespace pgas::unit_test
