#include "common/net/frame_cipher.hpp"

#include <sodium.h>

#include <algorithm>
#include <cstring>

namespace pgas::detail {
namespace {

unsigned char* raw(std::byte* bytes) { return reinterpret_cast<unsigned char*>(bytes); }

}  // namespace

static_assert(frame_cipher::code_bytes == crypto_aead_chacha20poly1305_ietf_ABYTES);
static_assert(sizeof(frame_cipher::key) == crypto_aead_chacha20poly1305_ietf_KEYBYTES);

void frame_cipher::seal(std::span<const std::byte> head, std::span<const std::byte> body,
                        std::vector<std::byte>& sealed) {
  const std::size_t plain = head.size() + body.size();
  const auto follow = static_cast<std::uint32_t>(plain + code_bytes);
  sealed.resize(prefix_bytes + follow);
  std::memcpy(sealed.data(), &follow, prefix_bytes);
  std::byte* const text = sealed.data() + prefix_bytes;
  std::ranges::copy(body, std::ranges::copy(head, text).out);
  crypto_aead_chacha20poly1305_ietf_encrypt(raw(text), nullptr, raw(text), plain, raw(sealed.data()), prefix_bytes,
                                            nullptr, next_nonce().data(), raw(key_.data()));
}

std::size_t frame_cipher::bytes_after(std::span<const std::byte> prefix) {
  std::uint32_t follow = 0;
  std::memcpy(&follow, prefix.data(), prefix_bytes);
  return follow;
}

std::optional<std::span<std::byte>> frame_cipher::open(std::span<std::byte> sealed) {
  if (sealed.size() < prefix_bytes + code_bytes) return std::nullopt;
  const std::span<std::byte> text = sealed.subspan(prefix_bytes);
  if (crypto_aead_chacha20poly1305_ietf_decrypt(raw(text.data()), nullptr, nullptr, raw(text.data()), text.size(),
                                                raw(sealed.data()), prefix_bytes, next_nonce().data(),
                                                raw(key_.data())) != 0)
    return std::nullopt;
  return text.first(text.size() - code_bytes);
}

frame_cipher::nonce frame_cipher::next_nonce() {
  static_assert(sizeof(nonce) == crypto_aead_chacha20poly1305_ietf_NPUBBYTES);
  nonce made{};
  std::memcpy(made.data(), &number_, sizeof(number_));
  ++number_;
  return made;
}

}  // namespace pgas::detail
