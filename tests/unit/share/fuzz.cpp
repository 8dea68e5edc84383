// Random and almost valid tickets, packets to an exporter, and answers to an importer.
//
//     share_fuzz SECONDS [SEED]
//
// Every input must lead to an error of the library, without leaks, and both sides must continue to work.
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>
#include <thread>

#include "common/net/unix_socket.hpp"
#include "holdings.hpp"
#include "host/share/exporter_connection.hpp"
#include "pgas/shared_memory.hpp"
#include "pgas/timeline.hpp"

namespace {

using namespace pgas::detail;
using namespace std::chrono_literals;

std::mt19937_64 random_source;

std::size_t below(std::size_t limit) { return static_cast<std::size_t>(random_source() % limit); }

[[noreturn]] void fail(const std::string& what) {
  fmt::print("failed: {}\n", what);
  std::exit(1);
}

/// Changes, removes, inserts or doubles some bytes.
template <class Bytes>
void mutate(Bytes& bytes) {
  using byte = typename Bytes::value_type;
  for (std::size_t i = 1 + below(4); i > 0; --i) {
    const std::size_t at = bytes.empty() ? 0 : below(bytes.size());
    const auto here = bytes.begin() + static_cast<std::ptrdiff_t>(at);
    switch (below(6)) {
      case 0:
        if (!bytes.empty()) bytes[at] = static_cast<byte>(random_source());
        break;
      case 1:
        if (!bytes.empty()) bytes[at] = static_cast<byte>(static_cast<unsigned char>(bytes[at]) ^ (1u << below(8)));
        break;
      case 2: bytes.resize(at); break;
      case 3: bytes.insert(here, static_cast<byte>(random_source())); break;
      case 4:
        for (std::size_t k = at; k < std::min(bytes.size(), at + 4); ++k) bytes[k] = static_cast<byte>(below(2) * 255);
        break;
      default:
        if (bytes.size() < 4000) bytes.insert(here, bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(at));
    }
  }
}

/// Runs `call`, which may only throw errors of the library.
template <class Call>
bool works(Call&& call) {
  try {
    call();
    return true;
  } catch (const pgas::error&) {
    return false;
  }
}

pgas::blob as_blob(std::span<const std::byte> bytes) { return {bytes.begin(), bytes.end()}; }

unique_fd some_file() { return unique_fd(::memfd_create("fuzz", MFD_CLOEXEC)); }

/// Removes the white space that a ticket may have at both ends.
std::string trimmed(const std::string& text) {
  constexpr const char* blanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(blanks);
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(blanks) + 1 - first);
}

/// Changes a ticket as text, and changes the contents of another ticket before its code is made.
void fuzz_ticket(const std::string& good) {
  std::string text = good;
  mutate(text);
  if (works([&] { static_cast<void>(pgas::opened_memory::open(text, {.timeout = 2s})); }) && trimmed(text) != good)
    fail("a changed ticket was opened: " + text);
  ticket forged = decode(good);
  switch (below(6)) {
    case 0: mutate(forged.payload); break;
    case 1: mutate(forged.exporter.socket); break;
    case 2: forged.secret[below(16)] ^= std::byte{1}; break;
    case 3: forged.id = random_source(); break;
    case 4: forged.exporter.machine[below(16)] ^= std::byte{1}; break;
    default: mutate(forged.exporter.host);
  }
  if (!works([&] { text = encode(forged); })) return;
  static_cast<void>(works([&] { static_cast<void>(pgas::opened_memory::open(text, {.timeout = 2s})); }));
}

/// Sends a packet to the exporter: a valid packet, a changed packet, or random bytes, with or without descriptors.
void fuzz_request(const ticket& good) {
  const unix_address address("", good.exporter.socket.substr(1));
  const connect_result result = connect_to(address);
  if (!result.fd) return;
  share_request request;
  request.ticket = below(3) == 0 ? random_source() : good.id;
  request.nonce = random_bits();
  request.pid = static_cast<std::int32_t>(random_source());
  request.what = static_cast<share_request::kind>(below(5));
  request.code = below(3) == 0 ? random_bits() : code_of(good.key, request);
  pgas::blob packet = as_blob(bytes_of(request));
  if (below(3) != 0) mutate(packet);
  if (packet.empty()) packet.push_back(std::byte{0});
  std::vector<unique_fd> files;
  std::vector<int> fds;
  for (std::size_t i = below(4) == 0 ? below(max_fds_per_packet) : 0; i > 0; --i) {
    files.push_back(some_file());
    fds.push_back(files.back().get());
  }
  for (std::size_t i = 1 + below(3); i > 0; --i) static_cast<void>(send_packet(result.fd.get(), packet, {}, fds));
  if (below(2) == 0) static_cast<void>(wait_for_events(result.fd.get(), POLLIN, deadline(20ms)));
}

/// An exporter that knows the ticket's secret and sends random answers.
void fuzz_reply() {
  const std::string name = fmt::format("pgas-fuzz-{}", ::getpid());
  const unix_listener listener(unix_address("", name), 8);
  ticket result;
  result.id = random_source() | 1;
  result.secret = random_bits();
  result.exporter = this_process("@" + name);
  result.user = ::geteuid();
  sharing_description described;
  described.bytes = 4096;
  described.block = random_bits();
  described.carries_timeline = below(16) == 0 ? 1 : 0;  // if the ticket carries a timeline, no process answers
  result.payload = as_blob(bytes_of(described));
  const std::string text = encode(result);
  const bits128 key = decode(text).key;
  const std::uint64_t seed = random_source();
  std::thread importer([&] {
    static_cast<void>(works([&] { static_cast<void>(pgas::opened_memory::open(text, {.timeout = 100ms})); }));
  });
  random_source.seed(seed);
  if (wait_for_events(listener.fd(), POLLIN, deadline(1s))) {
    const connect_result from = listener.accept();
    share_request request;
    if (from.fd && wait_for_events(from.fd.get(), POLLIN, deadline(1s)) &&
        receive_packet(from.fd.get(), writable_bytes_of(request)).what == received_packet::status::complete) {
      pgas::blob body = as_blob(bytes_of(described));
      share_reply head;
      head.what = static_cast<share_reply::status>(below(8));
      head.description = static_cast<std::uint32_t>(body.size());
      head.handles = static_cast<std::uint32_t>(below(3));
      head.error = static_cast<std::int32_t>(below(800));
      share_handle handle;
      handle.bytes = below(2) == 0 ? 4096 : random_source();
      handle.kind = static_cast<std::uint8_t>(below(5));
      handle.has_fd = static_cast<std::uint8_t>(below(2));
      std::vector<unique_fd> files;
      std::vector<int> fds;
      for (std::uint32_t i = 0; i < head.handles; ++i) {
        const pgas::blob item = as_blob(bytes_of(handle));
        body.insert(body.end(), item.begin(), item.end());
        files.push_back(below(3) == 0 ? unique_fd(::open("/dev/null", O_RDWR | O_CLOEXEC)) : some_file());
        static_cast<void>(::ftruncate(files.back().get(), static_cast<off_t>(below(3) * 4096)) != 0);
        fds.push_back(files.back().get());
      }
      if (below(2) == 0) mutate(body);
      head.bytes = static_cast<std::uint32_t>(below(8) == 0 ? random_source() : body.size());
      pgas::blob packet = as_blob(bytes_of(head));
      packet.insert(packet.end(), body.begin(), body.end());
      if (below(4) == 0) mutate(packet);
      if (packet.size() >= sizeof head) {
        const bits128 code = code_of(key, request, packet);
        if (below(4) != 0) std::memcpy(packet.data() + offsetof(share_reply, code), code.data(), sizeof code);
      }
      if (packet.empty()) packet.push_back(std::byte{0});
      for (std::size_t i = 1 + below(3); i > 0; --i) static_cast<void>(send_packet(from.fd.get(), packet, {}, fds));
      if (below(2) == 0) std::this_thread::sleep_for(1ms);
    }
  }
  importer.join();
}

}  // namespace

int main(int argc, char** argv) {
  const auto limit = std::chrono::seconds(argc > 1 ? std::atoi(argv[1]) : 20);
  const std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : std::random_device()();
  random_source.seed(seed);
  fmt::print("seed {}\n", seed);
  pgas::shared_memory mine = pgas::shared_memory::make(pgas::memory_place::host(), 1 << 20);
  auto ready = pgas::timeline::make(pgas::memory_place::host());
  ready.set(1);
  const std::string good = mine.ticket({.ready = &ready});
  const ticket parts = decode(good);
  { const auto warm = pgas::opened_memory::open(good); }
  const auto idle = [&] {
    for (int i = 0; i < 5000 && !(mine.opened_by().empty() && ready.opened_by().empty()); ++i)
      std::this_thread::sleep_for(1ms);
    std::this_thread::sleep_for(request_timeout + 500ms);  // silent connections have ended by now
  };
  idle();
  const std::size_t before = pgas::unit_test::count_holdings().fds;
  const auto end = std::chrono::steady_clock::now() + limit;
  std::uint64_t rounds = 0;
  for (; std::chrono::steady_clock::now() < end; ++rounds) {
    fuzz_ticket(good);
    fuzz_request(parts);
    if (rounds % 4 == 0) fuzz_reply();
    if (rounds % 64 == 0 && !works([&] { static_cast<void>(pgas::opened_memory::open(good)); }))
      fail("the exporter does not answer any more");
  }
  idle();
  if (const std::size_t after = pgas::unit_test::count_holdings().fds; after != before)
    fail(fmt::format("{} descriptors were open before, {} are now", before, after));
  fmt::print("{} rounds, nothing left\n", rounds);
}
