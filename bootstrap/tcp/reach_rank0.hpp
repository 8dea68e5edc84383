/// @file
/// A member's side of the TCP bootstrap, which finds rank 0 at one of several addresses.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/deadline.hpp"
#include "common/net/handshake.hpp"
#include "common/net/tcp_connector.hpp"

namespace pgas::boot {

using namespace detail;  // namespace of src/common

/// Returns the addresses at which rank 0 may listen, within `limit`. Called again while the result is empty, because a
/// name may become known later. `problem` receives the reason.
using candidates = std::function<std::vector<stream_address>(std::string& problem, const deadline& limit)>;

/// Tries all candidates at the same time, and repeats failed attempts, until rank 0 of the job has proved itself at one
/// address. Returns this connection. On it, `me` has been introduced and has proved itself too. *Errors*
/// code::bootstrap_timeout, authentication or version_mismatch, with the answer of each candidate.
[[nodiscard]] proven_socket reach_rank0(const candidates& where, const bits128& key, const hello& me,
                                        const deadline& limit);

}  // namespace pgas::boot
