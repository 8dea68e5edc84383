#include "host/heap/shared_segment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "host/log/format_bytes.hpp"

namespace pgas::detail {

shared_segment::~shared_segment() {
  if (exposed_by_ != nullptr) {
    try {
      exposed_by_->remove_memory(offset_);
    } catch (const std::exception&) {
      return;  // other PEs may still reach it: it stays mapped until the process ends
    }
  }
  for (auto address = mapped_.rbegin(); address != mapped_.rend(); ++address) device_.unmap(*address, bytes_);
  for (auto segment = segments_.rbegin(); segment != segments_.rend(); ++segment) device_.destroy(*segment);
}

void shared_segment::create(handle_kind kind) {
  segments_.reserve(segments_.size() + 1);
  segments_.push_back(device_.create(bytes_, kind));
}

void shared_segment::adopt(segment_id segment) { segments_.push_back(segment); }

exported_handle shared_segment::export_own() { return device_.export_segment(segments_.front()); }

void shared_segment::map_own(void* address) { map(address, segments_.front()); }

void shared_segment::map_peer(void* address, const exported_handle& handle) {
  segments_.reserve(segments_.size() + 1);
  segments_.push_back(device_.import_segment(handle, bytes_));
  map(address, segments_.back());
}

blob shared_segment::expose(proxy& through, std::size_t offset) {
  blob key = through.expose(offset, mapped_.front(), bytes_);
  exposed_by_ = &through;
  offset_ = offset;
  return key;
}

void shared_segment::map(void* address, segment_id segment) {
  mapped_.reserve(mapped_.size() + 1);
  device_.map(address, bytes_, segment);
  mapped_.push_back(address);
}

namespace {

std::vector<step_result> failures_of(std::vector<step_result> all) {
  std::erase_if(all, [](const step_result& s) { return !s.failure; });
  return all;
}

}  // namespace

sharing_result share_segment(device& device, const control_group& group, const sharing_plan& plan) {
  const int me = group.my_pe();
  const int n = group.n_pes();
  sharing_result result;
  result.segment = std::make_unique<shared_segment>(device, plan.bytes);

  if (plan.ready) result.segment->adopt(*plan.ready);
  step_result mine;
  mine.call = plan.call;
  mine.failure = plan.refusal;
  if (!mine.failure)
    mine.failure = attempt(group,
                           fmt::format("{} a segment of {} to share by {}", plan.ready ? "hand out" : "make",
                                       format_bytes(plan.bytes), to_string(plan.kind)),
                           [&] {
                             if (!plan.ready) result.segment->create(plan.kind);
                             if (plan.where.near.members().size() > 1) mine.handle = result.segment->export_own();
                           });
  std::vector<step_result> all = exchange(group, mine);
  mine.handle.fd.reset();
  if (const std::optional<error> different = asymmetry(all)) throw error(*different);
  if (first_failure(all)) return {nullptr, failures_of(std::move(all))};

  int at = me;
  step_result outcome;
  outcome.call = plan.call;
  for (int step = 0; step < n && !outcome.failure; ++step) {
    at = (me + step) % n;
    step_result& theirs = all[static_cast<std::size_t>(at)];
    const int pe = group.world_pe(at);
    if (!plan.where.near.near(pe)) continue;
    outcome.failure =
        attempt(group, at == me ? "map its own segment" : fmt::format("map the segment of PE {}", pe), [&] {
          void* address = plan.where.slot(pe) + plan.offset;
          if (at == me) {
            result.segment->map_own(address);
            if (plan.where.far != nullptr) outcome.key = result.segment->expose(*plan.where.far, plan.offset);
            return;
          }
          if (theirs.fds_lost)
            throw error(code::handle_invalid,
                        "the descriptor got lost, because this process may open no more files (ulimit -n)");
          result.segment->map_peer(address, theirs.handle);
        });
    theirs.handle.fd.reset();
  }
  // Also the barrier before which no PE touches a peer's memory.
  std::vector<step_result> outcomes = exchange(group, outcome);
  if (first_failure(outcomes)) return {nullptr, failures_of(std::move(outcomes))};
  if (plan.where.far != nullptr)
    for (const step_result& theirs : outcomes)
      if (!plan.where.near.near(theirs.pe) && !theirs.key.empty())
        plan.where.far->add_peer_memory(theirs.pe, plan.offset, plan.bytes, theirs.key);
  return result;
}

std::string to_string(handle_kind kind) {
  switch (kind) {
    case handle_kind::automatic: return "automatic";
    case handle_kind::fabric: return "fabric";
    case handle_kind::posix_fd: return "posix_fd";
    case handle_kind::named: return "named";
  }
  return "unknown";
}

}  // namespace pgas::detail
