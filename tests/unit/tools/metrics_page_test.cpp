// The page of pgas-info --serve: the statistics of PEs as text for Prometheus.
#include "tools/pgas-info/metrics_page.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "host/watch/collect_stats.hpp"

namespace {

using namespace pgas;
using namespace std::chrono_literals;
using nlohmann::json;

/// Statistics with a value in every field.
world_stats some_stats() {
  world_stats stats;
  stats.pe = 1;
  stats.peers.resize(3);
  stats.peers[0].host = {3, 300, 2, 80, 5, 7};
  stats.peers[0].streams = {1, 8, 0, 0, 0, 0};
  stats.peers[2].direct = false;
  stats.peers[2].host = {0, 0, 0, 0, 18446744073709551615u, 0};
  stats.peers[2].proxy = {4, 40, 6, 60, 9, 10};
  stats.peers[2].silence = 1500ms;
  stats.calls = {{"pgas::barrier_all", 12, 3s, 0s}, {"quiet", 2, 1ms, 2500ms}};
  stats.heap = {4096, 8192, 16384, 1024, 3};
  stats.heap_reserved = std::size_t{1} << 40;
  stats.proxy = {21, 22, 23, 24, 25, 26, 27, 28};
  stats.heartbeats_sent = 31;
  stats.heartbeats_received = 32;
  stats.idle = 250ms;
  stats.errors = 1;
  stats.warnings = 2;
  stats.failed = true;
  return stats;
}

pe_info here() {
  pe_info info;
  info.host = "a\"b\\c\nd";
  info.pid = 123;
  info.device = "host memory";
  return info;
}

json answer_of(const world_stats& stats) { return json::parse("{" + detail::stats_answer(stats, here(), 3) + "}"); }

/// A page with two PEs that have answered and one PE that has not answered.
std::string page() {
  world_stats idle;
  idle.pe = 2;
  idle.peers.resize(3);
  return pgas_info::metrics_page({{"0123456789abcdef", 1, pgas_info::read_statistics(answer_of(some_stats()))},
                                  {"0123456789abcdef", 2, pgas_info::read_statistics(answer_of(idle))},
                                  {"fedcba9876543210", 0, std::nullopt}});
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream from(text);
  for (std::string line; std::getline(from, line);) lines.push_back(line);
  return lines;
}

TEST(metrics_page, each_line_is_one_of_the_format) {
  const std::string text = page();
  ASSERT_FALSE(text.empty());
  EXPECT_EQ(text.back(), '\n');
  const std::regex help(R"(# HELP ([a-zA-Z_:][a-zA-Z0-9_:]*) [^\n]+)");
  const std::regex type(R"(# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (counter|gauge))");
  const std::regex sample(R"re(([a-zA-Z_:][a-zA-Z0-9_:]*)(\{([a-zA-Z_][a-zA-Z0-9_]*="([^"\\]|\\["\\n])*",?)*\})? )re"
                          R"re([0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?)re");
  std::set<std::string> described;
  std::set<std::string> series;
  std::string name;
  std::string type_of_name;
  bool described_only = false;  // whether the last line is a HELP line, which a TYPE line must follow
  for (const std::string& line : lines_of(text)) {
    std::smatch found;
    if (std::regex_match(line, found, help)) {
      EXPECT_FALSE(described_only) << line;
      name = found[1];
      EXPECT_TRUE(described.insert(name).second) << name << " stands in two places";
      described_only = true;
    } else if (std::regex_match(line, found, type)) {
      EXPECT_TRUE(described_only) << line;
      EXPECT_EQ(found[1].str(), name);
      type_of_name = found[2];
      EXPECT_EQ(type_of_name == "counter", name.ends_with("_total")) << name;
      described_only = false;
    } else {
      ASSERT_TRUE(std::regex_match(line, found, sample)) << line;
      EXPECT_EQ(found[1].str(), name) << "a sample apart from its description";
      EXPECT_TRUE(series.insert(line.substr(0, line.rfind(' '))).second) << line << " twice";
    }
  }
  EXPECT_GT(described.size(), 25u);
}

TEST(metrics_page, values_stand_where_they_belong) {
  const std::string text = page();
  std::set<std::string> lines;
  for (const std::string& line : lines_of(text)) lines.insert(line);
  for (
      const char* const expected : {
          R"(pgas_operations_total{world="0123456789abcdef",pe="1",peer="0",route="direct",by="host",kind="put"} 3)",
          R"(pgas_operations_total{world="0123456789abcdef",pe="1",peer="0",route="direct",by="host",kind="get"} 2)",
          R"(pgas_operations_total{world="0123456789abcdef",pe="1",peer="0",route="direct",by="host",kind="atomic"} 5)",
          R"(pgas_operations_total{world="0123456789abcdef",pe="1",peer="0",route="direct",by="host",kind="signal"} 7)",
          R"(pgas_operations_total{world="0123456789abcdef",pe="1",peer="0",route="direct",by="stream",kind="put"} 1)",
          R"(pgas_operations_total{world="0123456789abcdef",pe="1",peer="2",route="proxied",by="host",kind="atomic"} 18446744073709551615)",
          R"(pgas_operation_bytes_total{world="0123456789abcdef",pe="1",peer="0",route="direct",by="host",kind="put"} 300)",
          R"(pgas_operation_bytes_total{world="0123456789abcdef",pe="1",peer="0",route="direct",by="host",kind="get"} 80)",
          R"(pgas_operation_bytes_total{world="0123456789abcdef",pe="1",peer="0",route="direct",by="stream",kind="put"} 8)",
          R"(pgas_proxy_operations_total{world="0123456789abcdef",pe="1",peer="2",kind="put"} 4)",
          R"(pgas_proxy_operations_total{world="0123456789abcdef",pe="1",peer="2",kind="signal"} 10)",
          R"(pgas_proxy_operation_bytes_total{world="0123456789abcdef",pe="1",peer="2",kind="put"} 40)",
          R"(pgas_proxy_operation_bytes_total{world="0123456789abcdef",pe="1",peer="2",kind="get"} 60)",
          R"(pgas_proxy_commands_total{world="0123456789abcdef",pe="1"} 21)",
          R"(pgas_proxy_messages_total{world="0123456789abcdef",pe="1"} 22)",
          R"(pgas_proxy_message_bytes_total{world="0123456789abcdef",pe="1"} 23)",
          R"(pgas_proxy_acknowledgements_total{world="0123456789abcdef",pe="1"} 24)",
          R"(pgas_proxy_executed_total{world="0123456789abcdef",pe="1"} 25)",
          R"(pgas_proxy_early_messages_total{world="0123456789abcdef",pe="1"} 26)",
          R"(pgas_proxy_chunks_total{world="0123456789abcdef",pe="1"} 27)",
          R"(pgas_proxy_chunk_bytes_total{world="0123456789abcdef",pe="1"} 28)",
          R"(pgas_calls_total{world="0123456789abcdef",pe="1",call="pgas::barrier_all"} 12)",
          R"(pgas_call_running_seconds{world="0123456789abcdef",pe="1",call="quiet"} 2.5)",
          R"(pgas_heap_reserved_bytes{world="0123456789abcdef",pe="1"} 1099511627776)",
          R"(pgas_heap_limit_bytes{world="0123456789abcdef",pe="1"} 16384)",
          R"(pgas_heap_mapped_bytes{world="0123456789abcdef",pe="1"} 8192)",
          R"(pgas_heap_used_bytes{world="0123456789abcdef",pe="1"} 4096)",
          R"(pgas_heap_largest_free_bytes{world="0123456789abcdef",pe="1"} 1024)",
          R"(pgas_heap_allocations{world="0123456789abcdef",pe="1"} 3)",
          R"(pgas_heartbeats_sent_total{world="0123456789abcdef",pe="1"} 31)",
          R"(pgas_heartbeats_received_total{world="0123456789abcdef",pe="1"} 32)",
          R"(pgas_peer_silence_seconds{world="0123456789abcdef",pe="1",peer="2"} 1.5)",
          R"(pgas_idle_seconds{world="0123456789abcdef",pe="1"} 0.25)",
          R"(pgas_errors_total{world="0123456789abcdef",pe="1"} 1)",
          R"(pgas_warnings_total{world="0123456789abcdef",pe="1"} 2)",
          R"(pgas_world_failed{world="0123456789abcdef",pe="1"} 1)",
          R"(pgas_world_failed{world="0123456789abcdef",pe="2"} 0)",
          R"(pgas_peers_left_out{world="0123456789abcdef",pe="1"} 0)",
          R"(pgas_pe_up{world="0123456789abcdef",pe="1"} 1)",
          R"(pgas_pe_up{world="fedcba9876543210",pe="0"} 0)",
          R"(pgas_worlds 2)",
      })
    EXPECT_TRUE(lines.contains(expected)) << expected << "\nis not in\n" << text;
  EXPECT_NE(text.find(R"(host="a\"b\\c\nd",pid="123",device="host memory")"), text.npos) << text;
  EXPECT_EQ(text.find(R"(silence_seconds{world="0123456789abcdef",pe="1",peer="0"})"), text.npos)
      << "it is on this host";
  EXPECT_EQ(text.find(R"(peer="1")"), text.npos) << "nothing was done there";
}

TEST(metrics_page, has_only_the_number_of_worlds_where_there_are_none) {
  const std::vector<std::string> lines = lines_of(pgas_info::metrics_page({}));
  for (const std::string& line : lines) EXPECT_TRUE(line.starts_with('#') || line == "pgas_worlds 0") << line;
  EXPECT_NE(std::ranges::find(lines, "pgas_worlds 0"), lines.end());
}

TEST(metrics_page, an_answer_that_lacks_a_field_is_none) {
  const json whole = answer_of(some_stats());
  EXPECT_TRUE(pgas_info::read_statistics(whole));
  for (const auto& [name, value] : whole.items()) {
    json without = whole;
    without.erase(name);
    EXPECT_EQ(pgas_info::read_statistics(without).has_value(), name == "pe" || name == "fragmentation") << name;
    json other = whole;
    other[name] = json::array({json::object()});
    EXPECT_EQ(pgas_info::read_statistics(other).has_value(), name == "pe" || name == "fragmentation") << name;
  }
  for (const char* const wrong : {"null", "[]", "{}", R"({"pe":1,"joining":true})", "7"})
    EXPECT_FALSE(pgas_info::read_statistics(json::parse(wrong))) << wrong;
}

TEST(metrics_page, an_answer_with_too_many_peers_leaves_them_out) {
  world_stats many = some_stats();
  many.peers.resize(10'000);
  for (peer_stats& peer : many.peers) peer.host = peer.proxy = {1u << 30, 1u << 30, 1, 1, 1, 1};
  const std::string answer = detail::stats_answer(many, here(), 10'000);
  EXPECT_LT(answer.size(), detail::longest_stats_answer);
  const auto says = pgas_info::read_statistics(json::parse("{" + answer + "}"));
  ASSERT_TRUE(says);
  EXPECT_TRUE(says->peers.empty());
  EXPECT_EQ(says->peers_left_out, 10'000u);
  EXPECT_EQ(says->stats.heap.used, many.heap.used);
}

}  // namespace
