#include "bootstrap/tcp/handshake.hpp"

#include <fmt/format.h>

namespace pgas::boot {

bits128 handshake_code(const bits128& key, handshake_side side, const hello& greeting, const bits128& nonce) {
  blob message{static_cast<std::byte>(side)};
  for (const auto part : {bytes_of(greeting), bytes_of(nonce)}) message.insert(message.end(), part.begin(), part.end());
  return siphash128(key, message);
}

bits128 key_of_job(const bootstrap_options& options) {
  const bits128 fixed{};
  const std::string text = fmt::format("pgas job key|{}|{}|{}|{}", options.secret.size(), options.secret,
                                       options.run_id, options.master_port);
  return siphash128(fixed, std::as_bytes(std::span{text}));
}

}  // namespace pgas::boot
