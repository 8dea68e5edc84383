// The error for the record of a kernel whose wait failed: the PE, the operation, the cause, and the remedy.
#include "host/error/device_failure.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

#include "pgas/signal_types.hpp"

namespace pgas::unit_test {
namespace {

using namespace detail;

failure_record record_of(failure why, operation what) {
  failure_record record{};
  record.complete = 1;
  record.why = why;
  record.what = what;
  record.pe = 7;
  record.heap_offset = 0x1240;
  record.bytes = 96;
  record.expected = 12;
  record.seen = 11;
  record.compare = static_cast<std::int32_t>(cmp::eq);
  record.block = 3;
  record.thread = 65;
  return record;
}

void expect_said(failure why, operation what, code expected, std::initializer_list<const char*> words) {
  const error said = describe(record_of(why, what), 5, config{});
  const std::string text = said.what();
  EXPECT_EQ(said.code(), expected) << text;
  EXPECT_EQ(said.pe(), 7) << text;
  for (const char* const each : words) EXPECT_NE(text.find(each), std::string::npos) << each << " is not in: " << text;
  EXPECT_NE(text.find("block 3 thread 65 of a kernel on PE 5"), std::string::npos) << text;
}

TEST(failure_text, names_what_a_wait_looked_at) {
  expect_said(failure::timed_out, operation::wait, code::wait_timeout,
              {"wait_until", "0x1240", "PE 7", "== 12", "its last value is 11"});
  expect_said(failure::timed_out, operation::receive, code::wait_timeout, {"receive by", "0x1240", "PE 7", "== 12"});
  expect_said(failure::aborted, operation::barrier, code::aborted, {"barrier", "the world has failed"});
  expect_said(failure::timed_out, operation::lock, code::wait_timeout, {"a lock operation", "PE 7 is ahead"});
  expect_said(failure::timed_out, operation::bulk_copy, code::wait_timeout,
              {"bulk_copier", "two threads used one copier"});
}

TEST(failure_text, atomic_operations_have_their_names) {
  EXPECT_STREQ(name_of(operation_of(atomic_update::fetch, true)), "atomic_fetch");
  EXPECT_STREQ(name_of(operation_of(atomic_update::set, false)), "atomic_set");
  EXPECT_STREQ(name_of(operation_of(atomic_update::add, false)), "atomic_add");
  EXPECT_STREQ(name_of(operation_of(atomic_update::max, false)), "atomic_max");
  EXPECT_STREQ(name_of(operation_of(atomic_update::add, true)), "atomic_fetch_add");
  EXPECT_STREQ(name_of(operation_of(atomic_update::bit_xor, true)), "atomic_fetch_xor");
  EXPECT_STREQ(name_of(operation_of(atomic_update::max, true)), "atomic_fetch_max");
  EXPECT_STREQ(name_of(operation_of(atomic_update::swap, true)), "atomic_swap");
  EXPECT_STREQ(name_of(operation_of(atomic_update::compare_swap, true)), "atomic_compare_swap");
}

TEST(failure_text, says_what_was_wrong_with_a_call) {
  expect_said(failure::pe_out_of_range, operation::put, code::pe_out_of_range, {"put", "PE 7 does not exist"});
  expect_said(failure::outside_heap, operation::get, code::outside_heap, {"96 bytes", "0x1240", "was allocated"});
  expect_said(failure::misaligned, operation::p, code::misaligned, {"0x1240", "96"});
  expect_said(failure::not_a_member, operation::reduce, code::invalid_argument, {"reduce", "not a member"});
  expect_said(failure::bad_channel, operation::sync, code::invalid_argument, {"no channel 96"});
  expect_said(failure::asymmetric, operation::fcollect, code::asymmetric_call, {"fcollect", "PE 7 called another"});
  expect_said(failure::not_direct, operation::put, code::invalid_argument, {"put", "PE 7 is proxied", "the domain"});
  expect_said(failure::not_held, operation::lock, code::invalid_argument, {"does not hold the lock"});
}

TEST(failure_text, says_what_was_wrong_with_a_message) {
  expect_said(failure::too_long, operation::send, code::invalid_argument,
              {"send by", "96 bytes", "PE 7", "room for 12", "packet_lines()"});
  expect_said(failure::out_of_turn, operation::receive, code::invalid_argument,
              {"receive by", "message 12", "PE 7", "only 11", "an empty one"});
  expect_said(failure::not_received, operation::send, code::invalid_argument,
              {"send by", "round 12 of the ll_team_channel", "0x1240", "received round 11 from PE 7", "ll_rounds"});
}

}  // namespace
}  // namespace pgas::unit_test
