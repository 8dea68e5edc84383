// The counts of a PE as text for Prometheus.
#include <fmt/format.h>

#include <chrono>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "host/watch/collect_stats.hpp"

namespace pgas::detail {

namespace {

/// As a value of a label may have it.
std::string escaped(std::string_view value) {
  std::string text;
  for (const char c : value) {
    if (c == '\n') {
      text += "\\n";
      continue;
    }
    if (c == '\\' || c == '"') text += '\\';
    text += c;
  }
  return text;
}

double seconds(std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); }

/// The samples of a metric stand together, behind its description.
class exposition {
 public:
  explicit exposition(int pe) : pe_(pe) {}

  void begin(const char* name, const char* type, const char* help) {
    name_ = name;
    fmt::format_to(std::back_inserter(text_), "# HELP {0} {2}\n# TYPE {0} {1}\n", name, type, help);
  }
  /// @param labels begins with a comma, where there are any besides pe
  template <class Value>
  void sample(Value value, std::string_view labels = {}) {
    fmt::format_to(std::back_inserter(text_), "{}{{pe=\"{}\"{}}} {}\n", name_, pe_, labels, value);
  }
  template <class Value>
  void counter(const char* name, const char* help, Value value) {
    begin(name, "counter", help);
    sample(value);
  }
  template <class Value>
  void gauge(const char* name, const char* help, Value value) {
    begin(name, "gauge", help);
    sample(value);
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  const int pe_;
  const char* name_ = "";
  std::string text_;
};

void operations_of(exposition& page, const operation_counts& counts, const std::string& labels) {
  const std::pair<const char*, std::uint64_t> kinds[] = {
      {"put", counts.puts}, {"get", counts.gets}, {"atomic", counts.atomics}, {"signal", counts.signals}};
  for (const auto& [kind, count] : kinds)
    if (count != 0) page.sample(count, fmt::format(R"({},kind="{}")", labels, kind));
}
void bytes_of(exposition& page, const operation_counts& counts, const std::string& labels) {
  const std::pair<const char*, std::uint64_t> kinds[] = {{"put", counts.put_bytes}, {"get", counts.get_bytes}};
  for (const auto& [kind, count] : kinds)
    if (count != 0) page.sample(count, fmt::format(R"({},kind="{}")", labels, kind));
}

/// Of host threads and streams.
template <class Write>
void for_callers(const world_stats& of, const Write& write) {
  for (std::size_t pe = 0; pe < of.peers.size(); ++pe) {
    const peer_stats& one = of.peers[pe];
    const char* const route = one.direct ? "direct" : "proxied";
    write(one.host, fmt::format(R"(,peer="{}",route="{}",by="host")", pe, route));
    write(one.streams, fmt::format(R"(,peer="{}",route="{}",by="stream")", pe, route));
  }
}

void add_operations(exposition& page, const world_stats& of) {
  page.begin("pgas_operations_total", "counter", "One-sided operations that host threads called or enqueued.");
  for_callers(of, [&](const operation_counts& counts, const std::string& l) { operations_of(page, counts, l); });
  page.begin("pgas_operation_bytes_total", "counter", "Bytes that those operations moved.");
  for_callers(of, [&](const operation_counts& counts, const std::string& l) { bytes_of(page, counts, l); });
  page.begin("pgas_proxy_operations_total", "counter", "Commands of kernels, streams and host threads to the proxy.");
  for (std::size_t pe = 0; pe < of.peers.size(); ++pe)
    operations_of(page, of.peers[pe].proxy, fmt::format(R"(,peer="{}")", pe));
  page.begin("pgas_proxy_operation_bytes_total", "counter", "Bytes that those commands moved.");
  for (std::size_t pe = 0; pe < of.peers.size(); ++pe)
    bytes_of(page, of.peers[pe].proxy, fmt::format(R"(,peer="{}")", pe));
}

void add_proxy(exposition& page, const proxy_stats& of) {
  page.counter("pgas_proxy_commands_total", "Commands that the proxy took, fences and quiets too.", of.commands);
  page.counter("pgas_proxy_messages_total", "Messages with operations that it sent.", of.messages);
  page.counter("pgas_proxy_message_bytes_total", "Bytes in those messages.", of.message_bytes);
  page.counter("pgas_proxy_acknowledgements_total", "Acknowledgements that it sent alone.", of.acknowledgements);
  page.counter("pgas_proxy_executed_total", "Operations that it executed for other PEs.", of.message_ops);
  page.counter("pgas_proxy_early_messages_total", "Messages that came out of order.", of.early_messages);
  page.counter("pgas_proxy_chunks_total", "Puts and gets of the transport itself.", of.chunks);
  page.counter("pgas_proxy_chunk_bytes_total", "Bytes in those.", of.chunk_bytes);
}

void add_calls(exposition& page, const world_stats& of) {
  const auto labels = [](const call_stats& one) { return fmt::format(R"(,call="{}")", escaped(one.name)); };
  page.begin("pgas_calls_total", "counter", "Calls that wait for other PEs, and have ended.");
  for (const call_stats& one : of.calls) page.sample(one.calls, labels(one));
  page.begin("pgas_call_seconds_total", "counter", "Time in those calls.");
  for (const call_stats& one : of.calls) page.sample(seconds(one.time), labels(one));
  page.begin("pgas_call_running_seconds", "gauge", "For how long such a call is under way; of several, the longest.");
  for (const call_stats& one : of.calls) page.sample(seconds(one.running), labels(one));
}

void add_heap(exposition& page, const world_stats& of) {
  page.gauge("pgas_heap_reserved_bytes", "Addresses of this PE's part of the heap.", of.heap_reserved);
  page.gauge("pgas_heap_limit_bytes", "The most memory that the heap may have.", of.heap.limit);
  page.gauge("pgas_heap_mapped_bytes", "Memory that it has.", of.heap.mapped);
  page.gauge("pgas_heap_used_bytes", "Memory in allocations.", of.heap.used);
  page.gauge("pgas_heap_largest_free_bytes", "The largest allocation that needs no more memory.", of.heap.largest_free);
  page.gauge("pgas_heap_allocations", "Allocations.", of.heap.allocations);
}

void add_control(exposition& page, const world_stats& of) {
  page.counter("pgas_heartbeats_sent_total", "Heartbeats sent to PEs of other hosts.", of.heartbeats_sent);
  page.counter("pgas_heartbeats_received_total", "Heartbeats received from them.", of.heartbeats_received);
  page.begin("pgas_peer_silence_seconds", "gauge", "Time since the last message from a PE of another host.");
  for (std::size_t pe = 0; pe < of.peers.size(); ++pe)
    if (of.peers[pe].silence.count() >= 0) page.sample(seconds(of.peers[pe].silence), fmt::format(R"(,peer="{}")", pe));
  page.gauge("pgas_idle_seconds", "Time since a host thread was last in a call of this world.", seconds(of.idle));
  page.counter("pgas_errors_total", "Errors that this PE logged.", of.errors);
  page.counter("pgas_warnings_total", "Warnings that this PE logged.", of.warnings);
  page.gauge("pgas_world_failed", "1 once the world has ended for everyone.", of.failed ? 1 : 0);
}

}  // namespace

std::string metrics_text(const world_stats& of, const pe_info& here, int n_pes) {
  exposition page(of.pe);
  page.begin("pgas_pe_info", "gauge", "This PE.");
  page.sample(1, fmt::format(R"(,pes="{}",host="{}",pid="{}",device="{}",version="{}")", n_pes, escaped(here.host),
                             here.pid, escaped(here.device), PGAS_VERSION));
  add_operations(page, of);
  add_proxy(page, of.proxy);
  add_calls(page, of);
  add_heap(page, of);
  add_control(page, of);
  return page.take();
}

}  // namespace pgas::detail
