#include "host/control/handshake.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "host/control/unix_socket.hpp"

namespace pgas::detail {

namespace {

/// The secret as two keys: all of it is needed.
std::pair<bits128, bits128> halves(const job_secret& secret) {
  std::pair<bits128, bits128> both;
  std::copy_n(secret.begin(), both.first.size(), both.first.begin());
  std::copy_n(secret.begin() + both.first.size(), both.second.size(), both.second.begin());
  return both;
}

template <class T>
void append(std::vector<std::byte>& to, const T& value) {
  const auto bytes = std::as_bytes(std::span(&value, 1));
  to.insert(to.end(), bytes.begin(), bytes.end());
}

}  // namespace

handshake::handshake(unique_fd fd, transport over, role part, const job_secret& secret, int me, int peer)
    : fd_(std::move(fd)), over_(over), part_(part), secret_(secret), me_(me), peer_(peer) {}

int handshake::begin() {
  if (over_ == transport::unix_socket) return part_ == role::connecting ? prove() : 0;
  message challenge;
  challenge.magic = challenge_magic;
  challenge.content = my_challenge_ = random_bits();
  return say(challenge);
}

handshake::status handshake::hear() {
  for (;;) {
    std::optional<message> whole;
    const status got = read(whole);
    if (!whole) return got;
    if (over_ == transport::unix_socket || their_challenge_) return judge(*whole);
    if (whole->magic != challenge_magic) return status::refused;
    their_challenge_ = whole->content;
    if (part_ == role::connecting && prove() != 0) return status::ended;
  }
}

int handshake::confirm() { return prove(); }

handshake::status handshake::read(std::optional<message>& whole) {
  if (over_ == transport::unix_socket) {
    std::array<std::byte, 2 * sizeof(message)> buffer;
    const received_packet control_message = receive_packet(fd_.get(), buffer);
    if (control_message.what == received_packet::status::nothing_yet) return status::under_way;
    if (control_message.what == received_packet::status::closed) return status::ended;
    if (control_message.bytes.size() != sizeof(message)) return status::refused;
    std::memcpy(&whole.emplace(), control_message.bytes.data(), sizeof(message));
    return status::under_way;
  }
  while (heard_bytes_ < heard_.size()) {
    const ssize_t got = ::recv(fd_.get(), heard_.data() + heard_bytes_, heard_.size() - heard_bytes_, MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return status::under_way;
    if (got <= 0) return status::ended;
    heard_bytes_ += static_cast<std::size_t>(got);
  }
  std::memcpy(&whole.emplace(), heard_.data(), sizeof(message));
  heard_bytes_ = 0;
  return status::under_way;
}

handshake::status handshake::judge(const message& said) {
  if (part_ == role::accepting) peer_ = said.pe;
  const message wanted = proof_of(part_ == role::accepting ? role::connecting : role::accepting, peer_);
  return said.magic == wanted.magic && said.pe == wanted.pe && same_bits(said.content, wanted.content)
             ? status::proven
             : status::refused;
}

handshake::message handshake::proof_of(role part, int pe) const {
  message proof;
  proof.magic = proof_magic;
  proof.pe = pe;
  const auto [first, second] = halves(secret_);
  if (over_ == transport::unix_socket) {
    proof.content = part == role::connecting ? first : second;
    return proof;
  }
  const bool connecting = part_ == role::connecting;
  std::vector<std::byte> text;
  append(text, part);
  append(text, connecting ? me_ : peer_);
  append(text, connecting ? peer_ : me_);
  append(text, connecting ? my_challenge_ : *their_challenge_);
  append(text, connecting ? *their_challenge_ : my_challenge_);
  proof.content = siphash128(first, text);
  const bits128 other = siphash128(second, text);
  for (std::size_t i = 0; i < other.size(); ++i) proof.content[i] ^= other[i];
  return proof;
}

int handshake::prove() {
  has_proved_ = true;
  return say(proof_of(part_, me_));
}

int handshake::say(const message& words) const {
  return send_packet(fd_.get(), std::as_bytes(std::span(&words, 1)), {}, {});
}

}  // namespace pgas::detail
