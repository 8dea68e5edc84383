// Joins over a communicator of the MPI library to which this program is linked, with uninitialized attributes, as
// jacobi does. The communicator has the ranks in reverse order. Prints failures.
#include <mpi.h>
#include <nvshmem.h>
#include <string.h>

#include <cstdio>

namespace {

int wrong = 0;

void expect(bool right, const char* what) {
  if (right) return;
  std::fprintf(stderr, "wrong: %s\n", what);
  ++wrong;
}

void join_over(MPI_Comm comm) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  nvshmemx_init_attr_t attr;
  memset(&attr, 0xa5, sizeof attr);
  attr.mpi_comm = &comm;
  expect(nvshmemx_init_attr(NVSHMEMX_INIT_WITH_MPI_COMM, &attr) == 0, "the status of nvshmemx_init_attr");
  expect(nvshmem_my_pe() == rank && nvshmem_n_pes() == size, "the PE is the rank");
  int* const cell = static_cast<int*>(nvshmem_calloc(1, sizeof(int)));
  nvshmem_int_p(cell, 100 + rank, (rank + 1) % size);
  nvshmem_barrier_all();
  expect(nvshmem_int_g(cell, rank) == 100 + (rank + size - 1) % size, "what the left neighbour has put");
  nvshmem_free(cell);
  nvshmem_finalize();
}

}  // namespace

int main(int argc, char** argv) {
  nvshmemx_init_attr_t early;
  MPI_Comm all = MPI_COMM_WORLD;
  early.mpi_comm = &all;
  expect(nvshmemx_init_attr(NVSHMEMX_INIT_WITH_MPI_COMM, &early) != 0, "a status before MPI_Init");
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  join_over(MPI_COMM_WORLD);
  MPI_Comm backwards = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &backwards);
  join_over(backwards);
  MPI_Comm halves = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &halves);
  join_over(halves);
  MPI_Comm_free(&halves);
  MPI_Comm_free(&backwards);
  MPI_Finalize();
  return wrong == 0 ? 0 : 1;
}
