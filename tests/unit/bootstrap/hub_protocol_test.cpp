/// @file
/// Frames from a socket: complete, in pieces, too long, and truncated.
#include "bootstrap/hub/hub_protocol.hpp"

#include <sys/socket.h>

#include "bootstrap/error_messages.hpp"
#include "common/net/socket.hpp"
#include "support.hpp"

namespace pgas::boot::test {
namespace {

using status = frame_reader<frame_header>::status;

void say(const unique_fd& to, std::span<const std::byte> bytes) {
  ASSERT_EQ(send_all(to.get(), bytes, deadline{seconds(5)}), 0);
}

TEST(frame, arrives_in_any_pieces) {
  const auto [from, to] = socket_pair();
  const blob payload = contribution(3, 1, 700);
  const auto frame = make_frame({.kind = frame_kind::contribute, .sequence = 7}, payload);
  frame_reader<frame_header> reader{max_contribution};
  for (int repeat = 0; repeat < 2; ++repeat) {
    for (std::size_t i = 0; i < frame->size(); ++i) {
      EXPECT_EQ(reader.read(from.get()), status::incomplete);
      say(to, std::span{*frame}.subspan(i, 1));
    }
    ASSERT_EQ(reader.read(from.get()), status::complete);
    EXPECT_EQ(reader.header().sequence, 7u);
    EXPECT_TRUE(std::equal(payload.begin(), payload.end(), reader.payload().begin(), reader.payload().end()));
  }
}

TEST(frame, of_a_stranger_or_too_long_is_malformed) {
  const std::string_view text = "GET / HTTP/1.1\r\nHost: example\r\n\r\n";
  frame_header too_long{.kind = frame_kind::contribute, .bytes = max_contribution + 1};
  for (const auto bytes : {std::as_bytes(std::span{text}), std::as_bytes(std::span{&too_long, 1})}) {
    const auto [from, to] = socket_pair();
    say(to, bytes);
    frame_reader<frame_header> reader{max_contribution};
    EXPECT_EQ(reader.read(from.get()), status::malformed);
  }
}

TEST(frame, that_is_cut_off_is_closed) {
  auto [from, to] = socket_pair();
  const auto frame = make_frame({.kind = frame_kind::contribute}, contribution(0, 0, 100));
  say(to, std::span{*frame}.first(60));
  to.reset();
  frame_reader<frame_header> reader{max_contribution};
  EXPECT_EQ(reader.read(from.get()), status::closed);
}

TEST(packing, gives_back_what_was_packed) {
  const std::vector<blob> parts{contribution(0, 0, 0), contribution(1, 0, 5), contribution(2, 0, 64 << 10)};
  EXPECT_EQ(unpack(pack(parts), 3), parts);
}

TEST(packing, refuses_what_is_not_whole) {
  const std::vector<blob> parts{contribution(0, 0, 4), contribution(1, 0, 5)};
  const blob packed = pack(parts);
  for (std::size_t bytes = 0; bytes < packed.size(); ++bytes)
    EXPECT_EQ(thrown_by([&] { (void)unpack(std::span{packed}.first(bytes), 2); }).code(), code::bootstrap_protocol);
  EXPECT_EQ(thrown_by([&] { (void)unpack(packed, 1); }).code(), code::bootstrap_protocol);
  EXPECT_EQ(thrown_by([&] { (void)unpack(packed, 3); }).code(), code::bootstrap_protocol);
}

TEST(failure, keeps_code_rank_and_text) {
  const auto frame = make_failure({code::peer_lost, "rank 5 is gone", 5});
  const error e = decode_error(std::span{*frame}.subspan(sizeof(frame_header)));
  EXPECT_EQ(e.code(), code::peer_lost);
  EXPECT_EQ(e.pe(), 5);
  EXPECT_SAYS(e, "PGAS-E0401: rank 5 is gone");
  EXPECT_EQ(thrown_by([&] { (void)decode_error(std::span{*frame}.first(7)); }).code(), code::bootstrap_protocol);
}

TEST(text, names_ranks_shortly) {
  EXPECT_EQ(name_ranks({2}, 8), "rank 2 of 8");
  EXPECT_EQ(name_ranks({2, 5}, 8), "ranks 2, 5 of 8");
  EXPECT_EQ(name_ranks({0, 1, 3, 4, 5, 7}, 8), "ranks 0, 1, 3-5, 7 of 8");
  std::vector<int> even;
  for (int rank = 0; rank < 100; rank += 2) even.push_back(rank);
  EXPECT_TRUE(name_ranks(even, 100).ends_with("30 and 34 more of 100")) << name_ranks(even, 100);
}

}  // namespace
}  // namespace pgas::boot::test
