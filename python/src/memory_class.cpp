#include "memory_class.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "dl_tensor.hpp"
#include "error.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace pgas::python {
namespace {

struct named_type {
  const char* name;
  element_type type;
  const char* format;      ///< the format in the buffer protocol; null if the protocol has no such type
  const char* array_type;  ///< the type in the array interfaces; null if the interfaces have no such type
};

constexpr std::array types{
    named_type{"int8", {0, 8}, "b", "|i1"},        named_type{"int16", {0, 16}, "h", "<i2"},
    named_type{"int32", {0, 32}, "i", "<i4"},      named_type{"int64", {0, 64}, "q", "<i8"},
    named_type{"uint8", {1, 8}, "B", "|u1"},       named_type{"uint16", {1, 16}, "H", "<u2"},
    named_type{"uint32", {1, 32}, "I", "<u4"},     named_type{"uint64", {1, 64}, "Q", "<u8"},
    named_type{"float16", {2, 16}, "e", "<f2"},    named_type{"float32", {2, 32}, "f", "<f4"},
    named_type{"float64", {2, 64}, "d", "<f8"},    named_type{"bfloat16", {4, 16}, nullptr, nullptr},
    named_type{"complex64", {5, 64}, "Zf", "<c8"}, named_type{"complex128", {5, 128}, "Zd", "<c16"},
    named_type{"bool", {6, 8}, "?", "|b1"},
};

const named_type& find(element_type type) {
  for (const named_type& row : types)
    if (row.type == type) return row;
  refuse("there is no element type with these DLPack numbers");
}

memory reshape(const memory& of, std::vector<std::int64_t> shape, const std::string& type, std::int64_t offset,
               std::optional<std::vector<std::int64_t>> strides) {
  memory made = of;
  made.type = element_type_of(type);
  made.shape = std::move(shape);
  made.strides = std::move(strides).value_or(std::vector<std::int64_t>());
  if (!made.strides.empty() && made.strides.size() != made.shape.size())
    throw nb::value_error("view: pass one stride for each dimension");
  if (!of.strides.empty()) throw nb::value_error("view: the memory must be in C order");
  const std::int64_t item = made.type.bytes();
  // Dimensions of 0 count as 1 in this product, so that the check of the product also ensures that no stride overflows.
  std::int64_t product = item;
  for (const std::int64_t extent : made.shape) {
    if (extent < 0) throw nb::value_error("view: a dimension is negative");
    if (__builtin_mul_overflow(product, std::max<std::int64_t>(extent, 1), &product))
      throw nb::value_error("view: the shape has more bytes than 63 bits can count");
  }
  const std::int64_t room = of.count() * of.type.bytes();
  std::int64_t first = offset;
  std::int64_t last = 0;
  bool beyond = __builtin_add_overflow(offset, item, &last);
  const std::vector<std::int64_t> steps = made.all_strides();
  for (std::size_t i = 0; i < steps.size(); ++i) {
    std::int64_t step = 0;
    std::int64_t reach = 0;
    beyond |= __builtin_mul_overflow(steps[i], item, &step);
    if (made.shape[i] == 0) continue;
    beyond |= __builtin_mul_overflow(made.shape[i] - 1, step, &reach);
    std::int64_t& side = reach < 0 ? first : last;
    beyond |= __builtin_add_overflow(side, reach, &side);
  }
  if (made.count() > 0 && (beyond || first < 0 || last > room))
    throw nb::value_error("view: the shape reaches beyond the memory");
  made.data = of.data + (made.count() > 0 ? offset : 0);
  return made;
}

/// The data that a Py_buffer points to.
struct buffer_shape {
  memory of;  // keeps the owner alive even after the Python object has been destroyed
  std::vector<Py_ssize_t> shape;
  std::vector<Py_ssize_t> strides;
};

int get_buffer(PyObject* self, Py_buffer* view, int flags) noexcept {
  const memory* const of = nb::inst_ptr<memory>(nb::handle(self));
  view->obj = nullptr;
  const named_type* row = nullptr;
  try {
    row = &find(of->type);
  } catch (...) {
  }
  const char* refused = nullptr;
  if (of->gpu >= 0)
    refused = "memory of a GPU has no buffer: use __dlpack__ or __cuda_array_interface__";
  else if (row == nullptr || row->format == nullptr)
    refused = "this element type has no buffer format: use __dlpack__, or view() it as uint16";
  else if (of->read_only && (flags & PyBUF_WRITABLE) != 0)
    refused = "the memory is read-only";
  else if (!of->strides.empty() && (flags & PyBUF_STRIDES) != PyBUF_STRIDES)
    refused = "the memory has strides, and this kind of buffer supports none";
  if (refused != nullptr) {
    PyErr_SetString(PyExc_BufferError, refused);
    return -1;
  }
  try {
    auto made = std::make_unique<buffer_shape>();
    made->of = *of;
    for (const std::int64_t extent : of->shape) made->shape.push_back(extent);
    for (const std::int64_t step : of->all_strides()) made->strides.push_back(step * of->type.bytes());
    view->buf = of->data;
    view->itemsize = of->type.bytes();
    view->len = of->count() * view->itemsize;
    view->readonly = of->read_only ? 1 : 0;
    view->ndim = static_cast<int>(of->shape.size());
    view->format = (flags & PyBUF_FORMAT) != 0 ? const_cast<char*>(row->format) : nullptr;
    view->shape = (flags & PyBUF_ND) != 0 ? made->shape.data() : nullptr;
    view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? made->strides.data() : nullptr;
    view->suboffsets = nullptr;
    view->internal = made.release();
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
    return -1;
  }
  Py_INCREF(self);
  view->obj = self;
  return 0;
}

void release_buffer(PyObject*, Py_buffer* view) noexcept { delete static_cast<buffer_shape*>(view->internal); }

PyType_Slot buffer_slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)},
                              {Py_bf_releasebuffer, reinterpret_cast<void*>(release_buffer)},
                              {0, nullptr}};

/// The form of DLPack before version 1.0.
struct unversioned {
  dl_tensor tensor;
  void* context;
  void (*deleter)(unversioned*);

  static constexpr const char* name = "dltensor";
};

/// The form of DLPack from version 1.0 on.
struct versioned {
  std::uint32_t major;
  std::uint32_t minor;
  void* context;
  void (*deleter)(versioned*);
  std::uint64_t flags;
  dl_tensor tensor;

  static constexpr const char* name = "dltensor_versioned";
};
static_assert(sizeof(unversioned) == 64 && sizeof(versioned) == 80);

constexpr std::uint64_t flag_read_only = 1;

/// The object of a capsule, and the data that it points to.
template <class Managed>
struct exported_tensor {
  Managed managed{};
  memory of;
  std::vector<std::int64_t> strides;

  explicit exported_tensor(const memory& from) : of(from), strides(from.all_strides()) {
    managed.tensor = {of.data,
                      of.gpu < 0 ? on_cpu : on_cuda,
                      of.gpu < 0 ? 0 : of.gpu,
                      static_cast<std::int32_t>(of.shape.size()),
                      of.type.code,
                      of.type.bits,
                      1,
                      of.shape.data(),
                      strides.data(),
                      0};
    managed.context = this;
    // The consumer calls the deleter after it has finished with the memory, from any thread, with or without the GIL.
    managed.deleter = [](Managed* self) { delete static_cast<exported_tensor*>(self->context); };
    if constexpr (std::is_same_v<Managed, versioned>) {
      managed.major = 1;
      managed.minor = 0;
      managed.flags = of.read_only ? flag_read_only : 0;
    }
  }
};

template <class Managed>
nb::object capsule_of(const memory& from) {
  auto made = std::make_unique<exported_tensor<Managed>>(from);
  // A consumer that takes the memory renames the capsule. If the capsule still has the original name, no consumer has
  // taken the memory, so this function releases it.
  PyObject* const capsule = PyCapsule_New(&made->managed, Managed::name, [](PyObject* self) {
    if (PyCapsule_IsValid(self, Managed::name) == 0) return;
    auto* const managed = static_cast<Managed*>(PyCapsule_GetPointer(self, Managed::name));
    managed->deleter(managed);
  });
  if (capsule == nullptr) throw nb::python_error();
  static_cast<void>(made.release());
  return nb::steal(capsule);
}

/// A DLPack capsule of the memory. The capsule keeps the owner of the memory alive.
nb::object to_dlpack(const memory& of, bool with_version) {
  if (of.read_only && !with_version)
    throw nb::buffer_error(
        "the memory is read-only, and DLPack before version 1.0 can't express that: pass max_version=(1, 0)");
  return with_version ? capsule_of<versioned>(of) : capsule_of<unversioned>(of);
}

nb::tuple tuple_of(const std::vector<std::int64_t>& numbers) { return nb::tuple(nb::cast(numbers)); }

nb::dict cuda_array_interface(const memory& of) {
  if (of.gpu < 0) throw nb::attribute_error("__cuda_array_interface__: the memory is not on a GPU");
  const named_type& row = find(of.type);
  if (row.array_type == nullptr)
    throw nb::attribute_error("__cuda_array_interface__ has no such element type: use __dlpack__");
  nb::dict made;
  made["shape"] = tuple_of(of.shape);
  made["typestr"] = row.array_type;
  made["data"] = nb::make_tuple(reinterpret_cast<std::uintptr_t>(of.data), of.read_only);
  made["version"] = 3;
  made["stream"] = nb::none();
  if (of.strides.empty()) {
    made["strides"] = nb::none();
  } else {
    std::vector<std::int64_t> bytes = of.strides;
    for (std::int64_t& step : bytes) step *= of.type.bytes();
    made["strides"] = tuple_of(bytes);
  }
  return made;
}

}  // namespace

element_type element_type_of(std::string_view name) {
  for (const named_type& row : types)
    if (row.name == name) return row.type;
  std::string text = "there is no element type '" + std::string(name) + "': choose one of";
  for (const named_type& row : types) text += std::string(" ") + row.name;
  refuse(text);
}

std::string name_of(element_type type) { return find(type).name; }

std::int64_t memory::count() const {
  std::int64_t product = 1;
  for (const std::int64_t extent : shape)
    if (__builtin_mul_overflow(product, extent, &product)) refuse("the shape has more elements than 63 bits can count");
  return product;
}

std::vector<std::int64_t> memory::all_strides() const {
  if (!strides.empty() || shape.empty()) return strides;
  std::vector<std::int64_t> made(shape.size(), 1);
  for (std::size_t i = shape.size() - 1; i > 0; --i) made[i - 1] = made[i] * shape[i];
  return made;
}

memory plain_memory(std::shared_ptr<const void> owner, void* data, std::size_t bytes, int gpu, bool read_only) {
  return {std::move(owner), static_cast<std::byte*>(data), {static_cast<std::int64_t>(bytes)}, {}, {}, gpu, read_only};
}

void bind_memory(nb::module_& m) {
  m.def(
      "itemsize", [](const std::string& type) { return element_type_of(type).bytes(); }, "dtype"_a);
  nb::class_<memory>(m, "Memory", nb::type_slots(buffer_slots), nb::is_weak_referenceable(),
                     "Plain memory with a shape and an element type. It keeps what it lies in alive.")
      .def_prop_ro("ptr", [](const memory& of) { return reinterpret_cast<std::uintptr_t>(of.data); })
      .def_prop_ro("nbytes", [](const memory& of) { return of.count() * of.type.bytes(); })
      .def_prop_ro("itemsize", [](const memory& of) { return of.type.bytes(); })
      .def_prop_ro("shape", [](const memory& of) { return tuple_of(of.shape); })
      .def_prop_ro("strides", [](const memory& of) { return tuple_of(of.all_strides()); })
      .def_prop_ro("dtype", [](const memory& of) { return name_of(of.type); })
      .def_prop_ro("readonly", [](const memory& of) { return of.read_only; })
      .def_prop_ro("device", [](const memory& of) { return of.gpu < 0 ? std::optional<int>() : of.gpu; })
      .def("view", &reshape, "shape"_a, "dtype"_a, "offset"_a = 0, "strides"_a = nb::none(),
           "Memory inside this one, with a shape and an element type of its own. The offset is bytes, strides are "
           "elements.")
      .def("__dlpack_device__",
           [](const memory& of) { return nb::make_tuple(of.gpu < 0 ? 1 : 2, of.gpu < 0 ? 0 : of.gpu); })
      .def(
          "__dlpack__",
          [](const memory& of, const nb::object&, const nb::object& max_version, const nb::object& device,
             const nb::object& copy) {
            // The argument with the consumer's stream is ignored: the program must order the work that uses the memory.
            if (!copy.is_none() && nb::cast<bool>(copy)) throw nb::buffer_error("__dlpack__: copy the array instead");
            if (!device.is_none()) {
              const int kind = nb::cast<int>(device[0]);
              const int number = nb::cast<int>(device[1]);
              if (kind != (of.gpu < 0 ? 1 : 2) || (of.gpu >= 0 && number != of.gpu))
                throw nb::buffer_error("__dlpack__: the memory is on another device");
            }
            return to_dlpack(of, !max_version.is_none() && nb::cast<int>(max_version[0]) >= 1);
          },
          "stream"_a = nb::none(), nb::kw_only(), "max_version"_a = nb::none(), "dl_device"_a = nb::none(),
          "copy"_a = nb::none())
      .def_prop_ro("__cuda_array_interface__", &cuda_array_interface)
      .def("__repr__", [](const memory& of) {
        return nb::str("<pgas.Memory of {} bytes, {}{} on {}>")
            .format(of.count() * of.type.bytes(), name_of(of.type), tuple_of(of.shape),
                    of.gpu < 0 ? nb::str("the host") : nb::str("GPU {}").format(of.gpu));
      });
}

}  // namespace pgas::python
