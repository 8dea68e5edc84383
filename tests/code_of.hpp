/// @file
/// Catches the error with which a call fails, for tests of failures.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>

#include "pgas/error.hpp"

namespace pgas_test {

/// The error that `call` throws. Empty if `call` throws no error.
template <class Call>
std::optional<pgas::error> thrown_by(Call&& call) {
  try {
    call();
  } catch (const pgas::error& thrown) {
    EXPECT_NE(std::string_view(thrown.what()).find("PGAS-E"), std::string_view::npos);
    return thrown;
  }
  return std::nullopt;
}

/// Runs `call` and returns the code of the error that it throws, or code{} if `call` throws no error.
template <class Call>
pgas::code code_if_any(Call&& call) {
  const auto thrown = thrown_by(call);
  return thrown ? thrown->code() : pgas::code{};
}

/// Runs `call` and returns the code of the error that it throws. Fails the test if `call` throws no error.
template <class Call>
pgas::code code_of(Call&& call) {
  const pgas::code thrown = code_if_any(call);
  EXPECT_NE(thrown, pgas::code{}) << "expected an error";
  return thrown;
}

/// The text of the error that `call` throws.
template <class Call>
std::string text_of(Call&& call) {
  const auto thrown = thrown_by(call);
  return thrown ? thrown->what() : "no error";
}

}  // namespace pgas_test
