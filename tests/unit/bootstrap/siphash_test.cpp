/// @file
/// The keyed hash against the vectors that its authors publish.
#include "common/siphash.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "bootstrap/join_methods.hpp"

namespace pgas::boot {
namespace {

using namespace detail;

std::string hex(const bits128& bits) {
  std::string text;
  for (const std::byte b : bits) {
    text += "0123456789abcdef"[std::to_integer<unsigned>(b) >> 4];
    text += "0123456789abcdef"[std::to_integer<unsigned>(b) & 15];
  }
  return text;
}

bits128 counting_key() {
  bits128 key;
  for (std::size_t i = 0; i < key.size(); ++i) key[i] = static_cast<std::byte>(i);
  return key;
}

// vectors_sip128 of the reference implementation: key 00 01 .. 0f, message 00 01 .. of the length given.
TEST(siphash, reference_vectors) {
  constexpr const char* expected[] = {"a3817f04ba25a8e66df67214c7550293", "da87c1d86b99af44347659119b22fc45",
                                      "8177228da4a45dc7fca38bdef60affe4"};
  std::vector<std::byte> message;
  for (const char* vector : expected) {
    EXPECT_EQ(hex(siphash128(counting_key(), message)), vector) << "length " << message.size();
    message.push_back(static_cast<std::byte>(message.size()));
  }
}

TEST(siphash, every_bit_of_key_and_message_counts) {
  const std::vector<std::byte> message(23, std::byte{0x5a});
  const bits128 plain = siphash128(counting_key(), message);
  for (std::size_t bit = 0; bit < 128; ++bit) {
    bits128 key = counting_key();
    key[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_FALSE(same_bits(plain, siphash128(key, message)));
  }
  for (std::size_t bit = 0; bit < message.size() * 8; ++bit) {
    auto changed = message;
    changed[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_FALSE(same_bits(plain, siphash128(counting_key(), changed)));
  }
}

TEST(siphash, padding_is_part_of_the_message) {
  const std::vector<std::byte> zeros(16);
  for (std::size_t n = 0; n < zeros.size(); ++n)
    EXPECT_FALSE(same_bits(siphash128(counting_key(), std::span{zeros}.first(n)),
                           siphash128(counting_key(), std::span{zeros}.first(n + 1))));
}

TEST(key_of_job, what_a_job_is_known_by_makes_its_key) {
  bootstrap_options job;
  job.master_port = 29500;
  job.run_id = "a";
  job.secret = "s";
  const bits128 key = key_of_job(job);
  auto other_rank = job;
  other_rank.rank = 5;
  other_rank.master_address = "another-name-of-the-same-host";
  EXPECT_TRUE(same_bits(key, key_of_job(other_rank)));
  for (auto change :
       {+[](bootstrap_options& o) { o.master_port++; }, +[](bootstrap_options& o) { o.run_id = "b"; },
        +[](bootstrap_options& o) { o.secret = "t"; }, +[](bootstrap_options& o) { o.secret = "s|", o.run_id = ""; }}) {
    auto other = job;
    change(other);
    EXPECT_FALSE(same_bits(key, key_of_job(other)));
  }
}

}  // namespace
}  // namespace pgas::boot
