// Memory shared by tickets on the host heap, opened in the process that shares it.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "code_of.hpp"
#include "comes.hpp"
#include "device/sharing.hpp"
#include "holdings.hpp"
#include "host/share/ticket.hpp"
#include "pgas/error.hpp"
#include "pgas/shared_memory.hpp"
#include "pgas/timeline.hpp"

namespace {

using namespace std::chrono_literals;
using pgas::code;
using pgas::memory_place;
using pgas::opened_memory;
using pgas::shared_memory;
using pgas::unit_test::count_holdings;
using pgas_test::code_of;
using pgas_test::comes;

constexpr std::size_t unit = std::size_t{2} << 20;

/// The process's address space in pages.
std::size_t addresses() {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages;
}

TEST(SharedMemory, IsSeenThroughATicket) {
  shared_memory mine = shared_memory::make(memory_place::host(), 1000);
  EXPECT_EQ(mine.size(), 1000u);
  auto* words = static_cast<std::uint32_t*>(mine.data());
  EXPECT_EQ(words[0], 0u);
  words[7] = 42;
  const opened_memory theirs = opened_memory::open(mine.ticket());
  EXPECT_EQ(theirs.size(), 1000u);
  EXPECT_NE(theirs.data(), mine.data());
  EXPECT_EQ(static_cast<std::uint32_t*>(theirs.data())[7], 42u);
  static_cast<std::uint32_t*>(theirs.data())[8] = 43;
  EXPECT_EQ(words[8], 43u);
  EXPECT_EQ(theirs.access(), pgas::access::read_write);
  EXPECT_EQ(theirs.exporter().pid, ::getpid());
  EXPECT_EQ(theirs.exporter().uid, ::geteuid());
  EXPECT_NE(theirs.exporter().started, 0u);
  EXPECT_TRUE(theirs.alive());
  theirs.check();
  ASSERT_EQ(mine.opened_by().size(), 1u);
  EXPECT_EQ(mine.opened_by()[0].pid, ::getpid());
}

TEST(SharedMemory, IsMappedOnceHoweverOftenItIsOpened) {
  shared_memory mine = shared_memory::make(memory_place::host(), unit);
  const std::string text = mine.ticket({.opens = 1});
  const std::string other = mine.ticket();
  const opened_memory item = opened_memory::open(text);
  const opened_memory again = opened_memory::open(text);
  const opened_memory by_another = opened_memory::open(other);
  EXPECT_EQ(item.data(), again.data());
  EXPECT_EQ(item.data(), by_another.data());
  EXPECT_EQ(mine.opened_by().size(), 1u);
}

TEST(SharedMemory, ThreadsOpenATicketTogetherAndItCountsOnce) {
  for (int round = 0; round < 20; ++round) {
    shared_memory mine = shared_memory::make(memory_place::host(), unit);
    const std::string text = mine.ticket({.opens = 1});
    std::vector<opened_memory> opened(8);
    std::vector<std::thread> threads;
    for (opened_memory& item : opened) threads.emplace_back([&] { item = opened_memory::open(text); });
    for (std::thread& item : threads) item.join();
    for (const opened_memory& item : opened) EXPECT_EQ(item.data(), opened[0].data());
  }
}

TEST(SharedMemory, ReadOnlyIsEnforced) {
  shared_memory mine = shared_memory::make(memory_place::host(), unit, {.importers = pgas::access::read_only});
  static_cast<int*>(mine.data())[0] = 5;
  const opened_memory theirs = opened_memory::open(mine.ticket());
  EXPECT_EQ(theirs.access(), pgas::access::read_only);
  EXPECT_EQ(static_cast<const int*>(theirs.data())[0], 5);
  static_cast<int*>(mine.data())[0] = 6;
  EXPECT_EQ(static_cast<const int*>(theirs.data())[0], 6);
  EXPECT_NE(::mprotect(theirs.data(), unit, PROT_READ | PROT_WRITE), 0);
}

/// The mapping cannot be made writable, and the file cannot be opened for writing.
void expect_read_only(const opened_memory& theirs, std::size_t bytes) {
  EXPECT_EQ(theirs.access(), pgas::access::read_only);
  EXPECT_NE(::mprotect(theirs.data(), bytes, PROT_READ | PROT_WRITE), 0);
  const int zero = ::open("/dev/zero", O_RDONLY | O_CLOEXEC);
  EXPECT_EQ(::read(zero, theirs.data(), 1), -1);  // a system call cannot write to the mapping
  EXPECT_EQ(errno, EFAULT);
  ::close(zero);
}

TEST(SharedMemory, ATicketMayBeReadOnlyWhereOthersMayWrite) {
  shared_memory mine = shared_memory::make(memory_place::host(), unit);
  auto* words = static_cast<int*>(mine.data());
  words[0] = 5;
  const std::string reads = mine.ticket({.importers = pgas::access::read_only});
  const opened_memory reader = opened_memory::open(reads);
  const opened_memory writer = opened_memory::open(mine.ticket());
  expect_read_only(reader, unit);
  EXPECT_EQ(writer.access(), pgas::access::read_write);
  EXPECT_NE(reader.data(), writer.data());
  static_cast<int*>(writer.data())[0] = 6;
  EXPECT_EQ(static_cast<const int*>(reader.data())[0], 6);
  EXPECT_EQ(words[0], 6);
  // A ticket for reading gives read-only access even if the process has already opened a ticket that allows writing.
  expect_read_only(opened_memory::open(mine.ticket({.importers = pgas::access::read_only})), unit);
  auto timeline = pgas::timeline::make(memory_place::host());
  EXPECT_EQ(code_of([&] { static_cast<void>(timeline.ticket({.importers = pgas::access::read_only})); }),
            code::invalid_argument);
}

TEST(SharedMemory, TheExporterRefusesATicketThatWasAltered) {
  shared_memory mine = shared_memory::make(memory_place::host(), unit);
  const std::string text = mine.ticket({.description = "shape 3"});
  const opened_memory opened = opened_memory::open(text);
  EXPECT_EQ(opened.description(), "shape 3");
  EXPECT_EQ(opened_memory::open(mine.ticket()).description(), "");
  EXPECT_EQ(opened.place(), memory_place::host());
  // A process that has a ticket can make another ticket with a matching code. The exporter detects that this ticket
  // differs from the ticket that the exporter made.
  pgas::detail::ticket altered = pgas::detail::decode(text);
  altered.description = "shape 9";
  EXPECT_EQ(code_of([&] { static_cast<void>(opened_memory::open(pgas::detail::encode(altered))); }),
            code::authentication);
}

TEST(SharedMemory, ALifetimeMayBeShorterThanASecond) {
  shared_memory mine = shared_memory::make(memory_place::host(), unit);
  const std::string brief = mine.ticket({.lifetime = 1ms});
  const std::string longer = mine.ticket({.lifetime = 60s});
  std::this_thread::sleep_for(5ms);
  EXPECT_EQ(code_of([&] { static_cast<void>(opened_memory::open(brief)); }), code::authentication);
  EXPECT_TRUE(opened_memory::open(longer).alive());
}

const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
const std::size_t two_pages = 2 * page;
int resize(int file, std::size_t bytes) { return ::ftruncate(file, static_cast<off_t>(bytes)); }

TEST(SharedMemory, OfMemoryThatExists) {
  const int file = ::memfd_create("program", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  ASSERT_EQ(resize(file, two_pages), 0);
  void* const at = ::mmap(nullptr, two_pages, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ASSERT_NE(at, MAP_FAILED);
  static_cast<char*>(at)[page + 900] = 'x';
  {
    shared_memory mine = shared_memory::share(at, two_pages);
    EXPECT_EQ(mine.data(), at);
    const opened_memory theirs = opened_memory::open(mine.ticket());
    EXPECT_EQ(theirs.size(), two_pages);
    EXPECT_EQ(static_cast<char*>(theirs.data())[page + 900], 'x');
    EXPECT_EQ(code_of([&] { static_cast<void>(shared_memory::share(theirs.data(), two_pages)); }),
              code::invalid_argument);
  }
  static_cast<char*>(at)[0] = 'y';  // the program can still use its memory
  // Sharing a part of the file, or more than the file, is refused.
  EXPECT_EQ(code_of([&] { static_cast<void>(shared_memory::share(at, page)); }), code::invalid_argument);
  EXPECT_EQ(code_of([&] { static_cast<void>(shared_memory::share(at, 1 << 20)); }), code::invalid_argument);
  {
    // Sharing for reading works without a seal, because importers get a descriptor for reading.
    shared_memory mine = shared_memory::share(at, two_pages, {.importers = pgas::access::read_only});
    expect_read_only(opened_memory::open(mine.ticket()), two_pages);
    static_cast<char*>(at)[1] = 'z';
    EXPECT_EQ(shared_memory::share(at, two_pages).size(), two_pages);  // the file of the mapping can still be found
  }
  ::munmap(at, two_pages);
  ::close(file);
}

TEST(SharedMemory, NeitherSideCanTruncateWhatTheOtherUses) {
  const int file = ::memfd_create("program", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  ASSERT_EQ(resize(file, two_pages), 0);
  void* const at = ::mmap(nullptr, two_pages, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ASSERT_NE(at, MAP_FAILED);
  // A file without a seal is refused by the process that opens the ticket.
  pgas::detail::sharing_description described;
  described.bytes = two_pages;
  std::vector<pgas::detail::shared_piece> pieces(1);
  pieces[0].bytes = two_pages;
  pieces[0].handle.fd = pgas::detail::unique_fd(::dup(file));
  EXPECT_EQ(code_of([&] { static_cast<void>(pgas::detail::import_host_memory(described, pieces)); }),
            code::handle_invalid);
  {
    shared_memory mine = shared_memory::share(at, two_pages);
    const opened_memory theirs = opened_memory::open(mine.ticket());
    EXPECT_NE(pgas::detail::import_host_memory(described, pieces), nullptr);
    EXPECT_EQ(resize(file, 0), -1);
    EXPECT_EQ(resize(pieces[0].handle.fd.get(), page), -1);
    static_cast<char*>(at)[page + 900] = 'x';
    EXPECT_EQ(static_cast<char*>(theirs.data())[page + 900], 'x');
  }
  ::munmap(at, two_pages);
  ::close(file);
  // A file that accepts no seal is refused when it is shared.
  const int unsealed = ::memfd_create("program", MFD_CLOEXEC);
  ASSERT_EQ(resize(unsealed, two_pages), 0);
  void* const other = ::mmap(nullptr, two_pages, PROT_READ | PROT_WRITE, MAP_SHARED, unsealed, 0);
  ASSERT_NE(other, MAP_FAILED);
  EXPECT_EQ(code_of([&] { static_cast<void>(shared_memory::share(other, two_pages)); }), code::invalid_argument);
  ::munmap(other, two_pages);
  ::close(unsealed);
}

TEST(SharedMemory, RefusesWhatItCannotShare) {
  EXPECT_EQ(code_of([] { static_cast<void>(shared_memory::make(memory_place::host(), 0)); }), code::invalid_argument);
  EXPECT_EQ(code_of([] { static_cast<void>(shared_memory::make(memory_place::host(), ~std::size_t{0})); }),
            code::out_of_memory);
  EXPECT_EQ(code_of([] { static_cast<void>(shared_memory::make(memory_place::host(), std::size_t{1} << 60)); }),
            code::out_of_memory);
  std::vector<char> ordinary(1 << 16);
  EXPECT_EQ(code_of([&] { static_cast<void>(shared_memory::share(ordinary.data(), ordinary.size())); }),
            code::invalid_argument);
  EXPECT_EQ(code_of([] { static_cast<void>(shared_memory::share(nullptr, 10)); }), code::invalid_argument);
  EXPECT_EQ(code_of([&] { static_cast<void>(shared_memory::share(&ordinary, ~std::size_t{0})); }),
            code::invalid_argument);
  shared_memory none;
  EXPECT_EQ(code_of([&] { static_cast<void>(none.ticket()); }), code::invalid_argument);
  EXPECT_FALSE(none);
  EXPECT_FALSE(opened_memory());
  shared_memory mine = shared_memory::make(memory_place::host(), 10);
  const std::string text = mine.ticket();
  EXPECT_EQ(code_of([&] { static_cast<void>(opened_memory::open(text, {.place = memory_place::gpu(0)})); }),
            code::peer_unreachable);
}

TEST(SharedMemory, EveryFlippedByteOfATicketIsAnError) {
  shared_memory mine = shared_memory::make(memory_place::host(), unit);
  const std::string text = mine.ticket();
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::string changed = text;
    changed[at] = static_cast<char>(~changed[at]);
    EXPECT_EQ(code_of([&] { static_cast<void>(opened_memory::open(changed)); }), code::handle_invalid);
  }
  EXPECT_TRUE(mine.opened_by().empty());
}

TEST(SharedMemory, LivesUntilTheLastOneClosesIt) {
  opened_memory theirs;
  std::string text;
  {
    shared_memory mine = shared_memory::make(memory_place::host(), unit);
    static_cast<int*>(mine.data())[100] = 7;
    text = mine.ticket();
    theirs = opened_memory::open(text);
  }
  EXPECT_EQ(static_cast<int*>(theirs.data())[100], 7);
  EXPECT_NE(code_of([&] { static_cast<void>(opened_memory::open(text)); }), code::system);
}

TEST(SharedMemory, MovesKeepOneOwner) {
  shared_memory mine = shared_memory::make(memory_place::host(), unit);
  const std::string text = mine.ticket();
  shared_memory moved = std::move(mine);
  opened_memory theirs = opened_memory::open(text);
  opened_memory also = std::move(theirs);
  EXPECT_FALSE(theirs);  // NOLINT: tests a moved object
  EXPECT_TRUE(also);
  also = opened_memory();
  EXPECT_TRUE(comes([&] { return moved.opened_by().empty(); }));
  moved = shared_memory::make(memory_place::host(), unit);
  EXPECT_EQ(code_of([&] { static_cast<void>(opened_memory::open(text)); }), code::peer_lost);
}

TEST(SharedMemory, ALongSeriesOfOpensLeavesNothing) {
  shared_memory mine = shared_memory::make(memory_place::host(), unit);
  const std::string text = mine.ticket();
  const auto open_and_close = [&](int times) {
    for (int i = 0; i < times; ++i) static_cast<void>(opened_memory::open(text));
  };
  open_and_close(100);
  ASSERT_TRUE(comes([&] { return mine.opened_by().empty(); }));
  const std::size_t fds = count_holdings().fds;
  const std::size_t pages = addresses();
  open_and_close(2000);
  EXPECT_TRUE(comes([&] { return mine.opened_by().empty(); }));
  EXPECT_EQ(count_holdings().fds, fds);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // a sanitizer reserves addresses for itself
  EXPECT_LE(addresses(), pages + 64);
#endif
  static_cast<void>(pages);
}

TEST(SharedMemory, AFullDescriptorTableIsAnErrorAndNotTheEnd) {
  shared_memory mine = shared_memory::make(memory_place::host(), unit);
  const std::string text = mine.ticket();
  { const opened_memory warm = opened_memory::open(text); }
  ASSERT_TRUE(comes([&] { return mine.opened_by().empty(); }));
  for (int room = 0; room < 6; ++room) {
    std::vector<int> taken;
    for (int fd = ::dup(0); fd >= 0; fd = ::dup(0)) {
      taken.push_back(fd);
      if (taken.size() > 1'000'000) break;
    }
    for (int i = 0; i < room; ++i) {
      ::close(taken.back());
      taken.pop_back();
    }
    try {
      static_cast<void>(opened_memory::open(text, {.timeout = 3s}));
    } catch (const pgas::error& failure) {
      EXPECT_EQ(failure.code(), code::system) << room << failure.what();
    }
    for (const int fd : taken) ::close(fd);
    EXPECT_TRUE(comes([&] { return mine.opened_by().empty(); }));
    EXPECT_TRUE(opened_memory::open(text).alive());
  }
}

TEST(SharedMemory, AChildOfForkHasNeitherTicketsNorConnections) {
  shared_memory mine = shared_memory::make(memory_place::host(), unit);
  const std::string text = mine.ticket();
  auto theirs = std::make_unique<opened_memory>(opened_memory::open(text));
  const pid_t child = ::fork();
  if (child == 0) {
    int failed = 0;
    try {
      static_cast<void>(mine.ticket());
      failed = 1;
    } catch (const pgas::error& failure) {
      if (failure.code() != code::forked_process) failed = 2;
    }
    theirs.reset();
    // The child can share its own memory by its own exporter, and can open the parent's memory as any other process
    // can.
#if !defined(__SANITIZE_THREAD__)  // ThreadSanitizer ends a child that starts a thread
    shared_memory own = shared_memory::make(memory_place::host(), unit);
    if (!opened_memory::open(own.ticket()).alive()) failed = 3;
#endif
    if (opened_memory::open(text).exporter().pid != ::getppid()) failed = 4;
    ::_exit(failed);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(theirs->alive());
  EXPECT_TRUE(comes([&] { return mine.opened_by().size() == 1; }));
  theirs.reset();
  EXPECT_TRUE(comes([&] { return mine.opened_by().empty(); }));
}

}  // namespace
