#include "host/connect/control_message.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace pgas::detail {

namespace {

/// The memory that is reserved for a message when its first packet has arrived.
constexpr std::uint64_t most_reserved = std::uint64_t{1} << 20;

}  // namespace

parcel::parcel(blob content, std::vector<int> borrowed, std::vector<unique_fd> owned)
    : bytes_(std::move(content)), fds_(std::move(borrowed)), borrowed_(fds_.size()), owned_(std::move(owned)) {
  for (const unique_fd& one : owned_) fds_.push_back(one.get());
  fd_count_ = fds_.size();
}

void parcel::keep() {
  for (std::size_t i = 0; i < borrowed_; ++i) {
    unique_fd copy(::fcntl(fds_[i], F_DUPFD_CLOEXEC, 0));
    if (!copy) {
      fds_.clear();
      break;
    }
    fds_[i] = copy.get();
    owned_.push_back(std::move(copy));
  }
  borrowed_ = 0;
}

outgoing_message message_of(message_kind kind, int from, int to, blob content) {
  outgoing_message message;
  message.header.kind = kind;
  message.header.from = from;
  message.header.to = to;
  message.content = std::make_shared<parcel>(std::move(content));
  return message;
}

std::optional<arrived_message> message_assembler::add(const control_header& header, std::span<const std::byte> body,
                                                      std::vector<unique_fd> fds, bool fds_lost) {
  const auto [at, first] = parts_.try_emplace(header.from);
  part& one = at->second;
  arrived_message& message = one.message;
  if (first) {
    message.header = header;
    message.bytes.reserve(static_cast<std::size_t>(std::min<std::uint64_t>(header.all_bytes, most_reserved)));
  }
  const control_header& begun = message.header;
  const bool continues = begun.kind == header.kind && begun.group == header.group &&
                         begun.sequence == header.sequence && begun.all_bytes == header.all_bytes &&
                         begun.all_fds == header.all_fds;
  if (!continues || body.size() > begun.all_bytes - message.bytes.size() || header.fds > begun.all_fds - one.fds)
    throw error(code::bootstrap_protocol, fmt::format("PE {} sent a malformed message", header.from), header.from);
  message.bytes.insert(message.bytes.end(), body.begin(), body.end());
  message.fds_lost = message.fds_lost || fds_lost || fds.size() != header.fds;
  if (message.fds_lost)
    message.fds.clear();
  else
    std::move(fds.begin(), fds.end(), std::back_inserter(message.fds));
  one.fds += header.fds;
  if (message.bytes.size() < begun.all_bytes || one.fds < begun.all_fds) return std::nullopt;
  std::optional<arrived_message> whole(std::move(message));
  parts_.erase(at);
  return whole;
}

}  // namespace pgas::detail
