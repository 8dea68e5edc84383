#include "host/exchange/control_group.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "host/exchange/exchange_service.hpp"

namespace pgas::detail {

control_group::control_group(const std::shared_ptr<exchange_service>& exchanges, identity id, std::vector<int> members)
    : exchanges_(exchanges), id_(id), members_(std::move(members)) {
  me_ = static_cast<int>(std::find(members_.begin(), members_.end(), exchanges->peers().me) - members_.begin());
  exchanges->begin_group(id_, members_);
}

control_group::control_group(const control_group& among, identity id, std::vector<int> members)
    : control_group((static_cast<void>(among.exchanges()), among.exchanges_.lock()), id, std::move(members)) {}

control_group::~control_group() {
  const std::shared_ptr<exchange_service> exchanges = exchanges_.lock();
  if (exchanges && exchanges->in_creator()) exchanges->end_group(id_);
}

exchange_service& control_group::exchanges() const {
  // The control plane keeps the object, and callers do not leave the world during a call.
  exchange_service* const all = exchanges_.lock().get();
  if (all == nullptr) throw error(code::not_joined, "this world was left; no collective call can be made any more");
  return *all;
}

const peer_info& control_group::peer(int member) const {
  if (member < 0 || member >= n_pes())
    throw error(code::pe_out_of_range, fmt::format("PE {} does not exist, PEs are 0 to {}", member, n_pes() - 1),
                member);
  return exchanges().peers().at(world_pe(member));
}

std::vector<contribution> control_group::all_gather(std::span<const std::byte> mine, std::span<const int> fds) const {
  std::vector<contribution> all(members_.size());
  gather_each(mine, fds, [&](int member, std::span<const std::byte> bytes, contribution descriptors) {
    descriptors.bytes.assign(bytes.begin(), bytes.end());
    all[static_cast<std::size_t>(member)] = std::move(descriptors);
  });
  return all;
}

void control_group::gather_each(std::span<const std::byte> mine, std::span<const int> fds,
                                const part_handler& take) const {
  exchanges().gather(*this, mine, fds, take);
}

blob control_group::reduce(blob mine, std::function<void(blob&, std::span<const std::byte>)> combine) const {
  return exchanges().run(id_, collective::reduce, std::move(mine), {}, std::move(combine)).value;
}

blob control_group::reduce(blob mine, std::function<void(blob&, std::span<const std::byte>)> combine,
                           part_selector select) const {
  return exchanges().run(id_, collective::reduce, std::move(mine), {}, std::move(combine), std::move(select)).value;
}

void control_group::barrier() const { static_cast<void>(exchanges().run(id_, collective::barrier, {}, {}, {})); }

control_group::identity control_group::new_identity(std::uint64_t count) const { return exchanges().new_groups(count); }

void control_group::count_enqueued(bool captured) const { exchanges().count_enqueued(id_, captured); }

}  // namespace pgas::detail
