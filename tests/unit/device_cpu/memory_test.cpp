// Memory of the CPU backend: addresses, segments, and handles that are valid, wrong and forged.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bit>
#include <cstring>
#include <functional>
#include <memory>

#include "code_of.hpp"
#include "device/cpu/host_segment.hpp"
#include "device/device.hpp"
#include "pgas/error.hpp"
#include "unit/connect/pes.hpp"

namespace pgas::unit_test {
namespace {

using namespace pgas::detail;
using pgas_test::code_if_any;
using pgas_test::code_of;

constexpr std::size_t unit = std::size_t{2} << 20;

class cpu_memory : public testing::Test {
 protected:
  std::unique_ptr<device> device_ = make_cpu_device();

  void TearDown() override {
    device_.reset();
    EXPECT_EQ(settle_at(before_), before_);
  }
  holdings before_ = count_holdings();
};

TEST_F(cpu_memory, describes_the_machine) {
  const device_properties& about = device_->properties();
  EXPECT_EQ(about.kind, heap_kind::host);
  EXPECT_EQ(about.ordinal, -1);
  EXPECT_EQ(about.memory_bytes,
            static_cast<std::size_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)));
  EXPECT_EQ(device_->granularity(), unit);
  EXPECT_GT(available_memory(), 0u);
  EXPECT_LE(available_memory(), physical_memory());
}

TEST_F(cpu_memory, reservations_are_aligned_exact_and_exclusive) {
  void* a = device_->reserve(3 * unit, nullptr);
  ASSERT_NE(a, nullptr);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a) % unit, 0u);
  EXPECT_EQ(device_->reserve(unit, a), nullptr) << "something is there";
  EXPECT_EQ(device_->reserve(2 * unit, static_cast<std::byte*>(a) - unit), nullptr) << "the second half is taken";
  device_->release(a, 3 * unit);
  EXPECT_EQ(device_->reserve(3 * unit, a), a) << "free again";
  device_->release(a, 3 * unit);
  EXPECT_EQ(code_of([&] { static_cast<void>(device_->reserve(~std::size_t{0}, nullptr)); }), code::address_space);
  EXPECT_EQ(code_of([&] { static_cast<void>(device_->reserve(~std::size_t{0} - 2 * unit + 1, nullptr)); }),
            code::address_space);
  EXPECT_EQ(device_->reserve(unit, reinterpret_cast<void*>(~std::uintptr_t{0} - unit + 1)), nullptr)
      << "not a user address";
}

TEST_F(cpu_memory, two_mappings_of_a_segment_are_the_same_memory) {
  for (const handle_kind kind : device_->handle_kinds()) {
    auto* at = static_cast<std::byte*>(device_->reserve(4 * unit, nullptr));
    const segment_id result = device_->create(2 * unit, kind);
    const exported_handle handle = device_->export_segment(result);
    const segment_id imported = device_->import_segment(handle, 2 * unit);
    device_->map(at, 2 * unit, result);
    device_->map(at + 2 * unit, 2 * unit, imported);
    EXPECT_EQ(at[2 * unit - 1], std::byte{0}) << "fresh memory is zero";
    at[2 * unit - 1] = std::byte{42};
    EXPECT_EQ(at[4 * unit - 1], std::byte{42});
    device_->unmap(at, 2 * unit);
    device_->destroy(result);
    EXPECT_EQ(at[4 * unit - 1], std::byte{42}) << "the memory lives as long as a mapping";
    device_->unmap(at + 2 * unit, 2 * unit);
    device_->destroy(imported);
    EXPECT_EQ(device_->reserve(unit, at), nullptr) << "unmapped is still reserved";
    device_->release(at, 4 * unit);
  }
}

TEST_F(cpu_memory, segments_that_are_placed_are_the_same_memory_at_addresses_of_their_own) {
  ASSERT_TRUE(device_->places(handle_kind::cuda_ipc));
  for (const handle_kind kind : device_->handle_kinds()) EXPECT_FALSE(device_->places(kind)) << "only for who asks";
  const segment_id result = device_->create(2 * unit, handle_kind::cuda_ipc);
  const exported_handle handle = device_->export_segment(result);
  EXPECT_EQ(handle.kind, handle_kind::cuda_ipc);
  const segment_id first = device_->import_segment(handle, 2 * unit);
  const segment_id second = device_->import_segment(handle, 2 * unit);
  const auto at = [this](segment_id segment) { return static_cast<std::byte*>(device_->address_of(segment)); };
  for (const segment_id segment : {result, first, second})
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(at(segment)) % unit, 0u);
  EXPECT_NE(at(result), at(first));
  EXPECT_NE(at(first), at(second));
  at(result)[2 * unit - 1] = std::byte{42};
  EXPECT_EQ(at(first)[2 * unit - 1], std::byte{42});
  EXPECT_EQ(code_of([&] { static_cast<void>(device_->import_segment(handle, unit)); }), code::handle_invalid);
  std::byte* const was = at(first);
  device_->destroy(result);
  device_->destroy(first);
  EXPECT_EQ(device_->reserve(2 * unit, was), was) << "its addresses are free again";
  device_->release(was, 2 * unit);
  EXPECT_EQ(at(second)[2 * unit - 1], std::byte{42}) << "the memory lives as long as one of them";
  device_->destroy(second);
}

TEST_F(cpu_memory, what_is_not_mapped_cannot_be_touched) {
  auto* at = static_cast<std::byte*>(device_->reserve(2 * unit, nullptr));
  const segment_id result = device_->create(unit, handle_kind::posix_fd);
  device_->map(at, unit, result);
  const auto readable = [](const std::byte* p) {
    int pipe[2];
    EXPECT_EQ(::pipe(pipe), 0);
    const bool yes = ::write(pipe[1], p, 1) == 1;
    ::close(pipe[0]);
    ::close(pipe[1]);
    return yes;
  };
  EXPECT_TRUE(readable(at + unit - 1));
  EXPECT_FALSE(readable(at + unit));
  device_->unmap(at, unit);
  EXPECT_FALSE(readable(at));
  device_->destroy(result);
  device_->release(at, 2 * unit);
}

TEST_F(cpu_memory, mapping_outside_a_reservation_is_refused) {
  auto* at = static_cast<std::byte*>(device_->reserve(2 * unit, nullptr));
  const segment_id result = device_->create(unit, handle_kind::posix_fd);
  EXPECT_EQ(code_of([&] { device_->map(at + 2 * unit, unit, result); }), code::invalid_argument);
  EXPECT_EQ(code_of([&] { device_->map(at - unit, unit, result); }), code::invalid_argument);
  EXPECT_EQ(code_of([&] { device_->map(this, unit, result); }), code::invalid_argument);
  EXPECT_EQ(code_of([&] { device_->map(at, 2 * unit, result); }), code::invalid_argument)
      << "more than the segment has";
  EXPECT_EQ(code_of([&] { device_->map(at, unit, segment_id{4711}); }), code::invalid_argument);
  device_->destroy(result);
  device_->release(at, 2 * unit);
}

TEST_F(cpu_memory, segments_can_not_be_resized_and_are_exactly_as_large_as_said) {
  const segment_id result = device_->create(unit, handle_kind::posix_fd);
  const exported_handle handle = device_->export_segment(result);
  struct stat about {};
  ASSERT_EQ(::fstat(handle.fd.get(), &about), 0);
  EXPECT_EQ(static_cast<std::size_t>(about.st_size), unit) << "a peer gets this and nothing behind it";
  EXPECT_EQ(about.st_blocks, 0) << "no memory before it is touched";
  EXPECT_TRUE(::fcntl(handle.fd.get(), F_GETFD) & FD_CLOEXEC);
  EXPECT_NE(::ftruncate(handle.fd.get(), 2 * unit), 0);
  EXPECT_NE(::ftruncate(handle.fd.get(), 4096), 0);
  EXPECT_NE(::fallocate(handle.fd.get(), 0, unit, 4096), 0);
  EXPECT_NE(::fcntl(handle.fd.get(), F_ADD_SEALS, F_SEAL_WRITE), 0);
  device_->destroy(result);
}

TEST_F(cpu_memory, what_cannot_be_backed_is_refused_at_once) {
  EXPECT_EQ(code_of([&] { static_cast<void>(device_->create(std::size_t{1} << 50, handle_kind::posix_fd)); }),
            code::out_of_memory);
  const std::size_t more = (physical_memory() / unit + 1) * unit;
  EXPECT_EQ(code_of([&] { static_cast<void>(device_->create(more, handle_kind::named)); }), code::out_of_memory);
  EXPECT_EQ(code_of([&] { static_cast<void>(device_->create(0, handle_kind::posix_fd)); }), code::invalid_argument);
  EXPECT_EQ(code_of([&] { static_cast<void>(device_->create(4096, handle_kind::posix_fd)); }), code::invalid_argument);
  EXPECT_EQ(code_of([&] { static_cast<void>(device_->create(unit, handle_kind::fabric)); }), code::device_failed);
}

TEST_F(cpu_memory, foreign_and_truncated_descriptors_are_refused) {
  const auto refused = [&](unique_fd fd, std::size_t bytes) {
    exported_handle handle;
    handle.fd = std::move(fd);
    return code_if_any([&] { device_->destroy(device_->import_segment(handle, bytes)); });
  };
  const auto memfd = [](std::size_t bytes, int seals) {
    unique_fd fd(::memfd_create("foreign", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    EXPECT_EQ(::ftruncate(fd.get(), static_cast<off_t>(bytes)), 0);
    EXPECT_EQ(::fcntl(fd.get(), F_ADD_SEALS, seals), 0);
    return fd;
  };
  constexpr int fixed = F_SEAL_SHRINK | F_SEAL_GROW;
  EXPECT_EQ(refused(memfd(unit, fixed), unit), code{}) << "the control: this one is right";
  EXPECT_EQ(refused(unique_fd(), unit), code::handle_invalid);
  EXPECT_EQ(refused(memfd(unit / 2, fixed), unit), code::handle_invalid) << "truncated: would be SIGBUS later";
  EXPECT_EQ(refused(memfd(2 * unit, fixed), unit), code::handle_invalid);
  EXPECT_EQ(refused(memfd(unit, 0), unit), code::handle_invalid) << "could be truncated any time";
  EXPECT_EQ(refused(memfd(unit, F_SEAL_SHRINK), unit), code::handle_invalid);
  EXPECT_EQ(refused(memfd(unit, fixed | F_SEAL_WRITE), unit), code::handle_invalid);
  EXPECT_EQ(refused(unique_fd(::open("/dev/zero", O_RDWR | O_CLOEXEC)), unit), code::handle_invalid);
  EXPECT_EQ(refused(unique_fd(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC)), unit), code::handle_invalid);
  EXPECT_EQ(refused(unique_fd(::open("/", O_RDONLY | O_CLOEXEC)), unit), code::handle_invalid);
  int pipe[2];
  ASSERT_EQ(::pipe2(pipe, O_CLOEXEC), 0);
  EXPECT_EQ(refused(unique_fd(pipe[0]), unit), code::handle_invalid);
  EXPECT_EQ(refused(unique_fd(pipe[1]), unit), code::handle_invalid);
  exported_handle fabric;
  fabric.kind = handle_kind::fabric;
  EXPECT_EQ(code_of([&] { static_cast<void>(device_->import_segment(fabric, unit)); }), code::handle_invalid);
}

TEST_F(cpu_memory, another_users_memory_is_refused) {
  if (::geteuid() != 0) GTEST_SKIP() << "changes user, which only root can";
  const segment_id result = device_->create(unit, handle_kind::posix_fd);
  const exported_handle handle = device_->export_segment(result);
  const pid_t child = ::fork();
  if (child == 0) {
    const bool other = ::setgid(65534) == 0 && ::setuid(65534) == 0;
    const auto refused = code_of([&] { static_cast<void>(device_->import_segment(handle, unit)); });
    ::_exit(other && refused == code::handle_invalid ? 0 : 1);
  }
  int status = 1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  device_->destroy(result);
}

TEST_F(cpu_memory, the_limit_of_files_is_an_error_and_no_signal) {
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit limit{unit, unit};
    std::string said;
    try {
      if (::setrlimit(RLIMIT_FSIZE, &limit) == 0) static_cast<void>(device_->create(2 * unit, handle_kind::named));
    } catch (const error& e) {
      if (e.code() == code::out_of_memory) said = e.what();
    }
    const auto has = [&said](const char* word) { return said.find(word) != std::string::npos; };
    sigset_t blocked;
    ::pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
    const bool as_before = ::sigismember(&blocked, SIGXFSZ) == 0;
    ::_exit(has("ulimit -f") && has("2097152") && has("4194304") && as_before ? 0 : 1);
  }
  int status = 1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(cpu_memory, forged_named_handles_are_refused) {
  const segment_id result = device_->create(unit, handle_kind::named);
  const exported_handle good = device_->export_segment(result);
  const segment_id other = device_->create(unit, handle_kind::named);
  const auto other_name = std::bit_cast<named_handle>(device_->export_segment(other).bytes);
  const auto code_with = [&](const std::function<void(named_handle&)>& change, std::size_t bytes = unit) {
    auto name = std::bit_cast<named_handle>(good.bytes);
    change(name);
    exported_handle forged;
    forged.kind = handle_kind::named;
    forged.bytes = std::bit_cast<std::array<std::byte, 64>>(name);
    return code_if_any([&] { device_->destroy(device_->import_segment(forged, bytes)); });
  };
  EXPECT_EQ(code_with([](named_handle&) {}), code{}) << "the control: unchanged it works";
  EXPECT_EQ(code_with([](named_handle& n) { n.magic ^= 1; }), code::handle_invalid);
  EXPECT_EQ(code_with([](named_handle& n) { ++n.version; }), code::handle_invalid);
  EXPECT_EQ(code_with([](named_handle& n) { n.pid = 1; }), code::handle_invalid);
  EXPECT_EQ(code_with([](named_handle& n) { n.pid = -1; }), code::handle_invalid);
  EXPECT_EQ(code_with([](named_handle& n) { n.fd = 0; }), code::handle_invalid);
  EXPECT_EQ(code_with([](named_handle& n) { n.fd = 100'000; }), code::handle_invalid);
  EXPECT_EQ(code_with([&](named_handle& n) { n.fd = other_name.fd; }), code::handle_invalid)
      << "another segment of the same process";
  EXPECT_EQ(code_with([&](named_handle& n) { n.fd = other_name.fd, n.nonce = other_name.nonce; }),
            code::handle_invalid);
  EXPECT_EQ(code_with([](named_handle& n) { ++n.process_start; }), code::handle_invalid);
  EXPECT_EQ(code_with([](named_handle& n) { ++n.inode; }), code::handle_invalid);
  EXPECT_EQ(code_with([](named_handle& n) { ++n.device; }), code::handle_invalid);
  EXPECT_EQ(code_with([](named_handle& n) { ++n.nonce; }), code::handle_invalid);
  EXPECT_EQ(code_with([](named_handle& n) { n.bytes *= 2; }), code::handle_invalid);
  EXPECT_EQ(code_with([](named_handle& n) { n.bytes *= 2; }, 2 * unit), code::handle_invalid)
      << "the file says how large it is";
  EXPECT_EQ(code_with([](named_handle&) {}, 2 * unit), code::handle_invalid);
  EXPECT_EQ(code_with([](named_handle& n) { n = {}; }), code::handle_invalid);
  // The handle is truncated at every length, with zeros in the rest.
  for (std::size_t length = 0; length < 56; length += 8) {
    exported_handle cut;
    cut.kind = handle_kind::named;
    std::copy_n(good.bytes.begin(), length, cut.bytes.begin());
    EXPECT_EQ(code_of([&] { static_cast<void>(device_->import_segment(cut, unit)); }), code::handle_invalid) << length;
  }
  device_->destroy(result);
  EXPECT_EQ(code_with([](named_handle&) {}), code::handle_invalid) << "its segment is gone";
  device_->destroy(other);
}

TEST_F(cpu_memory, a_named_handle_of_a_dead_process_is_refused) {
  int pipe[2];
  ASSERT_EQ(::pipe2(pipe, O_CLOEXEC), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const segment_id result = device_->create(unit, handle_kind::named);
    const exported_handle handle = device_->export_segment(result);
    if (::write(pipe[1], handle.bytes.data(), handle.bytes.size()) != 64) ::_exit(1);
    ::pause();
    ::_exit(1);
  }
  exported_handle handle;
  handle.kind = handle_kind::named;
  ASSERT_EQ(::read(pipe[0], handle.bytes.data(), handle.bytes.size()), 64);
  const segment_id imported = device_->import_segment(handle, unit);
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_EQ(code_of([&] { static_cast<void>(device_->import_segment(handle, unit)); }), code::handle_invalid);
  void* at = device_->reserve(unit, nullptr);
  device_->map(at, unit, imported);
  static_cast<std::byte*>(at)[0] = std::byte{1};  // memory that was imported before stays valid
  device_->unmap(at, unit);
  device_->destroy(imported);
  device_->release(at, unit);
  ::close(pipe[0]);
  ::close(pipe[1]);
}

TEST_F(cpu_memory, mapped_memory_is_zeroed_aligned_and_at_one_address) {
  const mapped_memory memory = device_->allocate_mapped(200);
  EXPECT_EQ(memory.host, memory.device);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.host) % 128, 0u);
  for (int i = 0; i < 200; ++i) EXPECT_EQ(static_cast<unsigned char*>(memory.host)[i], 0);
  device_->free_mapped(memory);
  EXPECT_EQ(code_of([&] { static_cast<void>(device_->allocate_mapped(~std::size_t{0})); }), code::out_of_memory);
}

}  // namespace
}  // namespace pgas::unit_test
