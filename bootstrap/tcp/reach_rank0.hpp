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

/// Resolves the addresses at which rank 0 may listen, and returns before `limit`. If no address is known, the function
/// returns an empty vector and stores the reason in `problem`. The caller then calls the function again, because a host
/// name may become resolvable later.
using candidates = std::function<std::vector<stream_address>(std::string& problem, const deadline& limit)>;

/// Tries all candidates at the same time, and repeats failed attempts, until rank 0 of the job is authenticated at one
/// address. Returns the connection to this address. Rank 0 has authenticated `me` too. *Errors*
/// code::bootstrap_timeout, authentication or version_mismatch, with the answer of each candidate.
[[nodiscard]] proven_socket reach_rank0(const candidates& where, const bits128& key, const hello& me,
                                        const deadline& limit);

}  // namespace pgas::boot
