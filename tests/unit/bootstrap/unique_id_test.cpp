/// @file
/// The text form of rank 0's address.
#include "bootstrap/tcp/unique_id.hpp"

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.hpp"

namespace pgas::boot::test {
namespace {

TEST(unique_id, is_one_printable_word_that_reads_back) {
  const std::string text = make_unique_id();
  EXPECT_LE(text.size(), unique_id::longest);
  for (const char c : text) EXPECT_TRUE(c > ' ' && c < 127) << text;
  const unique_id id = unique_id::parse(text);
  EXPECT_EQ(id.print(), text);
  EXPECT_NE(id.addresses.front().port(), 0);
}

TEST(unique_id, every_one_has_a_secret_of_its_own) {
  EXPECT_FALSE(same_bits(unique_id::parse(make_unique_id()).secret, unique_id::parse(make_unique_id()).secret));
}

TEST(unique_id, names_only_the_interface_asked_for) {
  bootstrap_options options;
  options.interface = "lo";
  const unique_id id = unique_id::parse(make_unique_id(options));
  for (const tcp_address& one : id.addresses)
    EXPECT_TRUE(one.text().starts_with("127.") || one.text().starts_with("[::1]")) << one.text();
  options.interface = "nosuch0";
  const error e = thrown_by([&] { (void)make_unique_id(options); });
  EXPECT_EQ(e.code(), code::config_value);
  EXPECT_SAYS(e, "PGAS_SOCKET_IFNAME=nosuch0");
  EXPECT_SAYS(e, "lo");
}

TEST(unique_id, needs_an_interface_that_is_up) {
  constexpr int not_allowed = 77;
  const pid_t child = ::fork();
  if (child == 0) {  // the child is in a separate network namespace whose interfaces are all down
    if (::unshare(CLONE_NEWNET) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) ::_exit(not_allowed);
    try {
      const error e = thrown_by([] { (void)make_unique_id(); });
      EXPECT_EQ(e.code(), code::bootstrap_unavailable);
      EXPECT_SAYS(e, "no network interface of this host is up");
    } catch (const std::exception& e) {
      ADD_FAILURE() << e.what();
    }
    ::_exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == not_allowed) GTEST_SKIP() << "no network namespace can be made here";
  EXPECT_EQ(status, 0);
}

TEST(unique_id, many_addresses_are_cut_to_fit_and_keep_the_loopback) {
  unique_id id{random_bits(), {}};
  for (int i = 0; i < 30; ++i)
    id.addresses.push_back(
        tcp_address::parse_host("fd00:1111:2222:3333:4444:5555:6666:" + std::to_string(1000 + i), 80).value());
  id.addresses.push_back(tcp_address::parse_host("127.0.0.1", 80).value());
  const std::string text = id.print();
  EXPECT_LE(text.size(), unique_id::longest);
  EXPECT_TRUE(text.ends_with(",127.0.0.1")) << text;
  EXPECT_GT(unique_id::parse(text).addresses.size(), 3u);
}

TEST(unique_id, nothing_of_a_damaged_one_is_shown) {
  const std::string text = make_unique_id();
  for (const std::string& damaged :
       {text + ",not-an-address", text.substr(6), "x" + text, text + std::string(300, '1')})
    EXPECT_EQ(std::string(thrown_by([&] { (void)unique_id::parse(damaged); }).what()).find(text.substr(12, 8)),
              std::string::npos);
}

TEST(unique_id, a_damaged_one_is_refused) {
  const std::string text = make_unique_id();
  const std::string secret_cut = "pgas1-1234-00112233-127.0.0.1";
  for (const std::string& damaged :
       {std::string{}, std::string{"nonsense"}, text.substr(0, 20), secret_cut, text + ",not-an-address", text + ",",
        std::string{"pgas1-0-00112233445566778899aabbccddeeff-127.0.0.1"},
        std::string{"pgas1-12345-00112233445566778899aabbccddeeff-127.0.0.1"},
        std::string{"pgas1-1234-0011223344556677x899aabbccddeeff-127.0.0.1"}, text + std::string(300, '1')}) {
    EXPECT_EQ(thrown_by([&] { (void)unique_id::parse(damaged); }).code(), code::bootstrap_protocol) << damaged;
  }
}

}  // namespace
}  // namespace pgas::boot::test
