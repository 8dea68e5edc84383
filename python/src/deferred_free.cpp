#include "deferred_free.hpp"

#include <algorithm>
#include <utility>

#include "joined_world.hpp"

namespace pgas::python {

namespace {

constexpr std::size_t text_bytes = 512;
constexpr std::size_t hash_words = 2;
constexpr std::size_t word_bits = 64;

/// The FNV-1a hash of a text. PEs compare hashes in place of texts.
std::uint64_t hash_of(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

/// The part of a call's description that must be equal on all PEs: the text before the location of the call.
std::string agreed_part(const std::string& call) { return call.substr(0, call.find(" at ")); }

}  // namespace

/// An allocation. The destructor, which runs when the last reference is gone, marks the entry of the allocation as
/// dropped.
class deferred_free::allocation {
 public:
  allocation(std::shared_ptr<deferred_free> of, std::uint64_t id) : of_(std::move(of)), id_(id) {}
  ~allocation() { of_->drop(id_); }
  allocation(const allocation&) = delete;
  allocation& operator=(const allocation&) = delete;

 private:
  std::shared_ptr<deferred_free> of_;
  std::uint64_t id_;
};

deferred_free::deferred_free(world& of) : world_(of), my_pe_(of.my_pe()), n_pes_(of.n_pes()), gpu_(of.device()) {}

bool deferred_free::begin(bool compares) {
  everyone_ = world_.team().split_strided(0, 1, n_pes_);
  texts_ = static_cast<char*>(world_.allocate_bytes(text_bytes * (static_cast<std::size_t>(n_pes_) + 1)));
  reserve_words(64);
  const std::uint64_t mine = compares && gpu_ < 0 ? 1 : 0;
  std::uint64_t any = 0;
  put(world_, words_, &mine, 1, my_pe_);
  reduce(everyone_, words_ + 1, words_, 1, op::bit_or{});
  pgas::get(world_, &any, words_ + 1, 1, my_pe_);
  return any != 0;
}

void deferred_free::drop(std::uint64_t id) noexcept {
  const std::lock_guard lock(table_);
  if (const auto found = live_.find(id); found != live_.end()) found->second.dropped = true;
}

std::pair<std::size_t, std::size_t> deferred_free::allocations() {
  const std::lock_guard lock(table_);
  const auto dropped = std::count_if(live_.begin(), live_.end(), [](const auto& e) { return e.second.dropped; });
  return {live_.size(), static_cast<std::size_t>(dropped)};
}

// The new size is equal on all PEs, because all PEs have the same number of entries.
void deferred_free::reserve_words(std::size_t count) {
  if (2 * count <= room_) return;
  std::size_t room = std::max<std::size_t>(room_, 128);
  while (room < 2 * count) room *= 2;
  void* const made = world_.allocate_bytes(room, sizeof(std::uint64_t));
  world_.free(words_);
  words_ = static_cast<std::uint64_t*>(made);
  room_ = room;
}

std::vector<std::uint64_t> deferred_free::agree(const std::string& call) {
  std::vector<std::uint64_t> ids;
  std::vector<std::uint64_t> mine(hash_words);
  mine[0] = hash_of(agreed_part(call));
  mine[1] = ~mine[0];
  bool any = false;
  {
    const std::lock_guard lock(table_);
    mine.resize(hash_words + (live_.size() + word_bits - 1) / word_bits);
    for (const auto& [id, of] : live_) {
      const std::size_t i = ids.size();
      ids.push_back(id);
      if (of.dropped) mine[hash_words + i / word_bits] |= std::uint64_t{1} << i % word_bits;
      any |= of.dropped;
    }
  }
  sync(everyone_);  // this call uses the control plane, which detects a PE that leaves the world
  // Work that uses dropped memory was enqueued before the drop. This work must end before other allocations get the
  // memory.
  if (any) {
    quiet(world_);
    if (gpu_ >= 0) synchronize_gpu(gpu_);
  }
  reserve_words(mine.size());
  std::uint64_t* const result = words_ + room_ / 2;
  put(world_, words_, mine.data(), mine.size(), my_pe_);
  reduce(everyone_, result, words_, mine.size(), op::bit_and{});
  std::vector<std::uint64_t> all(mine.size());
  pgas::get(world_, all.data(), result, all.size(), my_pe_);
  // Each PE contributes a hash and its complement, and the results are the bitwise AND of these words of all PEs. If
  // the hashes of two PEs differ, at least one bit is 0 in both results.
  if (all[0] != mine[0] || all[1] != mine[1] || (all[0] ^ all[1]) != ~std::uint64_t{0}) report_difference(call);

  std::vector<std::uint64_t> agreed;
  for (std::size_t i = 0; i < ids.size(); ++i)
    if ((all[hash_words + i / word_bits] >> i % word_bits & 1) != 0) agreed.push_back(ids[i]);
  return agreed;
}

void deferred_free::report_difference(const std::string& call) {
  std::vector<char> texts(text_bytes * (static_cast<std::size_t>(n_pes_) + 1));
  call.copy(texts.data(), text_bytes - 1);
  put(world_, texts_, texts.data(), text_bytes, my_pe_);
  fcollect(everyone_, texts_ + text_bytes, texts_, text_bytes);
  pgas::get(world_, texts.data(), texts_, texts.size(), my_pe_);
  const auto text_of = [&](int pe) {
    return std::string(texts.data() + text_bytes * (static_cast<std::size_t>(pe) + 1));
  };
  const std::string first = text_of(0);
  for (int pe = 1; pe < n_pes_; ++pe)
    if (agreed_part(text_of(pe)) != agreed_part(first))
      throw error(code::asymmetric_call,
                  "PE " + std::to_string(pe) + " calls " + text_of(pe) + ", PE 0 calls " + first +
                      ": all PEs must make the same collective calls in the same order",
                  pe);
  throw error(code::asymmetric_call, "PEs call with different arguments: " + first);
}

void deferred_free::free_all(const std::vector<std::uint64_t>& ids) {
  for (const std::uint64_t id : ids) {
    void* data = nullptr;
    {
      const std::lock_guard lock(table_);
      const auto found = live_.find(id);
      data = found->second.data;
      live_.erase(found);
    }
    world_.free(data);
  }
}

std::size_t deferred_free::collect(const std::string& call) {
  const std::vector<std::uint64_t> ids = agree(call);
  free_all(ids);
  return ids.size();
}

memory deferred_free::allocate(std::shared_ptr<deferred_free> self, std::size_t bytes, std::size_t alignment, bool zero,
                               const std::string& call) {
  free_all(agree(call));
  // An array without elements also gets an address, because lookups find arrays by their address.
  void* const data =
      world_.allocate_bytes(std::max<std::size_t>(bytes, 1), 1, alignment, zero ? initialize::zero : initialize::no);
  const std::lock_guard entries(table_);
  const std::uint64_t id = next_++;
  const auto owner = std::make_shared<const allocation>(std::move(self), id);
  live_[id] = {data, bytes, owner, false};
  return plain_memory(owner, data, bytes, gpu_);
}

std::optional<memory> deferred_free::peer(std::uintptr_t from, std::size_t bytes, int pe) {
  auto* const local = reinterpret_cast<std::byte*>(from);
  if (pe < 0 || pe >= n_pes_)
    throw error(code::pe_out_of_range,
                "peer: PE " + std::to_string(pe) + " does not exist, PEs are 0 to " + std::to_string(n_pes_ - 1), pe);
  std::shared_ptr<const void> owner;
  {
    const std::lock_guard lock(table_);
    for (const auto& [id, of] : live_) {
      auto* const begin = static_cast<std::byte*>(of.data);
      if (local < begin || local + bytes > begin + std::max<std::size_t>(of.bytes, 1)) continue;
      owner = of.owner.lock();
      break;
    }
  }
  if (owner == nullptr)
    throw error(code::outside_heap,
                "the array is not memory of this world: create it by world.empty(), zeros() or full()");
  std::byte* const there = world_.ptr(local, pe);
  if (there == nullptr) return std::nullopt;
  return plain_memory(owner, there, bytes, gpu_);
}

team deferred_free::end() {
  const std::lock_guard lock(table_);
  live_.clear();
  return std::move(everyone_);
}

}  // namespace pgas::python
