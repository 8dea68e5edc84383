// Joining inside a host: connections that are accepted or refused, and error messages.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <set>
#include <sstream>
#include <thread>

#include "common/net/unix_socket.hpp"
#include "host/connect/connect_peers.hpp"
#include "host/connect/peer_descriptor.hpp"
#include "host/failure/question_service.hpp"
#include "unit/connect/fixtures.hpp"
#include "unit/connect/strangers.hpp"

namespace pgas::unit_test {
namespace {

using namespace pgas::detail;

/// Joins three PEs while `stranger(socket paths)` runs between the exchange of descriptors and the connections, and
/// while the PEs connect. Returns the log of all PEs.
std::vector<std::string> join_with(const std::function<void(const std::vector<std::filesystem::path>&)>& stranger,
                                   const std::function<void()>& afterwards = {}) {
  const scratch_folder sockets;
  const scratch_folder logs;
  std::atomic<bool> done{false};
  const auto ends = run_threads(3, [&](bootstrap& exchange) {
    config settings = quick();
    settings.socket_directory = sockets.path();
    settings.log_file = logs.path() + "/log";
    pausing_bootstrap paused(exchange, [&] {
      if (exchange.rank() == 2) {
        stranger(sockets.entries());
        done = true;
      }
      while (!done) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
    joined_pe pe(paused, settings);
    pe.control_plane.barrier();
    for (const std::filesystem::path& left : sockets.entries())
      EXPECT_TRUE(left.filename().string().starts_with(question_socket_prefix))
          << left << ": sockets must go when all are connected";
    pe.control_plane.leave();
  });
  EXPECT_TRUE(sockets.entries().empty()) << "sockets for questions must go with their PEs";
  expect_no_error(ends);
  if (afterwards) afterwards();
  return lines_of(logs.path() + "/log");
}

unique_fd knock(const std::filesystem::path& path) {
  connect_result knocked = connect_to(unix_address(path.parent_path(), path.filename()));
  EXPECT_TRUE(knocked.fd) << std::strerror(knocked.error);
  return std::move(knocked.fd);
}

TEST(joining, sockets_in_a_directory_are_private_and_go_away) {
  const auto lines = join_with([](const auto& sockets) {
    EXPECT_EQ(sockets.size(), 3u);
    for (const auto& socket : sockets) {
      struct stat about {};
      EXPECT_EQ(::stat(socket.c_str(), &about), 0);
      EXPECT_EQ(about.st_mode & 0777u, 0600u);
    }
  });
  EXPECT_EQ(count_with(lines, "warn: "), 0u);
}

TEST(joining, strangers_are_refused_with_one_line_each_and_delay_nobody) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<unique_fd> held;
  const auto lines = join_with([&](const auto& sockets) {
    for (const auto& socket : sockets) {
      // The messages of a PE with the wrong secret, for every PE that may listen here.
      for (const int meant : {0, 1}) {
        unique_fd guesser = knock(socket);
        send_message(guesser, hello{.from = 2, .to = meant});
        send_message(guesser, random_bits());
        held.push_back(std::move(guesser));
      }

      unique_fd babbler = knock(socket);
      EXPECT_EQ(send_packet(babbler.get(), std::as_bytes(std::span("GET / HTTP/1.1", 14)), {}, {}), 0);
      held.push_back(std::move(babbler));

      unique_fd flooder = knock(socket);  // sends more bytes than any hello, and a descriptor that must not leak
      const int zero = 0;
      EXPECT_EQ(send_packet(flooder.get(), blob(5000), {}, std::span(&zero, 1)), 0);
      held.push_back(std::move(flooder));

      held.push_back(knock(socket));  // sends no data
      knock(socket).reset();          // closed immediately
    }
  });
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(4));
  // PE 1 and PE 2 expect no connections, and may finish joining before they have read from the strangers.
  const std::size_t refused = count_with(lines, "warn: refused a connection from process ");
  EXPECT_GE(refused, 6u);
  EXPECT_LE(refused, 18u);
  EXPECT_EQ(count_with(lines, "warn: "), refused);
  EXPECT_GE(count_with(lines, "does not know this job's secret"), 2u);
  EXPECT_GE(count_with(lines, "speaks another protocol"), 2u);
  EXPECT_GE(count_with(lines, "has not said who it is"), 1u);
  EXPECT_GE(count_with(lines, "went away without a word"), 1u);
  // No connection has received more than the answer to a hello.
  for (const unique_fd& fd : held) {
    std::array<std::byte, 100> heard;
    const ssize_t got = ::recv(fd.get(), heard.data(), heard.size(), MSG_DONTWAIT);
    EXPECT_TRUE(got == 0 || got == static_cast<ssize_t>(sizeof(hello_answer)) || (got < 0 && errno == ECONNRESET))
        << got;
  }
}

TEST(joining, a_crowd_of_silent_connections_does_not_keep_pes_out) {
  std::vector<unique_fd> crowd;
  const auto lines = join_with([&](const auto& sockets) {
    for (const auto& socket : sockets)
      for (int i = 0; i < 300; ++i)
        if (connect_result one = connect_to(unix_address(socket.parent_path(), socket.filename())); one.fd)
          crowd.push_back(std::move(one.fd));
  });
  EXPECT_GE(crowd.size(), 180u);
  EXPECT_EQ(count_with(lines, "error: "), 0u);
}

/// The abstract names of this process's world sockets, from Linux's list of all names.
std::vector<std::string> own_abstract_names() {
  std::set<std::string> own_inodes;
  for (const auto& fd : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const std::string target = std::filesystem::read_symlink(fd.path(), gone).string();
    if (target.starts_with("socket:[")) own_inodes.insert(target.substr(8, target.size() - 9));
  }
  std::vector<std::string> names;
  for (const std::string& line : lines_of("/proc/net/unix")) {
    std::istringstream fields(line);
    std::string number, count, protocol, flags, type, state, inode, path;
    fields >> number >> count >> protocol >> flags >> type >> state >> inode >> path;
    if (path.starts_with("@pgas-") && own_inodes.contains(inode)) names.push_back(path.substr(1));
  }
  return names;
}

TEST(joining, another_user_is_refused_before_anything_is_said) {
  if (::geteuid() != 0) GTEST_SKIP() << "changes user, which only root can";
  const scratch_folder logs;
  std::atomic<bool> done{false};
  expect_no_error(run_threads(2, [&](bootstrap& exchange) {
    config settings = quick();
    settings.log_file = logs.path() + "/log";
    pausing_bootstrap paused(exchange, [&] {
      if (exchange.rank() == 1) {
        const std::vector<std::string> names = own_abstract_names();
        EXPECT_GE(names.size(), 2u);
        const pid_t child = ::fork();
        if (child == 0) {
          int connected = 0;
          if (::setgid(65534) == 0 && ::setuid(65534) == 0)
            for (const std::string& name : names) {
              const unix_address there("", name);
              const int fd = ::socket(AF_UNIX, SOCK_SEQPACKET, 0);
              connected += ::connect(fd, there.raw(), there.length()) == 0 ? 1 : 0;
            }
          ::_exit(connected >= 2 ? 0 : 1);
        }
        int child_status = 1;
        EXPECT_EQ(::waitpid(child, &child_status, 0), child);
        EXPECT_EQ(child_status, 0) << "the other user could not even knock";
        done = true;
      }
      while (!done) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
    joined_pe pe(paused, settings);
    pe.control_plane.barrier();
    pe.control_plane.leave();
  }));
  EXPECT_EQ(count_with(lines_of(logs.path() + "/log"), "it runs as user 65534"), 2u);
}

/// Two descriptors that this process could have made.
std::vector<peer_descriptor> two_descriptors() { return {make_descriptor("/tmp"), make_descriptor("/tmp")}; }

TEST(joining, who_answers_at_a_pes_address_without_the_secret_is_not_taken_for_it) {
  const scratch_folder folder;
  config settings = quick();
  settings.socket_directory = folder.path();
  const auto all = two_descriptors();
  const unix_listener mine(unix_address(folder.path(), all[1].socket_name()), 4);
  const unix_listener impostor(unix_address(folder.path(), all[0].socket_name()), 4);
  std::thread answer([&] {
    unique_fd caller;
    while (!caller) caller = impostor.accept().fd;
    std::array<std::byte, 64> heard;
    received_packet message;
    do message = receive_packet(caller.get(), heard);
    while (message.what == received_packet::status::nothing_yet);
    EXPECT_EQ(message.bytes.size(), sizeof(hello));
    EXPECT_EQ(send_packet(caller.get(), message.bytes, {}, {}), 0);  // the message is sent back to its sender
    do message = receive_packet(caller.get(), heard);
    while (message.what == received_packet::status::nothing_yet);
  });
  log::logger log(log_level::error, "/dev/null");
  try {
    static_cast<void>(connect_peers(all, peer_table(all, 1), mine, settings, log));
    ADD_FAILURE() << "the impostor was believed";
  } catch (const error& refused) {
    EXPECT_EQ(refused.code(), code::authentication) << refused.what();
    EXPECT_EQ(refused.pe(), 0);
  }
  answer.join();
}

TEST(joining, a_pe_that_does_not_connect_is_named) {
  const scratch_folder folder;
  config settings = quick();
  settings.socket_directory = folder.path();
  settings.join_timeout = std::chrono::milliseconds(200);
  const auto all = two_descriptors();
  const unix_listener mine(unix_address(folder.path(), all[0].socket_name()), 4);
  log::logger log(log_level::error, "/dev/null");
  try {
    static_cast<void>(connect_peers(all, peer_table(all, 0), mine, settings, log));
    ADD_FAILURE() << "nobody connected";
  } catch (const error& missing) {
    EXPECT_EQ(missing.code(), code::bootstrap_timeout) << missing.what();
    EXPECT_EQ(missing.pe(), 1);
    EXPECT_NE(std::string(missing.what()).find("PE 1 (host "), std::string::npos) << missing.what();
  }
}

TEST(joining, a_directory_that_is_not_shared_is_explained) {
  const scratch_folder folder;
  config settings = quick();
  settings.socket_directory = folder.path();
  const auto all = two_descriptors();
  const unix_listener mine(unix_address(folder.path(), all[1].socket_name()), 4);
  log::logger log(log_level::error, "/dev/null");
  try {
    static_cast<void>(connect_peers(all, peer_table(all, 1), mine, settings, log));
    ADD_FAILURE() << "there is no PE 0";
  } catch (const error& missing) {
    EXPECT_EQ(missing.code(), code::peer_unreachable) << missing.what();
    EXPECT_NE(std::string(missing.what()).find("PGAS_SOCKET_DIR"), std::string::npos) << missing.what();
  }
}

TEST(joining, a_directory_that_cannot_be_used_fails_on_every_pe_alike) {
  const scratch_folder good;
  const holdings before = count_holdings();
  for (const std::string& folder : {std::string("/nonexistent/folder"), std::string(120, 'x')}) {
    std::vector<std::string> texts(3);
    const auto ends = run_threads(3, [&](bootstrap& exchange) {
      config settings = quick();
      settings.socket_directory = exchange.rank() == 1 ? folder : good.path();
      joined_pe pe(exchange, settings);
    });
    for (const auto& end : ends) {
      ASSERT_TRUE(end);
      EXPECT_EQ(end->pe(), 1);
      EXPECT_STREQ(end->what(), ends[0]->what());
      EXPECT_NE(std::string(end->what()).find("PGAS_SOCKET_DIR"), std::string::npos) << end->what();
    }
  }
  EXPECT_EQ(settle_at(before), before);
}

TEST(joining, a_pe_that_is_lost_while_joining_fails_all_and_leaks_nothing) {
  const holdings before = count_holdings();
  const scratch_folder folder;
  const auto ends = run_threads(3, [&](bootstrap& exchange) {
    config settings = quick();
    settings.join_timeout = std::chrono::seconds(2);
    settings.socket_directory = folder.path();
    // PE 1 leaves after the exchange of descriptors, like a process that is killed at that time.
    pausing_bootstrap paused(exchange, [&] {
      if (exchange.rank() == 1) throw error(code::aborted, "gives up", 1);
    });
    joined_pe pe(paused, settings);
  });
  for (const auto& end : ends) EXPECT_TRUE(end);
  EXPECT_TRUE(folder.entries().empty());
  EXPECT_EQ(settle_at(before), before);
}

TEST(joining, network_namespaces_with_a_common_directory_are_one_host) {
  if (::geteuid() != 0) GTEST_SKIP() << "makes a network namespace, which only root can";
  const scratch_folder folder;
  const auto ends = run_processes(2, [&](bootstrap& exchange) {
    if (exchange.rank() == 1) require(::unshare(CLONE_NEWNET) == 0, "a network namespace of its own");
    config settings = quick();
    settings.socket_directory = folder.path();
    joined_pe pe(exchange, settings);
    require(pe.control_plane.peer(1).host_index == 0 && pe.control_plane.peer(1).local_rank == 1, "one host");
    pe.control_plane.barrier();
    pe.control_plane.leave();
  });
  for (const auto& end : ends) EXPECT_EQ(end.message, "");
}

TEST(peer_descriptor, a_host_is_what_unix_sockets_reach) {
  std::vector<peer_descriptor> all = {make_descriptor(""), make_descriptor(""), make_descriptor(""),
                                      make_descriptor("")};
  EXPECT_EQ(hosts_of(all), (std::vector<int>{0, 0, 0, 0}));
  all[2].host = "elsewhere";
  EXPECT_EQ(hosts_of(all), (std::vector<int>{0, 0, 0, 0})) << "a host name alone says nothing";

  all[0].machine = all[2].machine = short_for("another");
  EXPECT_EQ(hosts_of(all), (std::vector<int>{0, 1, 0, 1}));
  all[2].network_namespace = short_for("4:77");
  EXPECT_EQ(hosts_of(all), (std::vector<int>{0, 1, 2, 1}));
  all[0].in_directory = all[2].in_directory = 1;
  EXPECT_EQ(hosts_of(all), (std::vector<int>{0, 1, 0, 1})) << "a directory bridges network namespaces";
  EXPECT_FALSE(validate(all));
}

TEST(peer_descriptor, what_keeps_pes_of_one_host_apart_names_both) {
  std::vector<peer_descriptor> all = {make_descriptor(""), make_descriptor(""), make_descriptor("")};
  EXPECT_FALSE(validate(all));
  auto half = all;
  half[2].in_directory = 1;
  ASSERT_TRUE(validate(half));
  EXPECT_EQ(validate(half)->code(), code::config_value);
  EXPECT_EQ(validate(half)->pe(), 2);
  EXPECT_NE(std::string(validate(half)->what()).find("PGAS_SOCKET_DIR"), std::string::npos);
  half[2].machine = short_for("another");
  EXPECT_FALSE(validate(half)) << "each host has its own way";

  auto foreign = all;
  foreign[1].user = 4711;
  ASSERT_TRUE(validate(foreign));
  EXPECT_EQ(validate(foreign)->code(), code::authentication);
  EXPECT_EQ(validate(foreign)->pe(), 1);
  foreign[1].machine = short_for("another");
  EXPECT_FALSE(validate(foreign)) << "users have other numbers on other hosts";
}

TEST(peer_descriptor, other_versions_and_other_programs_are_recognised) {
  const blob good = encode(make_descriptor(""));
  EXPECT_EQ(decode_descriptors({good, good}).size(), 2u);
  peer_descriptor older = make_descriptor("");
  older.version = "0.0.9";
  try {
    static_cast<void>(decode_descriptors({good, good, encode(older)}));
    ADD_FAILURE();
  } catch (const error& mismatch) {
    EXPECT_EQ(mismatch.code(), code::version_mismatch);
    EXPECT_EQ(mismatch.pe(), 2);
    EXPECT_NE(std::string(mismatch.what()).find("0.0.9"), std::string::npos);
  }
  for (const blob& bad : {blob(), bytes_of("nonsense"), blob(good.begin(), good.end() - 1)}) {
    try {
      static_cast<void>(decode_descriptors({good, bad}));
      ADD_FAILURE();
    } catch (const error& malformed) {
      EXPECT_EQ(malformed.code(), code::bootstrap_protocol);
      EXPECT_EQ(malformed.pe(), 1);
    }
  }
}

TEST(peer_descriptor, every_share_changes_the_secret_and_no_two_are_alike) {
  std::vector<peer_descriptor> all = {make_descriptor(""), make_descriptor("")};
  EXPECT_NE(all[0].secret, all[1].secret);
  EXPECT_NE(all[0].socket_name(), all[1].socket_name());
  const job_secret first = derive_job_key(all);
  all[1].secret[5] ^= std::byte{1};
  EXPECT_NE(derive_job_key(all), first);
}

}  // namespace
}  // namespace pgas::unit_test
