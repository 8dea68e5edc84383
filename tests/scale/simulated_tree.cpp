#include "scale/simulated_tree.hpp"

#include <algorithm>
#include <numeric>

namespace pgas::scale_test {

simulated_world::simulated_world(int n, int per_host, latency_model model, unsigned seed)
    : model_(model), nodes_(static_cast<std::size_t>(n)), random_(seed) {
  std::vector<int> all(static_cast<std::size_t>(n));
  std::iota(all.begin(), all.end(), 0);
  for (const int pe : all) hosts_.push_back(pe / per_host);
  whole_ = layout_of(all);
  for (const int pe : all) node(pe).tree = group_tree(whole_, pe);
}

void simulated_world::at(microseconds delay, std::function<void()> work) {
  events_.push({now_ + delay, numbers_++, std::move(work)});
}

void simulated_world::make_group(int pe, std::uint64_t id, const std::shared_ptr<const group_layout>& members) {
  group_exchange::messages out;
  group(pe, id).set_members(members, pe, now_, out);
  send(pe, out, node(pe).chain);
}

group_exchange& simulated_world::group(int pe, std::uint64_t id) {
  return node(pe).groups.try_emplace(id, id).first->second;
}

void simulated_world::begin(int pe, std::uint64_t id, collective call, blob mine, combiner combine, selector select) {
  if (!node(pe).alive) return;
  group_exchange::messages out;
  node(pe).taken.erase(id);
  node(pe).last[id] =
      group(pe, id).contribute(call, std::move(mine), {}, std::move(combine), now_, out, std::move(select));
  send(pe, out, node(pe).chain);
}

void simulated_world::send(int from, const group_exchange::messages& out, int chain) {
  for (const outgoing_message& item : out) hop(from, std::make_shared<outgoing_message>(item), chain + 1);
}

void simulated_world::hop(int from, const std::shared_ptr<outgoing_message>& message, int chain) {
  one_pe& sender = node(from);
  if (!sender.alive) return;
  const int next = sender.tree.next_hop(message->header.to);
  const bool near = sender.tree.on_host_of_this(next);
  microseconds takes = near ? model_.inside_host : model_.between_hosts;
  if (model_.jitter.count() > 0)
    takes += microseconds(static_cast<std::int64_t>(random_()) % (model_.jitter.count() + 1));
  const std::uint64_t bytes = sizeof(control_header) + message->content->bytes().size();
  ++traffic_.messages;
  traffic_.bytes += bytes;
  traffic_.most_bytes_on_link = std::max(traffic_.most_bytes_on_link, link_bytes_[{from, next}] += bytes);
  traffic_.longest_chain = std::max(traffic_.longest_chain, chain);
  clock::time_point& in_order = sender.link_free[next];
  in_order = std::max(in_order, std::max(now_, sender.free) + takes);
  events_.push({in_order, numbers_++, [this, next, message, chain] { arrive(next, message, chain); }});
}

void simulated_world::arrive(int at_pe, const std::shared_ptr<outgoing_message>& message, int chain) {
  one_pe& here = node(at_pe);
  if (!here.alive) return;
  here.free = std::max(here.free, now_) + model_.handling;
  if (message->header.to != at_pe) return hop(at_pe, message, chain + 1);
  here.chain = std::max(here.chain, chain);
  arrived_message whole{{message->content->bytes(), {}, false}, message->header};
  group_exchange::messages out;
  group(at_pe, message->header.group).receive(std::move(whole), now_, out);
  send(at_pe, out, here.chain);
}

void simulated_world::kill(int pe) {
  node(pe).alive = false;
  for (int other = 0; other < n(); ++other) {
    if (other == pe || !node(other).alive) continue;
    // Messages of the dead PE arrive before the report of its end.
    const microseconds heard = 4 * (model_.between_hosts + model_.jitter) + microseconds(other);
    at(heard, [this, other, pe] {
      if (!node(other).alive) return;
      group_exchange::messages out;
      for (auto& [id, group] : node(other).groups) group.lose(pe, out);
      send(other, out, node(other).chain);
    });
  }
}

void simulated_world::run() {
  while (!events_.empty()) {
    const event next = events_.top();
    events_.pop();
    now_ = next.when;
    next.work();
  }
}

std::optional<blob> simulated_world::take(int pe, std::uint64_t id) {
  group_exchange& exchange = group(pe, id);
  const std::uint64_t number = node(pe).last.at(id);
  if (!exchange.complete(number)) return std::nullopt;
  node(pe).taken.insert(id);
  return exchange.take(number).value;
}

bool simulated_world::abandoned(int pe, std::uint64_t id) const {
  return node(pe).groups.at(id).abandoned(node(pe).last.at(id));
}

traffic simulated_world::counted() {
  traffic found = std::exchange(traffic_, {});
  found.time = now_ - std::exchange(counted_from_, now_);
  link_bytes_.clear();
  for (one_pe& item : nodes_) item.chain = 0;
  return found;
}

}  // namespace pgas::scale_test
