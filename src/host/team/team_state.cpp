#include "host/team/team_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "host/world/world_state.hpp"

namespace pgas::detail {

namespace {

/// The members by start and stride. write_members() adds a list if start and stride do not describe the members.
team_view view_of(const control_group& group, const team_config& how) {
  team_view view;
  view.start_ = group.world_pe(0);
  view.stride_ = group.n_pes() > 1 ? group.world_pe(1) - view.start_ : 1;
  view.n_pes_ = group.n_pes();
  view.my_pe_ = group.my_pe();
  view.n_channels_ = how.channels;
  return view;
}

bool evenly_spaced(const control_group& group, const team_view& view) {
  for (int i = 0; i < group.n_pes(); ++i)
    if (group.world_pe(i) != view.start_ + i * view.stride_) return false;
  return true;
}

/// Enqueues zeros for all parts of a oneshot_staging that must be zero.
void clear_packets(device& on, std::byte* staging) {
  on.fill(staging + oneshot_staging::packets(0), 0, oneshot_staging::bytes() - oneshot_staging::packets(0), nullptr);
}

}  // namespace

team_view team_state::view_of_world(const world_state& world) {
  team_view view = world.context().world();
  if (world.domains().only_one()) view.staging_offset_ = internal_area::bytes(view.n_pes());
  return view;
}

void team_state::clear_memory_of_world(device& on, std::byte* first, int n) {
  // New memory of the host consists of zeros, and has no pages before it is written.
  if (on.properties().kind != heap_kind::cuda) return;
  on.fill(first, 0, internal_area::bytes(n), nullptr);
  std::byte* const stagings = first + internal_area::bytes(n);
  clear_packets(on, stagings);
  clear_packets(on, stagings + oneshot_staging::bytes());
}

std::unique_ptr<team_state> team_state::of_world(world_state& world) {
  std::unique_ptr<team_state> result(new team_state(world, &world.control_plane(), nullptr, view_of_world(world)));
  result->write_hierarchy();
  result->memory_ = &world.heap().memory();
  result->mutex_ = &world.collective_mutex();
  return result;
}

std::unique_ptr<team_state> team_state::of_some(world_state& world, control_group::identity id,
                                                std::vector<int> members, std::uint64_t offset, std::uint64_t staging) {
  auto group = std::make_unique<control_group>(world.control_plane(), id, std::move(members));
  const control_group* const members_of = group.get();
  team_view view = view_of(*members_of, {default_channels});
  view.state_offset_ = offset;
  view.staging_offset_ = staging;
  std::unique_ptr<team_state> result(new team_state(world, members_of, std::move(group), view));
  result->write_members();
  result->own_memory_ = world.heap().make_allocator(*members_of);
  result->memory_ = result->own_memory_.get();
  return result;
}

team_state::team_state(world_state& world, const control_group* group, std::unique_ptr<control_group> own,
                       const team_view& view)
    : world_(world),
      own_group_(std::move(own)),
      group_(group),
      config_{view.n_channels(), view.staging_offset_ != 0},
      view_(view) {}

team_state::team_state(std::shared_ptr<world_state> world, std::unique_ptr<control_group> group, const team_config& how)
    : keep_(std::move(world)),
      world_(*keep_),
      own_group_(std::move(group)),
      group_(own_group_.get()),
      config_(how),
      view_(view_of(*group_, how)),
      own_memory_(world_.heap().make_allocator(*group_)),
      memory_(own_memory_.get()) {
  try {
    place_state();
    place_staging();
    clear_state();
  } catch (...) {
    release();
    throw;
  }
}

team_state::~team_state() {
  if (world_.forked()) {
    static_cast<void>(order_.release());  // the order object belongs to the parent process
    return;
  }
  world_.teams().remove(this);
  if (stream_ != nullptr) world_.device().destroy_stream(stream_);
  if (grid_ != nullptr && keep_ != nullptr) world_.grids().release(grid_);
}

void team_state::write_members() {
  write_hierarchy();
  if (evenly_spaced(*group_, view_)) return;
  std::byte* const slot = world_.heap().slot(world_.context().my_pe());
  std::byte* const list = slot + view_.state_offset_ + team_state_layout::list(view_.n_pes(), view_.n_channels());
  view_.members_ = reinterpret_cast<const std::int32_t*>(list);
  world_.device().copy(list, members().data(), members().size_bytes(), nullptr);
  world_.synchronize(nullptr);
}

void team_state::write_hierarchy() {
  const domains& domains = world_.domains();
  if (domains.only_one() && world_.heap().in_a_row()) return;
  const int me = world_.context().my_pe();
  std::vector<std::int32_t> hierarchy(static_cast<std::size_t>(team_hierarchy::size(view_.n_pes())));
  team_hierarchy::write(hierarchy.data(), members().data(), view_.n_pes(), me, domains.numbers().data(),
                        world_.heap().distances().data());
  std::byte* const at =
      world_.heap().slot(me) + view_.state_offset_ + team_state_layout::plan(view_.n_pes(), view_.n_channels());
  world_.device().copy(at, hierarchy.data(), hierarchy.size() * sizeof(std::int32_t), nullptr);
  world_.synchronize(nullptr);
}

pgas::context team_state::context() const {
  pgas::context ctx = world_.context();
  set_team(ctx, view_);
  ctx.copy_ = context_copy();
  return ctx;
}

const pgas::context* team_state::context_copy() const {
  const std::byte* const slot = world_.heap().slot(world_.context().my_pe());
  return reinterpret_cast<const pgas::context*>(slot + view_.state_offset_ +
                                                team_state_layout::context_copy(view_.n_pes(), view_.n_channels()));
}

void team_state::write_context(const pgas::context& ctx) {
  world_.teams().add(this, group_->id(), view_, members());
  static_assert(sizeof ctx <= team_state_layout::line);
  world_.device().copy(const_cast<pgas::context*>(context_copy()), &ctx, sizeof ctx, nullptr);
  world_.synchronize(nullptr);
}

void team_state::place_state() {
  const bool listed = !evenly_spaced(*group_, view_);
  const std::size_t bytes = team_state_layout::bytes(view_.n_pes(), view_.n_channels(), listed);
  std::byte* const slot = world_.heap().slot(world_.context().my_pe());
  state_offset_ = world_.team_states().take(*group_, bytes);
  view_.state_offset_ = state_offset_
                            ? *state_offset_
                            : static_cast<std::uint64_t>(
                                  static_cast<std::byte*>(memory_->allocate(bytes, team_state_layout::line)) - slot);
}

void team_state::place_staging() {
  const auto is_direct = [&](int pe) { return world_.domains().direct(pe); };
  if (!config_.staged || view_.n_pes() < 2 || view_.n_pes() > oneshot_staging::most_members ||
      world_.device().properties().kind != heap_kind::cuda ||
      !std::all_of(members().begin(), members().end(), is_direct))
    return;
  auto* const staging = static_cast<std::byte*>(memory_->allocate(oneshot_staging::bytes(), 512));
  view_.staging_offset_ = static_cast<std::uint64_t>(staging - world_.heap().slot(world_.context().my_pe()));
  clear_packets(world_.device(), staging);
}

void team_state::clear_state() {
  std::byte* const slot = world_.heap().slot(world_.context().my_pe());
  const std::size_t bytes = team_state_layout::list(view_.n_pes(), view_.n_channels());
  world_.device().fill(slot + view_.state_offset_, 0, bytes, nullptr);
  world_.synchronize(nullptr);
  write_members();
  write_context(context());
}

std::shared_ptr<world_state> team_state::shared_world() const { return world_.shared_from_this(); }

void team_state::check() const {
  world_.check();
  if (released_) throw error(code::invalid_argument, "this team was destroyed");
}

void team_state::check_direct() const {
  check();
  if (view_.members_ != nullptr)
    throw error(code::invalid_argument,
                "direct_context: the members of this team are not evenly spaced in the world: use context(), which "
                "looks up each member");
  const int me = world_.context().world_pe_;
  for (const int pe : members()) {
    const char* why = nullptr;
    if (!world_.domains().direct(pe))
      why = "is not load/store accessible";
    else if (world_.heap().distances()[static_cast<std::size_t>(pe)] != pe - me)
      why =
          "has its memory at an address that must be looked up in a table (memory shared by cuda_ipc, or a domain with "
          "gaps)";
    if (why != nullptr)
      throw error(code::peer_unreachable, fmt::format("direct_context: PE {} {}: use context()", pe, why), pe);
  }
}

void team_state::enqueue_collective(const collective_request& request, stream_handle on) {
  // This barrier uses words of the caller and no state of the team, so several of these barriers can run at the same
  // time.
  const bool in_order = request.what != collective_kind::word_barrier;
  const std::lock_guard lock(order_mutex_);
  if (grid_ == nullptr) {
    order_ = world_.device().make_stream_order();
    grid_ = world_.grids().take();
  }
  const bool captured = in_order && order_->before(on);
  if (in_order && !captured) world_.enqueued().add_collective(on, group_->id());
  world_.device().collective(world_.context(), host_view(), request, grid_, on);
  if (!in_order) return;
  order_->after(on);
  group_->count_enqueued(captured);
}

stream_handle team_state::stream() {
  const std::lock_guard lock(stream_mutex_);
  if (stream_ == nullptr) stream_ = world_.device().create_stream();
  return stream_;
}

void team_state::destroy() {
  if (keep_ == nullptr || released_) return;
  world_.check();
  const std::lock_guard lock(collective_mutex());
  if (stream_ != nullptr) world_.synchronize(stream_);
  world_.complete();  // operations in flight on the team's memory
  group_->barrier();
  release();
}

void team_state::release() noexcept {
  released_ = true;
  world_.teams().remove(this);
  if (own_memory_) own_memory_->clear();
  if (state_offset_) world_.team_states().release(*state_offset_);
  state_offset_.reset();
}

}  // namespace pgas::detail
