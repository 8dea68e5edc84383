// Copies, single values, and copies with a signal.
#include "bench.hpp"

namespace conformance {
namespace {

constexpr std::size_t compared_bytes = 8192;  // the number of bytes of the destination that are compared

/// The old contents of a destination, which differ from any source.
std::vector<unsigned char> old_dest(std::uint64_t serial, int pe) {
  return random_bytes(serial, pe + 1000, compared_bytes);
}

void fill(bench& b, std::uint64_t serial) {
  const auto source = random_bytes(serial, b.me, compared_bytes);
  const auto dest = old_dest(serial, b.me);
  b.write(b.source, source.data(), source.size());
  b.write(b.dest, dest.data(), dest.size());
  std::memcpy(b.host_source, source.data(), source.size());
  std::memcpy(b.host_dest, dest.data(), dest.size());
}

bool is(const char* text, const char* other) { return std::strcmp(text, other) == 0; }

}  // namespace

std::string check_copy(bench& b, const family& calls, const function& f, std::uint64_t serial) {
  const int from = is(calls.shape, "put") ? b.left() : b.right();
  std::string wrong;
  for (const std::size_t n : {std::size_t{1}, std::size_t{37}, std::size_t{300}}) {
    ++serial;
    fill(b, serial);
    call c = b.prepare(f);
    c.which = static_cast<int>(&f - calls.functions.data());
    c.n = n;
    b.execute_operation(calls, c);
    auto wanted = old_dest(serial, b.me);
    const auto sent = random_bytes(serial, from, n * static_cast<std::size_t>(f.element_bytes));
    std::copy(sent.begin(), sent.end(), wanted.begin());
    note(wrong, difference("destination", b.read(b.dest, compared_bytes), wanted));
  }
  return wrong;
}

std::string check_strided(bench& b, const family& calls, const function& f, std::uint64_t serial) {
  fill(b, serial);
  call c = b.prepare(f);
  c.which = static_cast<int>(&f - calls.functions.data());
  c.n = 40;
  c.dst = 3;
  c.sst = 2;
  b.execute_operation(calls, c);
  auto wanted = old_dest(serial, b.me);
  const auto sent = random_bytes(serial, is(calls.shape, "iput") ? b.left() : b.right(), compared_bytes);
  const auto size = static_cast<std::size_t>(f.element_bytes);
  for (std::size_t i = 0; i < c.n; ++i) std::memcpy(&wanted[i * 3 * size], &sent[i * 2 * size], size);
  return difference("destination", b.read(b.dest, compared_bytes), wanted);
}

std::string check_single(bench& b, const family& calls, const function& f, std::uint64_t serial) {
  fill(b, serial);
  call c = b.prepare(f);
  c.which = static_cast<int>(&f - calls.functions.data());
  c.n = 24;
  b.execute_operation(calls, c);
  const bool put = is(calls.shape, "p");
  auto wanted = old_dest(serial, b.me);
  const auto sent = random_bytes(serial, put ? b.left() : b.right(), c.n * static_cast<std::size_t>(f.element_bytes));
  std::copy(sent.begin(), sent.end(), wanted.begin());
  if (put || is(calls.scope, "thread")) return difference("destination", b.read(b.dest, compared_bytes), wanted);
  return difference("values", {b.host_dest, b.host_dest + compared_bytes}, wanted);
}

std::string check_put_signal(bench& b, const family& calls, const function& f, std::uint64_t serial) {
  const bool in_kernel = !is(calls.scope, "host") && !is(calls.scope, "stream");
  std::string wrong;
  for (const int op : {int{NVSHMEM_SIGNAL_SET}, int{NVSHMEM_SIGNAL_ADD}}) {
    ++serial;
    fill(b, serial);
    const std::uint64_t before = 5;
    b.write(b.signal, &before, sizeof before);
    call c = b.prepare(f);
    c.which = static_cast<int>(&f - calls.functions.data());
    c.n = 100;
    c.value = 0x100000000u + serial;
    c.op = op;
    c.awaited = op == NVSHMEM_SIGNAL_ADD ? before + c.value : c.value;
    b.execute_operation(calls, c);
    auto wanted = old_dest(serial, b.me);
    const auto sent = random_bytes(serial, b.left(), c.n * static_cast<std::size_t>(f.element_bytes));
    std::copy(sent.begin(), sent.end(), wanted.begin());
    note(wrong, difference("destination", b.read(b.dest, compared_bytes), wanted));
    std::uint64_t after = 0;
    std::memcpy(&after, b.read(b.signal, sizeof after).data(), sizeof after);
    if (after != c.awaited) note(wrong, "signal is " + std::to_string(after) + ", not " + std::to_string(c.awaited));
    if (in_kernel) note(wrong, difference("what came with the signal", {b.host_dest, b.host_dest + sent.size()}, sent));
  }
  return wrong;
}

}  // namespace conformance
