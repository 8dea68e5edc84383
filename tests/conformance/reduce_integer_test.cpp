// Reductions and scans of integers with every operation.
#include "reductions.hpp"

namespace {

using namespace pgas;
using namespace pgas_test;

TEST(reduce_integer, sum) {
  try_operation<op::sum, std::int8_t>();
  try_operation<op::sum, std::uint64_t>();
}
TEST(reduce_integer, prod) {
  try_operation<op::prod, std::uint16_t>();
  try_operation<op::prod, std::int64_t>();
}
TEST(reduce_integer, min) {
  try_operation<op::min, std::uint8_t>();
  try_operation<op::min, std::int64_t>();
}
TEST(reduce_integer, max) {
  try_operation<op::max, std::int16_t>();
  try_operation<op::max, std::uint32_t>();
}
TEST(reduce_integer, bits) {
  try_operation<op::bit_and, std::uint8_t>();
  try_operation<op::bit_or, std::int16_t>();
  try_operation<op::bit_xor, std::uint64_t>();
}
TEST(reduce_integer, location) {
  try_operation<op::maxloc, indexed<std::int32_t, std::int32_t>>();
  try_operation<op::minloc, indexed<std::int64_t>>();
}

}  // namespace
