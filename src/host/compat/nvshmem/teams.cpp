// Making and destroying teams, and queries of their members.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <random>
#include <thread>
#include <vector>

#include "host/compat/nvshmem/device_state.hpp"
#include "host/compat/nvshmem/host_library.hpp"
#include "pgas/compat/nvshmem/host_api.h"
#include "pgas/lock.hpp"
#include "pgas/rma.hpp"
#include "pgas/world.hpp"

namespace pgas::compat {

namespace {

constexpr int slots_per_pe = 32;  // teams with the same home PE that may be under construction at once
constexpr std::uint64_t has_read_all = std::uint64_t{1} << 63;  // a flag in a member's word

/// Calls `done` until it is true. *Errors* wait_timeout, the world's first failure.
void wait_for(world& w, const char* what, const std::function<bool()>& done) {
  using clock = std::chrono::steady_clock;
  const auto limit = w.settings().wait_timeout;
  const auto begin = clock::now();
  while (!done()) {
    w.check();
    if (limit.count() != 0 && clock::now() - begin > limit)
      throw error(code::wait_timeout, fmt::format("nvshmemx_team_init: waited {} ms for {}", limit.count(), what));
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
}

/// How PEs that share nothing but a number find one another, for nvshmemx_team_init(): by slots in the symmetric heap,
/// some on each PE. *Callers* any thread, also several at once with different numbers.
class team_init {
 public:
  /// Collective over all PEs. The slots are freed with the world.
  explicit team_init(world& joined);

  /// Collective over the `size` PEs that call it with the same `id`, not 0, and different indices. *On return* the PEs
  /// by index. When index 0 returns, the slot is free again: after any collective of theirs they may use the `id`
  /// again. *Errors* invalid_argument where two have the same index, wait_timeout when PGAS_WAIT_TIMEOUT is set, the
  /// world's first failure.
  [[nodiscard]] std::vector<int> gather_members(std::uint64_t id, int size, int index);

 private:
  /// A slot: the id, then a word for each index: the PE plus one, and a flag once that PE has read all members.
  [[nodiscard]] std::uint64_t* slot(int number) const;
  /// The PE whose slots are used for `id`.
  [[nodiscard]] int home(std::uint64_t id) const;
  /// The slot of `id`; null if there is none.
  [[nodiscard]] std::uint64_t* find(std::uint64_t id) const;
  /// The same, or a free slot, which then has this `id`. Null where all are taken.
  [[nodiscard]] std::uint64_t* find_or_claim(std::uint64_t id);

  world& world_;
  lock_t* const lock_;
  std::uint64_t* const slots_;
};

team_init::team_init(world& joined)
    : world_(joined),
      lock_(static_cast<lock_t*>(joined.allocate_bytes(1, sizeof(lock_t), alignof(lock_t), initialize::zero))),
      slots_(static_cast<std::uint64_t*>(
          joined.allocate_bytes(static_cast<std::size_t>(slots_per_pe) * (static_cast<std::size_t>(joined.n_pes()) + 1),
                                sizeof(std::uint64_t), memory_hint::atomics_remote, initialize::zero))) {}

std::uint64_t* team_init::slot(int number) const { return slots_ + number * (world_.n_pes() + 1); }

int team_init::home(std::uint64_t id) const {
  return static_cast<int>(id % static_cast<std::uint64_t>(world_.n_pes()));
}

std::uint64_t* team_init::find(std::uint64_t id) const {
  for (int i = 0; i < slots_per_pe; ++i)
    if (atomic_fetch(world_, slot(i), home(id)) == id) return slot(i);
  return nullptr;
}

std::uint64_t* team_init::find_or_claim(std::uint64_t id) {
  // Under a lock: slots become free meanwhile, so two members might find different ones.
  set_lock(world_, lock_);
  std::uint64_t* found = find(id);
  for (int i = 0; found == nullptr && i < slots_per_pe; ++i)
    if (atomic_fetch(world_, slot(i), home(id)) == 0) found = slot(i);
  if (found != nullptr) atomic_set(world_, found, id, home(id));
  clear_lock(world_, lock_);
  return found;
}

std::vector<int> team_init::gather_members(std::uint64_t id, int size, int index) {
  std::uint64_t* found = nullptr;
  wait_for(world_, "a free slot", [&] { return (found = find_or_claim(id)) != nullptr; });
  const auto me = static_cast<std::uint64_t>(world_.my_pe()) + 1;
  const std::uint64_t other = atomic_swap(world_, found + 1 + index, me, home(id));
  if (other != 0)
    throw error(code::invalid_argument,
                fmt::format("nvshmemx_team_init: PE {} and PE {} both have index {} in the team",
                            (other & ~has_read_all) - 1, me - 1, index));
  std::vector<std::uint64_t> members(static_cast<std::size_t>(size));
  const auto wait_for_all = [&](auto&& ready) {
    wait_for(world_, "the other members", [&] {
      get(world_, members.data(), found + 1, members.size(), home(id));
      return std::all_of(members.begin(), members.end(), ready);
    });
  };
  wait_for_all([](std::uint64_t member) { return member != 0; });
  std::vector<int> pes;
  for (const std::uint64_t member : members) pes.push_back(static_cast<int>(member & ~has_read_all) - 1);
  atomic_set(world_, found + 1 + index, me | has_read_all, home(id));
  if (index == 0) {
    wait_for_all([](std::uint64_t member) { return (member & has_read_all) != 0; });
    const std::vector<std::uint64_t> zeros(static_cast<std::size_t>(size));
    put(world_, found + 1, zeros.data(), zeros.size(), home(id));
    atomic_set(world_, found, 0, home(id));
  }
  return pes;
}

int contexts_of(const nvshmem_team_config_t* config, long mask) {
  const bool given = config != nullptr && (mask & NVSHMEM_TEAM_CONFIG_MASK_NUM_CONTEXTS) != 0;
  if (given && config->num_contexts < 0)
    throw error(code::invalid_argument, fmt::format("a team with {} contexts: give 0 or more", config->num_contexts));
  return given ? config->num_contexts : 0;
}

/// The variable for a new team's number, set to NVSHMEM_TEAM_INVALID until the team exists.
nvshmem_team_t& output(nvshmem_team_t* team) {
  if (team == nullptr) throw error(code::invalid_argument, "the pointer to the new team is null");
  *team = NVSHMEM_TEAM_INVALID;
  return *team;
}

std::unique_ptr<team_init>& team_init_of_world() {
  static std::unique_ptr<team_init> slots;
  return slots;
}

/// Gives the team a number, if this PE is a member, and publishes it to kernels.
nvshmem_team_t add_team(team added, int contexts) {
  runtime& here = runtime::instance();
  const int number = here.add_team(std::move(added), contexts);
  if (number >= pgas_nvshmem_max_teams)
    here.warn(fmt::format("team {} is for the host only: kernels know teams 0 to {}, destroy some before making more",
                          number, pgas_nvshmem_max_teams - 1));
  publish_state(here.world());
  return number;
}

}  // namespace

void create_team_init(world& joined) { team_init_of_world() = std::make_unique<team_init>(joined); }

#pragma GCC visibility push(default)
extern "C" {

int pgas_nvshmem_team_my_pe(int team) {
  return to_status("nvshmem_team_my_pe", -1,
                   [&] { return team == NVSHMEM_TEAM_INVALID ? -1 : runtime::instance().team_my_pe(team); });
}

int pgas_nvshmem_team_n_pes(int team) {
  return to_status("nvshmem_team_n_pes", -1,
                   [&] { return team == NVSHMEM_TEAM_INVALID ? -1 : runtime::instance().team_n_pes(team); });
}

int pgas_nvshmem_team_translate_pe(int from, int pe, int to) {
  return to_status("nvshmem_team_translate_pe", -1, [&] {
    if (from == NVSHMEM_TEAM_INVALID || to == NVSHMEM_TEAM_INVALID) return -1;
    const team& source = runtime::instance().team(from);
    const team& target = runtime::instance().team(to);
    return pe < 0 || pe >= source.n_pes() ? -1 : source.translate_pe(pe, target);
  });
}

int nvshmem_team_split_strided(nvshmem_team_t parent, int start, int stride, int size,
                               const nvshmem_team_config_t* config, long mask, nvshmem_team_t* made) {
  return to_nvshmemx_status("nvshmem_team_split_strided", [&] {
    nvshmem_team_t& number = output(made);
    const int contexts = contexts_of(config, mask);
    number = add_team(runtime::instance().team(parent).split_strided(start, stride, size), contexts);
  });
}

int nvshmem_team_split_2d(nvshmem_team_t parent, int xrange, const nvshmem_team_config_t* x_config, long x_mask,
                          nvshmem_team_t* x_made, const nvshmem_team_config_t* y_config, long y_mask,
                          nvshmem_team_t* y_made) {
  return to_nvshmemx_status("nvshmem_team_split_2d", [&] {
    nvshmem_team_t& x_number = output(x_made);
    nvshmem_team_t& y_number = output(y_made);
    const int x_contexts = contexts_of(x_config, x_mask);
    const int y_contexts = contexts_of(y_config, y_mask);
    auto [row, column] = runtime::instance().team(parent).split_2d(xrange);
    x_number = add_team(std::move(row), x_contexts);
    y_number = add_team(std::move(column), y_contexts);
  });
}

void nvshmem_team_destroy(nvshmem_team_t team) {
  or_global_exit("nvshmem_team_destroy", [&] {
    runtime& here = runtime::instance();
    static_cast<void>(here.world());
    if (team == NVSHMEM_TEAM_INVALID) return;
    here.destroy_team(team);
    publish_state(here.world());
  });
}

void nvshmem_team_get_config(nvshmem_team_t team, nvshmem_team_config_t* config) {
  or_global_exit("nvshmem_team_get_config", [&] {
    const team_entry& known = runtime::instance().find_team(team);
    if (config == nullptr) throw error(code::invalid_argument, "the pointer to the configuration is null");
    *config = NVSHMEM_TEAM_CONFIG_INITIALIZER;
    config->num_contexts = known.num_contexts;
  });
}

int nvshmemx_team_get_uniqueid(nvshmemx_team_uniqueid_t* uniqueid) {
  return to_nvshmemx_status("nvshmemx_team_get_uniqueid", [&] {
    if (uniqueid == nullptr) throw error(code::invalid_argument, "the pointer to the unique id is null");
    std::random_device random;
    do *uniqueid = static_cast<nvshmemx_team_uniqueid_t>(random()) << 32 | random();
    while (*uniqueid == 0);
  });
}

int nvshmemx_team_init(nvshmem_team_t* made, nvshmem_team_config_t* config, long mask, int npes, int index) {
  return to_nvshmemx_status("nvshmemx_team_init", [&] {
    nvshmem_team_t& number = output(made);
    world& w = runtime::instance().world();
    const bool known = config != nullptr && (mask & NVSHMEM_TEAM_CONFIG_MASK_UNIQUEID) != 0 && config->uniqueid != 0;
    if (!known)
      throw error(code::invalid_argument, "the configuration has no unique id: see nvshmemx_team_get_uniqueid()");
    if (npes < 1 || npes > w.n_pes() || index < 0 || index >= npes)
      throw error(code::invalid_argument,
                  fmt::format("index {} in a team of {}: teams have 1 to {} PEs here, indices from 0 on", index, npes,
                              w.n_pes()));
    const int contexts = contexts_of(config, mask);
    const std::vector<int> members = team_init_of_world()->gather_members(config->uniqueid, npes, index);
    constexpr std::uint64_t key_bits = (std::uint64_t{1} << 62) - 1;
    number = add_team(w.team().create_group(members, config->uniqueid & key_bits), contexts);
  });
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace pgas::compat
