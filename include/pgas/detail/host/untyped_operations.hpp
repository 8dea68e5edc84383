/// @file
/// The interface between the templates of host-called operations and the library. The functions have no template
/// parameters: types are enumerators, and memory is bytes.
#pragma once

#include <bit>
#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>

#include "pgas/copy_list.hpp"
#include "pgas/detail/datatype_and_update.hpp"
#include "pgas/signal_types.hpp"
#include "pgas/world.hpp"

namespace pgas::detail {

/// The queue of an operation, and whether the call waits for the completion of the operation.
struct op_target {
  world& w;
  const stream* on = nullptr;  ///< null: the world's own queue
  bool wait = true;
};
/// A target for calls that return when the operation is complete.
[[nodiscard]] inline op_target blocking(world& w) { return {w, nullptr, true}; }
/// A target for operations that are complete after the next quiet().
[[nodiscard]] inline op_target nonblocking(world& w) { return {w, nullptr, false}; }
/// A target for operations that a stream executes in order.
[[nodiscard]] inline op_target on_stream(world& w, const stream& on) { return {w, &on, false}; }

/// The shape of a strided copy: strides, blocks and their size in elements of `element_bytes`.
struct strides {
  std::ptrdiff_t to;
  std::ptrdiff_t from;
  std::size_t block;
  std::size_t count;
  std::size_t element_bytes;
};

/// An atomic operation on a word of symmetric memory.
struct atomic_op {
  atomic_update how;
  datatype as;
  const void* target;
  std::uint64_t value = 0;
  std::uint64_t condition = 0;
  bool release = false;
  bool fetches = false;  ///< whether the caller uses the old value
};

/// Words of symmetric memory and the values that they are compared with.
struct word_set {
  datatype as;
  const void* words;
  std::size_t count;
  const int* status;
  cmp compare;
  std::uint64_t value = 0;       ///< a bit pattern
  const void* values = nullptr;  ///< one value for each word; null: `value` for all words
};

/// Which words of a set end a wait or pass a test.
enum class which { all, any, some };

/// Contiguous and strided copies to and from PE `pe`.
PGAS_API void put_bytes(const op_target& how, void* to, const void* from, std::size_t bytes, int pe);
PGAS_API void get_bytes(const op_target& how, void* to, const void* from, std::size_t bytes, int pe);
PGAS_API void put_strided(const op_target& how, void* to, const void* from, const strides& shape, int pe);
PGAS_API void get_strided(const op_target& how, void* to, const void* from, const strides& shape, int pe);
/// The copies of a list to and from PE `pe`. @param most_blocks the limit of thread blocks; 0: the library's choice
PGAS_API void put_blocks(const op_target& how, const copy_list& list, int pe, unsigned most_blocks);
PGAS_API void get_blocks(const op_target& how, const copy_list& list, int pe, unsigned most_blocks);
/// Reads one value.
PGAS_API void load_bytes(const op_target& how, void* to, const void* from, std::size_t bytes, int pe);
/// Writes up to 16 bytes. The call copies the value.
PGAS_API void store_bytes(const op_target& how, void* to, const void* value, std::size_t bytes, std::size_t alignment,
                          int pe);
PGAS_API void put_signal_bytes(const op_target& how, void* to, const void* from, std::size_t bytes, signal_t* signal,
                               signal_t value, signal_op op, int pe);

/// Executes the update and returns the old bits.
PGAS_API std::uint64_t fetch_update(world& w, const atomic_op& update, int pe);
/// Begins the update; the old bits are in `result` after the next quiet().
PGAS_API void begin_fetch(world& w, const atomic_op& update, void* result, int pe);
/// Enqueues the update on a stream; the old bits go to `result` unless it is null.
PGAS_API void enqueue_update(const op_target& how, const atomic_op& update, void* result, int pe);

/// Enqueues a wait for all words of a set.
PGAS_API void enqueue_wait(world& w, const stream& on, const word_set& set);
/// test_words() polls the words of a set once, and wait_words() waits for the words. For `any`, the result is the index
/// of a word that satisfies the comparison, or no_index. For `some`, the result is the number of such words, and their
/// indices go to `indices`. For `all`, the result is 1 if every word satisfies the comparison, otherwise 0.
PGAS_API std::size_t test_words(world& w, const word_set& set, which words, std::size_t* indices);
PGAS_API std::size_t wait_words(world& w, const word_set& set, which words, std::size_t* indices);
/// Control of a wait, for a program that must do other work between two polls, such as an interpreter.
struct wait_control {
  std::optional<std::chrono::milliseconds> limit;        ///< time limit in place of PGAS_WAIT_TIMEOUT
  const char* limit_name = "";                           ///< the name of `limit` in the error
  std::function<void(std::chrono::microseconds)> pause;  ///< sleeps for this time; an exception ends the wait
};
PGAS_API std::size_t wait_words(world& w, const word_set& set, which words, std::size_t* indices,
                                const wait_control& how);
/// Waits for one word and returns the bits that satisfied the comparison.
PGAS_API std::uint64_t wait_word(world& w, const word_set& set);

/// The size of `count` elements in bytes. *Errors* invalid_argument if the size does not fit in a size_t.
[[nodiscard]] PGAS_API std::size_t byte_count(std::size_t count, std::size_t size);

template <class T>
using unsigned_twin =
    std::conditional_t<sizeof(T) == 2, std::uint16_t, std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>;

/// The bit pattern of a word.
template <class T>
[[nodiscard]] std::uint64_t bits_of(T value) {
  return std::bit_cast<unsigned_twin<T>>(value);
}
template <class T>
[[nodiscard]] T from_bits(std::uint64_t bits) {
  return std::bit_cast<T>(static_cast<unsigned_twin<T>>(bits));
}

template <class T>
[[nodiscard]] atomic_op update_of(atomic_update how, const T* target, T value = {}, T condition = {}) {
  return {how, datatype_for<T>(), target, bits_of(value), bits_of(condition)};
}

template <class T>
[[nodiscard]] word_set set_of(const T* words, std::size_t count, const int* status, cmp compare, T value) {
  return {datatype_for<T>(), words, count, status, compare, bits_of(value)};
}
template <class T>
[[nodiscard]] word_set set_of(const T* words, std::size_t count, const int* status, cmp compare, const T* values) {
  if (values == nullptr && count != 0)
    throw error(code::invalid_argument, "wait_until, test: the values to compare with are null");
  return {datatype_for<T>(), words, count, status, compare, 0, values};
}

}  // namespace pgas::detail
