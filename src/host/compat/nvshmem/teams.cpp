// Creates and destroys teams, and answers queries about their members.
#include <fmt/format.h>

#include <cstdint>
#include <random>
#include <vector>

#include "host/compat/nvshmem/device_state.hpp"
#include "host/compat/nvshmem/member_gathering.hpp"
#include "host/compat/nvshmem/shared_declarations.hpp"
#include "pgas/compat/nvshmem/init_memory_teams.h"
#include "pgas/world.hpp"

namespace pgas::compat {

namespace {

constexpr int unset_contexts = -1;

/// Whether the id comes from nvshmemx_team_get_uniqueid().
bool is_set(nvshmemx_team_uniqueid_t id) { return id != 0 && id != NVSHMEM_TEAM_UNIQUID_INITIALIZER; }

int contexts_of(const nvshmem_team_config_t* config, long mask) {
  const bool given = config != nullptr && (mask & NVSHMEM_TEAM_CONFIG_MASK_NUM_CONTEXTS) != 0 &&
                     config->num_contexts != unset_contexts;
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

std::unique_ptr<member_gathering>& member_gathering_of_world() {
  static std::unique_ptr<member_gathering> slots;
  return slots;
}

/// Gives the team a number, if this PE is a member, and publishes it to kernels.
nvshmem_team_t add_team(team added, int contexts) {
  runtime& here = runtime::instance();
  const int number = here.add_team(std::move(added), contexts);
  if (number >= pgas_nvshmem_max_teams)
    here.warn(
        fmt::format("team {} is for the host only: kernels can use teams 0 to {}; destroy teams before creating more",
                    number, pgas_nvshmem_max_teams - 1));
  publish_state(here.world());
  return number;
}

}  // namespace

void create_member_gathering(world& joined) {
  member_gathering_of_world() = std::make_unique<member_gathering>(joined);
}

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
                               const nvshmem_team_config_t* config, long mask, nvshmem_team_t* result) {
  return to_nvshmemx_status("nvshmem_team_split_strided", [&] {
    nvshmem_team_t& number = output(result);
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
    while (!is_set(*uniqueid));
  });
}

int nvshmemx_team_init(nvshmem_team_t* result, nvshmem_team_config_t* config, long mask, int npes, int index) {
  return to_nvshmemx_status("nvshmemx_team_init", [&] {
    nvshmem_team_t& number = output(result);
    world& w = runtime::instance().world();
    const bool known = config != nullptr && (mask & NVSHMEM_TEAM_CONFIG_MASK_UNIQUEID) != 0 && is_set(config->uniqueid);
    if (!known)
      throw error(code::invalid_argument, "the configuration has no unique id: see nvshmemx_team_get_uniqueid()");
    if (npes < 1 || npes > w.n_pes() || index < 0 || index >= npes)
      throw error(code::invalid_argument,
                  fmt::format("index {} in a team of {}: teams have 1 to {} PEs here, indices from 0 on", index, npes,
                              w.n_pes()));
    const int contexts = contexts_of(config, mask);
    const std::vector<int> members = member_gathering_of_world()->gather_members(config->uniqueid, npes, index);
    constexpr std::uint64_t key_bits = (std::uint64_t{1} << 62) - 1;
    number = add_team(w.team().create_group(members, config->uniqueid & key_bits), contexts);
  });
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace pgas::compat
