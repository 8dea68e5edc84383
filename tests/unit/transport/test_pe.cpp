#include "test_pe.hpp"

#include <optional>
#include <thread>

#include "host/log/logger.hpp"
#include "support/transport/faulty.hpp"
#include "support/transport/loopback.hpp"
#include "support/transport/traced.hpp"

namespace pgas_test {
namespace {

using transports = std::vector<std::unique_ptr<transport>>;

[[nodiscard]] transports loopback(int n) {
  const auto network = std::make_shared<pgas::testing::loopback_network>(n);
  transports result;
  for (int pe = 0; pe < n; ++pe) result.push_back(network->join(pe));
  return result;
}

[[nodiscard]] transports faulty(int n) {
  transports result = loopback(n);
  for (int pe = 0; pe < n; ++pe) {
    auto& item = result[static_cast<std::size_t>(pe)];
    const pgas::testing::faulty_settings settings{.seed = static_cast<std::uint32_t>(pe) + 1};
    item = std::make_unique<pgas::testing::faulty_transport>(std::move(item), settings);
  }
  return result;
}

[[nodiscard]] transports traced(int n) {
  static pgas::log::logger quiet(pgas::log_level::warn);
  transports result = loopback(n);
  for (auto& item : result) item = std::make_unique<pgas::testing::traced_transport>(std::move(item), quiet);
  return result;
}

void run_one(test_pe& pe, const std::vector<blob>& addresses, const std::function<void(test_pe&)>& body) {
  try {
    pe.link->connect(addresses, pe);
    pe.barrier();
    body(pe);
    pe.barrier();
  } catch (const std::exception& failed) {
    ADD_FAILURE() << "PE " << pe.me << ": " << failed.what();
  }
  pe.link->disconnect(seconds(10));
}

}  // namespace

void run_pes(const transport_kind& kind, int n, const std::function<void(test_pe&)>& body, bool may_lose) {
  transports result = kind.make(n);
  std::atomic<int> arrived{0};
  test_pe::everyone all;
  std::vector<blob> addresses;
  for (int pe = 0; pe < n; ++pe) {
    all.push_back(std::make_unique<test_pe>(pe, std::move(result[static_cast<std::size_t>(pe)]), all, arrived));
    addresses.push_back(all.back()->link->address());
  }
  std::vector<std::thread> threads;
  for (const auto& pe : all) threads.emplace_back([&] { run_one(*pe, addresses, body); });
  for (std::thread& item : threads) item.join();
  if (may_lose) return;
  for (const auto& pe : all)
    for (const auto& [whom, why] : pe->losses) ADD_FAILURE() << "PE " << pe->me << " lost PE " << whom << ": " << why;
}

blob pattern(std::size_t bytes, int pe, int round) {
  blob result(bytes);
  std::uint32_t state = static_cast<std::uint32_t>(pe) * 7919 + static_cast<std::uint32_t>(round) * 104'729 + 1;
  for (std::byte& byte : result) {
    state = state * 1'664'525 + 1'013'904'223;
    byte = static_cast<std::byte>(state >> 24);
  }
  return result;
}

std::vector<transport_kind> kinds_in_one_process() {
  return {{"loopback", loopback}, {"faulty", faulty}, {"traced", traced}};
}

}  // namespace pgas_test
