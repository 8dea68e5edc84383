// Joins over an MPI communicator of the program. This library is not linked to an MPI library. This library looks up
// the functions of the MPI library that the program has loaded. MPI libraries have two different ABIs. In Open MPI,
// handles and constants are pointers to exported objects. In MPICH, handles and constants are integers, and Intel MPI,
// MVAPICH and Cray MPICH use the same integers (https://www.mpich.org/abi/).
#include <string>

#include "host/compat/nvshmem/shared_declarations.hpp"
#include "pgas/detail/host/mpi_exchange.hpp"

namespace pgas::compat {

namespace {

struct open_mpi {
  using comm = void*;
  using request = void*;
  using datatype = void*;
  using error_handler = void*;
  static datatype byte() { return find_loaded<void>("ompi_mpi_byte"); }
  static request null_request() { return find_loaded<void>("ompi_request_null"); }
  static error_handler errors_return() { return find_loaded<void>("ompi_mpi_errors_return"); }
  static void* ignored_status() { return nullptr; }
  static constexpr int longest_text = 256;
};

struct mpich {
  using comm = int;
  using request = int;
  using datatype = int;
  using error_handler = int;
  static datatype byte() { return 0x4c00010d; }
  static request null_request() { return 0x2c000000; }
  static error_handler errors_return() { return 0x54000001; }
  static void* ignored_status() { return reinterpret_cast<void*>(1); }
  static constexpr int longest_text = 512;
};

/// The MPI calls of mpi_exchange, for one of the two ABIs.
template <class Kind>
struct loaded_mpi {
  using comm = typename Kind::comm;
  using request = typename Kind::request;
  using datatype = typename Kind::datatype;

  struct table {
    int (*initialized)(int*) = loaded_function{"MPI", "MPI_Initialized"};
    int (*finalized)(int*) = loaded_function{"MPI", "MPI_Finalized"};
    int (*idup)(comm, comm*, request*) = loaded_function{"MPI", "MPI_Comm_idup"};
    int (*free)(comm*) = loaded_function{"MPI", "MPI_Comm_free"};
    int (*set_errhandler)(comm, typename Kind::error_handler) = loaded_function{"MPI", "MPI_Comm_set_errhandler"};
    int (*rank)(comm, int*) = loaded_function{"MPI", "MPI_Comm_rank"};
    int (*size)(comm, int*) = loaded_function{"MPI", "MPI_Comm_size"};
    int (*iallgather)(const void*, int, datatype, void*, int, datatype, comm, request*) = loaded_function{
        "MPI", "MPI_Iallgather"};
    int (*iallgatherv)(const void*, int, datatype, void*, const int*, const int*, datatype, comm,
                       request*) = loaded_function{"MPI", "MPI_Iallgatherv"};
    int (*ibarrier)(comm, request*) = loaded_function{"MPI", "MPI_Ibarrier"};
    int (*test)(request*, int*, void*) = loaded_function{"MPI", "MPI_Test"};
    int (*abort)(comm, int) = loaded_function{"MPI", "MPI_Abort"};
    int (*error_string)(int, char*, int*) = loaded_function{"MPI", "MPI_Error_string"};
  };

  /// *Errors* bootstrap_unavailable if a function is missing.
  static const table& calls() {
    static const table found;
    return found;
  }

  static request null_request() { return Kind::null_request(); }
  static bool is_initialized() {
    int yes = 0;
    calls().initialized(&yes);
    return yes != 0;
  }
  static bool is_finalized() {
    int yes = 0;
    calls().finalized(&yes);
    return yes != 0;
  }
  static int duplicate(comm from, comm* to, request* r) { return calls().idup(from, to, r); }
  static void free(comm* c) { calls().free(c); }
  static void return_errors(comm c) { calls().set_errhandler(c, Kind::errors_return()); }
  static int rank(comm c) {
    int number = 0;
    calls().rank(c, &number);
    return number;
  }
  static int size(comm c) {
    int number = 0;
    calls().size(c, &number);
    return number;
  }
  static int all_gather(const int* mine, int* all, comm c, request* r) {
    constexpr int bytes = sizeof(int);
    return calls().iallgather(mine, bytes, Kind::byte(), all, bytes, Kind::byte(), c, r);
  }
  static int all_gather_v(const void* mine, int length, void* all, const int* lengths, const int* offsets, comm c,
                          request* r) {
    return calls().iallgatherv(mine, length, Kind::byte(), all, lengths, offsets, Kind::byte(), c, r);
  }
  static int barrier(comm c, request* r) { return calls().ibarrier(c, r); }
  static int test(request* r, int* done) { return calls().test(r, done, Kind::ignored_status()); }
  static void abort(comm c) { calls().abort(c, 1); }
  static std::string text(int status) {
    char words[Kind::longest_text] = {};
    int length = 0;
    calls().error_string(status, words, &length);
    return words;
  }
};

template <class Kind>
std::unique_ptr<bootstrap> exchange_over(const void* comm, const config& settings) {
  using calls = loaded_mpi<Kind>;
  static_cast<void>(calls::calls());
  return std::make_unique<detail::mpi_exchange<calls>>(*static_cast<const typename Kind::comm*>(comm),
                                                       settings.join_timeout);
}

/// The text of MPI_Get_library_version.
std::string library_version() {
  int (*const get)(char*, int*) = loaded_function{"MPI", "MPI_Get_library_version"};
  constexpr std::size_t longest = 8192;  // the size in MPICH, which is the largest size of all known MPI libraries
  std::string text(longest, '\0');
  int length = 0;
  get(text.data(), &length);
  text.resize(static_cast<std::size_t>(length));
  return text;
}

}  // namespace

std::unique_ptr<bootstrap> make_mpi_bootstrap(const void* comm, const config& settings) {
  if (comm == nullptr)
    throw error(code::invalid_argument, "the MPI communicator is null: set mpi_comm to the address of an MPI_Comm");
  if (open_mpi::byte() != nullptr) return exchange_over<open_mpi>(comm, settings);
  const std::string version = library_version();
  for (const char* name : {"MPICH", "Intel(R) MPI", "MVAPICH"})
    if (version.find(name) != std::string::npos) return exchange_over<mpich>(comm, settings);
  throw error(code::bootstrap_unavailable,
              fmt::format("the MPI of this process is neither Open MPI nor one with MPICH's binary interface: '{}'. "
                          "Initialize with a unique id that MPI broadcasts instead",
                          version.substr(0, version.find('\n'))));
}

}  // namespace pgas::compat
