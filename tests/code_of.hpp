/// @file
/// Returns the code with which a call fails, for tests of wrong arguments.
#pragma once

#include <gtest/gtest.h>

#include <string_view>

#include "pgas/error.hpp"

namespace pgas_test {

/// Runs `call` and returns the code of the error that it throws, or code{} if it throws none.
template <class Call>
pgas::code code_if_any(Call&& call) {
  try {
    call();
  } catch (const pgas::error& thrown) {
    EXPECT_NE(std::string_view(thrown.what()).find("PGAS-E"), std::string_view::npos);
    return thrown.code();
  }
  return {};
}

/// As above, but fails the test if the call throws no error.
template <class Call>
pgas::code code_of(Call&& call) {
  const pgas::code thrown = code_if_any(call);
  EXPECT_NE(thrown, pgas::code{}) << "expected an error";
  return thrown;
}

}  // namespace pgas_test
