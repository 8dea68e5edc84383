// A program compiled with a header of another version gets an error from the first call that takes a struct of the
// header.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "pgas/bootstrap.hpp"
#include "pgas/config.hpp"
#include "pgas/world.hpp"

namespace {

using pgas::code;

// Expects that `call` throws a version_mismatch whose text contains both sizes.
template <class Call>
void expect_mismatch(std::size_t in_program, std::size_t in_library, const Call& call) {
  try {
    call();
    ADD_FAILURE() << "expected an error";
  } catch (const pgas::error& thrown) {
    EXPECT_EQ(thrown.code(), code::version_mismatch);
    const std::string sizes = std::to_string(in_program) + " bytes in the program and " + std::to_string(in_library);
    EXPECT_NE(std::string(thrown.what()).find(sizes), std::string::npos) << thrown.what();
  }
}

TEST(struct_size, of_another_config) {
  pgas::config settings;
  settings.struct_size -= 8;
  const auto expect = [&](const auto& call) { expect_mismatch(settings.struct_size, sizeof settings, call); };
  expect([&] { static_cast<void>(pgas::config::from_environment(settings.struct_size)); });
  expect([&] { static_cast<void>(pgas::world::join(settings)); });
  expect([&] { static_cast<void>(pgas::world::join(std::move(pgas::make_thread_bootstraps(1).front()), settings)); });
}

TEST(struct_size, of_other_bootstrap_options) {
  pgas::bootstrap_options options;
  options.method = "singleton";
  options.struct_size += 8;
  const auto expect = [&](const auto& call) { expect_mismatch(options.struct_size, sizeof options, call); };
  expect([&] { static_cast<void>(pgas::make_bootstrap(options)); });
  expect([&] { static_cast<void>(pgas::make_unique_id(options)); });
}

}  // namespace
