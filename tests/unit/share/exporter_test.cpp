// The exporter of a process and its importers, which are in the same process in this test.
#include "host/share/exporter.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <limits>
#include <string>
#include <thread>

#include "code_of.hpp"
#include "comes.hpp"
#include "common/net/unix_socket.hpp"
#include "host/share/exporter_connection.hpp"
#include "scratch_folder.hpp"

namespace {

using namespace std::chrono_literals;
using pgas::code;
using namespace pgas::detail;
using pgas_test::code_of;
using pgas_test::comes;

/// Pieces that are files, each of which contains its number.
class numbered_files final : public exportable_memory {
 public:
  explicit numbered_files(std::size_t count) : count_(count) { description_.bytes = 8 * count; }
  [[nodiscard]] void* data() const noexcept override { return nullptr; }
  [[nodiscard]] const sharing_description& description() const noexcept override { return description_; }
  [[nodiscard]] std::size_t pieces() const noexcept override { return count_; }
  [[nodiscard]] shared_piece piece(std::size_t number) const override {
    if (number == fail_at) throw pgas::error(code::device_failed, "no such piece");
    shared_piece result;
    result.bytes = 8;
    result.handle.kind = pgas::handle_kind::posix_fd;
    result.handle.fd = unique_fd(::memfd_create("numbered", MFD_CLOEXEC));
    EXPECT_EQ(::pwrite(result.handle.fd.get(), &number, 8, 0), 8);
    return result;
  }
  std::size_t fail_at = ~std::size_t{0};

 private:
  std::size_t count_;
  sharing_description description_;
};

/// An object of `count` numbered files.
class shared_files : public export_registration {
 public:
  explicit shared_files(std::size_t count) : shared_files(std::make_shared<numbered_files>(count)) {}
  explicit shared_files(std::shared_ptr<numbered_files> files)
      : export_registration(std::move(files), ticket_kind::memory) {}
};

deadline soon() { return deadline(5s); }

opened_ticket open(const std::string& text) { return open_ticket(decode(text), ticket_kind::memory, soon()); }

TEST(Exporter, HandsOverEveryPieceInOrder) {
  for (const std::size_t count : {0u, 1u, 59u, 60u, 61u, 200u, 1000u}) {
    shared_files shared(count);
    const opened_ticket opened = open(shared.make_ticket({}, {}));
    EXPECT_EQ(opened.description.size(), sizeof(sharing_description));
    ASSERT_EQ(opened.pieces.size(), count);
    for (std::size_t i = 0; i < count; ++i) {
      std::size_t number = 0;
      EXPECT_EQ(::pread(opened.pieces[i].handle.fd.get(), &number, 8, 0), 8);
      EXPECT_EQ(number, i);
    }
    EXPECT_TRUE(opened.connection->alive());
  }
}

TEST(Exporter, ListsWhoHasItOpen) {
  shared_files shared(1);
  EXPECT_TRUE(shared.opened_by().empty());
  {
    const opened_ticket opened = open(shared.make_ticket({}, {}));
    ASSERT_EQ(shared.opened_by().size(), 1u);
    EXPECT_EQ(shared.opened_by()[0].pid, ::getpid());
    EXPECT_EQ(shared.opened_by()[0].uid, ::geteuid());
    const std::string socket = decode(shared.make_ticket({}, {})).exporter.socket;
    const std::string list = list_exports(socket, soon());
    EXPECT_NE(list.find("exports 8 bytes of host memory"), std::string::npos) << list;
    EXPECT_NE(list.find("open in process " + std::to_string(::getpid())), std::string::npos) << list;
  }
  EXPECT_TRUE(comes([&] { return shared.opened_by().empty(); }));
}

TEST(Exporter, TicketsExpireAreUsedUpAndRevoked) {
  shared_files shared(1);
  const std::string twice = shared.make_ticket({.opens = 2}, {});
  { const opened_ticket item = open(twice); }
  { const opened_ticket two = open(twice); }
  EXPECT_EQ(code_of([&] { static_cast<void>(open(twice)); }), code::authentication);
  const std::string brief = shared.make_ticket({.lifetime = 3s}, {});
  const opened_ticket kept = open(brief);
  kept.connection->check_ticket();
  std::this_thread::sleep_for(4100ms);  // the text of a ticket has whole seconds
  EXPECT_EQ(code_of([&] { static_cast<void>(open(brief)); }), code::authentication);
  EXPECT_EQ(code_of([&] { kept.connection->check_ticket(); }), code::authentication);
  const std::string lasting = shared.make_ticket({}, {});
  const opened_ticket held = open(lasting);
  shared.revoke();
  EXPECT_EQ(code_of([&] { static_cast<void>(open(lasting)); }), code::authentication);
  EXPECT_EQ(code_of([&] { held.connection->check_ticket(); }), code::authentication);
  EXPECT_TRUE(held.connection->alive());
  EXPECT_EQ(open(shared.make_ticket({}, {})).pieces.size(), 1u);
}

TEST(Exporter, ExpiryIsTheExportersToo) {
  shared_files shared(1);
  ticket altered = decode(shared.make_ticket({.lifetime = 1s, .opens = 1}, {}));
  altered.expires = 0;  // simulates a forger that has the secret
  altered.opens = 0;
  std::this_thread::sleep_for(1100ms);
  EXPECT_EQ(code_of([&] { static_cast<void>(open_ticket(altered, ticket_kind::memory, soon())); }),
            code::authentication);
}

TEST(Exporter, RefusesBadOptionsOtherKindsUsersAndSecrets) {
  shared_files shared(1);
  EXPECT_EQ(code_of([&] { static_cast<void>(shared.make_ticket({.lifetime = -1s}, {})); }), code::invalid_argument);
  EXPECT_EQ(code_of([&] {
              static_cast<void>(shared.make_ticket(
                  {.lifetime = std::chrono::duration<double>(std::numeric_limits<double>::quiet_NaN())}, {}));
            }),
            code::invalid_argument);
  EXPECT_EQ(code_of([&] { static_cast<void>(shared.make_ticket({.opens = -1}, {})); }), code::invalid_argument);
  EXPECT_EQ(code_of([&] { static_cast<void>(shared.make_ticket({}, pgas::blob(5000))); }), code::invalid_argument);
  const std::string text = shared.make_ticket({}, {});
  EXPECT_EQ(code_of([&] { static_cast<void>(open_ticket(decode(text), ticket_kind::event, soon())); }),
            code::handle_invalid);
  EXPECT_EQ(code_of([&] { static_cast<void>(open(shared.make_ticket({.user = ::geteuid() + 1}, {}))); }),
            code::authentication);
  for (std::size_t i = 0; i < 16; ++i) {
    ticket wrong = decode(text);
    wrong.key[i] ^= std::byte{1};
    EXPECT_EQ(code_of([&] { static_cast<void>(open_ticket(wrong, ticket_kind::memory, soon())); }),
              code::authentication);
  }
  ticket elsewhere = decode(text);
  elsewhere.exporter.machine[0] ^= std::byte{1};
  EXPECT_EQ(code_of([&] { static_cast<void>(open_ticket(elsewhere, ticket_kind::memory, soon())); }),
            code::peer_unreachable);
}

TEST(Exporter, LongLifetimesDoNotOverflow) {
  shared_files shared(1);
  EXPECT_EQ(open(shared.make_ticket({.lifetime = std::chrono::seconds::max()}, {})).pieces.size(), 1u);
}

TEST(Exporter, FreedThingsEndTheConnectionButNotTheExporter) {
  auto shared = std::make_unique<shared_files>(1);
  const shared_files other(2);
  const std::string text = shared->make_ticket({}, {});
  const opened_ticket opened = open(text);
  shared.reset();
  EXPECT_EQ(code_of([&] { static_cast<void>(open(text)); }), code::authentication);
  EXPECT_TRUE(comes([&] { return code_of([&] { opened.connection->check_ticket(); }) != code::system; }));
}

TEST(Exporter, AFreshOneComesAfterTheLast) {
  std::string first;
  {
    shared_files shared(1);
    first = shared.make_ticket({}, {});
  }
  EXPECT_EQ(code_of([&] { static_cast<void>(open(first)); }), code::peer_lost);
  shared_files shared(1);
  EXPECT_EQ(open(shared.make_ticket({}, {})).pieces.size(), 1u);
  EXPECT_EQ(code_of([&] { static_cast<void>(open(first)); }), code::peer_lost);
}

TEST(Exporter, APieceThatCannotBeMadeIsAnErrorAndDoesNotCount) {
  for (const std::size_t at : {std::size_t{0}, std::size_t{70}}) {
    auto files = std::make_shared<numbered_files>(100);
    files->fail_at = at;
    shared_files shared(files);
    const std::string once = shared.make_ticket({.opens = 1}, {});
    EXPECT_EQ(code_of([&] { static_cast<void>(open(once)); }), code::device_failed);
    EXPECT_EQ(code_of([&] { static_cast<void>(open(once)); }), code::device_failed);
    EXPECT_TRUE(comes([&] { return shared.opened_by().empty(); }));
  }
}

TEST(Exporter, StrangersGetNothingAndCostNothing) {
  shared_files shared(1);
  const std::string text = shared.make_ticket({}, {});
  const std::string name = decode(text).exporter.socket.substr(1);
  const unix_address address("", name);
  const std::string noise(3000, 'x');
  std::vector<unique_fd> silent;
  for (int i = 0; i < 50; ++i) {
    silent.push_back(connect_to(address).fd);
    const connect_result noisy = connect_to(address);
    ASSERT_TRUE(noisy.fd);
    const std::size_t length = static_cast<std::size_t>(i) * 7;
    static_cast<void>(send_packet(noisy.fd.get(), std::as_bytes(std::span(noise)).first(length), {}, {}));
    EXPECT_TRUE(wait_for_events(noisy.fd.get(), POLLIN, soon()));  // the end of the connection, or an error
  }
  EXPECT_EQ(open(text).pieces.size(), 1u);
  for (const unique_fd& item : silent) {  // silent connections are closed at their time limit
    EXPECT_TRUE(wait_for_events(item.get(), POLLIN, soon()));
  }
}

TEST(Exporter, ManyConnectionsWithoutARequestDoNotDelayImporters) {
  shared_files shared(1);
  const std::string text = shared.make_ticket({}, {});
  const unix_address address("", decode(text).exporter.socket.substr(1));
  std::vector<unique_fd> silent;
  for (int i = 0; i < 900; ++i) {
    silent.push_back(connect_to(address).fd);
    ASSERT_TRUE(silent.back());
  }
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(open_ticket(decode(text), ticket_kind::memory, deadline(30s)).pieces.size(), 1u);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 3s);  // would be 6 s if each batch waited for its time limit
}

TEST(Exporter, ALinkInThePlaceOfItsSocketIsNotFollowed) {
  const pgas::unit_test::scratch_folder directory;
  const std::string victim = directory.path() + "/victim";
  ASSERT_TRUE(unique_fd(::open(victim.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600)));
  {
    exporter tested(directory.path(), pgas::config{});
    const std::uint64_t number = tested.add(std::make_shared<numbered_files>(1), ticket_kind::memory);
    const std::string socket = decode(tested.make_ticket(number, {}, {}, 0)).exporter.socket;
    ASSERT_EQ(::unlink(socket.c_str()), 0);
    ASSERT_EQ(::symlink(victim.c_str(), socket.c_str()), 0);
    pgas::ticket_options for_another;
    for_another.user = ::geteuid() + 1;
    EXPECT_THROW(static_cast<void>(tested.make_ticket(number, for_another, {}, 0)), pgas::error);
    struct stat found {};
    ASSERT_EQ(::stat(victim.c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777, 0600u);
    tested.remove(number);
  }
}

TEST(Exporter, AnotherProcessUnderItsNameIsFoundOut) {
  // Simulates the time after the exporter's end, when a later process has the same process id and uses the same socket
  // name.
  std::string text;
  {
    shared_files shared(1);
    text = shared.make_ticket({}, {});
  }
  const ticket old = decode(text);
  const unix_listener impostor(unix_address("", old.exporter.socket.substr(1)), 8);
  for (const bool speaks : {true, false}) {
    std::thread answer([&] {
      ASSERT_TRUE(wait_for_events(impostor.fd(), POLLIN, soon()));
      const connect_result from = impostor.accept();
      share_request request;
      ASSERT_TRUE(wait_for_events(from.fd.get(), POLLIN, soon()));
      ASSERT_EQ(receive_packet(from.fd.get(), writable_bytes_of(request)).what, received_packet::status::complete);
      share_reply head;
      head.what = share_reply::status::granted;
      head.code = speaks ? request.code : random_bits();  // the process knows only the code that it has received
      EXPECT_EQ(send_packet(from.fd.get(), bytes_of(head), {}, {}), 0);
      static_cast<void>(wait_for_events(from.fd.get(), POLLIN, soon()));
    });
    EXPECT_EQ(code_of([&] { static_cast<void>(open_ticket(old, ticket_kind::memory, soon())); }), code::authentication);
    answer.join();
  }
  // Another process uses the library to share memory under the same name. This process does not know the ticket.
  shared_files later(1);
  ticket moved = old;
  moved.exporter.socket = decode(later.make_ticket({}, {})).exporter.socket;
  EXPECT_EQ(code_of([&] { static_cast<void>(open_ticket(moved, ticket_kind::memory, soon())); }), code::authentication);
}

TEST(Exporter, TakesAThousandAtOnce) {
  shared_files shared(1);
  const std::string text = shared.make_ticket({}, {});
  std::atomic<int> good{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 20; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i)
        if (open(text).pieces.size() == 1) ++good;
    });
  for (std::thread& item : threads) item.join();
  EXPECT_EQ(good, 1000);
  EXPECT_TRUE(comes([&] { return shared.opened_by().empty(); }));
}

TEST(Exporter, RevocationFromOtherThreadsWhileTicketsAreOpened) {
  shared_files shared(3);
  std::atomic<bool> stop{false};
  std::thread revoker([&] {
    while (!stop) shared.revoke();
  });
  for (int i = 0; i < 200; ++i) {
    try {
      EXPECT_EQ(open(shared.make_ticket({}, {})).pieces.size(), 3u);
    } catch (const pgas::error& failure) {
      EXPECT_TRUE(failure.code() == code::authentication || failure.code() == code::peer_lost) << failure.what();
    }
    static_cast<void>(shared.opened_by());
  }
  stop = true;
  revoker.join();
}

}  // namespace
