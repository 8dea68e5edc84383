/// @file
/// Which name a misspelled one is taken for.
#include <gtest/gtest.h>

#include "host/config/read_environment.hpp"

namespace pgas::config_detail {
namespace {

const std::vector<std::string_view> names = {"PGAS_HEAP", "PGAS_HEAP_LIMIT", "PGAS_LOG", "PGAS_LOG_FILE"};

TEST(nearest, finds_typing_errors) {
  EXPECT_EQ(nearest("PGAS_HEEP", names), "PGAS_HEAP");
  EXPECT_EQ(nearest("PGAS_HEAPLIMIT", names), "PGAS_HEAP_LIMIT");
  EXPECT_EQ(nearest("PGAS_LGO", names), "PGAS_LOG");
  EXPECT_EQ(nearest("PGAS_LOGFILE", names), "PGAS_LOG_FILE");
}

TEST(nearest, an_exact_name_is_nearest_to_itself) { EXPECT_EQ(nearest("PGAS_LOG", names), "PGAS_LOG"); }

TEST(nearest, does_not_guess_wildly) {
  EXPECT_EQ(nearest("PGAS_SOMETHING_ELSE", names), "");
  EXPECT_EQ(nearest("PGAS_LOG", {}), "");
}

}  // namespace
}  // namespace pgas::config_detail
