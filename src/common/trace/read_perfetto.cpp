#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <stdexcept>

#include "common/printable.hpp"
#include "common/trace/document.hpp"
#include "common/trace/perfetto.hpp"
#include "common/trace/protobuf.hpp"

namespace pgas::trace {

namespace {

[[noreturn]] void refuse(std::string_view why) {
  throw std::runtime_error(fmt::format("this is not a complete trace that pgas has written: {}", why));
}

/// Calls `use` with each field.
template <class Use>
void for_each_field(std::string_view bytes, const Use& use) {
  message_reader reader(bytes);
  while (const auto field = reader.next()) use(*field);
  if (reader.malformed()) refuse("a message ends in the middle of a field");
}

/// Makes a text from a file safe to print in a terminal, because any user can be the author of the file.
std::string text_of(const message_field& field) { return pgas::detail::printable(field.bytes); }

struct annotation {
  std::uint64_t number = 0;
  std::string text;
};

struct track_packet {
  std::int64_t time = 0;
  std::uint64_t type = 0;
  std::uint64_t track = 0;
  std::string category;
  std::string name;
  std::vector<std::uint64_t> flows;
  std::vector<std::uint64_t> ending_flows;
  std::map<std::string, annotation, std::less<>> annotations;

  [[nodiscard]] std::uint64_t number(std::string_view text, std::uint64_t otherwise = 0) const {
    const auto found = annotations.find(text);
    return found == annotations.end() ? otherwise : found->second.number;
  }
  [[nodiscard]] std::string text(std::string_view text) const {
    const auto found = annotations.find(text);
    return found == annotations.end() ? std::string() : found->second.text;
  }
};

template <class Words>
std::ptrdiff_t index_of(std::string_view word, const Words& words, std::ptrdiff_t otherwise) {
  const auto at = std::find(std::begin(words), std::end(words), word);
  return at == std::end(words) ? otherwise : at - std::begin(words);
}

void read_annotation(std::string_view bytes, track_packet& into) {
  std::string name;
  annotation value;
  for_each_field(bytes, [&](const message_field& field) {
    switch (field.number) {
      case perfetto::annotation::name: name = field.bytes; break;
      case perfetto::annotation::text_value: value.text = text_of(field); break;
      case perfetto::annotation::unsigned_value:
      case perfetto::annotation::signed_value: value.number = field.value; break;
      default: break;
    }
  });
  into.annotations[name] = value;
}

track_packet read_track_event(std::string_view bytes, std::int64_t time) {
  namespace numbers = perfetto::track_event;
  track_packet read;
  read.time = time;
  for_each_field(bytes, [&](const message_field& field) {
    switch (field.number) {
      case numbers::type: read.type = field.value; break;
      case numbers::track: read.track = field.value; break;
      case numbers::category: read.category = text_of(field); break;
      case numbers::name: read.name = text_of(field); break;
      case numbers::flow: read.flows.push_back(field.value); break;
      case numbers::ending_flow: read.ending_flows.push_back(field.value); break;
      case numbers::annotation: read_annotation(field.bytes, read); break;
      default: break;
    }
  });
  return read;
}

event event_of(const track_packet& from) {
  event result;
  result.name = from.name;
  result.arrows_out = from.flows;
  result.arrows_in = from.ending_flows;
  event_facts& facts = result.facts;
  facts.begin = facts.end = from.time;
  facts.kind = static_cast<event_kind>(index_of(from.category, kind_words, 0));
  facts.by = static_cast<caller>(index_of(from.text("by"), caller_words, 0));
  facts.route = static_cast<route>(index_of(from.text("route"), route_words, 0));
  facts.update = static_cast<update>(index_of(from.text("update"), update_words, 0));
  facts.compare = static_cast<std::int8_t>(index_of(from.text("compare"), compare_words, -1));
  facts.peer = static_cast<std::int32_t>(from.number("peer", ~std::uint64_t{0}));
  facts.bytes = from.number("bytes");
  facts.offset = from.number("offset", no_offset);
  facts.value = from.number("value");
  facts.seen = from.number("seen");
  facts.team = from.number("team");
  facts.number = from.number("number");
  facts.stream = from.number("stream");
  return result;
}

/// Reads packets and adds their events to the tracks of the PEs.
class reader {
 public:
  void read_packet(std::string_view bytes) {
    std::int64_t time = 0;
    for_each_field(bytes, [&](const message_field& field) {
      if (field.number == perfetto::packet::timestamp) time = static_cast<std::int64_t>(field.value);
    });
    for_each_field(bytes, [&](const message_field& field) {
      if (field.number == perfetto::packet::track_descriptor) read_descriptor(field.bytes);
      if (field.number == perfetto::packet::track_event) take(read_track_event(field.bytes, time));
    });
  }

  [[nodiscard]] document end() {
    if (of_.pes.empty()) refuse("it contains no PE");
    return std::move(of_);
  }

 private:
  struct place {
    std::size_t pe;
    std::size_t track;
    bool is_pe;
  };

  void read_descriptor(std::string_view bytes) {
    std::uint64_t uuid = 0;
    std::uint64_t parent = 0;
    std::string name;
    for_each_field(bytes, [&](const message_field& field) {
      switch (field.number) {
        case perfetto::descriptor::uuid: uuid = field.value; break;
        case perfetto::descriptor::parent: parent = field.value; break;
        case perfetto::descriptor::name: name = text_of(field); break;
        default: break;
      }
    });
    if (parent == 0) {
      places_[uuid] = {of_.pes.size(), 0, true};
      of_.pes.emplace_back();
      return;
    }
    const auto owner = places_.find(parent);
    if (owner == places_.end()) refuse("a track has no PE");
    std::vector<track>& tracks = of_.pes[owner->second.pe].tracks;
    places_[uuid] = {owner->second.pe, tracks.size(), false};
    tracks.push_back({name, {}});
  }

  void take(const track_packet& packet) {
    const auto at = places_.find(packet.track);
    if (at == places_.end()) refuse("an event has no track");
    pe_trace& pe = of_.pes[at->second.pe];
    if (at->second.is_pe) return take_about(packet, pe);
    std::vector<event>& events = pe.tracks[at->second.track].events;
    std::vector<std::size_t>& open = open_[packet.track];
    if (packet.type == perfetto::track_event::slice_end) {
      if (open.empty()) refuse("an event ends that has not begun");
      event& ended = events[open.back()];
      ended.facts.end = packet.time;
      ended.arrows_in.insert(ended.arrows_in.end(), packet.ending_flows.begin(), packet.ending_flows.end());
      open.pop_back();
      return;
    }
    if (packet.type == perfetto::track_event::slice_begin) open.push_back(events.size());
    events.push_back(event_of(packet));
  }

  static void take_about(const track_packet& packet, pe_trace& pe) {
    pe.pe = static_cast<std::int32_t>(packet.number("pe"));
    pe.pes = static_cast<std::int32_t>(packet.number("pes"));
    pe.host = packet.text("host");
    pe.pid = static_cast<std::int32_t>(packet.number("pid"));
    pe.job = packet.text("job");
    pe.begin = static_cast<std::int64_t>(packet.number("begin"));
    pe.end = static_cast<std::int64_t>(packet.number("end"));
    pe.clock_error = static_cast<std::int64_t>(packet.number("clock error"));
    pe.lost = packet.number("lost events");
  }

  document of_;
  std::map<std::uint64_t, place> places_;
  std::map<std::uint64_t, std::vector<std::size_t>> open_;
};

}  // namespace

document read_perfetto(std::string_view file) {
  reader into;
  for_each_field(file, [&](const message_field& field) {
    if (field.number == perfetto::trace_packet) into.read_packet(field.bytes);
  });
  return into.end();
}

}  // namespace pgas::trace
