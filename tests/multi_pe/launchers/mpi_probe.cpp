/// @file
/// Joining through the program's own MPI: with the whole communicator, with a part of it, and with a rank that does not
/// join.
#include <chrono>
#include <cstdio>
#include <pgas/mpi.hpp>
#include <thread>

#include "exchange.hpp"

namespace {

using namespace std::chrono_literals;

void require(bool condition, const char* what) {
  if (!condition) throw std::runtime_error(what);
}

void whole_and_parts(int rank) {
  pgas::mpi_bootstrap all{MPI_COMM_WORLD};
  probe::exchange(all, 4);
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  {
    pgas::mpi_bootstrap mine{half};
    probe::exchange(mine, 4);
    probe::exchange(all, 4);
  }
  MPI_Comm_free(&half);
}

void somebody_does_not_come(int rank) {
  pgas::mpi_bootstrap all{MPI_COMM_WORLD, 300ms};
  if (rank != 1) {
    for (int call = 0; call < 2; ++call) {
      const auto began = std::chrono::steady_clock::now();
      try {
        all.barrier();
        require(false, "a barrier ended without rank 1");
      } catch (const pgas::error& e) {
        require(e.code() == pgas::code::bootstrap_timeout, e.what());
      }
      require(std::chrono::steady_clock::now() - began < 5s, "the time limit was not kept");
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  // MPI requires that the barrier which was begun completes before MPI ends.
  if (rank == 1) all.barrier();
}

}  // namespace

int main(int argc, char** argv) {
  bool refused = false;
  try {
    const pgas::mpi_bootstrap early{MPI_COMM_WORLD};
  } catch (const pgas::error& e) {
    refused = e.code() == pgas::code::bootstrap_unavailable;
  }
  MPI_Init(&argc, &argv);
  try {
    require(refused, "joining before MPI_Init was not refused");
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    whole_and_parts(rank);
    somebody_does_not_come(rank);
    std::printf("ok %d\n", rank);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return 0;
}
