#include "exchanged_array.hpp"

#include <mutex>
#include <vector>

#include "dl_tensor.hpp"

namespace nb = nanobind;

namespace pgas::python {

/// DLPackExchangeAPI. A library that grows it appends.
struct exchanged_pair::table {
  std::uint32_t major;
  std::uint32_t minor;
  const void* previous;
  void* allocate;
  void* managed_tensor_from_object;
  void* managed_tensor_to_object;
  int (*tensor_from_object)(void* object, dl_tensor* to);  ///< null where the library has none
  int (*current_stream)(std::int32_t device_type, std::int32_t device, void** stream);
};

namespace {

constexpr std::uint32_t known_major = 1;

/// Whether the strides are those of C order.
bool in_c_order(const dl_tensor& of) {
  if (of.strides == nullptr) return true;
  std::int64_t step = 1;
  for (std::int32_t i = of.ndim; i-- > 0;) {
    if (of.shape[i] != 1 && of.strides[i] != step) return false;
    step *= of.shape[i];
  }
  return true;
}

}  // namespace

const exchanged_pair::table* exchanged_pair::table_of(nb::handle array) {
  struct known {
    nb::handle type;  // kept, so that no other type gets its address
    const table* functions;
  };
  static auto& all = *new std::vector<known>;
  static auto& lock = *new std::mutex;
  const nb::handle type = array.type();
  const std::lock_guard guard(lock);
  for (const known& one : all)
    if (one.type.is(type)) return one.functions;
  const table* found = nullptr;
  if (const nb::object capsule = nb::getattr(type, "__dlpack_c_exchange_api__", nb::none());
      PyCapsule_IsValid(capsule.ptr(), "dlpack_exchange_api") != 0) {
    found = static_cast<const table*>(PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
    if (found->major != known_major || found->tensor_from_object == nullptr) found = nullptr;
  }
  all.push_back({type.inc_ref(), found});
  return found;
}

bool exchanged_pair::read(const table& functions, nb::handle from, exchanged_array& to) {
  dl_tensor about{};
  if (functions.tensor_from_object(from.ptr(), &about) != 0) {
    PyErr_Clear();  // the caller finds out in another way what is wrong with it
    return false;
  }
  if (about.lanes != 1 || about.bits % 8 != 0 || !in_c_order(about)) return false;
  to.data = reinterpret_cast<std::uintptr_t>(about.data) + about.byte_offset;
  to.count = 1;
  for (std::int32_t i = 0; i < about.ndim; ++i) to.count *= static_cast<std::size_t>(about.shape[i]);
  to.type = {about.code, about.bits};
  return true;
}

std::optional<exchanged_pair> exchanged_pair::of(nb::handle first, nb::handle second) {
  const table* const functions = table_of(first);
  if (functions == nullptr || table_of(second) != functions) return std::nullopt;
  exchanged_pair both(*functions);
  if (!read(*functions, first, both.first_) || !read(*functions, second, both.second_) ||
      both.first_.type != both.second_.type)
    return std::nullopt;
  return both;
}

std::optional<void*> exchanged_pair::current_stream(int gpu) const {
  void* stream = nullptr;
  if (functions_->current_stream == nullptr || functions_->current_stream(on_cuda, gpu, &stream) != 0) {
    PyErr_Clear();
    return std::nullopt;
  }
  return stream;
}

}  // namespace pgas::python
