// The effects of collectives on the memory of the members.
#include <algorithm>

#include "model.hpp"

namespace pgas_random {

std::vector<std::size_t> model::by_domain(std::span<const int> members) const {
  std::vector<std::size_t> order;
  for (const int first : members) {
    for (std::size_t k = 0; k < members.size(); ++k) {
      const bool taken = std::find(order.begin(), order.end(), k) != order.end();
      if (!taken && members[k] / domain_ == first / domain_) order.push_back(k);
    }
  }
  return order;
}

template <class T>
void model::combine(std::span<const instruction> calls, std::span<const int> members) {
  const std::size_t n = members.size();
  const instruction& first = calls[0];
  const auto how = static_cast<reduction>(first.value);
  const bool scans = first.what == opcode::inclusive_scan || first.what == opcode::exclusive_scan;
  std::vector<std::size_t> order = by_domain(members);
  if (scans) std::sort(order.begin(), order.end());
  const std::size_t blocks = first.what == opcode::reduce_scatter ? n : 1;
  std::vector<std::vector<T>> from(n);
  for (std::size_t k = 0; k < n; ++k) {
    for (std::uint32_t e = 0; e < first.count * blocks; ++e)
      from[k].push_back(load<T>(members[k], calls[k].src + e * std::uint32_t{sizeof(T)}));
  }
  // Combines element `e` of the first `last` members in `order`.
  const auto combined = [&](std::size_t e, std::size_t last) {
    T result{};
    for (std::size_t k = 0; k < last; ++k) {
      const T& next = from[order[k]][e];
      result = k == 0 ? next : combine_two(how, result, next);
    }
    return result;
  };
  for (std::size_t k = 0; k < n; ++k) {
    if (first.what == opcode::reduce_to_root && static_cast<std::size_t>(first.pe) != k) continue;
    for (std::uint32_t e = 0; e < first.count; ++e) {
      std::size_t last = n;
      if (first.what == opcode::inclusive_scan) last = k + 1;
      if (first.what == opcode::exclusive_scan) last = k;
      const T result = combined(first.what == opcode::reduce_scatter ? k * first.count + e : e, last);
      write(members[k], calls[k].dst + e * std::uint32_t{sizeof(T)}, &result, sizeof(T), first.number);
    }
  }
}

void model::apply(std::span<const instruction> calls, std::span<const int> members) {
  const instruction& first = calls[0];
  switch (first.what) {
    case opcode::reduce:
    case opcode::reduce_to_root:
    case opcode::reduce_scatter:
    case opcode::inclusive_scan:
    case opcode::exclusive_scan:
      if (first.type == element::b1) return combine<std::uint8_t>(calls, members);
      return combine<double>(calls, members);
    default: break;
  }
  // All reads come before all writes.
  const std::vector<memory> before = arenas_;
  const std::uint32_t unit = bytes_of(first.type);
  const auto move = [&](std::size_t to, std::uint32_t dst, std::size_t from, std::uint32_t src, std::uint32_t bytes) {
    write(members[to], dst, before[index(members[from])].bytes.data() + src, bytes, first.number);
  };
  std::uint32_t gathered = 0;
  for (std::uint32_t from = 0; from < members.size(); ++from) {
    const instruction& sent = calls[from];
    const std::uint32_t bytes = sent.count * unit;
    for (std::uint32_t to = 0; to < members.size(); ++to) {
      const std::uint32_t dst = calls[to].dst;
      if (first.what == opcode::broadcast) {
        if (static_cast<std::uint32_t>(first.pe) == from) move(to, dst, from, sent.src, bytes);
      } else if (first.what == opcode::fcollect || first.what == opcode::collect) {
        move(to, dst + gathered, from, sent.src, bytes);
      } else if (first.what == opcode::alltoall) {
        move(to, dst + from * bytes, from, sent.src + to * bytes, bytes);
      } else {
        const auto dst_step = static_cast<std::uint32_t>(first.dst_stride) * unit;
        const auto src_step = static_cast<std::uint32_t>(first.src_stride) * unit;
        for (std::uint32_t e = 0; e < sent.count; ++e)
          move(to, dst + (from * sent.count + e) * dst_step, from, sent.src + (to * sent.count + e) * src_step, unit);
      }
    }
    gathered += bytes;
  }
}

}  // namespace pgas_random
