#include "device/cpu/atomic_update.hpp"

#include <fmt/format.h>

#include <atomic>
#include <bit>
#include <type_traits>

#include "pgas/error.hpp"

namespace pgas::detail {

namespace {

using operation = atomic_request::operation;

template <class T>
using bits_of = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

template <class T>
T from_bits(std::uint64_t bits) {
  return std::bit_cast<T>(static_cast<bits_of<T>>(bits));
}

/// On the bit pattern: everything but arithmetic is the same for integers and floating point.
template <class Word>
std::uint64_t update_word(const atomic_request& request, std::memory_order order) {
  std::atomic_ref<Word> target(*static_cast<Word*>(request.target));
  const Word value = static_cast<Word>(request.value);
  switch (request.what) {
    case operation::fetch: return target.load(std::memory_order_acquire);
    case operation::set:
    case operation::swap: return target.exchange(value, order);
    case operation::add: return target.fetch_add(value, order);
    case operation::bit_and: return target.fetch_and(value, order);
    case operation::bit_or: return target.fetch_or(value, order);
    case operation::bit_xor: return target.fetch_xor(value, order);
    case operation::compare_swap: {
      Word expected = static_cast<Word>(request.condition);
      target.compare_exchange_strong(expected, value, order, std::memory_order_acquire);
      return expected;
    }
  }
  throw error(code::invalid_argument, "unknown atomic operation");
}

template <class T>
std::uint64_t update_floating(const atomic_request& request, std::memory_order order) {
  switch (request.what) {
    case operation::bit_and:
    case operation::bit_or:
    case operation::bit_xor: throw error(code::invalid_argument, "bitwise atomics are for integers");
    case operation::add: {
      std::atomic_ref<T> target(*static_cast<T*>(request.target));
      return std::bit_cast<bits_of<T>>(target.fetch_add(from_bits<T>(request.value), order));
    }
    default: return update_word<bits_of<T>>(request, order);
  }
}

}  // namespace

std::uint64_t update_atomically(const atomic_request& request) {
  using type = atomic_request::type;
  const std::size_t size = request.as == type::u32 || request.as == type::f32 ? 4 : 8;
  if (reinterpret_cast<std::uintptr_t>(request.target) % size != 0)
    throw error(code::misaligned, fmt::format("atomic operation of {} bytes on the address {}", size, request.target));
  const std::memory_order order = request.release ? std::memory_order_acq_rel : std::memory_order_acquire;
  switch (request.as) {
    case type::u32: return update_word<std::uint32_t>(request, order);
    case type::u64: return update_word<std::uint64_t>(request, order);
    case type::f32: return update_floating<float>(request, order);
    case type::f64: return update_floating<double>(request, order);
  }
  throw error(code::invalid_argument, "unknown atomic type");
}

}  // namespace pgas::detail
