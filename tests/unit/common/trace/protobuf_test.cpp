// The wire format, tested with bytes from the specification and with invalid bytes.
#include "common/trace/protobuf.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace {

using pgas::trace::message_reader;
using pgas::trace::message_writer;

TEST(message_writer, writes_the_examples_of_the_specification) {
  message_writer inner;
  inner.number(1, 150);
  EXPECT_EQ(inner.bytes(), "\x08\x96\x01");
  message_writer text;
  text.text(2, "testing");
  EXPECT_EQ(text.bytes(), "\x12\x07testing");
  message_writer outer;
  outer.message(3, inner);
  EXPECT_EQ(outer.bytes(), "\x1a\x03\x08\x96\x01");
}

TEST(message_writer, numbers_of_fields_above_15_take_two_bytes) {
  message_writer result;
  result.number(60, 1);
  EXPECT_EQ(result.bytes(), "\xe0\x03\x01");
}

TEST(message_writer, fixed_words_are_little_endian) {
  message_writer result;
  result.fixed(47, 0x0102030405060708);
  EXPECT_EQ(result.bytes(), "\xf9\x02\x08\x07\x06\x05\x04\x03\x02\x01");
}

TEST(message_reader, reads_back_what_was_written) {
  const std::uint64_t numbers[] = {0, 1, 127, 128, 16383, 16384, std::uint64_t{1} << 32, ~std::uint64_t{0}};
  message_writer result;
  for (const std::uint64_t unit : numbers) {
    result.number(1, unit);
    result.fixed(2, unit);
  }
  result.text(3, std::string(300, 'x'));
  message_reader reader(result.bytes());
  for (const std::uint64_t unit : numbers) {
    EXPECT_EQ(reader.next().value().value, unit);
    EXPECT_EQ(reader.next().value().value, unit);
  }
  const auto last = reader.next();
  ASSERT_TRUE(last);
  EXPECT_EQ(last->number, 3U);
  EXPECT_EQ(last->bytes, std::string(300, 'x'));
  EXPECT_FALSE(reader.next());
  EXPECT_FALSE(reader.malformed());
}

TEST(message_reader, every_beginning_of_a_message_is_whole_or_malformed) {
  message_writer result;
  result.number(1, 300);
  const std::size_t after_number = result.bytes().size();
  result.text(2, "abc");
  const std::size_t after_text = result.bytes().size();
  result.fixed(3, 7);
  for (std::size_t length = 0; length <= result.bytes().size(); ++length) {
    message_reader reader(std::string_view(result.bytes()).substr(0, length));
    while (reader.next()) {
    }
    const bool whole = length == 0 || length == after_number || length == after_text || length == result.bytes().size();
    EXPECT_EQ(reader.malformed(), !whole) << length;
  }
}

TEST(message_reader, groups_field_zero_and_endless_varints_are_malformed) {
  for (const std::string& bytes : {std::string("\x0b"), std::string("\x00\x01", 2), std::string(11, '\xff')}) {
    message_reader reader(bytes);
    EXPECT_FALSE(reader.next());
    EXPECT_TRUE(reader.malformed());
  }
}

}  // namespace
