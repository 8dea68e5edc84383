#include "backend.hpp"

#include <algorithm>
#include <iterator>
#include <torch/csrc/distributed/c10d/GroupRegistry.hpp>

namespace pgas::torch_backend {
namespace {

/// This object is never destroyed, because tensors may be freed at process exit.
backend* current = nullptr;

/// torch's group with this name; undefined if there is none.
c10::intrusive_ptr<c10d::ProcessGroup> registered(const std::string& name) {
  try {
    return c10d::resolve_process_group(name);
  } catch (const c10::Error&) {
    return {};
  }
}

}  // namespace

backend& backend::get() {
  if (current == nullptr) throw error(code::not_joined, "call pgas.torch.enable() first");
  return *current;
}

void backend::set(world& joined, std::function<void(const std::string&)> rendezvous) {
  current = new backend(joined, std::move(rendezvous));
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

std::shared_ptr<group> backend::find(const std::string& name) {
  const c10::intrusive_ptr<c10d::ProcessGroup> now = registered(name);
  const std::lock_guard guard(lock_);
  const auto found = groups_.find(name);
  return found != groups_.end() && found->second->is_of(now) ? found->second : nullptr;
}

std::shared_ptr<group> backend::group_of(const std::string& name) {
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (std::shared_ptr<group> found = find(name)) return found;
    rendezvous_(name);  // adds the group
  }
  throw error(code::invalid_argument, "pgas.torch: there is no process group '" + name + "'");
}

std::shared_ptr<group_view> backend::view_of(const block& of, const group& by) {
  const std::lock_guard guard(lock_);
  const auto found = of.views.find(&by);
  return found == of.views.end() ? nullptr : found->second;
}

std::pair<std::shared_ptr<group_view>, std::size_t> backend::rendezvous(const void* address,
                                                                        const std::optional<std::string>& wanted) {
  world_.check();
  const block_table::place at = place_of(address);
  const std::optional<std::string>& named = wanted && !wanted->empty() ? wanted : at.of->group();
  if (!named)
    throw error(code::invalid_argument,
                "pgas.torch: rendezvous: pass a group name, here or when the memory is allocated");
  const std::shared_ptr<group> of = group_of(*named);
  const std::lock_guard one_at_a_time(of->mutex());
  std::shared_ptr<group_view> view = view_of(*at.of, *of);
  const std::uint64_t number = view ? view->number() : of->allocations;
  of->log().enter({number, at.offset, at.of->bytes()}, world_);
  if (!view) {
    of->log().await_others(world_);
    blocks_.release_freed();
    const auto device = world_.device() < 0
                            ? c10::Device(c10::DeviceType::CPU)
                            : c10::Device(c10::DeviceType::CUDA, static_cast<c10::DeviceIndex>(world_.device()));
    // Uses no stream of torch, so the current stream may be in a capture.
    view = std::make_shared<group_view>(world_, of, at.of, device, number);
    ++of->allocations;
    const std::lock_guard guard(lock_);
    at.of->views.emplace(of.get(), view);
  }
  return {view, at.offset};
}

std::byte* backend::alias(const void* address, const std::string& group, bool compare) {
  const block_table::place at = place_of(address);
  const std::shared_ptr<class group> by = find(group);
  const std::shared_ptr<group_view> view = by == nullptr ? nullptr : view_of(*at.of, *by);
  if (!view)
    throw error(code::invalid_argument,
                "pgas.torch: group '" + group + "' has no rendezvous of this tensor: call rendezvous() first");
  if (compare) {
    const std::lock_guard one_at_a_time(by->mutex());
    by->log().enter({view->number(), at.offset, at.of->bytes()}, world_);
  }
  return view->alias(at.offset);
}

void backend::add(std::shared_ptr<group> made, const std::string& name) {
  const std::lock_guard guard(lock_);
  groups_.insert_or_assign(name, std::move(made));
}

std::vector<std::size_t> backend::retire_groups() {
  {
    const std::lock_guard guard(lock_);
    for (auto each = groups_.begin(); each != groups_.end();) {
      if (each->second->is_of(registered(each->first))) {
        ++each;
        continue;
      }
      each->second->retire();
      retired_.push_back(std::move(each->second));
      each = groups_.erase(each);
    }
  }
  // Removed objects are destroyed after the lock is released: the owner of a group acquires the GIL, and a thread with
  // the GIL may wait for the lock.
  std::vector<std::shared_ptr<group_view>> views;
  std::vector<std::shared_ptr<group>> gone;
  const std::vector<std::shared_ptr<block>> blocks = blocks_.all();
  const auto unused = [](const auto& view) {
    return view.second->registered_group().retired() && view.second.use_count() == 1;
  };
  {
    const std::lock_guard guard(lock_);
    for (const std::shared_ptr<block>& each : blocks)
      for (const auto& view : each->views)
        if (unused(view)) views.push_back(view.second);
  }
  if (!views.empty() && blocks_.wait_for_work()) {
    const std::lock_guard guard(lock_);
    for (const std::shared_ptr<block>& each : blocks)
      std::erase_if(each->views, [&](const auto& view) {
        return view.second.use_count() == 2 && std::ranges::find(views, view.second) != views.end();
      });
  }
  views.clear();
  const std::lock_guard guard(lock_);
  const auto first =
      std::partition(retired_.begin(), retired_.end(), [](const auto& each) { return each.use_count() > 1; });
  std::move(first, retired_.end(), std::back_inserter(gone));
  retired_.erase(first, retired_.end());
  std::vector<std::size_t> taken;
  for (const auto& [name, each] : groups_) taken.push_back(each->slot());
  for (const std::shared_ptr<group>& each : retired_) taken.push_back(each->slot());
  return taken;
}

}  // namespace pgas::torch_backend
