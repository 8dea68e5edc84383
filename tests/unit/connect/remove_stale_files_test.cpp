// Files of processes that were killed while they joined, and files that must be kept.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "common/net/unix_socket.hpp"
#include "host/connect/joining_mark.hpp"
#include "unit/connect/fixtures.hpp"

namespace pgas::unit_test {
namespace {

using detail::unique_fd;

/// A socket whose file stays in a folder, as if its process had been killed.
unique_fd bound(const std::string& folder, const std::string& name, bool old) {
  const detail::unix_address address(folder, name);
  unique_fd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  EXPECT_EQ(::bind(fd.get(), address.raw(), address.length()), 0);
  EXPECT_EQ(::listen(fd.get(), 4), 0);
  const timespec then[2] = {{1, 0}, {1, 0}};
  if (old) {
    EXPECT_EQ(::utimensat(AT_FDCWD, address.path().c_str(), then, AT_SYMLINK_NOFOLLOW), 0);
  }
  return fd;
}

TEST(leftovers, sockets_at_which_nobody_listens_any_more_are_removed) {
  const scratch_folder folder;
  const auto is_there = [&](const char* name) { return std::filesystem::exists(folder.path() + "/" + name); };
  bound(folder.path(), "pgas-dead", true).reset();
  bound(folder.path(), "pgas-young", false).reset();
  bound(folder.path(), "of-somebody-else", true).reset();
  const unique_fd alive = bound(folder.path(), "pgas-alive", true);
  detail::remove_stale_files(folder.path());
  EXPECT_FALSE(is_there("pgas-dead"));
  EXPECT_TRUE(is_there("pgas-young"));
  EXPECT_TRUE(is_there("of-somebody-else"));
  EXPECT_TRUE(is_there("pgas-alive"));
}

class ucx_file {
 public:
  explicit ucx_file(const std::string& what)
      : path_("/dev/shm/ucx_shm_posix_test-" + what + "-" + std::to_string(::getpid())),
        fd(::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600)) {
    EXPECT_EQ(::ftruncate(fd.get(), 4096), 0);
  }
  ~ucx_file() { ::unlink(path_.c_str()); }
  ucx_file(const ucx_file&) = delete;
  ucx_file& operator=(const ucx_file&) = delete;
  [[nodiscard]] bool is_there() const { return std::filesystem::exists(path_); }

 private:
  std::string path_;

 public:
  unique_fd fd;
};

TEST(leftovers, files_of_ucx_that_no_process_has_are_removed) {
  ucx_file dead("dead");
  ucx_file open("open");
  ucx_file mapped("mapped");
  void* const memory = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, mapped.fd.get(), 0);
  ASSERT_NE(memory, MAP_FAILED);
  mapped.fd.reset();
  dead.fd.reset();
  detail::remove_stale_files("");
  EXPECT_FALSE(dead.is_there());
  EXPECT_TRUE(open.is_there());
  EXPECT_TRUE(mapped.is_there());
  ::munmap(memory, 4096);
}

}  // namespace
}  // namespace pgas::unit_test
