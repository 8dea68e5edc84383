/// @file
/// The ways of joining a world, one for each launcher. registry.cpp chooses among them.
#pragma once

#include <memory>
#include <string>

#include "common/keyed_hash.hpp"
#include "pgas/bootstrap.hpp"

namespace pgas::boot {

/// Under pgasrun: joins its other processes. Each process inherits one end of a socket pair; for each world that it
/// makes, it sends pgasrun one end of a new pair through it. So worlds share only the launcher, and threads may make
/// them concurrently. *Errors* bootstrap_unavailable where `options.local_fd` is not its socket.
[[nodiscard]] std::unique_ptr<bootstrap> join_pgasrun(const bootstrap_options& options);

/// Over TCP, all members connected to rank 0: joins the job that `options` describe: by unique_id where given, else by
/// master_address and master_port; rank and size are needed in both cases. The n-th world that a process makes at one
/// address is the n-th of all other processes. Rank 0's may have a join_warning. *Errors*
/// bootstrap_timeout, authentication, bootstrap_unavailable, bootstrap_protocol.
[[nodiscard]] std::unique_ptr<bootstrap> join_tcp(const bootstrap_options& options);

/// The key of a job at MASTER_ADDR. With a secret it is a real one, with run id and port as the salt. Without a
/// secret, the key is made of run id and port, which anyone on the network may know. It then keeps apart jobs that use
/// the same address by accident. Rank 0 checks the user at the other end of a UNIX socket instead. The address is left
/// out because ranks may know the same host by different names, the size so that a wrong one gets an answer that says
/// so.
[[nodiscard]] detail::bits128 key_of_job(const bootstrap_options& options);

/// Closes what make_unique_id() opened, for a world of one, to which nobody will come. Not where worlds were made with
/// this id already.
void close_unused(const std::string& unique_id);

/// Over PMIx, which mpirun, prterun and `srun --mpi=pmix` speak: joins the job that the server has started; rank and
/// size come from it. `version` receives the name and version of the library. All processes of the job make the same
/// worlds in the same order. *Errors* bootstrap_unavailable (no library, no server, left out at build),
/// bootstrap_timeout, bootstrap_protocol.
[[nodiscard]] std::unique_ptr<bootstrap> join_pmix(const bootstrap_options& options, std::string& version);

}  // namespace pgas::boot
