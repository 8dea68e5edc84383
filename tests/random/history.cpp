#include "history.hpp"

#include <algorithm>

namespace pgas_random {

history::history(int n_pes, int n_actors, std::uint32_t bytes)
    : n_actors_(index(n_actors)), bytes_(bytes), actors_(n_actors_), cells_(index(n_pes) * bytes) {}

std::span<history::cell> history::cells(range where) {
  return std::span(cells_).subspan(index(where.pe) * bytes_ + where.offset, where.bytes);
}
std::span<const history::cell> history::cells(range where) const {
  return std::span(cells_).subspan(index(where.pe) * bytes_ + where.offset, where.bytes);
}

bool history::own_order(const actor& me, const cell& c, std::size_t who, access how, bool commutes) const {
  const bool writes = how == access::local_write || how == access::remote_write;
  if (c.late && writes && c.read[who] >= me.quieted) return false;
  if (c.wrote[who] == 0 || c.local || commutes) return true;
  return c.wrote[who] < (how == access::remote_write ? me.fenced : me.quieted);
}

bool history::allowed(int who, range where, access how, std::uint8_t commuting) const {
  const actor& me = actors_[index(who)];
  const bool writes = how == access::local_write || how == access::remote_write;
  for (const cell& c : cells(where)) {
    const bool commutes = commuting != 0 && c.commuting == commuting;
    if (!own_order(me, c, index(who), how, commutes)) return false;
    if (commutes && c.base[index(who)] != 0 && c.base[index(who)] >= me.fenced) return false;
    for (std::size_t other = 0; other < n_actors_; ++other) {
      if (other == index(who)) continue;
      if (commutes && c.base[other] != 0 && c.base[other] >= me.seen[other]) return false;
      if (!commutes && c.wrote[other] != 0 && c.wrote[other] >= me.seen[other]) return false;
      if (writes && c.read[other] != 0 && c.read[other] >= me.seen[other]) return false;
    }
  }
  return true;
}

bool history::settled(int who, range where) const {
  return allowed(who, where, access::remote_write) && allowed(who, where, access::read);
}

void history::record(int who, range where, access how, std::uint8_t commuting) {
  const std::size_t me = index(who);
  const std::uint16_t now = actors_[me].now;
  for (cell& c : cells(where)) {
    if (how == access::read || how == access::late_read) {
      c.read[me] = now;
      c.late |= how == access::late_read;
      continue;
    }
    if (commuting == 0 || c.commuting != commuting) {
      // All earlier accesses come before this write. An access that is ordered after the write is also ordered after
      // these accesses.
      c.base = {};
      if (commuting != 0) {
        for (std::size_t i = 0; i < n_actors_; ++i) c.base[i] = std::max(c.wrote[i], c.read[i]);
      }
      c.wrote = {};
      c.read = {};
      c.late = false;
    }
    c.wrote[me] = now;
    c.local = how == access::local_write;
    c.commuting = commuting;
  }
}

void history::fence(int who) {
  actor& me = actors_[index(who)];
  me.fenced = ++me.now;
  me.fenced_view = me.seen;
  me.fenced_view[index(who)] = me.now;
}

void history::quiet(int who) {
  fence(who);
  actor& me = actors_[index(who)];
  me.quieted = me.now;
}

history::clock history::release(int who) {
  actor& me = actors_[index(who)];
  clock all = me.seen;
  all[index(who)] = ++me.now;
  return all;
}

void history::acquire(int who, const clock& seen) {
  actor& me = actors_[index(who)];
  for (std::size_t i = 0; i < n_actors_; ++i) me.seen[i] = std::max(me.seen[i], seen[i]);
}

void history::join(std::span<const int> members) {
  clock all{};
  for (const int who : members) {
    quiet(who);
    const clock& view = last_fence(who);
    for (std::size_t i = 0; i < n_actors_; ++i) all[i] = std::max(all[i], view[i]);
  }
  for (const int who : members) {
    acquire(who, all);
    actors_[index(who)].fenced_view = actors_[index(who)].seen;
  }
}

}  // namespace pgas_random
