/// @file
/// Sealed frames, and changes that a process between the two ends could make to them.
#include "common/net/frame_cipher.hpp"

#include <algorithm>

#include "bootstrap/hub/hub_protocol.hpp"
#include "common/net/socket.hpp"
#include "support.hpp"

namespace pgas::boot::test {
namespace {

constexpr frame_cipher::key key{std::byte{1}, std::byte{2}, std::byte{3}};

blob seal(frame_cipher& cipher, const blob& text) {
  blob sealed;
  cipher.seal(std::span{text}.first(text.size() / 2), std::span{text}.subspan(text.size() / 2), sealed);
  return sealed;
}

bool opens_as(frame_cipher& cipher, blob sealed, const blob& text) {
  const auto opened = cipher.open(sealed);
  return opened && std::ranges::equal(*opened, text);
}

TEST(frame_cipher, opens_what_was_sealed_and_shows_nothing_of_it) {
  frame_cipher to{key};
  frame_cipher from{key};
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{100}, std::size_t{70'000}}) {
    const blob text = contribution(1, 2, bytes);
    const blob sealed = seal(to, text);
    EXPECT_EQ(frame_cipher::prefix_bytes + frame_cipher::bytes_after(sealed), sealed.size());
    if (bytes > 8) {
      EXPECT_EQ(std::search(sealed.begin(), sealed.end(), text.begin(), text.begin() + 8), sealed.end());
    }
    EXPECT_TRUE(opens_as(from, sealed, text));
  }
}

TEST(frame_cipher, what_was_changed_repeated_reordered_or_made_elsewhere_does_not_open) {
  const blob text = contribution(1, 2, 40);
  frame_cipher to{key};
  const blob first = seal(to, text);
  const blob second = seal(to, text);
  EXPECT_NE(first, second);
  for (std::size_t i = 0; i < first.size(); ++i) {
    blob changed = first;
    changed[i] ^= std::byte{1};
    frame_cipher from{key};
    EXPECT_FALSE(from.open(changed)) << "byte " << i;
  }
  {
    frame_cipher from{key};
    blob early = second;
    EXPECT_FALSE(from.open(early));
  }
  {
    frame_cipher from{key};
    EXPECT_TRUE(opens_as(from, first, text));
    blob again = first;
    EXPECT_FALSE(from.open(again));
  }
  frame_cipher::key other = key;
  other[31] ^= std::byte{1};
  frame_cipher from{other};
  blob foreign = first;
  EXPECT_FALSE(from.open(foreign));
}

TEST(frame_cipher, a_frame_that_was_not_sent_leaves_no_gap) {
  frame_cipher to{key};
  frame_cipher from{key};
  (void)seal(to, contribution(1, 1, 10));
  to.withdraw();
  const blob text = contribution(2, 2, 20);
  EXPECT_TRUE(opens_as(from, seal(to, text), text));
}

TEST(frame_reader, of_sealed_frames_takes_any_pieces_and_refuses_plain_ones) {
  using status = frame_reader<frame_header>::status;
  frame_cipher to{key};
  const auto [from, other] = socket_pair();
  frame_reader<frame_header> reader{max_contribution, frame_cipher{key}};
  const blob payload = contribution(3, 1, 700);
  blob sealed;
  to.seal(*make_frame({.kind = frame_kind::contribute, .sequence = 7}, payload), {}, sealed);
  for (std::size_t i = 0; i < sealed.size(); ++i) {
    EXPECT_EQ(reader.read(from.get()), status::incomplete);
    ASSERT_EQ(send_now(other.get(), std::span{sealed}.subspan(i, 1)), 0);
  }
  ASSERT_EQ(reader.read(from.get()), status::complete);
  EXPECT_EQ(reader.header().sequence, 7u);
  EXPECT_TRUE(std::ranges::equal(reader.payload(), payload));

  ASSERT_EQ(send_now(other.get(), *make_frame({.kind = frame_kind::abort}, "a failure that was injected")), 0);
  EXPECT_EQ(reader.read(from.get()), status::forged);
  EXPECT_EQ(reader.read(from.get()), status::closed);
}

}  // namespace
}  // namespace pgas::boot::test
