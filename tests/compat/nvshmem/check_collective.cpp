// Collectives in the world and in a team of two PEs.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>

#include "bench.hpp"

namespace conformance {
namespace {

constexpr std::size_t count = 19;

/// The members of a team, by their numbers in the world.
std::vector<int> members(const bench& b, nvshmem_team_t team) {
  std::vector<int> all;
  const bool world = team == NVSHMEM_TEAM_WORLD;
  const int first = world ? 0 : b.me / 2 * 2;
  const int end = world ? b.n : std::min(first + 2, b.n);
  for (int pe = first; pe < end; ++pe) all.push_back(pe);
  return all;
}

int place(const std::vector<int>& team, int pe) {
  return static_cast<int>(std::find(team.begin(), team.end(), pe) - team.begin());
}

/// A number of any type. Integers are represented by their bits, floating-point numbers by their value.
struct number {
  std::uint64_t bits;
  double value;
};

bool integer(const function& f) { return f.type == kind::sint || f.type == kind::uint; }

number decode(const function& f, const unsigned char* at) {
  number n{0, 0};
  std::memcpy(&n.bits, at, static_cast<std::size_t>(f.element_bytes));
  if (f.type == kind::f64) std::memcpy(&n.value, at, sizeof n.value);
  if (f.type == kind::f32) {
    float v = 0;
    std::memcpy(&v, at, sizeof v);
    n.value = v;
  }
  if (f.type == kind::f16) {
    __half v;
    std::memcpy(&v, at, sizeof v);
    n.value = __half2float(v);
  }
  if (f.type == kind::bf16) {
    __nv_bfloat16 v;
    std::memcpy(&v, at, sizeof v);
    n.value = __bfloat162float(v);
  }
  return n;
}

void encode(const function& f, double value, unsigned char* at) {
  const auto narrow = static_cast<float>(value);
  if (f.type == kind::f64) std::memcpy(at, &value, sizeof value);
  if (f.type == kind::f32) std::memcpy(at, &narrow, sizeof narrow);
  const __half as_half = __float2half(narrow);
  const __nv_bfloat16 as_bfloat = __float2bfloat16(narrow);
  if (f.type == kind::f16) std::memcpy(at, &as_half, sizeof as_half);
  if (f.type == kind::bf16) std::memcpy(at, &as_bfloat, sizeof as_bfloat);
}

/// A member's elements. Integers have any value. Floating-point numbers are small integers, so that results are exact
/// in all formats.
std::vector<unsigned char> elements(const function& f, std::uint64_t serial, int pe, std::size_t n) {
  const auto size = static_cast<std::size_t>(f.element_bytes);
  auto result = random_bytes(serial, pe, n * size);
  if (!integer(f)) {
    for (std::size_t i = 0; i < n; ++i)
      encode(f, static_cast<double>(random_word(serial, pe, i) % 7) - 3, &result[i * size]);
  }
  return result;
}

std::int64_t signed_compare(std::uint64_t bits, int bytes) {
  const int unused = 64 - bytes * 8;
  return static_cast<std::int64_t>(bits << unused) >> unused;
}

number combine(const function& f, const std::string& op, number a, number b) {
  const bool less = !integer(f) ? b.value < a.value
                    : f.type == kind::sint
                        ? signed_compare(b.bits, f.element_bytes) < signed_compare(a.bits, f.element_bytes)
                        : b.bits < a.bits;
  if (op == "min") return less ? b : a;
  if (op == "max") return less ? a : b;
  if (op == "sum") return {cut(a.bits + b.bits, f.element_bytes), a.value + b.value};
  if (op == "prod") return {cut(a.bits * b.bits, f.element_bytes), a.value * b.value};
  if (op == "and") return {a.bits & b.bits, 0};
  if (op == "or") return {a.bits | b.bits, 0};
  return {a.bits ^ b.bits, 0};
}

/// The teams with which a collective is tested.
std::vector<nvshmem_team_t> teams(const bench& b) {
  return b.n > 2 ? std::vector<nvshmem_team_t>{NVSHMEM_TEAM_WORLD, b.rows}
                 : std::vector<nvshmem_team_t>{NVSHMEM_TEAM_WORLD};
}

std::string status(const bench& b) {
  return static_cast<int>(b.numbers[0]) == 0 ? "" : "returned " + std::to_string(static_cast<int>(b.numbers[0]));
}

}  // namespace

std::string check_move(bench& b, const family& calls, const function& f, std::uint64_t serial) {
  const std::string shape = calls.shape;
  const auto size = static_cast<std::size_t>(f.element_bytes);
  const std::size_t block = count * size;
  std::string wrong;
  for (const nvshmem_team_t team : teams(b)) {
    ++serial;
    const auto all = members(b, team);
    const auto n = all.size();
    const auto source = random_bytes(serial, b.me, n * block);
    const auto old = random_bytes(serial, b.me + 1000, (n + 1) * block);
    b.write(b.source, source.data(), source.size());
    b.write(b.dest, old.data(), old.size());
    b.numbers[0] = 99;
    call c = b.prepare(f);
    c.which = static_cast<int>(&f - calls.functions.data());
    c.team = team;
    c.n = count;
    c.root = static_cast<int>(n) - 1;
    b.execute_operation(calls, c);
    auto wanted = old;
    const auto copy = [&](std::size_t to, int member, std::size_t from) {
      const auto theirs = random_bytes(serial, all[static_cast<std::size_t>(member)], n * block);
      std::memcpy(&wanted[to * block], &theirs[from * block], block);
    };
    if (shape == "broadcast") {
      copy(0, c.root, 0);
    } else {
      for (std::size_t i = 0; i < n; ++i)
        copy(i, static_cast<int>(i), shape == "alltoall" ? static_cast<std::size_t>(place(all, b.me)) : 0);
    }
    note(wrong, status(b));
    note(wrong, difference("destination", b.read(b.dest, wanted.size()), wanted));
  }
  return wrong;
}

std::string check_reduce(bench& b, const family& calls, const function& f, std::uint64_t serial) {
  const bool scatter = std::strcmp(calls.shape, "reducescatter") == 0;
  const auto size = static_cast<std::size_t>(f.element_bytes);
  std::string wrong;
  for (const nvshmem_team_t team : teams(b)) {
    ++serial;
    const auto all = members(b, team);
    const std::size_t total = scatter ? count * all.size() : count;
    const auto source = elements(f, serial, b.me, total);
    b.write(b.source, source.data(), source.size());
    b.write(b.dest, random_bytes(serial, 1000, count * size).data(), count * size);
    b.numbers[0] = 99;
    call c = b.prepare(f);
    c.which = static_cast<int>(&f - calls.functions.data());
    c.team = team;
    c.n = count;
    b.execute_operation(calls, c);
    note(wrong, status(b));
    const auto got = b.read(b.dest, count * size);
    std::vector<std::vector<unsigned char>> theirs;
    for (const int pe : all) theirs.push_back(elements(f, serial, pe, total));
    const std::size_t first = scatter ? count * static_cast<std::size_t>(place(all, b.me)) : 0;
    for (std::size_t i = 0; i < count; ++i) {
      number wanted = decode(f, &theirs[0][(first + i) * size]);
      for (std::size_t k = 1; k < all.size(); ++k)
        wanted = combine(f, calls.operation, wanted, decode(f, &theirs[k][(first + i) * size]));
      const number result = decode(f, &got[i * size]);
      if (integer(f) ? result.bits != wanted.bits : result.value != wanted.value)
        note(wrong, "element " + std::to_string(i) + " is " +
                        std::to_string(integer(f) ? static_cast<double>(result.bits) : result.value) + ", not " +
                        std::to_string(integer(f) ? static_cast<double>(wanted.bits) : wanted.value));
    }
  }
  return wrong;
}

}  // namespace conformance
