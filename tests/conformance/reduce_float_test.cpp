// Reductions and scans of floating-point and complex numbers, compared with results in double, with a bound on the
// error. The host's tests cover all operations and types.
#include "reductions.hpp"

namespace {

using namespace pgas;
using namespace pgas_test;

TEST(reduce_float, sum) {
  try_operation<op::sum, float16>();
  try_operation<op::sum, bfloat16>();
  try_operation<op::sum, float>();
  try_operation<op::sum, double>();
}
TEST(reduce_float, prod) { try_operation<op::prod, double>(); }
TEST(reduce_float, min_and_max) {
  try_operation<op::min, bfloat16>();
  try_operation<op::max, float16>();
  try_operation<op::max, double>();
}
TEST(reduce_float, complex) {
  try_operation<op::sum, std::complex<float>>();
  try_operation<op::prod, std::complex<float>>();
}
TEST(reduce_float, location) {
  try_operation<op::maxloc, indexed<double, std::int32_t>>();  // a type with padding
  try_operation<op::minloc, indexed<float, std::int32_t>>();
}

}  // namespace
