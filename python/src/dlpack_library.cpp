// Arrays of libraries with DLPack's table of C functions.
#include "array_library.hpp"
#include "dl_tensor.hpp"

namespace nb = nanobind;

namespace pgas::python {
namespace {

/// DLPackExchangeAPI. New versions append fields.
struct exchange_table {
  std::uint32_t major;
  std::uint32_t minor;
  const void* previous;
  void* allocate;
  void* managed_tensor_from_object;
  void* managed_tensor_to_object;
  int (*tensor_from_object)(void* object, dl_tensor* to);  ///< null if the library has no such function
  int (*current_stream)(std::int32_t device_type, std::int32_t device, void** stream);
};

constexpr std::uint32_t known_major = 1;

/// Whether the strides have C order.
bool in_c_order(const dl_tensor& of) {
  if (of.strides == nullptr) return true;
  std::int64_t step = 1;
  for (std::int32_t i = of.ndim; i-- > 0;) {
    if (of.shape[i] != 1 && of.strides[i] != step) return false;
    step *= of.shape[i];
  }
  return true;
}

class dlpack_library final : public array_library {
 public:
  dlpack_library(const exchange_table& functions, nb::handle type)
      : functions_(functions), lazy_(nb::hasattr(type, "is_neg") && nb::hasattr(type, "is_conj")) {}

  [[nodiscard]] std::optional<array_description> describe(nb::handle array) const override {
    dl_tensor about{};
    if (functions_.tensor_from_object(array.ptr(), &about) != 0) {
      PyErr_Clear();  // Python code reads the array instead, and reports the error
      return std::nullopt;
    }
    if (about.lanes != 1 || about.bits % 8 != 0 || !in_c_order(about)) return std::nullopt;
    if (lazy_ && (is_true(array, is_neg_) || (about.code == complex_code && is_true(array, is_conj_))))
      return std::nullopt;
    array_description to;
    to.data = reinterpret_cast<std::uintptr_t>(about.data) + about.byte_offset;
    to.count = 1;
    for (std::int32_t i = 0; i < about.ndim; ++i) to.count *= static_cast<std::size_t>(about.shape[i]);
    to.type = {about.code, about.bits};
    return to;
  }

  [[nodiscard]] std::optional<void*> current_stream(int gpu) const override {
    void* stream = nullptr;
    if (functions_.current_stream == nullptr || functions_.current_stream(on_cuda, gpu, &stream) != 0) {
      PyErr_Clear();
      return std::nullopt;
    }
    return stream;
  }

 private:
  static constexpr std::uint8_t complex_code = 5;

  [[nodiscard]] static bool is_true(nb::handle array, nb::handle method) {
    const nb::object answer = nb::steal(PyObject_CallMethodObjArgs(array.ptr(), method.ptr(), nullptr));
    if (!answer.is_valid()) PyErr_Clear();
    return answer.ptr() != Py_False;
  }

  const exchange_table& functions_;
  /// Whether arrays may have a pending conjugation or negation, as torch's arrays may. The table does not report these
  /// states.
  const bool lazy_;
  const nb::handle is_neg_ = PyUnicode_InternFromString("is_neg");
  const nb::handle is_conj_ = PyUnicode_InternFromString("is_conj");
};

}  // namespace

const array_library* find_dlpack_library(nb::handle type) {
  const nb::object capsule = nb::getattr(type, "__dlpack_c_exchange_api__", nb::none());
  if (PyCapsule_IsValid(capsule.ptr(), "dlpack_exchange_api") == 0) return nullptr;
  const auto* const table =
      static_cast<const exchange_table*>(PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
  if (table->major != known_major || table->tensor_from_object == nullptr) return nullptr;
  return new dlpack_library(*table, type);
}

}  // namespace pgas::python
