// Checks atomic operations, wait functions and test functions.
#include "bench.hpp"

namespace conformance {
namespace {

std::uint64_t word_at(bench& b, const void* at, int element_bytes) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, b.read(at, static_cast<std::size_t>(element_bytes)).data(),
              static_cast<std::size_t>(element_bytes));
  return bits;
}

/// The initial value of word `index` of `pe`, and operands. The sums of the values exceed 32 bits. For floating-point
/// types the values are finite.
std::uint64_t operand(const function& f, std::uint64_t serial, int pe, std::uint64_t index) {
  const std::uint64_t bits = random_word(serial, pe, index);
  if (f.type == kind::f32) {
    const auto number = static_cast<float>(bits % 100000) / 8;
    std::uint32_t as = 0;
    std::memcpy(&as, &number, sizeof as);
    return as;
  }
  if (f.type == kind::f16) return cut(bits, 2) & 0x7bffu;  // excludes infinity and NaN
  if (f.type == kind::f64) {
    const auto number = static_cast<double>(bits % 1000000000) / 8;
    std::uint64_t as = 0;
    std::memcpy(&as, &number, sizeof as);
    return as;
  }
  return cut(bits, f.element_bytes);
}

std::uint64_t result_of(const std::string& operation, std::uint64_t old, std::uint64_t value, std::uint64_t condition) {
  const std::string op = operation.rfind("fetch_", 0) == 0 ? operation.substr(6) : operation;
  if (op == "and") return old & value;
  if (op == "or") return old | value;
  if (op == "xor") return old ^ value;
  if (op == "add") return old + value;
  if (op == "inc") return old + 1;
  if (op == "set" || op == "swap") return value;
  if (op == "compare_swap") return old == condition ? value : old;
  return old;  // for a fetch
}

/// The value of the comparison, a smaller value and a larger value.
struct scale {
  std::uint64_t below, at, above;
};
scale scale_of(const function& f) {
  const std::uint64_t base =
      f.type == kind::sint ? std::uint64_t{0} - 5 : std::uint64_t{1} << (f.element_bytes * 8 - 1);
  const std::uint64_t at = base + (f.element_bytes == 8 && f.type == kind::uint ? 0x300000007u : 0);
  return {cut(at - 1, f.element_bytes), cut(at, f.element_bytes), cut(at + 1, f.element_bytes)};
}

/// If `satisfies`, a word that satisfies the comparison with `s.at`; if not, a word that does not satisfy the
/// comparison.
std::uint64_t word_for(int cmp, const scale& s, bool satisfies) {
  switch (cmp) {
    case NVSHMEM_CMP_EQ: return satisfies ? s.at : s.above;
    case NVSHMEM_CMP_NE: return satisfies ? s.above : s.at;
    case NVSHMEM_CMP_GT: return satisfies ? s.above : s.at;
    case NVSHMEM_CMP_LE: return satisfies ? s.at : s.above;
    case NVSHMEM_CMP_LT: return satisfies ? s.below : s.at;
    default: return satisfies ? s.at : s.below;
  }
}

constexpr std::size_t set_size = 6;
// The words that the status array excludes. Word 4 always satisfies the comparison.
constexpr std::uint64_t excluded = 1u << 1 | 1u << 4;

/// Sets the comparison and the words. The words of `hits` and word 4 satisfy the comparison.
call prepare_set(bench& b, const family& calls, const function& f, int cmp, std::uint64_t hits) {
  call c = b.prepare(f);
  c.which = static_cast<int>(&f - calls.functions.data());
  c.n = std::strcmp(calls.operation, "one") == 0 ? 1 : set_size;
  c.cmp = cmp;
  const scale s = scale_of(f);
  c.bits = s.at;
  const auto size = static_cast<std::size_t>(f.element_bytes);
  std::vector<unsigned char> words(set_size * size);
  auto* const values = reinterpret_cast<unsigned char*>(b.numbers + 32);
  int status[set_size];
  for (std::size_t i = 0; i < set_size; ++i) {
    const bool hit = (hits >> i & 1) != 0 || i == 4;
    const std::uint64_t word = word_for(cmp, s, hit);
    std::memcpy(&words[i * size], &word, size);
    std::memcpy(values + i * size, &s.at, size);
    b.numbers[16 + i] = word_for(cmp, s, true);
    status[i] = (excluded >> i & 1) != 0 ? 1 : 0;
  }
  std::memcpy(b.numbers + 64, status, sizeof status);
  b.write(b.dest, words.data(), words.size());
  b.numbers[0] = 77;
  return c;
}

std::string said(const char* what, std::uint64_t got) { return std::string(what) + " " + std::to_string(got); }

/// Checks the result of a function on a set. The result may contain only words of `hits`, and must contain at least
/// `least` of them.
std::string judge(const bench& b, const std::string& which, std::uint64_t hits, std::size_t least) {
  const std::uint64_t got = b.numbers[0];
  if (which == "any") {
    if (hits == 0) return got == SIZE_MAX ? "" : said("returned", got);
    return got < set_size && (hits >> got & 1) != 0 ? "" : said("returned", got);
  }
  std::size_t most = 0;
  for (std::size_t i = 0; i < set_size; ++i) most += hits >> i & 1;
  if (got < least || got > most) return said("found", got);
  std::uint64_t named = 0;
  for (std::size_t i = 0; i < got; ++i) {
    const std::uint64_t index = b.numbers[48 + i];
    if (index >= set_size || (hits >> index & 1) == 0 || (named >> index & 1) != 0) return said("named", index);
    named |= std::uint64_t{1} << index;
  }
  return {};
}

}  // namespace

std::string check_atomic(bench& b, const family& calls, const function& f, std::uint64_t serial) {
  const std::string operation = calls.operation;
  const bool fetches = operation.rfind("fetch", 0) == 0 || operation.find("swap") != std::string::npos;
  std::string wrong;
  for (const bool meets : {true, false}) {  // whether the condition of compare_swap is satisfied
    ++serial;
    const auto slot = [&](int actor) { return b.dest + 8 * actor; };  // each PE uses a separate word on its neighbour
    for (int actor = 0; actor < b.n; ++actor) {
      const std::uint64_t old = operand(f, serial, b.me, static_cast<std::uint64_t>(actor));
      b.write(slot(actor), &old, static_cast<std::size_t>(f.element_bytes));
    }
    const auto value = [&](int actor) { return operand(f, serial, actor, 1000); };
    const auto before = [&](int target, int actor) {
      return operand(f, serial, target, static_cast<std::uint64_t>(actor));
    };
    const auto condition = [&](int target, int actor) {
      return meets ? before(target, actor)
                   : cut(before(target, actor) ^ (std::uint64_t{1} << (f.element_bytes * 8 - 1)), f.element_bytes);
    };
    call c = b.prepare(f);
    c.which = static_cast<int>(&f - calls.functions.data());
    c.dest = slot(b.me);
    c.bits = value(b.me);
    c.condition = condition(b.right(), b.me);
    b.execute_operation(calls, c);
    const std::uint64_t wanted =
        cut(result_of(operation, before(b.me, b.left()), value(b.left()), condition(b.me, b.left())), f.element_bytes);
    const std::uint64_t got = word_at(b, slot(b.left()), f.element_bytes);
    if (got != wanted) note(wrong, "the word is " + std::to_string(got) + ", not " + std::to_string(wanted));
    if (fetches && b.numbers[0] != before(b.right(), b.me))
      note(wrong, "returned " + std::to_string(b.numbers[0]) + ", not " + std::to_string(before(b.right(), b.me)));
  }
  return wrong;
}

std::string check_wait(bench& b, const family& calls, const function& f, std::uint64_t) {
  const std::string operation = calls.operation;
  const std::string which = operation.substr(0, operation.find('_'));
  // Words are written before the wait or during the wait.
  const std::uint64_t hits = which == "one"   ? 1
                             : which == "all" ? 0x3f & ~excluded
                             : which == "any" ? 1u << 3
                                              : 1u << 2 | 1u << 5;
  std::string wrong;
  for (int cmp = NVSHMEM_CMP_EQ; cmp <= NVSHMEM_CMP_GE; ++cmp) {
    call c = prepare_set(b, calls, f, cmp, 0);
    c.write_mask = hits;
    b.execute_operation(calls, c);
    if (which != "any" && which != "some") continue;  // for the other functions, the test is that they return
    note(wrong, judge(b, which, hits, 1));
  }
  return wrong;
}

std::string check_test(bench& b, const family& calls, const function& f, std::uint64_t) {
  const std::string operation = calls.operation;
  const std::string which = operation.substr(0, operation.find('_'));
  const std::uint64_t all = which == "one" ? 1 : 0x3f & ~excluded;
  const std::uint64_t few = which == "one" ? 0 : 1u << 2 | 1u << 5;
  std::string wrong;
  for (int cmp = NVSHMEM_CMP_EQ; cmp <= NVSHMEM_CMP_GE; ++cmp) {
    for (const std::uint64_t hits : {std::uint64_t{0}, few, all}) {
      const call c = prepare_set(b, calls, f, cmp, hits);
      b.execute_operation(calls, c);
      if (which == "one" || which == "all")
        note(wrong, (b.numbers[0] != 0) == (hits == all) ? "" : said("returned", b.numbers[0]));
      else
        note(wrong, judge(b, which, hits, which == "any" ? 0 : static_cast<std::size_t>(__builtin_popcountll(hits))));
    }
  }
  return wrong;
}

}  // namespace conformance
