/// @file
/// A member's side of the TCP bootstrap: finding rank 0 at one of several addresses.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bootstrap/tcp/address.hpp"
#include "bootstrap/tcp/handshake.hpp"
#include "common/deadline.hpp"

namespace pgas::boot {

using namespace detail;  // of src/common

/// Where rank 0 may be; takes no longer than `limit`. Asked again while there is none, since a name may become known
/// only after we start; the reason for none goes to `problem`.
using candidates = std::function<std::vector<address>(std::string& problem, const deadline& limit)>;

/// Low delay, quick discovery of a dead host.
void tune_connection(int socket);

/// Tries all candidates at once and again, until one proves to be rank 0 of the job; returns that connection, over
/// which `me` has been introduced and has proved itself too. *Errors* code::bootstrap_timeout, authentication or
/// version_mismatch, telling what became of each candidate.
[[nodiscard]] unique_fd reach_rank0(const candidates& where, const bits128& key, hello me, const deadline& limit);

}  // namespace pgas::boot
