/// @file
/// How many descriptors this process may have open.
#pragma once

namespace pgas::detail {

/// Sees to it that there are enough for a job of so many processes, as far as this process may: a socket or two to
/// each, one that tells when a process of this host ends, those of UCX over TCP, and on the host heap one for each
/// segment of each. The usual limit is low for the sake of select(), so it is raised only where it has to be. Where that
/// was not enough, whoever needs one too many says so.
void allow_descriptors_for(int processes) noexcept;

}  // namespace pgas::detail
