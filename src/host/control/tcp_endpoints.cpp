#include "host/control/tcp_endpoints.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "host/control/text_record.hpp"
#include "pgas/error.hpp"

namespace pgas::detail {

namespace {

constexpr const char* greeting = "pgas-tcp";

std::optional<tcp_endpoints> parse(const blob& bytes) {
  const std::vector<std::string> fields = split_fields(bytes);
  if (fields.size() != 4 || fields[0] != greeting) return std::nullopt;
  tcp_endpoints offer;
  offer.failure = fields[2];
  std::int64_t timeout = 0;
  const char* const end = fields[1].data() + fields[1].size();
  if (const auto [stopped, why] = std::from_chars(fields[1].data(), end, timeout);
      why != std::errc() || stopped != end || timeout <= 0)
    return std::nullopt;
  offer.peer_timeout = std::chrono::milliseconds(timeout);
  for (std::size_t at = 0; at < fields[3].size();) {
    const std::size_t stop = std::min(fields[3].find(' ', at), fields[3].size());
    const std::optional<tcp_address> address = tcp_address::parse(fields[3].substr(at, stop - at));
    if (!address) return std::nullopt;
    offer.addresses.push_back(*address);
    at = stop + 1;
  }
  return offer;
}

}  // namespace

blob encode(const tcp_endpoints& mine) {
  std::string addresses;
  for (const tcp_address& address : mine.addresses) addresses += (addresses.empty() ? "" : " ") + address.text();
  return join_fields({greeting, std::to_string(mine.peer_timeout.count()), mine.failure, addresses});
}

std::vector<tcp_endpoints> decode_offers(const std::vector<blob>& all) {
  std::vector<tcp_endpoints> offers;
  for (std::size_t pe = 0; pe < all.size(); ++pe) {
    std::optional<tcp_endpoints> offer = parse(all[pe]);
    if (!offer)
      throw error(code::bootstrap_protocol, fmt::format("PE {} did not tell where it listens", pe),
                  static_cast<int>(pe));
    offers.push_back(std::move(*offer));
  }
  return offers;
}

}  // namespace pgas::detail
