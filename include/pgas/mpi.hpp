/// @file
/// Joining a world with the processes of an MPI communicator. This header is compiled in a translation unit of the
/// program, against the program's MPI; the library itself does not depend on MPI.
///
///     MPI_Init(&argc, &argv);
///     pgas::world world = pgas::world::join(std::make_unique<pgas::mpi_bootstrap>(MPI_COMM_WORLD));
#pragma once

#include "pgas/detail/names_begin.inc"

#include <mpi.h>

#include "pgas/detail/host/mpi_exchange.hpp"

namespace pgas {

namespace detail {

/// The calls of the program's MPI library, against which this header is compiled.
struct mpi_of_program {
  using comm = MPI_Comm;
  using request = MPI_Request;
  static request null_request() { return MPI_REQUEST_NULL; }
  static bool is_initialized() {
    int yes = 0;
    MPI_Initialized(&yes);
    return yes != 0;
  }
  static bool is_finalized() {
    int yes = 0;
    MPI_Finalized(&yes);
    return yes != 0;
  }
  static int duplicate(comm from, comm* to, request* r) { return MPI_Comm_idup(from, to, r); }
  static void free(comm* c) { MPI_Comm_free(c); }
  static void return_errors(comm c) { MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN); }
  static int rank(comm c) {
    int number = 0;
    MPI_Comm_rank(c, &number);
    return number;
  }
  static int size(comm c) {
    int number = 0;
    MPI_Comm_size(c, &number);
    return number;
  }
  static int all_gather(const int* mine, int* all, comm c, request* r) {
    return MPI_Iallgather(mine, 1, MPI_INT, all, 1, MPI_INT, c, r);
  }
  static int all_gather_v(const void* mine, int length, void* all, const int* lengths, const int* offsets, comm c,
                          request* r) {
    return MPI_Iallgatherv(mine, length, MPI_BYTE, all, lengths, offsets, MPI_BYTE, c, r);
  }
  static int barrier(comm c, request* r) { return MPI_Ibarrier(c, r); }
  static int test(request* r, int* done) { return MPI_Test(r, done, MPI_STATUS_IGNORE); }
  static void abort(comm c) { MPI_Abort(c, 1); }
  static std::string text(int status) {
    char words[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_string(status, words, &length);
    return {words, static_cast<std::size_t>(length)};
  }
};

}  // namespace detail

/// @brief A bootstrap over an MPI communicator of any size. The constructor `mpi_bootstrap(comm, timeout)` is
/// collective over `comm`. The object keeps a duplicate of the communicator.
///
/// *Callers* a thread that MPI allows to communicate: MPI_THREAD_FUNNELED suffices for the thread that initialized MPI.
/// MPI must stay initialized while the object is used; it may be finalized before the object is destroyed.
/// *Errors* bootstrap_timeout (without the numbers of the missing ranks, because MPI does not report them);
/// bootstrap_protocol with MPI's text.
using mpi_bootstrap = detail::mpi_exchange<detail::mpi_of_program>;

}  // namespace pgas

#include "pgas/detail/names_end.inc"
