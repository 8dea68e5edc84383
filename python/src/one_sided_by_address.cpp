// One-sided operations of the class World, with addresses and sizes that Python code has taken from arrays.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <thread>

#include "error.hpp"
#include "joined_world.hpp"
#include "page_list.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace pgas::python {
namespace {

using address = std::uintptr_t;
using clock = std::chrono::steady_clock;

void* pointer(address at) { return reinterpret_cast<void*>(at); }

/// The queue of an operation: a stream, or the world's own queue. On the world's own queue, an operation is complete
/// when the call returns, or later if it is nonblocking (`nbi`).
class place {
 public:
  /// @param on is the argument `stream=`, or the arrays whose library knows the current stream
  template <class On>
  place(joined_world& of, const On& on, bool nbi) : of_(of), stream_(of, on), nbi_(nbi) {}
  [[nodiscard]] detail::op_target target() const {
    world& w = of_.get();
    if (stream_.get() != nullptr) return detail::on_stream(w, *stream_.get());
    return nbi_ ? detail::nonblocking(w) : detail::blocking(w);
  }
  [[nodiscard]] const stream* on() const { return stream_.get(); }
  [[nodiscard]] joined_world& joined() const { return of_; }

 private:
  joined_world& of_;
  stream_argument stream_;
  bool nbi_;
};

detail::datatype datatype_of(const std::string& name) {
  using detail::datatype;
  static constexpr std::array names{std::pair{"int16", datatype::i16},   std::pair{"uint16", datatype::u16},
                                    std::pair{"int32", datatype::i32},   std::pair{"uint32", datatype::u32},
                                    std::pair{"int64", datatype::i64},   std::pair{"uint64", datatype::u64},
                                    std::pair{"float32", datatype::f32}, std::pair{"float64", datatype::f64},
                                    std::pair{"float16", datatype::f16}, std::pair{"bfloat16", datatype::bf16}};
  for (const auto& [known, type] : names)
    if (name == known) return type;
  refuse("an atomic operation, or a wait, takes no words of type " + name);
}

void copy_at(const place& where, bool get, address to, address from, std::size_t bytes, int pe) {
  const library_call call(where.joined());
  if (get)
    detail::get_bytes(where.target(), pointer(to), pointer(from), bytes, pe);
  else
    detail::put_bytes(where.target(), pointer(to), pointer(from), bytes, pe);
}

void copy(joined_world& of, bool get, address to, address from, std::size_t bytes, int pe, nb::handle on, bool nbi) {
  copy_at(place(of, on, nbi), get, to, from, bytes, pe);
}

/// Like copy(), in the current stream, for arrays that array_pair accepts. For other arrays, returns false and copies
/// nothing.
bool copy_arrays(joined_world& of, bool get, nb::handle to, nb::handle from, int pe, bool nbi) {
  const auto both = array_pair::find(to, from);
  if (!both || both->first().count != both->second().count) return false;
  copy_at(place(of, *both, nbi), get, both->first().data, both->second().data,
          both->first().count * static_cast<std::size_t>(both->first().type.bytes()), pe);
  return true;
}

/// One dimension of a strided copy: its extent, and the strides in elements.
struct dimension {
  std::int64_t extent, to, from;
};

/// A copy between any two strided shapes, by as few strided copies as possible.
void copy_strided(joined_world& of, bool get, address to, address from, const std::vector<std::int64_t>& shape,
                  const std::vector<std::int64_t>& to_strides, const std::vector<std::int64_t>& from_strides,
                  std::size_t item, int pe, nb::handle on, bool nbi) {
  if (shape.size() != to_strides.size() || shape.size() != from_strides.size())
    throw nb::value_error("a strided copy: pass one stride for each dimension");
  const place where(of, on, nbi);
  // The outermost dimension is first. Neighbouring dimensions that are contiguous in both arrays are merged.
  std::vector<dimension> dims;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0) return;
    if (shape[i] == 1) continue;
    const dimension inner{shape[i], to_strides[i], from_strides[i]};
    if (!dims.empty() && dims.back().to == inner.to * inner.extent && dims.back().from == inner.from * inner.extent)
      dims.back() = {dims.back().extent * inner.extent, inner.to, inner.from};
    else
      dims.push_back(inner);
  }
  detail::strides form{1, 1, 1, 1, item};
  if (!dims.empty() && dims.back().to == 1 && dims.back().from == 1) {
    form.block = static_cast<std::size_t>(dims.back().extent);
    dims.pop_back();
  }
  if (!dims.empty()) {
    form.count = static_cast<std::size_t>(dims.back().extent);
    form.to = dims.back().to;
    form.from = dims.back().from;
    dims.pop_back();
  }
  const library_call call(of);
  std::vector<std::int64_t> index(dims.size(), 0);
  for (;;) {
    std::int64_t to_offset = 0;
    std::int64_t from_offset = 0;
    for (std::size_t i = 0; i < dims.size(); ++i) {
      to_offset += index[i] * dims[i].to;
      from_offset += index[i] * dims[i].from;
    }
    void* const there = pointer(to + static_cast<address>(to_offset) * item);
    const void* const here = pointer(from + static_cast<address>(from_offset) * item);
    if (get)
      detail::get_strided(where.target(), there, here, form, pe);
    else
      detail::put_strided(where.target(), there, here, form, pe);
    std::size_t i = dims.size();
    while (i > 0 && ++index[i - 1] == dims[i - 1].extent) index[--i] = 0;
    if (i == 0) return;
  }
}

void copy_pages(joined_world& of, bool get, const page_numbers& to, const page_numbers& from, std::size_t bytes,
                std::size_t count, int pe, nb::handle on, unsigned most_blocks) {
  const place where(of, on, false);
  const copy_list list = page_list(to, from, bytes, count);
  const library_call call(of);
  if (get)
    detail::get_blocks(where.target(), list, pe, most_blocks);
  else
    detail::put_blocks(where.target(), list, pe, most_blocks);
}

void store(joined_world& of, address to, const nb::bytes& value, int pe, nb::handle on) {
  const place where(of, on, false);
  const std::size_t bytes = value.size();
  const library_call call(of);
  detail::store_bytes(where.target(), pointer(to), value.c_str(), bytes, bytes, pe);
}

nb::bytes load(joined_world& of, address from, std::size_t bytes, int pe) {
  std::array<char, 16> value{};
  if (bytes > value.size()) throw nb::value_error("g: a value has at most 16 bytes");
  {
    const library_call call(of);
    detail::load_bytes(detail::blocking(of.get()), value.data(), pointer(from), bytes, pe);
  }
  return nb::bytes(value.data(), bytes);
}

void put_signal(joined_world& of, address to, address from, std::size_t bytes, address signal, std::uint64_t value,
                bool add, int pe, nb::handle on, bool nbi) {
  const place where(of, on, nbi);
  const library_call call(of);
  detail::put_signal_bytes(where.target(), pointer(to), pointer(from), bytes, static_cast<signal_t*>(pointer(signal)),
                           value, add ? signal_op::add : signal_op::set, pe);
}

void signal(joined_world& of, address word, std::uint64_t value, bool add, int pe, nb::handle on) {
  const place where(of, on, false);
  auto* const at = static_cast<signal_t*>(pointer(word));
  const library_call call(of);
  world& w = of.get();
  if (where.on() == nullptr)
    add ? signal_add(w, at, value, pe) : signal_set(w, at, value, pe);
  else
    add ? signal_add(w, *where.on(), at, value, pe) : signal_set(w, *where.on(), at, value, pe);
}

struct update_name {
  const char* name;
  detail::atomic_update how;
  bool floats;       ///< whether float32 and float64 support the operation
  bool half_floats;  ///< whether the 16-bit formats support the operation
};
constexpr std::array updates{
    update_name{"fetch", detail::atomic_update::fetch, true, true},
    update_name{"set", detail::atomic_update::set, true, true},
    update_name{"add", detail::atomic_update::add, true, true},
    update_name{"swap", detail::atomic_update::swap, true, false},
    update_name{"compare_swap", detail::atomic_update::compare_swap, true, false},
    update_name{"min", detail::atomic_update::min, true, false},
    update_name{"max", detail::atomic_update::max, true, false},
    update_name{"and", detail::atomic_update::bit_and, false, false},
    update_name{"or", detail::atomic_update::bit_or, false, false},
    update_name{"xor", detail::atomic_update::bit_xor, false, false},
};

detail::atomic_op atomic_op_of(const std::string& name, const std::string& type, address target, std::uint64_t value,
                               std::uint64_t condition) {
  const detail::datatype as = datatype_of(type);
  const bool is_half = as == detail::datatype::f16 || as == detail::datatype::bf16;
  const bool is_float = as == detail::datatype::f32 || as == detail::datatype::f64;
  const bool is_short = as == detail::datatype::i16 || as == detail::datatype::u16;
  for (const update_name& row : updates) {
    if (name != row.name) continue;
    if (is_short || (is_half && !row.half_floats) || (is_float && !row.floats))
      refuse("atomic_" + name + ": there is none for " + type);
    return {row.how, as, pointer(target), value, condition};
  }
  refuse("there is no atomic operation '" + name + "'");
}

/// `value`, `condition` and the result are bit patterns. Returns the old value if `fetches` is true. An operation on a
/// stream returns nothing, and writes the old value to `result`.
std::optional<std::uint64_t> atomic(joined_world& of, const std::string& name, const std::string& type, address target,
                                    std::uint64_t value, std::uint64_t condition, bool fetches, int pe, nb::handle on,
                                    address result) {
  const place where(of, on, false);
  detail::atomic_op update = atomic_op_of(name, type, target, value, condition);
  update.fetches = fetches;
  const library_call call(of);
  if (where.on() != nullptr) {
    detail::enqueue_update(where.target(), update, pointer(result), pe);
    return std::nullopt;
  }
  const std::uint64_t old = detail::fetch_update(of.get(), update, pe);
  return fetches ? std::optional(old) : std::nullopt;
}

/// The description of the words of a wait (`set`), and the memory that the description refers to.
struct waited_words {
  std::vector<int> status;
  std::vector<std::uint64_t> values;  ///< space for values of any type, aligned
  detail::word_set set{};
};

/// Fills `made` for a wait. `values` contains the bytes of one value for all words, or of one value for each word.
void describe(waited_words& made, const std::string& type, address words, std::size_t count, int compare,
              const nb::bytes& values, const std::vector<int>& status) {
  const detail::datatype as = datatype_of(type);
  if (as > detail::datatype::u64) refuse("a wait or a test needs integer words, not " + type);
  const std::size_t size = detail::size_of(as);
  const bool one = values.size() == size;
  if (!one && values.size() != size * count)
    throw nb::value_error("a wait: pass one value for all words, or one for each word");
  if (!status.empty() && status.size() != count) throw nb::value_error("a wait: pass one status for each word");
  made.status = status;
  made.values.resize(values.size() / sizeof(std::uint64_t) + 1);
  std::copy_n(static_cast<const char*>(values.data()), values.size(), reinterpret_cast<char*>(made.values.data()));
  made.set = {as,
              pointer(words),
              count,
              made.status.empty() ? nullptr : made.status.data(),
              static_cast<cmp>(compare),
              made.values[0]};
  if (!one) made.set.values = made.values.data();
}

detail::which which_of(const std::string& name) {
  if (name == "any") return detail::which::any;
  return name == "some" ? detail::which::some : detail::which::all;
}

nb::object outcome(detail::which words, std::size_t found, const std::vector<std::size_t>& indices) {
  if (words == detail::which::all) return nb::bool_(found != 0);
  if (words == detail::which::any) return found == SIZE_MAX ? nb::none() : nb::object(nb::int_(found));
  nb::list made;
  for (std::size_t i = 0; i < found; ++i) made.append(indices[i]);
  return made;
}

/// Waits for words. Python's handlers of Unix signals run during the wait. Ctrl-C ends the wait, but does not abort the
/// world.
/// @param timeout seconds; negative: PGAS_WAIT_TIMEOUT
nb::object wait(joined_world& of, const std::string& type, address words, std::size_t count, const std::string& which,
                int compare, const nb::bytes& values, const std::vector<int>& status, double timeout, bool once) {
  waited_words described;
  describe(described, type, words, count, compare, values, status);
  const detail::which kind = which_of(which);
  std::vector<std::size_t> indices(kind == detail::which::some ? count : 0);
  world& w = of.get();
  const bool interruptible_here = on_main_thread();
  std::size_t found = 0;
  {
    const gil_released free;
    std::optional held(of.hold());
    if (once) {
      found = detail::test_words(w, described.set, kind, indices.empty() ? nullptr : indices.data());
    } else {
      detail::wait_control how;
      how.limit_name = "timeout=";
      if (timeout >= 0)
        how.limit = std::chrono::ceil<std::chrono::milliseconds>(std::chrono::duration<double>(timeout));
      auto looked = clock::now();
      how.pause = [&](std::chrono::microseconds time) {
        held.reset();  // during the pause another thread may leave the world
        std::this_thread::sleep_for(time);
        if (interruptible_here && clock::now() - looked > std::chrono::milliseconds(20)) {
          check_signals();
          looked = clock::now();
        }
        held.emplace(of.hold());
      };
      found = detail::wait_words(w, described.set, kind, indices.empty() ? nullptr : indices.data(), how);
    }
  }
  return outcome(kind, found, indices);
}

/// Makes a stream wait until all words have reached the value.
void wait_on_stream(joined_world& of, const std::string& type, address words, std::size_t count, int compare,
                    const nb::bytes& value, nb::handle on) {
  waited_words described;
  describe(described, type, words, count, compare, value, {});
  if (described.set.values != nullptr) throw nb::value_error("a wait on a stream: pass one value for all words");
  const stream_argument where(of, on);
  if (where.get() == nullptr) throw nb::value_error("a wait on a stream: no stream");
  const library_call call(of);
  detail::enqueue_wait(of.get(), *where.get(), described.set);
}

}  // namespace

void bind_operations(nb::class_<joined_world>& c) {
  c.def("copy", &copy, "get"_a, "to"_a, "source"_a, "bytes"_a, "pe"_a, "stream"_a.none(), "nbi"_a)
      .def("copy_arrays", &copy_arrays, "get"_a, "to"_a, "source"_a, "pe"_a, "nbi"_a)
      .def("copy_strided", &copy_strided, "get"_a, "to"_a, "source"_a, "shape"_a, "to_strides"_a, "source_strides"_a,
           "itemsize"_a, "pe"_a, "stream"_a.none(), "nbi"_a)
      .def("copy_list", &copy_pages, "get"_a, "to"_a, "source"_a, "bytes"_a, "count"_a, "pe"_a, "stream"_a.none(),
           "most_blocks"_a)
      .def("store", &store, "to"_a, "value"_a, "pe"_a, "stream"_a.none())
      .def("load", &load, "source"_a, "bytes"_a, "pe"_a)
      .def("put_signal", &put_signal, "to"_a, "source"_a, "bytes"_a, "signal"_a, "value"_a, "add"_a, "pe"_a,
           "stream"_a.none(), "nbi"_a)
      .def("signal", &signal, "word"_a, "value"_a, "add"_a, "pe"_a, "stream"_a.none())
      .def(
          "signal_fetch",
          [](joined_world& of, address word) {
            const library_call call(of);
            return signal_fetch(of.get(), static_cast<const signal_t*>(pointer(word)));
          },
          "word"_a)
      .def("atomic", &atomic, "name"_a, "dtype"_a, "target"_a, "value"_a, "condition"_a, "fetches"_a, "pe"_a,
           "stream"_a.none(), "result"_a)
      .def("wait", &wait, "dtype"_a, "words"_a, "count"_a, "which"_a, "compare"_a, "values"_a, "status"_a, "timeout"_a,
           "once"_a)
      .def("wait_on_stream", &wait_on_stream, "dtype"_a, "words"_a, "count"_a, "compare"_a, "value"_a,
           "stream"_a.none())
      .def(
          "quiet",
          [](joined_world& of, nb::handle on) {
            const stream_argument where(of, on);
            if (where.get() != nullptr)
              quiet(of.get(), *where.get());
            else
              of.blocking([&] { quiet(of.get()); });
          },
          "stream"_a.none())
      .def(
          "fence",
          [](joined_world& of, nb::handle on) {
            const stream_argument where(of, on);
            if (where.get() != nullptr)
              fence(of.get(), *where.get());
            else
              of.blocking([&] { fence(of.get()); });
          },
          "stream"_a.none())
      .def(
          "set_lock",
          [](joined_world& of, address lock) {
            of.blocking([&] { set_lock(of.get(), static_cast<lock_t*>(pointer(lock))); });
          },
          "lock"_a)
      .def(
          "test_lock",
          [](joined_world& of, address lock) {
            return of.blocking([&] { return test_lock(of.get(), static_cast<lock_t*>(pointer(lock))); });
          },
          "lock"_a)
      .def(
          "clear_lock",
          [](joined_world& of, address lock) {
            of.blocking([&] { clear_lock(of.get(), static_cast<lock_t*>(pointer(lock))); });
          },
          "lock"_a);
}

}  // namespace pgas::python
