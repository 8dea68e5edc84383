/// @file
/// Log lines: form, levels and destination. Lines of many threads are not mixed.
#include "host/log/logger.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <regex>
#include <thread>
#include <vector>

#include "pgas/error.hpp"

namespace pgas::log {
namespace {

class log_test : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    directory_ = std::filesystem::path(testing::TempDir()) /
                 (std::string("pgas_log_") + test->name() + std::to_string(getpid()));
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  [[nodiscard]] std::string path(std::string_view name) const { return directory_ / name; }
  [[nodiscard]] std::vector<std::string> lines(std::string_view name) const {
    std::ifstream file(path(name));
    std::vector<std::string> result;
    for (std::string line; std::getline(file, line);) result.push_back(line);
    return result;
  }

  std::filesystem::path directory_;
};

TEST_F(log_test, lines_name_process_and_pe) {
  logger log(log_level::warn, path("a"));
  log.warn("{} of {}", 1, "two");
  log.set_pe(2, 4);
  log.error("three");
  const auto text = lines("a");
  ASSERT_EQ(text.size(), 2u);
  const std::string place = "[^ :]+:" + std::to_string(getpid());
  EXPECT_TRUE(std::regex_match(text[0], std::regex("\\[pgas " + place + "\\] warn: 1 of two"))) << text[0];
  EXPECT_TRUE(std::regex_match(text[1], std::regex("\\[pgas 2/4 " + place + "\\] error: three"))) << text[1];
}

TEST_F(log_test, control_characters_are_shown_and_not_obeyed) {
  logger log(log_level::warn, path("a"));
  log.warn("{}", "red \x1b[31m\nforged\t\x7f \xc2\x9bJ, gr\xc3\xbcn");
  const auto text = lines("a");
  ASSERT_EQ(text.size(), 1u);
  EXPECT_TRUE(text[0].ends_with("warn: red \\x1b[31m\\x0aforged\\x09\\x7f \\x9bJ, gr\xc3\xbcn")) << text[0];
}

TEST_F(log_test, levels_below_the_limit_are_dropped) {
  logger log(log_level::info, path("a"));
  log.debug("no");
  log.info("yes");
  EXPECT_EQ(lines("a").size(), 1u);
  EXPECT_TRUE(log.enabled(log_level::error));
  EXPECT_TRUE(log.enabled(log_level::info));
  EXPECT_FALSE(log.enabled(log_level::debug));
}

TEST_F(log_test, counts_errors_and_warnings_those_left_out_too) {
  for (const log_level level : {log_level::debug, log_level::error}) {
    logger log(level, path("a"));
    log.info("x");
    log.debug("x");
    EXPECT_EQ(log.count(log_level::warn), 0u);
    EXPECT_EQ(log.count(log_level::error), 0u);
    log.warn("x");
    log.warn("x");
    log.error("x");
    EXPECT_EQ(log.count(log_level::warn), 2u);
    EXPECT_EQ(log.count(log_level::error), 1u);
  }
}

TEST_F(log_test, file_names_expand_and_files_are_appended_to) {
  const std::string expected = "x%" + std::to_string(getpid()) + ".log";
  for (int i = 0; i < 2; ++i) logger(log_level::info, path("x%%%p.log")).info("line {}", i);
  EXPECT_EQ(lines(expected).size(), 2u);
  logger(log_level::info, path("h-%h")).info("x");
  char host[256] = {};
  ASSERT_EQ(gethostname(host, sizeof host - 1), 0);
  EXPECT_EQ(lines(std::string("h-") + host).size(), 1u);
}

TEST_F(log_test, a_file_that_cannot_be_opened_is_an_error_that_names_it) {
  try {
    const logger log(log_level::info, path("missing/x"));
    ADD_FAILURE() << "opened";
  } catch (const pgas::error& e) {
    EXPECT_EQ(e.code(), code::config_value);
    EXPECT_NE(std::string(e.what()).find("missing/x"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("PGAS_LOG_FILE"), std::string::npos) << e.what();
  }
}

TEST_F(log_test, lines_of_many_threads_stay_whole) {
  constexpr int n_threads = 8;
  constexpr int n_lines = 200;
  {
    logger log(log_level::info, path("a"));
    std::vector<std::jthread> threads;
    for (int t = 0; t < n_threads; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < n_lines; ++i) {
          if (i == n_lines / 2) log.set_pe(t, n_threads);
          log.info("{}", std::string(100, static_cast<char>('a' + t)));
        }
      });
  }
  const auto text = lines("a");
  ASSERT_EQ(text.size(), std::size_t{n_threads} * n_lines);
  const std::regex whole("\\[pgas (\\d/8 )?[^ ]+\\] info: (.)\\2{99}");
  for (const std::string& line : text) ASSERT_TRUE(std::regex_match(line, whole)) << line;
}

TEST_F(log_test, writing_leaves_errno_alone) {
  logger log(log_level::info, "/dev/full");
  errno = EDOM;
  log.info("no room for this");
  EXPECT_EQ(errno, EDOM);
}

}  // namespace
}  // namespace pgas::log
