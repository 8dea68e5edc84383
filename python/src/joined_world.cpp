// Memory of the heap whose references Python drops in any order. A dropped allocation is only marked. The next
// collective call determines which allocations all PEs have dropped, and frees those in the order of their numbers.
#include "joined_world.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

namespace pgas::python {
namespace {

constexpr std::size_t text_bytes = 512;
constexpr std::size_t hash_words = 2;
constexpr std::size_t word_bits = 64;

/// FNV-1a: equal texts have equal hashes.
std::uint64_t hash_of(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

/// The part of a description that must be equal on all PEs; it ends before the location of the call.
std::string agreed_part(const std::string& call) { return call.substr(0, call.find(" at ")); }

}  // namespace

/// Marks its entry as dropped when the last reference is gone.
class joined_world::allocation {
 public:
  allocation(std::shared_ptr<joined_world> of, std::uint64_t id) : of_(std::move(of)), id_(id) {}
  ~allocation() { of_->drop(id_); }
  allocation(const allocation&) = delete;
  allocation& operator=(const allocation&) = delete;

 private:
  std::shared_ptr<joined_world> of_;
  std::uint64_t id_;
};

joined_world::joined_world(world&& joined)
    : world_(std::move(joined)), my_pe_(world_->my_pe()), n_pes_(world_->n_pes()), gpu_(world_->device()) {}

void joined_world::begin(bool compares) {
  everyone_ = world_->team().split_strided(0, 1, n_pes_);
  texts_ = static_cast<char*>(world_->allocate_bytes(text_bytes * (static_cast<std::size_t>(n_pes_) + 1)));
  reserve_words(64);
  const std::uint64_t mine = compares && gpu_ < 0 ? 1 : 0;
  std::uint64_t any = 0;
  put(*world_, words_, &mine, 1, my_pe_);
  reduce(everyone_, words_ + 1, words_, 1, op::bit_or{});
  pgas::get(*world_, &any, words_ + 1, 1, my_pe_);
  compares_ = any != 0;
}

world& joined_world::get() {
  if (refuses_) throw error(code::not_joined, "the world was left: join again, or call leave() after the last call");
  return *world_;
}

void joined_world::drop(std::uint64_t id) noexcept {
  const std::lock_guard lock(table_);
  if (const auto found = live_.find(id); found != live_.end()) found->second.dropped = true;
}

void joined_world::drop(stream&& one, PyObject* held) noexcept {
  {
    const std::lock_guard lock(table_);
    dropped_streams_.push_back({std::move(one), held});
  }
  release_held();
}

void joined_world::release_held() noexcept {
  const auto works = [this](const stream& each) {
    try {
      return !refuses_ && !detail::is_idle(*world_, each);
    } catch (const std::exception&) {
      return true;  // in a child of fork()
    }
  };
  std::vector<dropped_stream> unused;
  {
    const std::lock_guard lock(table_);
    const auto first = std::partition(dropped_streams_.begin(), dropped_streams_.end(),
                                      [&](const dropped_stream& each) { return each.on && works(*each.on); });
    unused.assign(std::make_move_iterator(first), std::make_move_iterator(dropped_streams_.end()));
    dropped_streams_.erase(first, dropped_streams_.end());
  }
  if (unused.empty()) return;
  {
    // Leaving the world waits for a stream that still works, possibly for an action of a Python thread.
    const gil_released free;
    for (dropped_stream& each : unused) each.on.reset();
  }
  for (const dropped_stream& each : unused) Py_DECREF(each.held);  // may drop more, outside the lock
}

void joined_world::keep(team&& dropped) {
  const std::lock_guard lock(table_);
  if (everyone_) dropped_teams_.push_back(std::move(dropped));  // otherwise leave() has already taken them
}

std::pair<std::size_t, std::size_t> joined_world::allocations() {
  const std::lock_guard lock(table_);
  const auto dropped = std::count_if(live_.begin(), live_.end(), [](const auto& e) { return e.second.dropped; });
  return {live_.size(), static_cast<std::size_t>(dropped)};
}

// The same on all PEs, because they have the same number of entries.
void joined_world::reserve_words(std::size_t count) {
  if (2 * count <= room_) return;
  std::size_t room = std::max<std::size_t>(room_, 128);
  while (room < 2 * count) room *= 2;
  void* const made = world_->allocate_bytes(room, sizeof(std::uint64_t));
  world_->free(words_);
  words_ = static_cast<std::uint64_t*>(made);
  room_ = room;
}

std::vector<std::uint64_t> joined_world::agree(const std::string& call) {
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
  sync(everyone_);  // over the control plane, which detects a PE that leaves instead
  // Work that uses dropped memory was enqueued before the drop: it must end before other allocations get that memory.
  if (any) {
    quiet(*world_);
    if (gpu_ >= 0) synchronize_gpu(gpu_);
  }
  reserve_words(mine.size());
  std::uint64_t* const result = words_ + room_ / 2;
  put(*world_, words_, mine.data(), mine.size(), my_pe_);
  reduce(everyone_, result, words_, mine.size(), op::bit_and{});
  std::vector<std::uint64_t> all(mine.size());
  pgas::get(*world_, all.data(), result, all.size(), my_pe_);
  // If any two PEs differ, a bit of the hash or of its complement is lost.
  if (all[0] != mine[0] || all[1] != mine[1] || (all[0] ^ all[1]) != ~std::uint64_t{0}) report_difference(call);

  std::vector<std::uint64_t> agreed;
  for (std::size_t i = 0; i < ids.size(); ++i)
    if ((all[hash_words + i / word_bits] >> i % word_bits & 1) != 0) agreed.push_back(ids[i]);
  return agreed;
}

void joined_world::report_difference(const std::string& call) {
  std::vector<char> texts(text_bytes * (static_cast<std::size_t>(n_pes_) + 1));
  call.copy(texts.data(), text_bytes - 1);
  put(*world_, texts_, texts.data(), text_bytes, my_pe_);
  fcollect(everyone_, texts_ + text_bytes, texts_, text_bytes);
  pgas::get(*world_, texts.data(), texts_, texts.size(), my_pe_);
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

void joined_world::free_all(const std::vector<std::uint64_t>& ids) {
  for (const std::uint64_t id : ids) {
    void* data = nullptr;
    {
      const std::lock_guard lock(table_);
      const auto found = live_.find(id);
      data = found->second.data;
      live_.erase(found);
    }
    world_->free(data);
  }
}

std::size_t joined_world::collect(const std::string& call) {
  const std::lock_guard lock(collective_);
  static_cast<void>(get());
  const std::vector<std::uint64_t> ids = agree(call);
  free_all(ids);
  return ids.size();
}

memory joined_world::allocate(std::size_t bytes, std::size_t alignment, bool zero, const std::string& call) {
  const std::lock_guard lock(collective_);
  static_cast<void>(get());
  free_all(agree(call));
  // An empty array also has an address, because arrays are found by their address.
  void* const data =
      world_->allocate_bytes(std::max<std::size_t>(bytes, 1), 1, alignment, zero ? initialize::zero : initialize::no);
  const std::lock_guard entries(table_);
  const std::uint64_t id = next_++;
  const auto owner = std::make_shared<const allocation>(shared_from_this(), id);
  live_[id] = {data, bytes, owner, false};
  return plain_memory(owner, data, bytes, gpu_);
}

std::optional<memory> joined_world::peer(std::uintptr_t from, std::size_t bytes, int pe) {
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
  std::byte* const there = get().ptr(local, pe);
  if (there == nullptr) return std::nullopt;
  return plain_memory(owner, there, bytes, gpu_);
}

void joined_world::leave() {
  refuses_ = true;
  const std::lock_guard alone(in_use_);  // abort() ends the calls that this waits for
  left_ = true;
  std::vector<team> teams;
  std::vector<std::optional<stream>> streams;
  {
    const std::lock_guard lock(table_);
    live_.clear();
    teams = std::move(dropped_teams_);
    teams.push_back(std::move(everyone_));
    for (dropped_stream& each : dropped_streams_) streams.push_back(std::exchange(each.on, std::nullopt));
  }
  // After leaving the world, teams are destroyed without other PEs.
  world_->leave();
}

void joined_world::abort(const std::string& reason) noexcept {
  if (!left_) world_->abort(reason);
}

}  // namespace pgas::python
