// Files that settings name, in directories where other users can create files.
#include "common/output_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "scratch_folder.hpp"

namespace {

using pgas::detail::open_output_file;
using pgas::detail::unique_fd;

constexpr uid_t stranger = 65534;

class OutputFile : public ::testing::Test {
 protected:
  OutputFile() { std::ofstream(victim()) << "precious"; }

  [[nodiscard]] std::string victim() const { return directory_ + "/victim"; }
  [[nodiscard]] std::string path() const { return directory_ + "/output"; }
  [[nodiscard]] static std::string content(const std::string& name) {
    std::ifstream file(name);
    std::string text;
    std::getline(file, text);
    return text;
  }

  const pgas::unit_test::scratch_folder folder_;
  const std::string directory_ = folder_.path();
  std::string why_;
};

TEST_F(OutputFile, IsCreatedTruncatedOrContinued) {
  unique_fd file = open_output_file(path(), O_APPEND, why_);
  ASSERT_TRUE(file) << why_;
  EXPECT_EQ(::write(file.get(), "ab", 2), 2);
  file = open_output_file(path(), O_APPEND, why_);
  EXPECT_EQ(::write(file.get(), "cd", 2), 2);
  EXPECT_EQ(content(path()), "abcd");
  file = open_output_file(path(), O_TRUNC, why_);
  EXPECT_EQ(content(path()), "");
  struct stat found {};
  ASSERT_EQ(::stat(path().c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0133, 0u);
  EXPECT_EQ(::fcntl(file.get(), F_GETFL) & O_NONBLOCK, 0);
}

TEST_F(OutputFile, ALinkOfThisUserIsFollowed) {
  ASSERT_EQ(::symlink(victim().c_str(), path().c_str()), 0);
  EXPECT_TRUE(open_output_file(path(), O_TRUNC, why_)) << why_;
  EXPECT_EQ(content(victim()), "");
  EXPECT_TRUE(open_output_file("/dev/stderr", O_APPEND, why_)) << why_;
}

TEST_F(OutputFile, ALinkOfAnotherUserIsNotFollowed) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make a link of another user";
  ASSERT_EQ(::symlink(victim().c_str(), path().c_str()), 0);
  ASSERT_EQ(::lchown(path().c_str(), stranger, stranger), 0);
  for (const int disposition : {O_TRUNC, O_APPEND}) EXPECT_FALSE(open_output_file(path(), disposition, why_));
  EXPECT_NE(why_.find("symbolic link of user 65534"), std::string::npos) << why_;
  EXPECT_EQ(content(victim()), "precious");
}

TEST_F(OutputFile, AFileOfAnotherUserIsNeitherWrittenNorTruncated) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make a file of another user";
  ASSERT_EQ(::chown(victim().c_str(), stranger, stranger), 0);
  for (const int disposition : {O_TRUNC, O_APPEND}) EXPECT_FALSE(open_output_file(victim(), disposition, why_));
  EXPECT_NE(why_.find("file of user 65534"), std::string::npos) << why_;
  EXPECT_EQ(content(victim()), "precious");
}

TEST_F(OutputFile, AFifoWithoutAReaderIsAnErrorAndNoWait) {
  ASSERT_EQ(::mkfifo(path().c_str(), 0600), 0);
  EXPECT_FALSE(open_output_file(path(), O_APPEND, why_));
  EXPECT_FALSE(why_.empty());
}

}  // namespace
