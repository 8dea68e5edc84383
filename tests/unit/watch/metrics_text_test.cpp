// The counts of a PE: as text that Prometheus reads, and where they are kept.
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "host/watch/call_list.hpp"
#include "host/watch/collect_stats.hpp"
#include "host/watch/operation_counter.hpp"

namespace {

using namespace pgas;
using namespace std::chrono_literals;
using caller = detail::operation_counter::caller;
using kind = detail::operation_counter::kind;

/// A value for every field.
world_stats some_stats() {
  world_stats of;
  of.pe = 1;
  of.peers.resize(3);
  of.peers[0].host = {3, 300, 2, 80, 5, 7};
  of.peers[0].streams = {1, 8, 0, 0, 0, 0};
  of.peers[2].direct = false;
  of.peers[2].host = {0, 0, 0, 0, 18446744073709551615u, 0};
  of.peers[2].proxy = {4, 40, 6, 60, 9, 10};
  of.peers[2].silence = 1500ms;
  of.calls = {{"pgas::barrier_all", 12, 3s, 0s}, {"quiet", 2, 1ms, 2500ms}};
  of.heap = {4096, 8192, 16384, 1024, 3};
  of.heap_reserved = std::size_t{1} << 40;
  of.proxy = {21, 22, 23, 24, 25, 26, 27, 28};
  of.heartbeats_sent = 31;
  of.heartbeats_received = 32;
  of.idle = 250ms;
  of.errors = 1;
  of.warnings = 2;
  of.failed = true;
  return of;
}

pe_info here() {
  pe_info info;
  info.host = "a\"b\\c\nd";
  info.pid = 123;
  info.device = "host memory";
  return info;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream from(text);
  for (std::string line; std::getline(from, line);) lines.push_back(line);
  return lines;
}

TEST(metrics_text, each_line_is_one_of_the_format) {
  const std::string text = detail::metrics_text(some_stats(), here(), 3);
  ASSERT_FALSE(text.empty());
  EXPECT_EQ(text.back(), '\n');
  const std::regex help(R"(# HELP ([a-zA-Z_:][a-zA-Z0-9_:]*) [^\n]+)");
  const std::regex type(R"(# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (counter|gauge))");
  const std::regex sample(R"re(([a-zA-Z_:][a-zA-Z0-9_:]*)\{([a-zA-Z_][a-zA-Z0-9_]*="([^"\\]|\\["\\n])*",?)*\} )re"
                          R"re([0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?)re");
  std::set<std::string> described;
  std::set<std::string> series;
  std::string name;
  std::string type_of_name;
  bool described_only = false;  // HELP without its TYPE
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
      EXPECT_NE(line.find(R"({pe="1")"), line.npos) << line;
    }
  }
  EXPECT_GT(described.size(), 25u);
}

TEST(metrics_text, values_stand_where_they_belong) {
  const std::string text = detail::metrics_text(some_stats(), here(), 3);
  std::set<std::string> lines;
  for (const std::string& line : lines_of(text)) lines.insert(line);
  for (const char* const expected : {
           R"(pgas_operations_total{pe="1",peer="0",route="direct",by="host",kind="put"} 3)",
           R"(pgas_operations_total{pe="1",peer="0",route="direct",by="host",kind="get"} 2)",
           R"(pgas_operations_total{pe="1",peer="0",route="direct",by="host",kind="atomic"} 5)",
           R"(pgas_operations_total{pe="1",peer="0",route="direct",by="host",kind="signal"} 7)",
           R"(pgas_operations_total{pe="1",peer="0",route="direct",by="stream",kind="put"} 1)",
           R"(pgas_operations_total{pe="1",peer="2",route="proxied",by="host",kind="atomic"} 18446744073709551615)",
           R"(pgas_operation_bytes_total{pe="1",peer="0",route="direct",by="host",kind="put"} 300)",
           R"(pgas_operation_bytes_total{pe="1",peer="0",route="direct",by="host",kind="get"} 80)",
           R"(pgas_operation_bytes_total{pe="1",peer="0",route="direct",by="stream",kind="put"} 8)",
           R"(pgas_proxy_operations_total{pe="1",peer="2",kind="put"} 4)",
           R"(pgas_proxy_operations_total{pe="1",peer="2",kind="signal"} 10)",
           R"(pgas_proxy_operation_bytes_total{pe="1",peer="2",kind="put"} 40)",
           R"(pgas_proxy_operation_bytes_total{pe="1",peer="2",kind="get"} 60)",
           R"(pgas_proxy_commands_total{pe="1"} 21)",
           R"(pgas_proxy_messages_total{pe="1"} 22)",
           R"(pgas_proxy_message_bytes_total{pe="1"} 23)",
           R"(pgas_proxy_acknowledgements_total{pe="1"} 24)",
           R"(pgas_proxy_executed_total{pe="1"} 25)",
           R"(pgas_proxy_early_messages_total{pe="1"} 26)",
           R"(pgas_proxy_chunks_total{pe="1"} 27)",
           R"(pgas_proxy_chunk_bytes_total{pe="1"} 28)",
           R"(pgas_calls_total{pe="1",call="pgas::barrier_all"} 12)",
           R"(pgas_call_running_seconds{pe="1",call="quiet"} 2.5)",
           R"(pgas_heap_reserved_bytes{pe="1"} 1099511627776)",
           R"(pgas_heap_limit_bytes{pe="1"} 16384)",
           R"(pgas_heap_mapped_bytes{pe="1"} 8192)",
           R"(pgas_heap_used_bytes{pe="1"} 4096)",
           R"(pgas_heap_largest_free_bytes{pe="1"} 1024)",
           R"(pgas_heap_allocations{pe="1"} 3)",
           R"(pgas_heartbeats_sent_total{pe="1"} 31)",
           R"(pgas_heartbeats_received_total{pe="1"} 32)",
           R"(pgas_peer_silence_seconds{pe="1",peer="2"} 1.5)",
           R"(pgas_idle_seconds{pe="1"} 0.25)",
           R"(pgas_errors_total{pe="1"} 1)",
           R"(pgas_warnings_total{pe="1"} 2)",
           R"(pgas_world_failed{pe="1"} 1)",
       })
    EXPECT_TRUE(lines.contains(expected)) << expected << "\nis not in\n" << text;
  EXPECT_NE(text.find(R"(host="a\"b\\c\nd",pid="123",device="host memory")"), text.npos) << text;
  EXPECT_EQ(text.find(R"(silence_seconds{pe="1",peer="0"})"), text.npos) << "it is on this host";
  EXPECT_EQ(text.find(R"(peer="1")"), text.npos) << "nothing was done there";
}

TEST(world_stats, fragmentation_is_that_of_the_free_memory) {
  world_stats of = some_stats();  // 4096 are free, 1024 of them in one piece
  EXPECT_DOUBLE_EQ(of.fragmentation(), 0.75);
  of.heap.largest_free = 4096;
  EXPECT_DOUBLE_EQ(of.fragmentation(), 0.0);
  of.heap.used = of.heap.mapped;
  of.heap.largest_free = 0;
  EXPECT_DOUBLE_EQ(of.fragmentation(), 0.0) << "nothing is free";
}

TEST(operation_counter, counts_of_many_threads_are_exact) {
  constexpr std::uint64_t threads = 4;
  constexpr std::uint64_t each = 5000;
  detail::operation_counter counter(3);
  std::vector<std::thread> all;
  for (std::uint64_t t = 0; t < threads; ++t)
    all.emplace_back([&] {
      for (std::uint64_t i = 0; i < each; ++i) {
        counter.add(2, caller::host, kind::put, 8);
        counter.add(2, caller::stream, kind::get, 16);
        counter.add(1, caller::host, kind::atomic, 0);
      }
    });
  for (std::thread& one : all) one.join();
  const operation_counts host = counter.of(2, caller::host);
  EXPECT_EQ(host.puts, threads * each);
  EXPECT_EQ(host.put_bytes, threads * each * 8);
  EXPECT_EQ(host.gets + host.get_bytes + host.atomics + host.signals, 0u);
  const operation_counts streams = counter.of(2, caller::stream);
  EXPECT_EQ(streams.gets, threads * each);
  EXPECT_EQ(streams.get_bytes, threads * each * 16);
  EXPECT_EQ(counter.of(1, caller::host).atomics, threads * each);
  EXPECT_EQ(counter.of(0, caller::host).puts, 0u);
}

TEST(call_list, adds_up_the_calls_of_a_name) {
  detail::call_list calls;
  const std::string same = "barrier";  // at another address than the literal
  for (const char* const name : {"barrier", same.c_str(), "quiet"}) {
    ASSERT_TRUE(calls.enter(name));
    EXPECT_FALSE(calls.enter("inside"));
    std::this_thread::sleep_for(60ms);
    calls.leave();
  }
  const std::vector<detail::call_list::total> totals = calls.totals();
  ASSERT_EQ(totals.size(), 2u);
  EXPECT_EQ(totals[0].name, "barrier");
  EXPECT_EQ(totals[0].calls, 2u);
  EXPECT_GE(totals[0].time, 80ms);  // each end of the clock is up to 10 ms too early
  EXPECT_EQ(totals[1].name, "quiet");
  EXPECT_EQ(totals[1].calls, 1u);
  EXPECT_GE(totals[1].time, 40ms);
}

TEST(call_list, knows_how_long_nobody_was_in_a_call) {
  detail::call_list calls;
  std::this_thread::sleep_for(60ms);
  EXPECT_GE(calls.idle_with_short_calls(), 40ms);
  ASSERT_TRUE(calls.enter("barrier"));
  std::this_thread::sleep_for(60ms);
  EXPECT_EQ(calls.idle_with_short_calls(), 0ms);
  calls.leave();
  std::this_thread::sleep_for(60ms);
  const auto before = calls.idle_with_short_calls();
  EXPECT_GE(before, 40ms);
  calls.look();
  EXPECT_GE(calls.idle_with_short_calls(), before) << "there was no short call";
  calls.count();
  const auto begin = std::chrono::steady_clock::now();
  calls.look();
  const auto idle = calls.idle_with_short_calls();
  EXPECT_LE(idle, std::chrono::steady_clock::now() - begin + 20ms) << "the look noticed the short call";
}

}  // namespace
