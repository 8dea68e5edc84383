/// @file
/// Converts text to values: the text that each type of option accepts, and especially the text that the type refuses.
#include "host/config/option_value.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace pgas::config_detail {
namespace {

using std::chrono::milliseconds;

TEST(parse_bool, takes_the_listed_words_only) {
  for (const auto* word : {"1", "yes", "true", "on", "TRUE", "On"}) EXPECT_EQ(parse_bool(word), true) << word;
  for (const auto* word : {"0", "no", "false", "off", "NO"}) EXPECT_EQ(parse_bool(word), false) << word;
  for (const auto* word : {"", "2", "y", "nope", "truee", " 1", "1 ", "-1", "enable"})
    EXPECT_FALSE(parse_bool(word).has_value()) << word;
}

TEST(parse_integer, takes_whole_decimal_numbers) {
  EXPECT_EQ(parse_integer("-1"), -1);
  EXPECT_EQ(parse_integer("+7"), 7);
  EXPECT_EQ(parse_integer("007"), 7);
  EXPECT_EQ(parse_integer("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
  for (const auto* text : {"", "-", "+", "+-1", "1.0", "0x10", "1e3", " 1", "1 ", "9223372036854775808", "one"})
    EXPECT_FALSE(parse_integer(text).has_value()) << text;
}

TEST(parse_shmem_size, takes_what_the_specification_has) {
  EXPECT_EQ(parse_shmem_size("0"), 0u);
  EXPECT_EQ(parse_shmem_size("1048576"), 1048576u);
  EXPECT_EQ(parse_shmem_size("20m"), 20u << 20);
  EXPECT_EQ(parse_shmem_size("3.1M"), 3250586u) << "rounded up";
  EXPECT_EQ(parse_shmem_size(".5m"), 512u << 10);
  EXPECT_EQ(parse_shmem_size("0.5m"), 512u << 10);
  EXPECT_EQ(parse_shmem_size("20kk"), 20u << 10) << "one multiplier";
  EXPECT_EQ(parse_shmem_size("1GB"), 1u << 30);
  EXPECT_EQ(parse_shmem_size("2t"), std::size_t{2} << 40);
  EXPECT_EQ(parse_shmem_size("1e3k"), 1000u << 10);
  for (const auto* text :
       {"", "-1", "-0", "+1", "m", ".", ".m", "lots", "nan", "inf", "20x", "20 m", " 20m", "4194305t", "1e99"})
    EXPECT_FALSE(parse_shmem_size(text).has_value()) << text;
}

TEST(parse_size, takes_binary_units) {
  EXPECT_EQ(parse_size("0"), 0u);
  EXPECT_EQ(parse_size("4096"), 4096u);
  EXPECT_EQ(parse_size("512K"), 512u << 10);
  EXPECT_EQ(parse_size("64M"), 64u << 20);
  EXPECT_EQ(parse_size("8G"), std::size_t{8} << 30);
  EXPECT_EQ(parse_size("1T"), std::size_t{1} << 40);
  EXPECT_EQ(parse_size("8g"), std::size_t{8} << 30);
  EXPECT_EQ(parse_size("8GiB"), std::size_t{8} << 30);
  EXPECT_EQ(parse_size("8gb"), std::size_t{8} << 30);
  EXPECT_EQ(parse_size("1.5M"), 3u << 19);
  EXPECT_EQ(parse_size("18446744073709551615"), std::numeric_limits<std::uint64_t>::max());
}

TEST(parse_size, takes_nothing_else) {
  for (const auto* text : {"", "G", "-1", "+1", "8X", "8 G", "8GG", "1e9", "inf", "nan", "0x10", ".5G", "64m!",
                           "18446744073709551616", "16777216T", "1.5.5M", "99999999999999999999.5"})
    EXPECT_FALSE(parse_size(text).has_value()) << text;
}

TEST(parse_time, takes_units_and_plain_seconds) {
  EXPECT_EQ(parse_time("1500ms"), milliseconds(1500));
  EXPECT_EQ(parse_time("2s"), milliseconds(2000));
  EXPECT_EQ(parse_time("1m"), milliseconds(60'000));
  EXPECT_EQ(parse_time("1h"), milliseconds(3'600'000));
  EXPECT_EQ(parse_time("3"), milliseconds(3000));
  EXPECT_EQ(parse_time("0.25"), milliseconds(250));
  EXPECT_EQ(parse_time("1.5s"), milliseconds(1500));
  EXPECT_EQ(parse_time("0"), milliseconds(0));
}

TEST(parse_time, takes_nothing_else) {
  for (const auto* text : {"", "-1s", "5us", "5 s", "s", "1d", "inf", "1e3s", "9999999999999h"})
    EXPECT_FALSE(parse_time(text).has_value()) << text;
}

TEST(print, is_read_back_exactly) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{4097}, std::size_t{64} << 20,
                                  std::size_t{3} << 29, std::size_t{1} << 40}) {
    EXPECT_EQ(parse_size(print_size(bytes)), bytes) << print_size(bytes);
  }
  EXPECT_EQ(print_size(std::size_t{64} << 20), "64M");
  for (const int ms : {0, 1, 999, 1000, 1500, 60'000})
    EXPECT_EQ(parse_time(print_time(milliseconds(ms))), milliseconds(ms)) << ms;
  EXPECT_EQ(print_time(milliseconds(60'000)), "60s");
}

}  // namespace
}  // namespace pgas::config_detail
