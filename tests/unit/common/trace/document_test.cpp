// A trace is unchanged after it was written and read, and the events of every track are properly nested.
#include "common/trace/document.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>

#include "common/trace/perfetto.hpp"
#include "common/trace/protobuf.hpp"

namespace {

using namespace pgas::trace;

event make_event(std::int64_t begin, std::int64_t end, const std::string& name) {
  event item;
  item.facts.begin = begin;
  item.facts.end = end;
  item.name = name;
  return item;
}

pe_trace pe(int number, std::vector<track> tracks) {
  pe_trace pe;
  pe.pe = number;
  pe.pes = 2;
  pe.host = "here";
  pe.pid = 100 + number;
  pe.job = "job";
  pe.begin = 5;
  pe.end = 1000;
  pe.clock_error = 17;
  pe.lost = 3;
  pe.tracks = std::move(tracks);
  return pe;
}

TEST(document, is_the_same_after_writing_and_reading) {
  event put = make_event(10, 20, "put_signal");
  put.facts.kind = event_kind::signal;
  put.facts.by = caller::kernel;
  put.facts.route = route::direct;
  put.facts.update = update::add;
  put.facts.peer = 1;
  put.facts.bytes = 4096;
  put.facts.offset = 0;  // the first word of the heap is a valid word
  put.facts.value = 1;
  put.arrows_out = {7};
  event wait = make_event(12, 30, "wait_until");
  wait.facts.kind = event_kind::wait;
  wait.facts.compare = 5;
  wait.facts.offset = 0;
  wait.facts.value = 1;
  wait.facts.seen = ~std::uint64_t{0};
  wait.arrows_in = {7, 8};
  event barrier = make_event(40, 50, "barrier");
  barrier.facts.kind = event_kind::collective;
  barrier.facts.team = 2;
  barrier.facts.number = 9;
  barrier.facts.stream = 0xabc;
  const document before{{pe(0, {{"main", {put, barrier}}}), pe(1, {{"main", {wait}}, {"proxy", {}}})}};
  const document after = read_perfetto(write_perfetto(before));
  ASSERT_EQ(after.pes.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    const pe_trace& was = before.pes[i];
    const pe_trace& is = after.pes[i];
    EXPECT_EQ(std::tie(is.pe, is.pes, is.host, is.pid, is.job, is.begin, is.end, is.clock_error, is.lost),
              std::tie(was.pe, was.pes, was.host, was.pid, was.job, was.begin, was.end, was.clock_error, was.lost));
    ASSERT_EQ(is.tracks.size(), was.tracks.size());
    for (std::size_t t = 0; t < was.tracks.size(); ++t) {
      EXPECT_EQ(is.tracks[t].name, was.tracks[t].name);
      ASSERT_EQ(is.tracks[t].events.size(), was.tracks[t].events.size());
      for (std::size_t e = 0; e < was.tracks[t].events.size(); ++e) {
        const event& a = was.tracks[t].events[e];
        const event& b = is.tracks[t].events[e];
        EXPECT_EQ(std::tie(a.name, a.arrows_out, a.arrows_in), std::tie(b.name, b.arrows_out, b.arrows_in));
        const event_facts& x = a.facts;
        const event_facts& y = b.facts;
        EXPECT_EQ(std::tie(x.begin, x.end, x.bytes, x.offset, x.value, x.seen, x.team, x.number, x.stream, x.peer,
                           x.kind, x.by, x.route, x.update, x.compare),
                  std::tie(y.begin, y.end, y.bytes, y.offset, y.value, y.seen, y.team, y.number, y.stream, y.peer,
                           y.kind, y.by, y.route, y.update, y.compare))
            << a.name;
      }
    }
  }
}

TEST(document, events_that_overlap_lie_on_several_tracks) {
  const std::vector<event> overlapping = {make_event(0, 10, "a"),   make_event(5, 15, "b"),
                                          make_event(6, 9, "in a"), make_event(7, 8, "in it"),
                                          make_event(15, 20, "c"),  make_event(15, 15, "moment")};
  const document after = read_perfetto(write_perfetto({{pe(0, {{"commands", overlapping}})}}));
  ASSERT_EQ(after.pes.at(0).tracks.size(), 2U);
  EXPECT_EQ(after.pes[0].tracks[1].name, "commands (2)");
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> times;
  for (const track& lane : after.pes[0].tracks) {
    for (const event& is : lane.events) {
      times[is.name] = {is.facts.begin, is.facts.end};
      for (const event& other : lane.events) {
        const bool apart = is.facts.end <= other.facts.begin || other.facts.end <= is.facts.begin;
        const bool inside = (is.facts.begin <= other.facts.begin && other.facts.end <= is.facts.end) ||
                            (other.facts.begin <= is.facts.begin && is.facts.end <= other.facts.end);
        EXPECT_TRUE(apart || inside) << is.name << ' ' << other.name;
      }
    }
  }
  for (const event& was : overlapping)
    EXPECT_EQ(times.at(was.name), std::make_pair(was.facts.begin, was.facts.end)) << was.name;
}

TEST(document, a_file_cut_off_anywhere_or_of_something_else_is_refused_or_shorter) {
  const std::string whole = write_perfetto({{pe(0, {{"main", {make_event(1, 2, "a")}}})}});
  for (std::size_t length = 0; length < whole.size(); ++length) {
    try {
      EXPECT_LE(read_perfetto(whole.substr(0, length)).pes.size(), 1U);
    } catch (const std::runtime_error&) {
      continue;
    }
  }
  EXPECT_THROW(static_cast<void>(read_perfetto("")), std::runtime_error);
  EXPECT_THROW(static_cast<void>(read_perfetto("#!/bin/sh\nexit\n")), std::runtime_error);
  EXPECT_THROW(static_cast<void>(read_perfetto(std::string(100, '\0'))), std::runtime_error);
}

TEST(document, texts_of_a_file_hold_no_control_characters) {
  document trace;
  trace.pes.push_back(pe(0, {{"host\x1b[2J", {make_event(10, 20, "call\x07\n")}}}));
  trace.pes[0].job = "job\x1b]0;title\x07";
  const document read = read_perfetto(write_perfetto(trace));
  EXPECT_EQ(read.pes[0].job, "job\\x1b]0;title\\x07");
  EXPECT_EQ(read.pes[0].tracks[0].name, "host\\x1b[2J");
  EXPECT_EQ(read.pes[0].tracks[0].events[0].name, "call\\x07\\x0a");
}

}  // namespace
