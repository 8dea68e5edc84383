// A program that passes every option struct to the library, and reads every struct that the library returns. The ABI
// tests compile it with the headers of an older version, and run it with the library of this version.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "pgas/device.hpp"
#include "pgas/pgas.hpp"
#include "pgas/shared_memory.hpp"
#include "pgas/sharing.h"
#include "pgas/timeline.hpp"

namespace {

void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "wrong: %s\n", what);
  std::exit(1);
}

struct fill {
  template <pgas::block_group Block>
  PGAS_FN void operator()(Block block, pgas::context ctx, int* cell) const {
    if (block.thread_rank() == 0) pgas::p(ctx, cell, ctx.my_pe() + 1, (ctx.my_pe() + 1) % ctx.n_pes());
  }
};

void use_teams(pgas::world& world) {
  pgas::team all = world.team().split_strided(0, 1, world.n_pes(), {.channels = 3});
  expect(all.config().channels == 3, "team_config::channels");
  expect(all.view().n_pes() == world.n_pes() && all.context().my_pe() == world.my_pe(), "team_view, context");
  auto [row, column] = world.team().split_2d(world.n_pes());
  expect(row.n_pes() == world.n_pes() && column.n_pes() == 1, "split_2d");
  auto data = world.allocate<int>(4, pgas::initialize::zero);
  auto sums = world.allocate<int>(4);
  pgas::reduce(all, sums.data(), data.data(), 4, pgas::op::sum{});
  expect(*sums.data() == 0, "reduce");
  all.destroy();
}

void launch_kernels(pgas::world& world) {
  auto cell = world.allocate<int>(1, pgas::initialize::zero);
  pgas::launch(world, {.blocks = 1, .threads = 1, .urgent = true}, fill{}, world.context(), cell.data());
  world.synchronize();
  world.barrier_all();
  expect(*cell.data() == (world.my_pe() + world.n_pes() - 1) % world.n_pes() + 1, "the kernel's store");
}

void share_memory() {
  using namespace std::chrono_literals;
  pgas::timeline ready = pgas::timeline::make(pgas::memory_place::host());
  pgas::shared_memory mine =
      pgas::shared_memory::make(pgas::memory_place::host(), 4096, {.importers = pgas::access::read_write});
  const std::string ticket = mine.ticket({.lifetime = 60s, .opens = 1, .ready = &ready, .description = "4096 bytes"});
  const pgas::opened_memory theirs = pgas::opened_memory::open(ticket, {.timeout = 5s, .wait_until_ready = false});
  expect(theirs.size() == 4096 && theirs.description() == "4096 bytes" && theirs.has_timeline(), "open_options");
  expect(mine.opened_by().size() == 1 && mine.opened_by().front().pid > 0, "opener");
  expect(theirs.exporter().pid > 0, "memory_exporter");

  pgas_shared_memory* in_c = nullptr;
  pgas_ticket_options options{};
  options.user = -1;
  options.lifetime_s = 60;
  char text[PGAS_TICKET_BYTES];
  expect(pgas_share_new(PGAS_PLACE_HOST, 64, 0, &in_c) == 0, pgas_sharing_error());
  expect(pgas_shared_ticket(in_c, &options, text) == 0, pgas_sharing_error());
  pgas_opener openers[2];
  size_t count = 1;
  expect(pgas_shared_openers(in_c, openers, 2, &count) == 0 && count == 0, pgas_sharing_error());
  pgas_shared_free(in_c);
}

void read_reports(pgas::world& world) {
  const pgas::world_stats stats = world.stats();
  expect(stats.pe == world.my_pe() && stats.peers.size() == static_cast<std::size_t>(world.n_pes()), "world_stats");
  expect(!stats.calls.empty() && !stats.calls.front().name.empty(), "call_stats");
  expect(world.waits().empty(), "waits");
  expect(world.usage().mapped >= world.usage().used, "heap_usage");
  expect(world.layout().base != nullptr && world.layout().stride > 0, "heap_layout");
  expect(pgas::registrations(world).registered == 0, "registration_usage");
  expect(!world.pe(0).host.empty(), "pe_info");
  expect(world.settings().log == pgas::log_level::error, "config");
}

}  // namespace

int main() {
  try {
    pgas::config settings = pgas::config::from_environment();
    settings.log = pgas::log_level::error;
    settings.heap = pgas::heap_kind::host;
    pgas::world world = pgas::world::join(settings);
    use_teams(world);
    launch_kernels(world);
    share_memory();
    read_reports(world);
    pgas::bootstrap_options alone;
    alone.method = "singleton";
    expect(pgas::make_bootstrap(alone).exchange->size() == 1, "bootstrap_options, chosen_bootstrap");
    if (world.my_pe() == 0) std::puts("passed");
  } catch (const pgas::error& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
  }
}
