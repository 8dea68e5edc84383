// Joins over an OpenSHMEM library that the program has initialized, such as libpgas_shmem. Calls only functions whose
// types are the same in all implementations, and looks them up by name.
#include <algorithm>
#include <cstring>

#include "host/compat/nvshmem/shared_declarations.hpp"

namespace pgas::compat {

namespace {

struct shmem_calls {
  int (*my_pe)() = loaded_function{"OpenSHMEM", "shmem_my_pe"};
  int (*n_pes)() = loaded_function{"OpenSHMEM", "shmem_n_pes"};
  void* (*malloc)(std::size_t) = loaded_function{"OpenSHMEM", "shmem_malloc"};
  void (*free)(void*) = loaded_function{"OpenSHMEM", "shmem_free"};
  void (*putmem)(void*, const void*, std::size_t, int) = loaded_function{"OpenSHMEM", "shmem_putmem"};
  void (*barrier_all)() = loaded_function{"OpenSHMEM", "shmem_barrier_all"};
  void (*global_exit)(int) = loaded_function{"OpenSHMEM", "shmem_global_exit"};
};

/// Memory of OpenSHMEM's heap. Construction and destruction are collective.
class shmem_memory {
 public:
  shmem_memory(const shmem_calls& calls, std::size_t bytes)
      : calls_(calls), at_(static_cast<std::byte*>(calls.malloc(bytes))) {
    if (at_ == nullptr)
      throw error(code::out_of_memory,
                  fmt::format("shmem_malloc has no {} bytes for the exchange while joining", bytes));
  }
  ~shmem_memory() { calls_.free(at_); }
  shmem_memory(const shmem_memory&) = delete;
  shmem_memory& operator=(const shmem_memory&) = delete;
  [[nodiscard]] std::byte* at(std::size_t offset) const noexcept { return at_ + offset; }

 private:
  const shmem_calls& calls_;
  std::byte* const at_;
};

/// A bootstrap over OpenSHMEM. Its calls have no time limit, because OpenSHMEM has none.
class shmem_exchange final : public bootstrap {
 public:
  shmem_exchange() : rank_(calls_.my_pe()), size_(calls_.n_pes()) {}

  [[nodiscard]] int rank() const noexcept override { return rank_; }
  [[nodiscard]] int size() const noexcept override { return size_; }

  [[nodiscard]] std::vector<blob> all_gather(std::span<const std::byte> mine) override {
    const auto n = static_cast<std::size_t>(size_);
    std::vector<std::uint64_t> lengths(n);
    const std::uint64_t length = mine.size();
    gather(&length, sizeof(length), lengths.data());

    const std::size_t longest = std::max<std::size_t>(*std::max_element(lengths.begin(), lengths.end()), 1);
    blob padded(longest);
    std::copy(mine.begin(), mine.end(), padded.begin());
    blob everything(n * longest);
    gather(padded.data(), longest, everything.data());

    std::vector<blob> parts(n);
    for (std::size_t pe = 0; pe < n; ++pe) {
      const auto first = everything.begin() + static_cast<std::ptrdiff_t>(pe * longest);
      parts[pe].assign(first, first + static_cast<std::ptrdiff_t>(lengths[pe]));
    }
    return parts;
  }

  void barrier() override { calls_.barrier_all(); }

  void abort(std::string_view) noexcept override { calls_.global_exit(1); }

 private:
  /// All-gather of `bytes` from each PE.
  void gather(const void* mine, std::size_t bytes, void* all) const {
    const shmem_memory symmetric(calls_, bytes * static_cast<std::size_t>(size_));
    std::byte* const own = symmetric.at(bytes * static_cast<std::size_t>(rank_));
    for (int pe = 0; pe < size_; ++pe) calls_.putmem(own, mine, bytes, pe);
    calls_.barrier_all();
    std::memcpy(all, symmetric.at(0), bytes * static_cast<std::size_t>(size_));
    calls_.barrier_all();
  }

  const shmem_calls calls_;
  const int rank_;
  const int size_;
};

}  // namespace

std::unique_ptr<bootstrap> make_shmem_bootstrap() { return std::make_unique<shmem_exchange>(); }

}  // namespace pgas::compat
