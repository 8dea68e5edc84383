// Memory as a capsule of DLPack.
#include <memory>
#include <utility>

#include "dl_tensor.hpp"
#include "memory_class.hpp"

namespace nb = nanobind;

namespace pgas::python {
namespace {

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

}  // namespace

nb::object to_dlpack(const memory& of, bool with_version) {
  if (of.read_only && !with_version)
    throw nb::buffer_error(
        "the memory is read-only, and DLPack before version 1.0 can't express that: pass max_version=(1, 0)");
  return with_version ? capsule_of<versioned>(of) : capsule_of<unversioned>(of);
}

}  // namespace pgas::python
