/// @file
/// The suite that every transport must pass. Each test program instantiates it with its kinds of transport.
#pragma once

#include "test_pe.hpp"

namespace pgas_test {

class contract : public testing::TestWithParam<transport_kind> {
 protected:
  static void run(int n, const std::function<void(test_pe&)>& body) { run_pes(GetParam(), n, body); }
};

/// The name of a test, for INSTANTIATE_TEST_SUITE_P.
[[nodiscard]] inline std::string kind_name(const testing::TestParamInfo<transport_kind>& info) {
  return info.param.name;
}

}  // namespace pgas_test
