#include "block.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "ask_cuda.hpp"
#include "group_view.hpp"

namespace pgas::torch_backend {
namespace {

constexpr std::size_t alignment = 128;
constexpr std::size_t granularity = std::size_t{2} << 20;

constexpr std::size_t round_up(std::size_t value, std::size_t to) { return (value + to - 1) / to * to; }

memory_place place_of(int device) { return device < 0 ? memory_place::host() : memory_place::gpu(device); }

}  // namespace

block::block(int device, int ranks, std::size_t bytes, std::size_t pad_bytes, std::optional<std::string> group)
    : device_(device),
      bytes_(bytes),
      pad_bytes_(pad_bytes),
      pad_offset_(round_up(bytes, alignment)),
      words_begin_(round_up(pad_offset_ + pad_bytes, alignment)),
      table_bytes_(round_up(static_cast<std::size_t>(ranks) * (2 * sizeof(void*) + sizeof(int)), sizeof(void*))),
      tables_begin_(words_begin_ + groups * kinds_of_words * words() * sizeof(signal_t)),
      total_(round_up(tables_begin_ + groups * table_bytes_, granularity)),
      memory_(shared_memory::make(place_of(device), total_)),
      group_(std::move(group)) {}

std::size_t block::words_offset(std::size_t group_slot) const {
  return words_begin_ + group_slot * kinds_of_words * words() * sizeof(signal_t);
}

std::size_t block::table_offset(std::size_t group_slot) const { return tables_begin_ + group_slot * table_bytes_; }

void* block_table::allocate(std::size_t bytes, std::size_t pad_bytes, std::optional<std::string> group) {
  release_freed();
  auto made = std::make_shared<block>(device_, ranks_, bytes, pad_bytes, std::move(group));
  void* const buffer = made->data();
  const std::lock_guard guard(lock_);
  blocks_.emplace(made->data(), std::move(made));
  return buffer;
}

void block_table::free(void* buffer) {
  const std::lock_guard guard(lock_);
  const auto found = blocks_.find(static_cast<std::byte*>(buffer));
  if (found == blocks_.end())
    throw error(code::invalid_free, "pgas.torch: no symmetric allocation of this process starts there");
  freed_.push_back(std::move(found->second));
  blocks_.erase(found);
}

void block_table::release_freed() {
  std::vector<std::shared_ptr<block>> freed;
  {
    const std::lock_guard guard(lock_);
    if (freed_.empty()) return;
    if (device_ >= 0 && is_capturing(device_)) return;
    const auto in_use = [](const std::shared_ptr<block>& each) {
      return each.use_count() > 1 || std::any_of(each->views.begin(), each->views.end(),
                                                 [](const auto& view) { return view.second.use_count() > 1; });
    };
    const auto first = std::partition(freed_.begin(), freed_.end(), in_use);
    freed.assign(std::make_move_iterator(first), std::make_move_iterator(freed_.end()));
    freed_.erase(first, freed_.end());
  }
  if (freed.empty()) return;
  if (device_ >= 0) wait_for_gpu(device_);
  for (const std::shared_ptr<block>& each : freed) each->views.clear();
}

bool block_table::wait_for_work() const {
  if (device_ < 0) return true;
  if (is_capturing(device_)) return false;
  wait_for_gpu(device_);
  return true;
}

std::vector<std::shared_ptr<block>> block_table::all() {
  const std::lock_guard guard(lock_);
  std::vector<std::shared_ptr<block>> found;
  for (const auto& [at, each] : blocks_) found.push_back(each);
  return found;
}

std::optional<block_table::place> block_table::find(const void* address) {
  const std::lock_guard guard(lock_);
  const auto* const wanted = static_cast<const std::byte*>(address);
  auto behind = blocks_.upper_bound(const_cast<std::byte*>(wanted));
  if (behind == blocks_.begin()) return std::nullopt;
  const std::shared_ptr<block>& candidate = std::prev(behind)->second;
  const auto offset = static_cast<std::size_t>(wanted - candidate->data());
  if (offset >= std::max<std::size_t>(candidate->bytes(), 1)) return std::nullopt;
  return place{candidate, offset};
}

}  // namespace pgas::torch_backend
