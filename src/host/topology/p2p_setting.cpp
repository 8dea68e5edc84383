#include "host/topology/p2p_setting.hpp"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

#include "host/exchange/agreement.hpp"
#include "pgas/error.hpp"

namespace pgas::detail {

namespace {

[[noreturn]] void refuse(const std::string& direct, const std::string& why) {
  throw error(
      code::config_value,
      fmt::format("PGAS_P2P={}: {}; allowed are `all`, `0` (no two PEs share memory), and sets of PEs such as 0,2/1,3",
                  direct, why));
}

}  // namespace

std::vector<int> parse_p2p_sets(const std::string& direct, int n, bool of_job) {
  if (direct == "all") return std::vector<int>(static_cast<std::size_t>(n), 0);
  constexpr int nobody = -1;
  std::vector<int> set_of(static_cast<std::size_t>(n), nobody);
  int sets = 0;
  std::string_view rest = direct;
  for (bool more = true; more;) {
    int pe = 0;
    const auto [end, failed] = std::from_chars(rest.data(), rest.data() + rest.size(), pe);
    if (failed != std::errc() || pe < 0) refuse(direct, fmt::format("expected the number of a PE at `{}`", rest));
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    if (pe >= n && n > 1 && of_job) refuse(direct, fmt::format("there is no PE {}, PEs are 0 to {}", pe, n - 1));
    if (pe < n) {
      int& set = set_of[static_cast<std::size_t>(pe)];
      if (set != nobody) refuse(direct, fmt::format("PE {} occurs twice", pe));
      set = sets;
    }
    more = !rest.empty();
    if (!more) break;
    if (rest.front() != ',' && rest.front() != '/')
      refuse(direct, fmt::format("expected a comma or a slash at `{}`", rest));
    if (rest.front() == '/') ++sets;
    rest.remove_prefix(1);
  }
  for (int& set : set_of)
    if (set == nobody) set = ++sets;
  return set_of;
}

std::vector<int> agree_on_p2p_sets(const control_group& everyone, const std::string& direct) {
  const agreement all = agree(everyone, std::as_bytes(std::span(direct.data(), direct.size())));
  const auto text = [](const member_value& member) {
    return std::string_view(reinterpret_cast<const char*>(member.value.data()), member.value.size());
  };
  if (all.other)
    throw error(code::config_value,
                fmt::format("PGAS_P2P is `{}` on PE 0 and `{}` on PE {}: set it to the same value on all PEs",
                            text(all.first), text(*all.other), all.other->member),
                all.other->member);
  return parse_p2p_sets(direct, everyone.n_pes());
}

}  // namespace pgas::detail
