/// @file
/// The methods of joining a world, one for each launcher. registry.cpp chooses among them.
#pragma once

#include <memory>
#include <string>

#include "common/keyed_hash.hpp"
#include "pgas/bootstrap.hpp"

namespace pgas::boot {

/// Joins the other processes that pgasrun has started. Each process inherits one end of a socket pair. For each world,
/// the process sends one end of a new pair to pgasrun through the inherited end. Each world therefore has its own
/// connection, and threads may make worlds concurrently. *Errors* bootstrap_unavailable if `options.local_fd` is not
/// pgasrun's socket.
[[nodiscard]] std::unique_ptr<bootstrap> join_pgasrun(const bootstrap_options& options);

/// Joins a job over TCP, with all members connected to rank 0. `options` describes the job: by unique_id if given,
/// otherwise by master_address and master_port. Rank and size are needed in both cases. The n-th world that a process
/// makes at one address contains the n-th world of all other processes. Rank 0's bootstrap may have a join_warning.
/// *Errors* bootstrap_timeout, authentication, bootstrap_unavailable, bootstrap_protocol.
[[nodiscard]] std::unique_ptr<bootstrap> join_tcp(const bootstrap_options& options);

/// The key of a job at MASTER_ADDR. If the options contain a secret, the key is derived from the secret, with run id
/// and port as the salt. Without a secret, the key is derived from run id and port, which any process on the network
/// may know. Such a key only separates jobs that use the same address by accident, so rank 0 checks the user of each
/// process over a UNIX socket. The address is not part of the key, because ranks may know the same host by different
/// names. The size is not part of the key, so that a rank with a wrong size receives an answer with the reason.
[[nodiscard]] detail::bits128 key_of_job(const bootstrap_options& options);

/// Closes the listeners that make_unique_id() opened, for a world of one PE. Has no effect if worlds were already made
/// with this id.
void close_unused(const std::string& unique_id);

/// Joins the job that a PMIx server has started: mpirun, prterun and `srun --mpi=pmix` run such servers. The server
/// provides rank and size. `version` receives the name and version of the library. All processes of the job make the
/// same worlds in the same order. *Errors* bootstrap_unavailable (no library, no server, or not part of the build),
/// bootstrap_timeout, bootstrap_protocol.
[[nodiscard]] std::unique_ptr<bootstrap> join_pmix(const bootstrap_options& options, std::string& version);

}  // namespace pgas::boot
