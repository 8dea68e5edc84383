#include "backend_state.hpp"

namespace pgas::torch_backend {
namespace {

/// Never destroyed: tensors may be freed when the process ends.
backend* current = nullptr;

}  // namespace

backend& backend::get() {
  if (current == nullptr) throw error(code::not_joined, "call pgas.torch.enable() before");
  return *current;
}

void backend::set(world& joined, std::function<void(const std::string&)> find) {
  current = new backend(joined, std::move(find));
}

void* backend::allocate(std::size_t bytes, int device, std::size_t pad_bytes, const std::optional<std::string>& group) {
  world_.check();
  const int own = world_.device();
  if (own >= 0 && device >= 0 && device != own)
    throw error(code::invalid_argument, "pgas.torch: the world uses GPU " + std::to_string(own) +
                                            " on this PE, not GPU " + std::to_string(device) +
                                            ": call torch.cuda.set_device() before enable()");
  return blocks_.allocate(bytes, pad_bytes, group);
}

block_table::place backend::place_of(const void* address) {
  std::optional<block_table::place> found = blocks_.find(address);
  if (!found)
    throw error(code::invalid_argument,
                "pgas.torch: the tensor is not symmetric memory: allocate it by symm_mem.empty(), or within "
                "torch.cuda.use_mem_pool(pgas.torch.mem_pool())");
  return *std::move(found);
}

std::shared_ptr<group> backend::group_of(const std::string& name) {
  for (int attempt = 0; attempt < 2; ++attempt) {
    {
      const std::lock_guard guard(lock_);
      if (const auto found = groups_.find(name); found != groups_.end()) return found->second;
    }
    find_(name);  // adds it
  }
  throw error(code::invalid_argument, "pgas.torch: there is no process group '" + name + "'");
}

std::shared_ptr<group_view> backend::view_of(const block& of, const std::string& group) {
  const std::lock_guard guard(lock_);
  const auto found = of.views.find(group);
  return found == of.views.end() ? nullptr : found->second;
}

std::pair<std::shared_ptr<group_view>, std::size_t> backend::rendezvous(const void* address,
                                                                        const std::optional<std::string>& wanted) {
  world_.check();
  const block_table::place at = place_of(address);
  const std::optional<std::string>& named = wanted && !wanted->empty() ? wanted : at.of->group();
  if (!named)
    throw error(code::invalid_argument, "pgas.torch: rendezvous: name a group, here or when the memory is allocated");
  const std::shared_ptr<group> of = group_of(*named);
  const std::lock_guard one_at_a_time(of->mutex());
  std::shared_ptr<group_view> view = view_of(*at.of, *named);
  const std::uint64_t number = view ? view->number() : of->allocations;
  of->log().enter({number, at.offset, at.of->bytes()}, world_);
  if (!view) {
    of->log().await_others(world_);
    blocks_.release_freed();
    const auto device = world_.device() < 0
                            ? c10::Device(c10::DeviceType::CPU)
                            : c10::Device(c10::DeviceType::CUDA, static_cast<c10::DeviceIndex>(world_.device()));
    view = std::make_shared<group_view>(world_, of, at.of, device, number);
    ++of->allocations;
    const std::lock_guard guard(lock_);
    at.of->views.emplace(*named, view);
  }
  return {view, at.offset};
}

std::byte* backend::alias(const void* address, const std::string& group) {
  const block_table::place at = place_of(address);
  const std::shared_ptr<group_view> view = view_of(*at.of, group);
  if (!view)
    throw error(code::invalid_argument,
                "pgas.torch: group '" + group + "' has not met over this tensor: rendezvous() before");
  return view->alias(at.offset);
}

void backend::add(std::shared_ptr<group> made, const std::string& name) {
  const std::lock_guard guard(lock_);
  groups_.insert_or_assign(name, std::move(made));
}

}  // namespace pgas::torch_backend
