#include "tools/pgas-info/metrics_page.hpp"

#include <fmt/format.h>

#include <chrono>
#include <set>
#include <string_view>

#include "tools/pgas-why/ask_job.hpp"

namespace pgas_info {

namespace {

using json = nlohmann::ordered_json;
using pgas::call_stats;
using pgas::operation_counts;
using pgas::peer_stats;
using pgas::proxy_stats;
using pgas::world_stats;

/// Escapes a text for the value of a label, and removes control characters.
std::string escaped(std::string_view value) {
  std::string text;
  for (const char c : value) {
    if (c == '\n') {
      text += "\\n";
      continue;
    }
    if (c == '\\' || c == '"') text += '\\';
    text += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  }
  return text;
}

double seconds(std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); }

/// Collects the samples. The samples of a metric follow its description.
class exposition {
 public:
  explicit exposition(const std::vector<local_pe>& pes) : pes_(pes) {}

  void begin(const char* name, const char* type, const char* help) {
    name_ = name;
    text_ += fmt::format("# HELP {0} {2}\n# TYPE {0} {1}\n", name, type, help);
  }
  /// A sample without labels.
  template <class Value>
  void total(Value value) {
    text_ += fmt::format("{} {}\n", name_, value);
  }
  /// @param labels begins with a comma if there are labels besides world and pe
  template <class Value>
  void sample(const local_pe& pe, Value value, std::string_view labels = {}) {
    text_ += fmt::format("{}{{world=\"{}\",pe=\"{}\"{}}} {}\n", name_, escaped(pe.world), pe.pe, labels, value);
  }
  /// Calls `add(pe, statistics)` for each PE that has answered.
  template <class Add>
  void each(const char* name, const char* type, const char* help, const Add& add) {
    begin(name, type, help);
    for (const local_pe& pe : pes_)
      if (pe.says) add(pe, *pe.says);
  }
  /// Adds one sample for each PE.
  template <class Value>
  void counter(const char* name, const char* help, const Value& value) {
    each(name, "counter", help, [&](const local_pe& pe, const pe_statistics& says) { sample(pe, value(says)); });
  }
  template <class Value>
  void gauge(const char* name, const char* help, const Value& value) {
    each(name, "gauge", help, [&](const local_pe& pe, const pe_statistics& says) { sample(pe, value(says)); });
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  const std::vector<local_pe>& pes_;
  const char* name_ = "";
  std::string text_;
};

void add_operations(exposition& page, const local_pe& pe, const operation_counts& counts, const std::string& labels) {
  const std::pair<const char*, std::uint64_t> kinds[] = {
      {"put", counts.puts}, {"get", counts.gets}, {"atomic", counts.atomics}, {"signal", counts.signals}};
  for (const auto& [kind, count] : kinds)
    if (count != 0) page.sample(pe, count, fmt::format(R"({},kind="{}")", labels, kind));
}
void add_bytes(exposition& page, const local_pe& pe, const operation_counts& counts, const std::string& labels) {
  const std::pair<const char*, std::uint64_t> kinds[] = {{"put", counts.put_bytes}, {"get", counts.get_bytes}};
  for (const auto& [kind, count] : kinds)
    if (count != 0) page.sample(pe, count, fmt::format(R"({},kind="{}")", labels, kind));
}

using add_counts = void(exposition&, const local_pe&, const operation_counts&, const std::string& labels);

/// A metric of host threads and streams.
void add_callers(exposition& page, const char* name, const char* help, add_counts& add) {
  page.each(name, "counter", help, [&](const local_pe& pe, const pe_statistics& says) {
    for (const auto& [peer, counts] : says.peers) {
      const char* const route = counts.direct ? "direct" : "proxied";
      add(page, pe, counts.host, fmt::format(R"(,peer="{}",route="{}",by="host")", peer, route));
      add(page, pe, counts.streams, fmt::format(R"(,peer="{}",route="{}",by="stream")", peer, route));
    }
  });
}

/// A metric of commands to the proxy.
void add_commands(exposition& page, const char* name, const char* help, add_counts& add) {
  page.each(name, "counter", help, [&](const local_pe& pe, const pe_statistics& says) {
    for (const auto& [peer, counts] : says.peers) add(page, pe, counts.proxy, fmt::format(R"(,peer="{}")", peer));
  });
}

void add_proxy(exposition& page) {
  const auto add = [&page](const char* name, const char* help, std::uint64_t proxy_stats::*field) {
    page.counter(name, help, [field](const pe_statistics& says) { return says.stats.proxy.*field; });
  };
  add("pgas_proxy_commands_total", "Commands that the proxy took, fences and quiets too.", &proxy_stats::commands);
  add("pgas_proxy_messages_total", "Messages with operations that it sent.", &proxy_stats::messages);
  add("pgas_proxy_message_bytes_total", "Bytes in those messages.", &proxy_stats::message_bytes);
  add("pgas_proxy_acknowledgements_total", "Acknowledgements that it sent alone.", &proxy_stats::acknowledgements);
  add("pgas_proxy_executed_total", "Operations that it executed for other PEs.", &proxy_stats::message_ops);
  add("pgas_proxy_early_messages_total", "Messages that came out of order.", &proxy_stats::early_messages);
  add("pgas_proxy_chunks_total", "Puts and gets of the transport itself.", &proxy_stats::chunks);
  add("pgas_proxy_chunk_bytes_total", "Bytes in those.", &proxy_stats::chunk_bytes);
}

void add_calls(exposition& page) {
  const auto add = [&page](const char* name, const char* type, const char* help, const auto& value) {
    page.each(name, type, help, [&](const local_pe& pe, const pe_statistics& says) {
      for (const call_stats& call : says.stats.calls)
        page.sample(pe, value(call), fmt::format(R"(,call="{}")", escaped(call.name)));
    });
  };
  add("pgas_calls_total", "counter", "Calls that wait for other PEs, and have ended.",
      [](const call_stats& calls) { return calls.calls; });
  add("pgas_call_seconds_total", "counter", "Time in those calls.",
      [](const call_stats& calls) { return seconds(calls.time); });
  add("pgas_call_running_seconds", "gauge", "For how long such a call is under way; of several, the longest.",
      [](const call_stats& calls) { return seconds(calls.running); });
}

void add_heap(exposition& page) {
  const auto add = [&page](const char* name, const char* help, std::size_t pgas::heap_usage::*field) {
    page.gauge(name, help, [field](const pe_statistics& says) { return says.stats.heap.*field; });
  };
  page.gauge("pgas_heap_reserved_bytes", "Addresses of this PE's part of the heap.",
             [](const pe_statistics& says) { return says.stats.heap_reserved; });
  add("pgas_heap_limit_bytes", "The most memory that the heap may have.", &pgas::heap_usage::limit);
  add("pgas_heap_mapped_bytes", "Memory that it has.", &pgas::heap_usage::mapped);
  add("pgas_heap_used_bytes", "Memory in allocations.", &pgas::heap_usage::used);
  add("pgas_heap_largest_free_bytes", "The largest allocation that needs no more memory.",
      &pgas::heap_usage::largest_free);
  add("pgas_heap_allocations", "Allocations.", &pgas::heap_usage::allocations);
}

void add_control(exposition& page) {
  const auto count = [&page](const char* name, const char* help, std::uint64_t world_stats::*field) {
    page.counter(name, help, [field](const pe_statistics& says) { return says.stats.*field; });
  };
  count("pgas_heartbeats_sent_total", "Heartbeats sent to PEs of other hosts.", &world_stats::heartbeats_sent);
  count("pgas_heartbeats_received_total", "Heartbeats received from them.", &world_stats::heartbeats_received);
  page.each("pgas_peer_silence_seconds", "gauge", "Time since the last message from a PE of another host.",
            [&](const local_pe& pe, const pe_statistics& says) {
              for (const auto& [peer, counts] : says.peers)
                if (counts.silence.count() >= 0)
                  page.sample(pe, seconds(counts.silence), fmt::format(R"(,peer="{}")", peer));
            });
  page.gauge("pgas_idle_seconds", "Time since a host thread was last in a call of this world.",
             [](const pe_statistics& says) { return seconds(says.stats.idle); });
  count("pgas_errors_total", "Errors that this PE logged.", &world_stats::errors);
  count("pgas_warnings_total", "Warnings that this PE logged.", &world_stats::warnings);
  page.gauge("pgas_world_failed", "1 once the world has ended for everyone.",
             [](const pe_statistics& says) { return says.stats.failed ? 1 : 0; });
}

operation_counts counts_of(const json& from) {
  return {from.at(0), from.at(1), from.at(2), from.at(3), from.at(4), from.at(5)};
}

world_stats stats_of(const json& said) {
  world_stats stats;
  const json& heap = said.at("heap");
  stats.heap = {heap.at("used"), heap.at("mapped"), heap.at("limit"), heap.at("largest_free"), heap.at("allocations")};
  stats.heap_reserved = heap.at("reserved");
  const json& proxy = said.at("proxy_work");
  stats.proxy = {proxy.at(0), proxy.at(1), proxy.at(2), proxy.at(3),
                 proxy.at(4), proxy.at(5), proxy.at(6), proxy.at(7)};
  for (const json& call : said.at("by_call"))
    stats.calls.push_back({call.at(0), call.at(1), std::chrono::nanoseconds(call.at(2).get<std::int64_t>()),
                           std::chrono::nanoseconds(call.at(3).get<std::int64_t>())});
  stats.heartbeats_sent = said.at("heartbeats_sent");
  stats.heartbeats_received = said.at("heartbeats_received");
  stats.idle = std::chrono::milliseconds(said.at("idle_ms").get<std::int64_t>());
  stats.errors = said.at("errors");
  stats.warnings = said.at("warnings");
  stats.failed = said.at("failed");
  return stats;
}

}  // namespace

std::optional<pe_statistics> read_statistics(const json& said) {
  try {
    pe_statistics result;
    result.host = said.at("host");
    result.device = said.at("device");
    result.version = said.at("version");
    result.pid = said.at("pid");
    result.pes = said.at("n_pes");
    result.stats = stats_of(said);
    for (const json& value : said.at("by_peer")) {
      peer_stats peer;
      peer.direct = value.at(1);
      peer.silence = std::chrono::milliseconds(value.at(2).get<std::int64_t>());
      peer.host = counts_of(value.at(3));
      peer.streams = counts_of(value.at(4));
      peer.proxy = counts_of(value.at(5));
      result.peers.emplace_back(value.at(0), peer);
    }
    result.peers_left_out = said.at("peers_left_out");
    return result;
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

std::string metrics_page(const std::vector<local_pe>& pes) {
  exposition page(pes);
  std::set<std::string_view> worlds;
  for (const local_pe& pe : pes) worlds.insert(pe.world);
  page.begin("pgas_worlds", "gauge", "Worlds of this user with a PE on this host.");
  page.total(worlds.size());
  page.begin("pgas_pe_up", "gauge", "1 if the PE has answered, 0 if it is stopped, joins or leaves.");
  for (const local_pe& pe : pes) page.sample(pe, pe.says ? 1 : 0);
  page.each("pgas_pe_info", "gauge", "This PE.", [&](const local_pe& pe, const pe_statistics& says) {
    page.sample(pe, 1,
                fmt::format(R"(,pes="{}",host="{}",pid="{}",device="{}",version="{}")", says.pes, escaped(says.host),
                            says.pid, escaped(says.device), escaped(says.version)));
  });
  page.gauge("pgas_peers_left_out", "PEs whose operations are missing here, as the answer would be too long.",
             [](const pe_statistics& says) { return says.peers_left_out; });
  add_callers(page, "pgas_operations_total", "One-sided operations that host threads called or enqueued.",
              add_operations);
  add_callers(page, "pgas_operation_bytes_total", "Bytes that those operations moved.", add_bytes);
  add_commands(page, "pgas_proxy_operations_total", "Commands of kernels, streams and host threads to the proxy.",
               add_operations);
  add_commands(page, "pgas_proxy_operation_bytes_total", "Bytes that those commands moved.", add_bytes);
  add_proxy(page);
  add_calls(page);
  add_heap(page);
  add_control(page);
  return page.take();
}

std::string metrics_collector::collect() {
  std::vector<local_pe> pes;
  std::set<std::pair<std::string, int>> owned;
  for (const pgas_why::answering_pe& pe : pgas_why::ask_each(pgas_why::find_jobs(directory_))) {
    // The user of a PE is unknown only while the PE's queue of connections is full. In that case, the page includes the
    // PE only if the previous page included this PE.
    if (!pe.owned && !owned_.contains({pe.job, pe.pe})) continue;
    owned.emplace(pe.job, pe.pe);
    pes.push_back({pe.job, pe.pe, read_statistics(pe.said)});
  }
  owned_ = std::move(owned);
  return metrics_page(pes);
}

}  // namespace pgas_info
