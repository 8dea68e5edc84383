// Tickets of memory that carry a timeline, on the host heap, in one process: the calls that wait, and the calls that do
// not wait.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <memory>
#include <string>
#include <thread>

#include "code_of.hpp"
#include "comes.hpp"
#include "holdings.hpp"
#include "host/share/exporter_connection.hpp"
#include "host/share/timeline_state.hpp"
#include "pgas/detail/isa/ptx_memory.hpp"
#include "pgas/error.hpp"
#include "pgas/shared_memory.hpp"
#include "pgas/timeline.hpp"

namespace {

using namespace std::chrono_literals;
using pgas::code;
using pgas::memory_place;
using pgas::opened_memory;
using pgas::shared_memory;
using pgas::timeline;
using pgas::detail::timeline_page;
using pgas::unit_test::count_holdings;
using pgas_test::code_of;
using pgas_test::comes;
using pgas_test::text_of;

/// A stream that records a value when the test allows it.
class slow_stream {
 public:
  explicit slow_stream(const timeline& records_in)
      : page_(reinterpret_cast<timeline_page*>(reinterpret_cast<std::byte*>(records_in.word()) -
                                               offsetof(timeline_page, word))) {}
  void enqueue_record(std::uint64_t value) { pgas::detail::store_relaxed(&page_->recorded, value); }
  void get_there() { pgas::detail::store_release(&page_->word, pgas::detail::load_relaxed(&page_->recorded)); }

 private:
  timeline_page* page_;
};

/// Memory with a timeline, and a ticket for both.
struct ready_memory {
  shared_memory memory = shared_memory::make(memory_place::host(), 4096);
  timeline ready = timeline::make(memory_place::host());
  slow_stream stream{ready};
  std::string ticket = memory.ticket({.ready = &ready});

  [[nodiscard]] volatile int* words() const { return static_cast<volatile int*>(memory.data()); }
};

void open_for(const std::string& ticket, std::chrono::milliseconds timeout) {
  static_cast<void>(opened_memory::open(ticket, {.timeout = timeout}));
}

TEST(Ready, TicketsAreShortAndEveryFlippedByteIsAnError) {
  const ready_memory here;
  EXPECT_LE(here.ticket.size(), 1024u);
  for (std::size_t at = 0; at < here.ticket.size(); ++at) {
    std::string changed = here.ticket;
    changed[at] = static_cast<char>(~changed[at]);
    EXPECT_EQ(code_of([&] { open_for(changed, 1s); }), code::handle_invalid);
  }
}

TEST(Ready, OpenWaitsForTheFirstRecord) {
  ready_memory here;
  const std::string said = text_of([&] { open_for(here.ticket, 300ms); });
  EXPECT_NE(said.find("PGAS-E0403"), std::string::npos) << said;
  EXPECT_NE(said.find("process " + std::to_string(::getpid()) + " "), std::string::npos) << said;
  EXPECT_NE(said.find("has not recorded anything"), std::string::npos) << said;
  EXPECT_TRUE(comes([&] { return here.memory.opened_by().empty() && here.ready.opened_by().empty(); }));
  here.ready.set(7);
  open_for(here.ticket, 10s);
}

TEST(Ready, OpenWaitsEachTimeForWhatWasRecordedLast) {
  ready_memory here;
  here.ready.set(1);
  const opened_memory kept = opened_memory::open(here.ticket);
  EXPECT_TRUE(kept.has_timeline());
  for (std::uint64_t round = 2; round < 6; ++round) {
    here.stream.enqueue_record(round);
    const std::string said = text_of([&] { open_for(here.ticket, 300ms); });
    EXPECT_NE(said.find("the last record of the memory's timeline is " + std::to_string(round)), std::string::npos)
        << said;
    std::thread later([&] {
      std::this_thread::sleep_for(30ms);
      here.words()[0] = static_cast<int>(round);
      here.stream.get_there();
    });
    const opened_memory again = opened_memory::open(here.ticket);
    EXPECT_EQ(static_cast<volatile int*>(again.data())[0], static_cast<int>(round));
    later.join();
  }
}

TEST(Ready, WhoHasItOpenWaitsAgain) {
  ready_memory here;
  const opened_memory theirs = opened_memory::open(here.ticket, {.wait_until_ready = false});
  std::uint64_t round = 0;
  const auto expect_waits = [&](const auto& wait) {
    here.stream.enqueue_record(++round);
    EXPECT_EQ(code_of([&] { theirs.wait_host(5ms); }), code::wait_timeout);
    std::thread later([&] {
      std::this_thread::sleep_for(30ms);
      here.words()[1] = static_cast<int>(round);
      here.stream.get_there();
    });
    wait();
    EXPECT_EQ(static_cast<volatile int*>(theirs.data())[1], static_cast<int>(round));
    later.join();
  };
  expect_waits([&] { theirs.wait_host(); });
  expect_waits([&] { theirs.wait_host(10s); });
  expect_waits([&] { theirs.wait(nullptr); });
  theirs.check();
}

TEST(Ready, IsForTicketsOfMemoryAndTimelinesOfTheirMaker) {
  ready_memory here;
  shared_memory plain = shared_memory::make(memory_place::host(), 4096);
  const opened_memory without = opened_memory::open(plain.ticket());
  EXPECT_FALSE(without.has_timeline());
  EXPECT_EQ(code_of([&] { without.wait_host(1ms); }), code::invalid_argument);
  EXPECT_EQ(code_of([&] { without.wait(nullptr); }), code::invalid_argument);
  EXPECT_EQ(code_of([] { opened_memory().wait(nullptr); }), code::invalid_argument);
  const timeline opened = timeline::open(here.ready.ticket());
  const timeline empty;
  EXPECT_EQ(code_of([&] { static_cast<void>(plain.ticket({.ready = &opened})); }), code::invalid_argument);
  EXPECT_EQ(code_of([&] { static_cast<void>(plain.ticket({.ready = &empty})); }), code::invalid_argument);
  EXPECT_EQ(code_of([&] { static_cast<void>(here.ready.ticket({.ready = &here.ready})); }), code::invalid_argument);
  // A ticket of memory opens no timeline, and a ticket of a timeline opens no memory.
  EXPECT_EQ(code_of([&] { static_cast<void>(timeline::open(here.ticket)); }), code::handle_invalid);
  EXPECT_EQ(code_of([&] { static_cast<void>(opened_memory::open(here.ready.ticket())); }), code::handle_invalid);
}

TEST(Ready, GoesToThoseWhoHaveOpenedTheMemory) {
  using namespace pgas::detail;
  ready_memory here;
  here.ready.set(1);
  const auto ask = [&] {
    static_cast<void>(open_ticket(decode(here.ticket), ticket_kind::timeline, deadline(milliseconds(2000))));
  };
  EXPECT_EQ(code_of(ask), code::authentication);
  opened_memory theirs = opened_memory::open(here.ticket);
  ask();
  theirs = opened_memory();
  EXPECT_TRUE(comes([&] { return here.memory.opened_by().empty(); }));
  EXPECT_EQ(code_of(ask), code::authentication);
  // The refused open does not count as an open.
  const std::string once = here.memory.ticket({.opens = 1, .ready = &here.ready});
  theirs = opened_memory::open(once);
  open_for(once, 1s);
  EXPECT_EQ(here.ready.opened_by().size(), 1u);
  here.memory.revoke();
  EXPECT_EQ(code_of([&] { open_for(once, 1s); }), code::authentication);
  // A ticket without a timeline opens no timeline, whatever the request says.
  const std::string plain = here.memory.ticket();
  theirs = opened_memory::open(plain);
  EXPECT_EQ(code_of([&] {
              static_cast<void>(open_ticket(decode(plain), ticket_kind::timeline, deadline(milliseconds(2000))));
            }),
            code::authentication);
}

TEST(Ready, ARevokedTimelineTakesTheTicketAlong) {
  ready_memory here;
  here.ready.set(1);
  opened_memory theirs = opened_memory::open(here.ticket);
  here.ready.revoke();
  EXPECT_EQ(code_of([&] { open_for(here.ticket, 1s); }), code::authentication);
  here.ready.set(2);
  theirs.wait_host(1s);  // opened memory stays open
  theirs = opened_memory();
  EXPECT_TRUE(comes([&] { return here.memory.opened_by().empty(); }));
  EXPECT_EQ(code_of([&] { open_for(here.ticket, 1s); }), code::authentication);
  open_for(here.memory.ticket({.ready = &here.ready}), 1s);
}

TEST(Ready, AnEndOfTheTimelineIsTold) {
  ready_memory here;
  here.ready.set(1);
  opened_memory theirs = opened_memory::open(here.ticket);
  here.stream.enqueue_record(2);
  std::thread later([&] {
    std::this_thread::sleep_for(50ms);
    here.ready = timeline();
  });
  const std::string said = text_of([&] { theirs.wait_host(10s); });
  EXPECT_NE(said.find("PGAS-E0401"), std::string::npos) << said;
  EXPECT_NE(said.find("process " + std::to_string(::getpid()) + " "), std::string::npos) << said;
  later.join();
  EXPECT_EQ(code_of([&] { open_for(here.ticket, 1s); }), code::peer_lost);
  theirs = opened_memory();
  EXPECT_TRUE(comes([&] { return here.memory.opened_by().empty(); }));
  EXPECT_EQ(code_of([&] { open_for(here.ticket, 1s); }), code::authentication);
}

TEST(Ready, AChildOfForkHasNeitherTicketNorWait) {
  ready_memory here;
  here.ready.set(1);
  auto theirs = std::make_unique<opened_memory>(opened_memory::open(here.ticket));
  const pid_t child = ::fork();
  if (child == 0) {
    int failed = 0;
    if (code_of([&] { theirs->wait_host(1ms); }) != code::forked_process) failed |= 1;
    if (code_of([&] { theirs->wait(nullptr); }) != code::forked_process) failed |= 2;
    if (code_of([&] { static_cast<void>(here.memory.ticket({.ready = &here.ready})); }) != code::forked_process)
      failed |= 4;
    theirs.reset();
    open_for(here.ticket, 10s);  // like any other process
    ::_exit(failed);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  theirs->wait_host(1s);
  theirs->check();
}

TEST(Ready, ALongSeriesOfOpensLeavesNothing) {
  ready_memory here;
  here.ready.set(1);
  const auto none_open = [&] { return here.memory.opened_by().empty() && here.ready.opened_by().empty(); };
  for (int i = 0; i < 100; ++i) open_for(here.ticket, 10s);
  ASSERT_TRUE(comes(none_open));
  const std::size_t before = count_holdings().fds;
  for (int i = 0; i < 1000; ++i) open_for(here.ticket, 10s);
  EXPECT_TRUE(comes(none_open));
  EXPECT_EQ(count_holdings().fds, before);
}

}  // namespace
