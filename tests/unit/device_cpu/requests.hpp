/// @file
/// Helpers that the tests of the CPU backend share.
#pragma once

#include "code_of.hpp"
#include "device/device.hpp"
#include "pgas/error.hpp"

namespace pgas::unit_test {

using namespace pgas::detail;
using how = atomic_update;
using type = datatype;

inline operation_request atomic_on(how what, type as, void* target, std::uint64_t value, std::uint64_t condition = 0) {
  operation_request request;
  request.what = operation_request::kind::atomic;
  request.how = what;
  request.as = as;
  request.to = target;
  request.value[0] = value;
  request.condition = condition;
  request.release = true;
  return request;
}

using pgas_test::thrown_by;

}  // namespace pgas::unit_test
