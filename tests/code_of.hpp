/// @file
/// What tests of bad input ask: with which code a call fails.
#pragma once

#include <gtest/gtest.h>

#include <string_view>

#include "pgas/error.hpp"

namespace pgas_test {

/// Runs `call` and returns the code that it throws; fails the test when it throws none.
template <class Call>
pgas::code code_of(Call&& call) {
  try {
    call();
  } catch (const pgas::error& thrown) {
    EXPECT_NE(std::string_view(thrown.what()).find("PGAS-E"), std::string_view::npos);
    return thrown.code();
  }
  ADD_FAILURE() << "expected an error";
  return pgas::code::system;
}

}  // namespace pgas_test
