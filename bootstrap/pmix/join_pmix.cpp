// Joins through the PMIx server of a launcher. In a build without pmix.h, throws an error with this reason.
#include <fmt/format.h>

#include <atomic>

#include "bootstrap/hub/hub_protocol.hpp"
#include "bootstrap/join_methods.hpp"
#include "pgas/error.hpp"

#ifdef PGAS_WITHOUT_PMIX

namespace pgas::boot {

std::unique_ptr<bootstrap> join_pmix(const bootstrap_options&, std::string&) {
  throw error{code::bootstrap_unavailable,
              "this library was built without PMIx. Build it where libpmix-dev is installed (PGAS_PMIX=ON), start with "
              "pgasrun, or give a unique id or MASTER_ADDR, MASTER_PORT, RANK and WORLD_SIZE"};
}

}  // namespace pgas::boot

#else

#include "bootstrap/pmix/pmix_session.hpp"

namespace pgas::boot {
namespace {

class pmix_bootstrap final : public bootstrap {
 public:
  pmix_bootstrap(pmix_session& session, milliseconds timeout)
      : session_(session), timeout_(timeout), world_(next_world++) {}

  [[nodiscard]] int rank() const noexcept override { return session_.rank(); }
  [[nodiscard]] int size() const noexcept override { return session_.size(); }

  [[nodiscard]] std::vector<blob> all_gather(std::span<const std::byte> mine) override {
    check_contribution(mine.size(), rank());
    return session_.exchange(fmt::format("pgas.{}.{}", world_, sequence_++), mine, deadline{timeout_});
  }
  [[nodiscard]] bool publish(std::span<const std::byte> mine) override {
    session_.publish_to_all(published(), mine, deadline{timeout_});
    return true;
  }
  [[nodiscard]] blob fetch(int rank) override { return session_.fetch(rank, published(), deadline{timeout_}); }
  void watch(std::function<void(int, std::string_view)> failed) override { session_.listen(world_, std::move(failed)); }
  ~pmix_bootstrap() override { session_.listen(world_, nullptr); }
  void barrier() override { (void)all_gather({}); }
  void set_time_limit(milliseconds limit) override { timeout_ = limit; }

  void abort(std::string_view reason) noexcept override {
    try {
      session_.abort(std::string{reason});
    } catch (...) {  // no memory or no thread; the end of this process also informs the launcher
    }
  }

 private:
  [[nodiscard]] std::string published() const { return fmt::format("pgas.{}.published", world_); }

  inline static std::atomic<unsigned> next_world{0};

  pmix_session& session_;
  milliseconds timeout_;
  unsigned world_;
  unsigned sequence_ = 0;
};

}  // namespace

std::unique_ptr<bootstrap> join_pmix(const bootstrap_options& options, std::string& version) {
  pmix_session& session = pmix_session::get_connected(deadline{options.timeout});
  version = session.version();
  return std::make_unique<pmix_bootstrap>(session, options.timeout);
}

}  // namespace pgas::boot

#endif
