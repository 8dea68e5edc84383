// The backend "PGAS" of torch.distributed._symmetric_memory, and functions that pgas/torch.py calls.
#include <c10/core/Device.h>
#include <torch/csrc/utils/pybind.h>

#include <chrono>
#include <torch/csrc/distributed/c10d/GroupRegistry.hpp>
#include <torch/csrc/distributed/c10d/symm_mem/SymmetricMemory.hpp>

#include "ask_cuda.hpp"
#include "backend.hpp"

namespace py = pybind11;

namespace pgas::torch_backend {
namespace {

namespace symm = c10d::symmetric_memory;

/// Releases the GIL in a scope, if the thread holds it.
class without_gil {
 public:
  without_gil() : state_(PyGILState_Check() != 0 ? PyEval_SaveThread() : nullptr) {}
  ~without_gil() {
    if (state_ != nullptr) PyEval_RestoreThread(state_);
  }
  without_gil(const without_gil&) = delete;
  without_gil& operator=(const without_gil&) = delete;

 private:
  PyThreadState* state_;
};

/// torch's handle of a tensor for a group: a view of a block, and the offset of the tensor.
class handle final : public symm::SymmetricMemory {
 public:
  handle(std::shared_ptr<group_view> view, std::size_t offset) : view_(std::move(view)), offset_(offset) {}

  std::vector<void*> get_buffer_ptrs() override { return view_->buffers(); }
  std::vector<void*> get_signal_pad_ptrs() override { return view_->pads(); }
  void** get_buffer_ptrs_dev() override { return view_->buffers_on_device(); }
  void** get_signal_pad_ptrs_dev() override { return view_->pads_on_device(); }
  size_t get_buffer_size() override { return view_->bytes(); }
  size_t get_offset() override { return offset_; }
  bool has_multicast_support() override { return false; }
  void* get_multicast_ptr() override { return nullptr; }
  void barrier(int channel, size_t timeout_ms) override {
    const without_gil free;
    view_->barrier(channel, timeout_ms);
  }
  void put_signal(int dst_rank, int channel, size_t timeout_ms) override {
    const without_gil free;
    view_->put_signal(dst_rank, channel, timeout_ms);
  }
  void wait_signal(int src_rank, int channel, size_t timeout_ms) override {
    const without_gil free;
    view_->wait_signal(src_rank, channel, timeout_ms);
  }
  int get_rank() override { return view_->registered_group().members().my_pe(); }
  int get_world_size() override { return view_->registered_group().members().n_pes(); }
  c10::Device get_device() override { return view_->device(); }
  const std::vector<int>& get_rank_to_global_rank() override { return view_->registered_group().global_ranks(); }
  int* get_rank_to_global_rank_dev() override { return view_->ranks_on_device(); }
  bool world_within_direct_access() override {
    for (const void* const each : view_->buffers())
      if (each == nullptr) return false;
    return true;
  }

 private:
  std::shared_ptr<group_view> view_;
  std::size_t offset_;
};

/// The allocator of torch's symmetric memory. Functions that only some versions of torch have are not marked
/// `override`.
class allocator final : public symm::SymmetricMemoryAllocator {
 public:
  explicit allocator(c10::DeviceType type) : type_(type) {}

  void* alloc(size_t size, int device, const std::optional<std::string>& group) override {
    const without_gil free;  // the call can wait for kernels, and a kernel can wait for a thread that needs the GIL
    return backend::get().allocate(size, device, symm::get_signal_pad_size(), group);
  }
  void free(void* buffer) override {
    if (!symm::is_finalizing()) backend::get().blocks().free(buffer);
  }
  size_t get_alloc_size(void* buffer) override { return backend::get().place_of(buffer).of->bytes(); }
  c10::intrusive_ptr<symm::SymmetricMemory> rendezvous(void* buffer, const std::optional<std::string>& group) override {
    if (!backend::get().blocks().find(buffer)) {  // the error tells torch that the memory is not symmetric
      TORCH_WARN_ONCE(
          "pgas.torch: rendezvous() of a tensor that is not symmetric memory returns None: allocate it by "
          "symm_mem.empty(), or "
          "within torch.cuda.use_mem_pool(pgas.torch.mem_pool())");
      return nullptr;
    }
    const without_gil free;
    auto [view, offset] = backend::get().rendezvous(buffer, group);
    return c10::make_intrusive<handle>(std::move(view), offset);
  }
  bool has_multicast_support(int /*device*/) override { return false; }
  c10::DeviceType supported_device_type() override { return type_; }
  std::string name() override { return "PGAS"; }
  bool has_allocation(void* buffer) { return backend::get().blocks().find(buffer).has_value(); }
  int64_t get_alloc_id(void* buffer) {
    const auto found = backend::get().blocks().find(buffer);
    return found ? static_cast<int64_t>(found->offset)
                 : -1;  // torch compares this value; the group's log compares more data
  }

 private:
  c10::DeviceType type_;
};

/// Translates pgas::error to Python's pgas.Error, by calling `raise`.
void translate_errors(const py::object& raise) {
  static const auto* const make = new py::object(raise);
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      std::rethrow_exception(thrown);
    } catch (const error& e) {
      const py::object made = (*make)(e.what(), static_cast<int>(e.code()), e.pe());
      PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(made.ptr())), made.ptr());
    }
  });
}

void enable(std::uintptr_t world_address, const py::object& find_group, const py::object& error_class) {
  static bool registered = false;
  auto& joined = *reinterpret_cast<world*>(world_address);
  backend::set(joined, [find = std::make_shared<py::object>(find_group)](const std::string& name) {
    const py::gil_scoped_acquire lock;
    (*find)(name);
  });
  if (registered) return;
  registered = true;
  translate_errors(error_class);
  const auto type = joined.device() < 0 ? c10::DeviceType::CPU : c10::DeviceType::CUDA;
  symm::register_availability("PGAS", c10::make_intrusive<allocator>(type));
}

void add_group(const std::string& name, std::uintptr_t members, std::size_t slot, std::vector<int> global_ranks,
               const std::vector<std::uintptr_t>& pages, double limit_s, py::object owner) {
  const std::chrono::milliseconds limit(static_cast<std::int64_t>(1000 * limit_s));
  std::vector<rendezvous_page*> mapped;
  for (const std::uintptr_t each : pages) mapped.push_back(reinterpret_cast<rendezvous_page*>(each));
  const std::shared_ptr<void> kept(owner.release().ptr(), [](void* object) {
    if (symm::is_finalizing()) return;  // the interpreter may already have ended
    const py::gil_scoped_acquire lock;
    Py_DECREF(static_cast<PyObject*>(object));
  });
  backend::get().add(
      std::make_shared<group>(name, c10d::resolve_process_group(name), *reinterpret_cast<const team*>(members), slot,
                              std::move(global_ranks), std::move(mapped), backend::get().wait_limit(limit), kept),
      name);
}

}  // namespace
}  // namespace pgas::torch_backend

// torch.cuda.memory.CUDAPluggableAllocator looks up these functions by name.
extern "C" {
[[gnu::visibility("default")]] void* pgas_torch_pool_allocate(std::ptrdiff_t bytes, int device, void* /*stream*/) {
  const pgas::torch_backend::without_gil free;
  return pgas::torch_backend::backend::get().allocate(static_cast<std::size_t>(bytes), device,
                                                      c10d::symmetric_memory::get_signal_pad_size(), std::nullopt);
}
[[gnu::visibility("default")]] void* pgas_torch_graph_pool_allocate(std::ptrdiff_t bytes, int device, void* stream) {
  void* const buffer = pgas_torch_pool_allocate(bytes, device, stream);
  if (const auto found = pgas::torch_backend::backend::get().blocks().find(buffer)) found->of->of_graph = true;
  return buffer;
}
[[gnu::visibility("default")]] void pgas_torch_pool_free(void* buffer, std::ptrdiff_t, int, void* /*stream*/) {
  if (!c10d::symmetric_memory::is_finalizing()) pgas::torch_backend::backend::get().blocks().free(buffer);
}
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  using namespace pgas::torch_backend;
  m.def("enable", &enable);
  m.def("add_group", &add_group);
  m.def("knows", [](const std::string& name) { return backend::get().knows(name); });
  m.def("retire_groups", [] {
    const without_gil free;
    return backend::get().retire_groups();
  });
  m.def("alias", [](std::uintptr_t address, const std::string& group, bool compare) {
    const without_gil free;
    return reinterpret_cast<std::uintptr_t>(
        backend::get().alias(reinterpret_cast<const void*>(address), group, compare));
  });
  m.def("is_of_graph", [](std::uintptr_t address) {
    const auto found = backend::get().blocks().find(reinterpret_cast<const void*>(address));
    return found && found->of->of_graph;
  });
  m.def("has_allocation", [](std::uintptr_t address) {
    return backend::get().blocks().find(reinterpret_cast<const void*>(address)).has_value();
  });
  m.def("block_of", [](std::uintptr_t address) -> std::optional<std::pair<std::uintptr_t, std::size_t>> {
    const auto found = backend::get().blocks().find(reinterpret_cast<const void*>(address));
    if (!found) return std::nullopt;
    return std::pair(reinterpret_cast<std::uintptr_t>(found->of->data()), found->of->total());
  });
  m.def("capture_id", &capture_id);
  m.def("release_freed", [] {
    const without_gil free;
    backend::get().blocks().release_freed();
  });
  m.attr("groups_of_a_block") = block::groups;
  m.attr("page_bytes") = sizeof(rendezvous_page);
}
