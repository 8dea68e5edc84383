#include "common/net/handshake.hpp"

#include <algorithm>
#include <vector>

#include "common/value_bytes.hpp"

namespace pgas::detail {
namespace {

/// The bytes over which a hash is computed: the purpose of the hash, the introduction, and the nonce of the other side.
std::vector<std::byte> transcript(char purpose, const hello& introduction, const bits128& nonce) {
  std::vector<std::byte> text{static_cast<std::byte>(purpose)};
  for (const auto bytes : {bytes_of(introduction), bytes_of(nonce)})
    text.insert(text.end(), bytes.begin(), bytes.end());
  return text;
}

}  // namespace

handshake::handshake(unique_fd fd, std::span<const std::byte> key, const hello& introduction)
    : fd_(std::move(fd)),
      key_(key),
      part_(role::connecting),
      me_(introduction.from),
      hello_(introduction),
      introduced_(true) {}

handshake::handshake(unique_fd fd, std::span<const std::byte> key, int me)
    : fd_(std::move(fd)), key_(key), part_(role::accepting), me_(me) {}

int handshake::send_hello() {
  hello_.nonce = random_bits();
  return send_now(fd_.get(), bytes_of(hello_));
}

handshake::status handshake::receive() {
  if (part_ == role::connecting) return proven_ ? receive_welcome() : receive_answer();
  if (introduced_) return receive_proof();
  const status at = receive_hello();
  return at == status::proven ? receive_proof() : at;
}

handshake::status handshake::receive_hello() {
  if (const auto stopped = incomplete(hello_)) return *stopped;
  introduced_ = true;
  const bool same_version = hello_.version == hello::expected_version;
  if (same_version && hello_.to != me_) return status::refused;
  answer_.nonce = random_bits();
  answer_.code = code_of(key_, role::accepting, hello_, answer_.nonce);
  if (send_now(fd_.get(), bytes_of(answer_)) != 0) return status::ended;
  return same_version ? status::proven : status::wrong_version;
}

handshake::status handshake::receive_answer() {
  if (const auto stopped = incomplete(answer_)) return *stopped;
  if (answer_.version != hello::expected_version) return status::wrong_version;
  // The proof is sent in every case. A side with another key learns only that the keys differ, and can report this.
  const int failed = send_now(fd_.get(), code_of(key_, role::connecting, hello_, answer_.nonce));
  if (!same_bits(answer_.code, code_of(key_, role::accepting, hello_, answer_.nonce))) return status::refused;
  proven_ = failed == 0;
  return proven_ ? status::proven : status::ended;
}

handshake::status handshake::receive_welcome() { return incomplete(welcome_).value_or(status::welcomed); }

handshake::status handshake::receive_proof() {
  if (const auto stopped = incomplete(proof_)) return *stopped;
  return same_bits(proof_, code_of(key_, role::connecting, hello_, answer_.nonce)) ? status::proven : status::refused;
}

template <class Message>
std::optional<handshake::status> handshake::incomplete(Message& message) {
  const receipt at = receive_some(fd_.get(), writable_bytes_of(message), have_);
  if constexpr (requires { message.magic; })
    if (have_ >= sizeof(message.magic) && message.magic != hello::expected_magic) return status::foreign;
  if (at == receipt::whole) {
    have_ = 0;
    return std::nullopt;
  }
  return at == receipt::partly ? status::pending : status::ended;
}

session_keys handshake::keys() const {
  const auto both = long_keyed_hash(key_, transcript('k', hello_, answer_.nonce));
  session_keys made;
  static_assert(sizeof(both) == sizeof(made.to_send) + sizeof(made.to_receive));
  const auto half = both.begin() + sizeof(made.to_send);
  std::copy(both.begin(), half, made.to_send.begin());
  std::copy(half, both.end(), made.to_receive.begin());
  if (part_ == role::accepting) std::swap(made.to_send, made.to_receive);
  return made;
}

bits128 handshake::code_of(std::span<const std::byte> key, role part, const hello& introduction, const bits128& nonce) {
  return keyed_hash(key, transcript(static_cast<char>(part), introduction, nonce));
}

}  // namespace pgas::detail
