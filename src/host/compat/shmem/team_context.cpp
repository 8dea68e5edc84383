// shmem.h: teams and contexts.
#include <fmt/format.h>

#include <utility>

#include "host/compat/shmem/define_function.hpp"
#include "pgas/rma.hpp"

namespace {

using namespace pgas::compat;

/// The number of contexts that the program requested. A query returns it.
int contexts_of(const shmem_team_config_t* config, long mask) {
  return config != nullptr && (mask & SHMEM_TEAM_NUM_CONTEXTS) != 0 ? config->num_contexts : 0;
}

void check(shmem_team_t team) {
  if (team == SHMEM_TEAM_INVALID) throw pgas::error(pgas::code::invalid_argument, "the team is SHMEM_TEAM_INVALID");
}

shmem_team_t add_team(pgas::team added, int num_contexts) {
  return shmem_library::handle_of(runtime::instance().add_team(std::move(added), num_contexts));
}

}  // namespace

extern "C" {

PGAS_SHMEM_DEFINE_OR(int, -1, team_my_pe, (shmem_team_t team), {
  return team == SHMEM_TEAM_INVALID ? -1 : runtime::instance().team_my_pe(shmem_library::number_of(team));
})
PGAS_SHMEM_DEFINE_OR(int, -1, team_n_pes, (shmem_team_t team), {
  return team == SHMEM_TEAM_INVALID ? -1 : runtime::instance().team_n_pes(shmem_library::number_of(team));
})
PGAS_SHMEM_DEFINE_OR(int, -1, team_translate_pe, (shmem_team_t src_team, int src_pe, shmem_team_t dest_team), {
  if (src_team == SHMEM_TEAM_INVALID || dest_team == SHMEM_TEAM_INVALID) return -1;
  const pgas::team& from = library().team_of(src_team);
  if (src_pe < 0 || src_pe >= from.n_pes()) return -1;
  return from.translate_pe(src_pe, library().team_of(dest_team));
})
PGAS_SHMEM_DEFINE_STATUS(team_get_config, (shmem_team_t team, long config_mask, shmem_team_config_t* config), {
  check(team);
  const int asked = runtime::instance().find_team(shmem_library::number_of(team)).num_contexts;
  if (config != nullptr && (config_mask & SHMEM_TEAM_NUM_CONTEXTS) != 0) config->num_contexts = asked;
})

PGAS_SHMEM_DEFINE_STATUS(team_split_strided,
                         (shmem_team_t parent_team, int start, int stride, int size, const shmem_team_config_t* config,
                          long config_mask, shmem_team_t* new_team),
                         {
                           *new_team = SHMEM_TEAM_INVALID;
                           check(parent_team);
                           *new_team = add_team(library().team_of(parent_team).split_strided(start, stride, size),
                                                contexts_of(config, config_mask));
                         })
PGAS_SHMEM_DEFINE_STATUS(team_split_2d,
                         (shmem_team_t parent_team, int xrange, const shmem_team_config_t* xaxis_config,
                          long xaxis_mask, shmem_team_t* xaxis_team, const shmem_team_config_t* yaxis_config,
                          long yaxis_mask, shmem_team_t* yaxis_team),
                         {
                           *xaxis_team = SHMEM_TEAM_INVALID;
                           *yaxis_team = SHMEM_TEAM_INVALID;
                           check(parent_team);
                           const pgas::team& parent = library().team_of(parent_team);
                           // If a row is longer than the team, the row is the whole team.
                           auto [row, column] = parent.split_2d(xrange > parent.n_pes() ? parent.n_pes() : xrange);
                           *xaxis_team = add_team(std::move(row), contexts_of(xaxis_config, xaxis_mask));
                           *yaxis_team = add_team(std::move(column), contexts_of(yaxis_config, yaxis_mask));
                         })
PGAS_SHMEM_DEFINE(void, team_destroy, (shmem_team_t team), {
  if (team == SHMEM_TEAM_INVALID) return;
  const int number = shmem_library::number_of(team);
  runtime::instance().destroy_team(number);
  library().destroy_contexts_of(number);
})

PGAS_SHMEM_DEFINE_STATUS(ctx_create, (long options, shmem_ctx_t* ctx), {
  *ctx = SHMEM_CTX_INVALID;
  *ctx = library().make_context(team_number::world, options);
})
PGAS_SHMEM_DEFINE_STATUS(team_create_ctx, (shmem_team_t team, long options, shmem_ctx_t* ctx), {
  *ctx = SHMEM_CTX_INVALID;
  check(team);
  *ctx = library().make_context(shmem_library::number_of(team), options);
})
PGAS_SHMEM_DEFINE_STATUS(ctx_get_team, (shmem_ctx_t ctx, shmem_team_t* team), {
  *team = SHMEM_TEAM_INVALID;
  if (ctx == SHMEM_CTX_INVALID) throw pgas::error(pgas::code::invalid_argument, "the context is SHMEM_CTX_INVALID");
  *team = shmem_library::handle_of(library().team_number_of(ctx));
})
PGAS_SHMEM_DEFINE(void, ctx_destroy, (shmem_ctx_t ctx), {
  if (ctx == SHMEM_CTX_INVALID) return;
  pgas::quiet(library().world());
  library().destroy_context(ctx);
})
PGAS_SHMEM_DEFINE(void, ctx_session_start, (shmem_ctx_t ctx, long, const shmem_ctx_session_config_t*, long), {
  if (ctx != SHMEM_CTX_INVALID) static_cast<void>(library().team_number_of(ctx));  // throws if the handle is invalid
})
PGAS_SHMEM_DEFINE(void, ctx_session_stop, (shmem_ctx_t ctx), {
  if (ctx != SHMEM_CTX_INVALID) static_cast<void>(library().team_number_of(ctx));
})

}  // extern "C"
