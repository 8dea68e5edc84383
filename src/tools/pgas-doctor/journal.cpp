#include "tools/pgas-doctor/journal.hpp"

#include <nlohmann/json.hpp>

#include "common/output_file.hpp"

namespace pgas::doctor {

void journal::tell(const nlohmann::json& message) {
  // If the supervisor has ended, no process reads the message. This process will end too.
  static_cast<void>(
      detail::write_all(to_.get(), message.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace) + "\n"));
}

void journal::begin(const std::string& step, std::chrono::milliseconds limit) {
  tell({{"begin", step}, {"limit_ms", limit.count()}});
}

void journal::add(const row& found) {
  rows_.push_back(found);
  tell({{"row", to_json(found)}});
}

void journal::about(const subject& what) {
  nlohmann::json pairs = nlohmann::json::array();
  for (const pair_route& each : what.pairs)
    pairs.push_back({each.from, each.to, each.direct, each.route, each.lanes, each.gigabytes_per_second});
  tell({{"pe", what.pe}, {"n_pes", what.n_pes}, {"hosts", what.hosts}, {"started", what.started}, {"pairs", pairs}});
}

void journal::end(const std::vector<row>& rows, bool alone) {
  nlohmann::json all = nlohmann::json::array();
  for (const row& each : rows) all.push_back(to_json(each));
  tell({{"rows", all}, {"alone", alone}});
}

}  // namespace pgas::doctor
