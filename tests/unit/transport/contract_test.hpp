/// @file
/// The suite that every transport has to pass; each test program instantiates it for its kinds of transport.
#pragma once

#include "test_pe.hpp"

namespace pgas_test {

class contract : public testing::TestWithParam<transport_kind> {
 protected:
  static void run(int n, const std::function<void(test_pe&)>& body) { run_pes(GetParam(), n, body); }
};

/// For INSTANTIATE_TEST_SUITE_P.
[[nodiscard]] inline std::string kind_name(const testing::TestParamInfo<transport_kind>& info) {
  return info.param.name;
}

}  // namespace pgas_test
