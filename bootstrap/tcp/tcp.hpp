/// @file
/// The bootstrap over TCP: all members connect to rank 0, found by a unique id or at MASTER_ADDR:MASTER_PORT.
#pragma once

#include <memory>
#include <string>

#include "common/siphash.hpp"
#include "pgas/bootstrap.hpp"

namespace pgas::boot {

/// Joins the job that `options` describe: by unique_id where given, else by master_address and master_port; rank and
/// size are needed in both cases. The n-th world that a process makes at one meeting point is the n-th of all others.
/// *Errors* bootstrap_timeout, authentication, bootstrap_unavailable, bootstrap_protocol.
[[nodiscard]] std::unique_ptr<bootstrap> join_tcp(const bootstrap_options& options);

/// The key of a job at MASTER_ADDR. With a secret it is a real one. Without, it is made of what everyone on the network
/// may know (run id and port), and only keeps jobs that use one address by accident apart. The address is left out
/// because ranks may know the same host by different names, the size so that a wrong one gets an answer that says so.
[[nodiscard]] detail::bits128 key_of_job(const bootstrap_options& options);

/// Closes what make_unique_id() opened, for a world of one, to which nobody will come. Not where worlds were made with
/// this id already.
void close_unused(const std::string& unique_id);

}  // namespace pgas::boot
