/// @file
/// Keyed hashes, and the key of a job at MASTER_ADDR.
#include "common/keyed_hash.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "bootstrap/join_methods.hpp"

namespace pgas::boot {
namespace {

using namespace detail;  // namespace of src/common

bits128 counting_key() {
  bits128 key;
  for (std::size_t i = 0; i < key.size(); ++i) key[i] = static_cast<std::byte>(i);
  return key;
}

TEST(keyed_hash, every_bit_of_key_and_message_counts) {
  std::vector<std::byte> message(23, std::byte{7});
  const bits128 plain = keyed_hash(counting_key(), message);
  for (std::size_t bit = 0; bit < 128; ++bit) {
    bits128 key = counting_key();
    key[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_FALSE(same_bits(plain, keyed_hash(key, message)));
  }
  for (std::size_t bit = 0; bit < 8 * message.size(); ++bit) {
    std::vector<std::byte> changed = message;
    changed[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_FALSE(same_bits(plain, keyed_hash(counting_key(), changed)));
  }
}

TEST(key_of_job, is_equal_for_all_ranks_and_differs_between_jobs) {
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
