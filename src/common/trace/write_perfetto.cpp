#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "common/trace/document.hpp"
#include "common/trace/perfetto.hpp"
#include "common/trace/protobuf.hpp"

namespace pgas::trace {

namespace {

namespace track_event = perfetto::track_event;

void annotate(message_writer& to, std::string_view name, std::uint64_t value) {
  message_writer inner;
  inner.number(perfetto::annotation::unsigned_value, value);
  inner.text(perfetto::annotation::name, name);
  to.message(track_event::annotation, inner);
}
void annotate(message_writer& to, std::string_view name, std::int64_t value) {
  message_writer inner;
  inner.number(perfetto::annotation::signed_value, static_cast<std::uint64_t>(value));
  inner.text(perfetto::annotation::name, name);
  to.message(track_event::annotation, inner);
}
void annotate(message_writer& to, std::string_view name, std::string_view value) {
  message_writer inner;
  inner.text(perfetto::annotation::text_value, value);
  inner.text(perfetto::annotation::name, name);
  to.message(track_event::annotation, inner);
}

void annotate(message_writer& to, const event_facts& facts) {
  if (facts.peer >= 0) annotate(to, "peer", std::int64_t{facts.peer});
  if (facts.bytes != 0) annotate(to, "bytes", facts.bytes);
  if (facts.offset != no_offset) annotate(to, "offset", facts.offset);
  if (facts.update != update::none) annotate(to, "update", update_words[static_cast<int>(facts.update)]);
  if (facts.compare >= 0) annotate(to, "compare", compare_words[facts.compare]);
  if (facts.update != update::none || facts.compare >= 0) annotate(to, "value", facts.value);
  if (facts.kind == event_kind::wait && facts.offset != no_offset) annotate(to, "seen", facts.seen);
  if (facts.kind == event_kind::collective) annotate(to, "team", facts.team);
  if (facts.number != 0) annotate(to, "number", facts.number);
  if (facts.stream != 0) annotate(to, "stream", facts.stream);
  annotate(to, "by", caller_words[static_cast<int>(facts.by)]);
  if (facts.route != route::none) annotate(to, "route", route_words[static_cast<int>(facts.route)]);
}

/// Writes the packets of one PE.
class pe_writer {
 public:
  pe_writer(std::string& file, const pe_trace& pe) : file_(file), of_(pe), next_track_(perfetto::track_of(pe.pe)) {}

  void write() {
    const std::uint64_t own = describe(fmt::format("PE {}, pid {} on {}", of_.pe, of_.pid, of_.host), 0);
    write_about(own);
    for (const track& source : of_.tracks) write(source, own);
  }

 private:
  /// One row of the displayed trace, and the events of this row that have begun and have not ended.
  struct lane {
    std::uint64_t uuid;
    std::vector<const event*> open;
  };

  std::uint64_t describe(const std::string& name, std::uint64_t parent) {
    message_writer descriptor;
    descriptor.number(perfetto::descriptor::uuid, next_track_);
    descriptor.text(perfetto::descriptor::name, name);
    if (parent != 0) descriptor.number(perfetto::descriptor::parent, parent);
    message_writer packet;
    packet.number(perfetto::packet::sequence, sequence());
    packet.message(perfetto::packet::track_descriptor, descriptor);
    add(packet);
    return next_track_++;
  }

  void write_about(std::uint64_t uuid) {
    message_writer what = track_message(uuid, track_event::instant);
    what.text(track_event::category, "pgas");
    what.text(track_event::name, perfetto::about_pe);
    annotate(what, "pe", std::int64_t{of_.pe});
    annotate(what, "pes", std::int64_t{of_.pes});
    annotate(what, "host", of_.host);
    annotate(what, "pid", std::int64_t{of_.pid});
    annotate(what, "job", of_.job);
    annotate(what, "begin", of_.begin);
    annotate(what, "end", of_.end);
    annotate(what, "clock error", of_.clock_error);
    annotate(what, "lost events", of_.lost);
    add(of_.begin, what);
  }

  void write(const track& source, std::uint64_t parent) {
    std::vector<const event*> ordered;
    for (const event& item : source.events) ordered.push_back(&item);
    std::ranges::stable_sort(ordered, [](const event* a, const event* b) {
      return a->facts.begin != b->facts.begin ? a->facts.begin < b->facts.begin : a->facts.end > b->facts.end;
    });
    std::vector<lane> lanes{{describe(source.name, parent), {}}};
    for (const event* const item : ordered) {
      lane* at = nullptr;
      for (lane& row : lanes) {
        end_until(row, item->facts.begin);
        if (!row.open.empty() && row.open.back()->facts.end < item->facts.end) continue;
        at = &row;
        break;
      }
      if (at == nullptr)
        at = &lanes.emplace_back(lane{describe(fmt::format("{} ({})", source.name, lanes.size() + 1), parent), {}});
      begin(*at, *item);
    }
    for (lane& row : lanes) end_until(row, INT64_MAX);
  }

  void begin(lane& in, const event& item) {
    const bool moment = item.facts.begin == item.facts.end;
    message_writer what = track_message(in.uuid, moment ? track_event::instant : track_event::slice_begin);
    what.text(track_event::category, kind_words[static_cast<int>(item.facts.kind)]);
    what.text(track_event::name, item.name);
    annotate(what, item.facts);
    for (const std::uint64_t arrow : item.arrows_out) what.fixed(track_event::flow, arrow);
    if (moment)
      for (const std::uint64_t arrow : item.arrows_in) what.fixed(track_event::ending_flow, arrow);
    add(item.facts.begin, what);
    if (!moment) in.open.push_back(&item);
  }

  void end_until(lane& in, std::int64_t time) {
    for (; !in.open.empty() && in.open.back()->facts.end <= time; in.open.pop_back()) {
      message_writer what = track_message(in.uuid, track_event::slice_end);
      for (const std::uint64_t arrow : in.open.back()->arrows_in) what.fixed(track_event::ending_flow, arrow);
      add(in.open.back()->facts.end, what);
    }
  }

  [[nodiscard]] static message_writer track_message(std::uint64_t uuid, std::uint64_t type) {
    message_writer result;
    result.number(track_event::type, type);
    result.number(track_event::track, uuid);
    return result;
  }
  [[nodiscard]] std::uint64_t sequence() const { return static_cast<std::uint64_t>(of_.pe) + 1; }

  void add(std::int64_t time, const message_writer& what) {
    message_writer packet;
    packet.number(perfetto::packet::timestamp, static_cast<std::uint64_t>(time));
    packet.number(perfetto::packet::sequence, sequence());
    packet.message(perfetto::packet::track_event, what);
    add(packet);
  }
  void add(const message_writer& packet) {
    message_writer outer;
    outer.message(perfetto::trace_packet, packet);
    file_ += outer.bytes();
  }

  std::string& file_;
  const pe_trace& of_;
  std::uint64_t next_track_;
};

}  // namespace

std::string write_perfetto(const document& trace) {
  std::string file;
  for (const pe_trace& pe : trace.pes) pe_writer(file, pe).write();
  return file;
}

}  // namespace pgas::trace
