#include "bootstrap/hub/frame.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

namespace pgas::boot {
namespace {

constexpr std::size_t most_text = 4096;

struct failure_prefix {
  std::int32_t why;
  std::int32_t pe;
};

[[noreturn]] void malformed(std::string_view what) {
  throw error{code::bootstrap_protocol, std::string{"the exchange among the processes was malformed: "}.append(what) +
                                            ". All processes must run the same version of the library"};
}

}  // namespace

shared_frame make_frame(frame_header header, std::span<const std::byte> payload) {
  header.bytes = static_cast<std::uint32_t>(payload.size());
  auto frame = std::make_shared<blob>(sizeof header + payload.size());
  std::memcpy(frame->data(), &header, sizeof header);
  std::copy(payload.begin(), payload.end(), frame->begin() + sizeof header);
  return frame;
}

shared_frame make_frame(frame_header header, std::string_view payload) {
  return make_frame(header, std::as_bytes(std::span{payload.substr(0, most_text)}));
}

shared_frame make_failure(code why, int pe, std::string_view text) {
  const failure_prefix prefix{static_cast<std::int32_t>(why), pe};
  std::string payload(reinterpret_cast<const char*>(&prefix), sizeof prefix);
  payload += text.substr(0, most_text - sizeof prefix);
  return make_frame({.kind = frame_kind::failure}, payload);
}

error read_failure(std::span<const std::byte> payload) {
  failure_prefix prefix;
  if (payload.size() < sizeof prefix) malformed("a failure without a code");
  std::memcpy(&prefix, payload.data(), sizeof prefix);
  payload = payload.subspan(sizeof prefix);
  return error{
      static_cast<code>(prefix.why), {reinterpret_cast<const char*>(payload.data()), payload.size()}, prefix.pe};
}

blob pack(std::span<const blob> parts) {
  std::size_t total = 0;
  for (const blob& part : parts) total += sizeof(std::uint32_t) + part.size();
  blob packed;
  packed.reserve(total);
  for (const blob& part : parts) {
    const auto bytes = static_cast<std::uint32_t>(part.size());
    const auto length = std::as_bytes(std::span{&bytes, 1});
    packed.insert(packed.end(), length.begin(), length.end());
    packed.insert(packed.end(), part.begin(), part.end());
  }
  return packed;
}

std::vector<blob> unpack(std::span<const std::byte> payload, int size) {
  std::vector<blob> parts(static_cast<std::size_t>(size));
  for (blob& part : parts) {
    std::uint32_t bytes = 0;
    if (payload.size() < sizeof bytes) malformed("a result ends early");
    std::memcpy(&bytes, payload.data(), sizeof bytes);
    payload = payload.subspan(sizeof bytes);
    if (bytes > payload.size()) malformed("a contribution is longer than the result that holds it");
    part.assign(payload.begin(), payload.begin() + bytes);
    payload = payload.subspan(bytes);
  }
  if (!payload.empty()) malformed("a result goes on after its last contribution");
  return parts;
}

frame_reader::status frame_reader::fill(int fd, std::span<std::byte> into, std::size_t& have) {
  while (have < into.size()) {
    const ssize_t got = ::recv(fd, into.data() + have, into.size() - have, 0);
    if (got > 0)
      have += static_cast<std::size_t>(got);
    else if (got < 0 && errno == EINTR)
      continue;
    else
      return got < 0 && errno == EAGAIN ? status::incomplete : status::closed;
  }
  return status::complete;
}

frame_reader::status frame_reader::read(int fd) {
  if (complete_) {
    complete_ = false;
    have_header_ = have_payload_ = 0;
    payload_.clear();
  }
  if (have_header_ < sizeof header_) {
    const auto got = fill(fd, std::as_writable_bytes(std::span{&header_, 1}), have_header_);
    if (got != status::complete) return got;
    if (header_.magic != frame_header::expected_magic || header_.bytes > most_bytes_) return status::malformed;
  }
  // Memory grows with what really arrives, not with what a header promises.
  constexpr std::size_t step = 1 << 20;
  while (have_payload_ < header_.bytes) {
    payload_.resize(std::min<std::size_t>(header_.bytes, have_payload_ + step));
    const auto got = fill(fd, payload_, have_payload_);
    if (got != status::complete) return got;
  }
  complete_ = true;
  return status::complete;
}

}  // namespace pgas::boot
