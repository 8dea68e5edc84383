#include "host/heap/segment_exchange.hpp"

#include <fmt/format.h>

#include <utility>

#include "host/log/format_bytes.hpp"
#include "host/topology/find_domains.hpp"

namespace pgas::detail {

std::unique_ptr<group_segment> segment_exchange::create(const control_group& group, std::size_t offset,
                                                        std::size_t bytes, step_result mine,
                                                        std::optional<segment_id> ready) {
  const int me = group.my_pe();
  const int n = group.n_pes();
  auto segment = std::make_unique<group_segment>(device_, bytes);

  if (ready) segment->adopt(*ready);
  const bool in_span = slots_.has_span() && !ready;
  if (!mine.failure)
    mine.failure = attempt(group,
                           fmt::format("{} a segment of {} to share by {}", ready ? "export" : "make",
                                       format_bytes(bytes), to_string(kind_)),
                           [&] {
                             if (slots_.has_memory()) return;
                             if (in_span) return segment->open_own(slot(group.world_pe(me)) + offset);
                             if (!ready) segment->create(kind_);
                             if (domains_.members().size() > 1) mine.handle = segment->export_own();
                           });
  std::vector<step_result> all;
  if (!in_span && !slots_.has_memory()) {  // spans and placed slots were mapped at joining
    all = exchange(group, mine);
    mine.handle.fd.reset();
    if (const std::optional<error> failed = first_failure(all)) throw error(*failed);
  }

  step_result outcome;
  outcome.call = mine.call;
  outcome.failure = std::move(mine.failure);
  for (int step = 0; step < n && !outcome.failure; ++step) {
    const int member = (me + step) % n;
    const int pe = group.world_pe(member);
    if (!domains_.direct(pe) || (slots_.has_memory() && member != me)) continue;
    outcome.failure =
        attempt(group, member == me ? "map its own segment" : fmt::format("map the segment of PE {}", pe), [&] {
          void* address = slot(pe) + offset;
          if (member == me) {
            if (slots_.has_memory())
              segment->place_own(address);
            else if (!in_span)
              segment->map_own(address);
            if (proxied_ != nullptr) outcome.key = segment->expose(*proxied_, offset);
            return;
          }
          if (in_span) {
            if (slots_.guards_peers()) segment->open_peer(address);
            return;
          }
          step_result& theirs = all[static_cast<std::size_t>(member)];
          if (theirs.fds_lost)
            throw error(code::handle_invalid,
                        "the descriptor was lost because this process can't open more files (ulimit -n)");
          segment->map_peer(address, theirs.handle);
          theirs.handle.fd.reset();
        });
  }
  // The exchange is also a barrier. No PE accesses a peer's memory before this barrier.
  if (proxied_ == nullptr) {
    check_step(agree_on_step(group, outcome.call, outcome.failure));
    return segment;
  }
  const std::vector<step_result> outcomes = exchange(group, outcome);
  if (const std::optional<error> failed = first_failure(outcomes)) throw error(*failed);
  for (const step_result& theirs : outcomes)
    if (!domains_.direct(theirs.pe) && !theirs.key.empty())
      proxied_->add_peer_memory(theirs.pe, offset, bytes, theirs.key);
  return segment;
}

}  // namespace pgas::detail
