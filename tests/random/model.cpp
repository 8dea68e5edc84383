#include "model.hpp"

#include <algorithm>
#include <bit>
#include <type_traits>

#include "number16.hpp"

namespace pgas_random {

namespace {

template <class T>
using word_of =
    std::conditional_t<sizeof(T) == 2, std::uint16_t, std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>;

template <class T>
T number_from(std::uint64_t bits) {
  return std::bit_cast<T>(static_cast<word_of<T>>(bits));
}

/// The result of an atomic operation on `old`.
template <class T>
T updated(const instruction& i, T old) {
  const T value = number_from<T>(i.value);
  switch (i.what) {
    case opcode::atomic_set:
    case opcode::atomic_swap: return value;
    case opcode::atomic_add:
    case opcode::atomic_fetch_add:
      if constexpr (std::is_integral_v<T>)
        return static_cast<T>(static_cast<word_of<T>>(old) + static_cast<word_of<T>>(value));
      else
        return old + value;
    default: break;
  }
  if constexpr (std::is_arithmetic_v<T>) {
    switch (i.what) {
      case opcode::atomic_min:
      case opcode::atomic_fetch_min: return value < old ? value : old;
      case opcode::atomic_max:
      case opcode::atomic_fetch_max: return old < value ? value : old;
      default: break;
    }
  }
  if constexpr (std::is_integral_v<T>) {
    switch (i.what) {
      case opcode::atomic_compare_swap: return old == number_from<T>(i.condition) ? value : old;
      case opcode::atomic_inc:
      case opcode::atomic_fetch_inc: return static_cast<T>(static_cast<word_of<T>>(old) + 1);
      case opcode::atomic_and:
      case opcode::atomic_fetch_and: return static_cast<T>(old & value);
      case opcode::atomic_or:
      case opcode::atomic_fetch_or: return static_cast<T>(old | value);
      case opcode::atomic_xor:
      case opcode::atomic_fetch_xor: return static_cast<T>(old ^ value);
      default: break;
    }
  }
  return old;
}

}  // namespace

model::model(int n_pes, int domain) : domain_(domain), arenas_(index(n_pes)) {
  for (int pe = 0; pe < n_pes; ++pe) {
    memory& m = arenas_[index(pe)];
    m.bytes.resize(places::arena_bytes);
    for (std::uint32_t i = 0; i < places::arena_bytes; ++i)
      m.bytes[i] = static_cast<unsigned char>(scramble(static_cast<std::uint64_t>(pe), i));
    m.writers.resize(places::arena_bytes);
    m.signals.resize(places::signal_words);
  }
}

void model::write(int pe, std::uint32_t offset, const void* from, std::uint32_t bytes, std::uint32_t number) {
  memory& m = arenas_[index(pe)];
  std::memcpy(m.bytes.data() + offset, from, bytes);
  std::fill_n(m.writers.begin() + offset, bytes, number);
}

void model::copy(int to, std::uint32_t dst, int from, std::uint32_t src, std::uint32_t bytes, std::uint32_t number) {
  write(to, dst, arenas_[index(from)].bytes.data() + src, bytes, number);
}

void model::copy_strided(const instruction& i, int to, int from) {
  for (std::uint32_t k = 0; k < i.count; ++k)
    copy(to, block_place(i, i.dst, i.dst_stride, k), from, block_place(i, i.src, i.src_stride, k), block_bytes(i),
         i.number);
}

void model::send(const instruction& i, int pe) {
  std::uint64_t& word = arenas_[index(pe)].signals[i.signal];
  word = i.how == pgas::signal_op::add ? word + i.value : i.value;
}

void model::fill(const instruction& i, int me) {
  const auto store = [&]<class T>(T) {
    for (std::uint32_t k = 0; k < i.count; ++k) {
      const T number = static_cast<T>(small_number(i.value, k));
      write(me, i.dst + k * std::uint32_t{sizeof(T)}, &number, sizeof(T), i.number);
    }
  };
  switch (i.type) {
    case element::i32: return store(std::int32_t{});
    case element::u32: return store(std::uint32_t{});
    case element::i64: return store(std::int64_t{});
    case element::u64: return store(std::uint64_t{});
    case element::f32: return store(float{});
    case element::f64: return store(double{});
    default: return;
  }
}

template <class T>
void model::update(const instruction& i, int me, int pe) {
  const T old = load<T>(pe, i.dst);
  if (i.what != opcode::atomic_fetch) {
    T now = old;
    for (std::uint32_t k = 0; k < i.count; ++k) now = updated(i, now);
    write(pe, i.dst, &now, sizeof(T), i.number);
  }
  if (i.result != nowhere) write(me, i.result, &old, sizeof(T), i.number);
}

void model::apply(const instruction& i, int me, int pe) {
  const std::uint32_t bytes = i.count * bytes_of(i.type);
  switch (i.what) {
    case opcode::p: {
      const std::uint64_t halves[2] = {i.value, i.condition};
      return write(pe, i.dst, halves, bytes_of(i.type), i.number);
    }
    case opcode::g: return copy(me, i.result, pe, i.src, bytes_of(i.type), i.number);
    case opcode::put:
    case opcode::put_nbi: return copy(pe, i.dst, me, i.src, bytes, i.number);
    case opcode::get:
    case opcode::get_nbi: return copy(me, i.dst, pe, i.src, bytes, i.number);
    case opcode::iput:
    case opcode::iput_nbi:
    case opcode::ibput:
    case opcode::ibput_nbi:
    case opcode::put_list:
    case opcode::put_list_nbi: return copy_strided(i, pe, me);
    case opcode::iget:
    case opcode::iget_nbi:
    case opcode::ibget:
    case opcode::ibget_nbi:
    case opcode::get_list:
    case opcode::get_list_nbi: return copy_strided(i, me, pe);
    case opcode::put_signal:
    case opcode::put_signal_nbi: copy(pe, i.dst, me, i.src, bytes, i.number); return send(i, pe);
    case opcode::signal_set:
    case opcode::signal_add: return send(i, pe);
    case opcode::signal_fetch: return write(me, i.result, &arenas_[index(me)].signals[i.signal], 8, i.number);
    case opcode::fill: return fill(i, me);
    case opcode::set_lock:
    case opcode::test_lock: arenas_[index(pe)].signals[places::guarded_words + i.signal] += i.count * i.value; return;
    case opcode::wait_any:
    case opcode::wait_some:
    case opcode::wait_any_vector:
    case opcode::wait_some_vector: {
      const std::uint64_t as_expected = 1;
      return write(me, i.result, &as_expected, 8, i.number);
    }
    case opcode::wait:
    case opcode::wait_all:
    case opcode::wait_all_vector:
    case opcode::fence:
    case opcode::quiet:
    case opcode::barrier:
    case opcode::sync: return;
    default: break;
  }
  switch (i.type) {
    case element::i32: return update<std::int32_t>(i, me, pe);
    case element::u32: return update<std::uint32_t>(i, me, pe);
    case element::i64: return update<std::int64_t>(i, me, pe);
    case element::u64: return update<std::uint64_t>(i, me, pe);
    case element::f32: return update<float>(i, me, pe);
    case element::f64: return update<double>(i, me, pe);
    case element::f16: return update<number16<10>>(i, me, pe);
    case element::bf16: return update<number16<7>>(i, me, pe);
    case element::f16x2: return update<pair16<10>>(i, me, pe);
    case element::bf16x2: return update<pair16<7>>(i, me, pe);
    default: return;
  }
}

}  // namespace pgas_random
