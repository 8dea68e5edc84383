// Structs with public members, passed by a program that was compiled with headers of another version. The library reads
// the members that the program has. If the program sets members that the library does not have, the library refuses the
// struct.
#include "common/struct_members.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "pgas/launch.hpp"
#include "pgas/pgas.hpp"
#include "pgas/sharing.h"
#include "pgas/timeline.hpp"
#include "unit/worlds.hpp"

namespace {

using namespace pgas;
using namespace pgas::detail;

// A struct in three versions of a header: each version adds a member at the end.
struct first_version {
  int channels = 2;
};
struct second_version {
  int channels = 2;
  std::string name = "none";
};
struct third_version {
  int channels = 2;
  std::string name = "none";
  bool staged = false;
};

}  // namespace

template <>
struct pgas::detail::members_of<first_version> : pgas::detail::member_list<&first_version::channels> {};
template <>
struct pgas::detail::members_of<second_version>
    : pgas::detail::member_list<&second_version::channels, &second_version::name> {
  static constexpr const char* name = "options";
};
template <>
struct pgas::detail::members_of<third_version>
    : pgas::detail::member_list<&third_version::channels, &third_version::name, &third_version::staged> {
  static constexpr const char* name = "options";
};

namespace {

// The struct of a program, read by a library that was compiled with another version of the header.
template <class Library, class Program>
given<Library> as_seen(const given<Program>& passed) {
  return {reinterpret_cast<const Library*>(passed.options), passed.set, passed.last_set, passed.version};
}
template <class Library, class Program>
wanted<Library> as_seen(const wanted<Program>& passed) {
  return {reinterpret_cast<Library*>(passed.result), passed.members};
}

TEST(struct_members, the_library_reads_the_members_of_an_older_program) {
  first_version options;
  options.channels = 5;
  const third_version seen = taken(as_seen<third_version>(give(options)));
  EXPECT_EQ(seen.channels, 5);
  EXPECT_EQ(seen.name, "none");
  EXPECT_FALSE(seen.staged);
}

TEST(struct_members, an_older_library_reads_what_it_has) {
  third_version options;
  options.name = "rows";
  const second_version seen = taken(as_seen<second_version>(give(options)));
  EXPECT_EQ(seen.channels, 2);
  EXPECT_EQ(seen.name, "rows");
}

TEST(struct_members, an_older_library_refuses_a_member_that_it_does_not_have) {
  third_version options;
  options.staged = true;
  given<third_version> passed = give(options);
  passed.version = 10203;
  try {
    static_cast<void>(taken(as_seen<second_version>(passed)));
    ADD_FAILURE() << "expected an error";
  } catch (const error& refused) {
    EXPECT_EQ(refused.code(), code::version_mismatch);
    const std::string text = refused.what();
    for (const char* part : {"options::staged is set", "libpgas " PGAS_VERSION_TEXT, "Install libpgas 1.2.3 or newer",
                             "or leave the member at its default"})
      EXPECT_NE(text.find(part), text.npos) << text;
  }
}

TEST(struct_members, a_library_fills_the_members_that_the_program_has) {
  std::pair<first_version, int> program{{}, 7};
  fill(as_seen<third_version>(want(program.first)), third_version{4, "rows", true});
  EXPECT_EQ(program.first.channels, 4);
  EXPECT_EQ(program.second, 7) << "the memory behind the struct";
  third_version newer;
  fill(as_seen<second_version>(want(newer)), second_version{4, "rows"});
  EXPECT_EQ(newer.name, "rows");
  EXPECT_FALSE(newer.staged);
}

TEST(struct_members, the_library_fills_lists) {
  std::vector<second_version> list;
  fill(want(list), std::vector<second_version>{{1, "one"}, {2, "two"}});
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[1].name, "two");
}

TEST(struct_members, options_that_are_not_set_are_not_read) {
  EXPECT_EQ(give(team_config{}).set, 0u);
  EXPECT_EQ(give(team_config{.channels = 3}).set, 1u);
  EXPECT_EQ(give(team_config{.staged = true}).set, 2u);
  EXPECT_STREQ(give(team_config{.staged = true}).last_set, "staged");
  EXPECT_EQ(give(open_options{.place = memory_place::host()}).set, 2u);
  EXPECT_EQ(give(ticket_options{.description = "rows"}).set, 6u);
  config settings;
  EXPECT_EQ(give(settings).set, 0u);
  settings.lent_memory = true;
  EXPECT_EQ(give(settings).set, count_members<config>());
}

// The list must name the members in the order of their declaration. Otherwise a library of another version would read
// members from wrong offsets.
template <class Struct>
void expect_declared_order() {
  const Struct object{};
  const void* last = nullptr;
  const auto look_at = [&](const auto& member) {
    const void* const place = &(object.*member.place);
    EXPECT_LT(last, place) << members_of<Struct>::name << "::" << member.name;
    last = place;
  };
  std::apply([&](const auto&... members) { (look_at(members), ...); }, members_of<Struct>::list);
}

TEST(struct_members, the_lists_have_the_order_of_the_declarations) {
  expect_declared_order<team_config>();
  expect_declared_order<shared_memory_options>();
  expect_declared_order<ticket_options>();
  expect_declared_order<open_options>();
  expect_declared_order<opener>();
  expect_declared_order<launch_shape>();
  expect_declared_order<collective_request>();
  expect_declared_order<config>();
  expect_declared_order<bootstrap_options>();
  expect_declared_order<chosen_bootstrap>();
  expect_declared_order<wait_info>();
  expect_declared_order<peer_stats>();
  expect_declared_order<call_stats>();
  expect_declared_order<world_stats>();
  expect_declared_order<heap_usage>();
  expect_declared_order<heap_layout>();
  expect_declared_order<registration_usage>();
}

// Structured bindings need one name for each member, so a new member that is not in the list does not compile here.
TEST(struct_members, the_lists_name_all_members) {
  [[maybe_unused]] const auto& [channels, staged] = team_config{};
  EXPECT_EQ(count_members<team_config>(), 2u);
  [[maybe_unused]] const auto& [importers, block] = shared_memory_options{};
  EXPECT_EQ(count_members<shared_memory_options>(), 2u);
  [[maybe_unused]] const auto& [lifetime, opens, user, ready, access_of, description] = ticket_options{};
  EXPECT_EQ(count_members<ticket_options>(), 6u);
  [[maybe_unused]] const auto& [timeout, place, wait_until_ready] = open_options{};
  EXPECT_EQ(count_members<open_options>(), 3u);
  [[maybe_unused]] const auto& [pid, uid, since] = opener{};
  EXPECT_EQ(count_members<opener>(), 3u);
  [[maybe_unused]] const auto& [blocks, threads, shared_bytes, resident, urgent, overlaps] = launch_shape{};
  EXPECT_EQ(count_members<launch_shape>(), 6u);
  [[maybe_unused]] const auto& [what, op, type, alignment, root, most, element, count, to, from, dst, src, limit] =
      collective_request{};
  EXPECT_EQ(count_members<collective_request>(), 13u);
  [[maybe_unused]] const auto& [c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16, c17, c18, c19,
                                c20, c21, c22, c23, c24, c25, c26, c27, c28] = config{};
  EXPECT_EQ(count_members<config>(), 28u);
  [[maybe_unused]] const auto& [b1, b2, b3, b4, b5, b6, b7, b8, b9, b10, b11, b12, b13, b14] = bootstrap_options{};
  EXPECT_EQ(count_members<bootstrap_options>(), 14u);
  [[maybe_unused]] const auto& [exchange, text] = chosen_bootstrap{};
  EXPECT_EQ(count_members<chosen_bootstrap>(), 2u);
  [[maybe_unused]] const auto& [w1, w2, w3, w4, w5, w6, w7, w8, w9, w10] = wait_info{};
  EXPECT_EQ(count_members<wait_info>(), 10u);
  [[maybe_unused]] const auto& [p1, p2, p3, p4, p5] = peer_stats{};
  EXPECT_EQ(count_members<peer_stats>(), 5u);
  [[maybe_unused]] const auto& [s1, s2, s3, s4] = call_stats{};
  EXPECT_EQ(count_members<call_stats>(), 4u);
  [[maybe_unused]] const auto& [n1, peers, calls, n4, n5, n6, n7, n8, n9, n10, n11, n12] = world_stats{};
  EXPECT_EQ(count_members<world_stats>() + 2, 12u) << "peers and calls are lists";
  [[maybe_unused]] const auto& [used, mapped, heap_limit, largest, allocations] = heap_usage{};
  EXPECT_EQ(count_members<heap_usage>(), 5u);
  [[maybe_unused]] const auto& [base, bytes, stride, same] = heap_layout{};
  EXPECT_EQ(count_members<heap_layout>(), 4u);
  [[maybe_unused]] const auto& [registered, r_bytes, released] = registration_usage{};
  EXPECT_EQ(count_members<registration_usage>(), 3u);
}

// Option structs of the C interface that are smaller or larger than the library's struct.
TEST(struct_members, c_options_have_a_size) {
  pgas_shared_memory* memory = nullptr;
  ASSERT_EQ(pgas_share_new(PGAS_PLACE_HOST, 4096, 0, &memory), 0) << pgas_sharing_error();
  char text[PGAS_TICKET_BYTES];
  struct {
    pgas_ticket_options known{};
    int newer = 0;
    int newest = 0;
  } larger;
  larger.known.user = -1;
  EXPECT_EQ(pgas_shared_ticket_sized(memory, &larger.known, sizeof larger, text), 0) << pgas_sharing_error();
  larger.newer = 1;
  EXPECT_EQ(pgas_shared_ticket_sized(memory, &larger.known, sizeof larger, text), 106);
  EXPECT_NE(std::string(pgas_sharing_error()).find("install the libpgas of the program's headers"), std::string::npos);
  pgas_ticket_options whole{};
  whole.user = -1;
  whole.read_only = 1;  // this member is behind the end of the smaller struct, so the library does not read it
  EXPECT_EQ(pgas_shared_ticket_sized(memory, &whole, offsetof(pgas_ticket_options, ready), text), 0);
  pgas_opened_memory* opened = nullptr;
  ASSERT_EQ(pgas_open_memory(text, PGAS_PLACE_ANY, 10000, &opened), 0) << pgas_sharing_error();
  EXPECT_EQ(pgas_opened_read_only(opened), 0);
  whole.reserved = 1;
  EXPECT_EQ(pgas_shared_ticket(memory, &whole, text), 106);

  struct {
    pgas_opener known{};
    long newer = 5;
  } found[2];
  std::size_t count = 0;
  ASSERT_EQ(pgas_shared_openers_sized(memory, &found[0].known, sizeof found[0], 2, &count), 0);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(found[0].known.pid, ::getpid());
  EXPECT_EQ(found[0].newer, 0) << "members that the library does not have are 0";
  EXPECT_EQ(found[1].newer, 5) << "an element that the library does not fill";
  pgas_opened_close(opened);
  pgas_shared_free(memory);
}

// Kernels are compiled into the program, so the program and the library must have the same layout of contexts.
TEST(struct_members, a_context_of_another_layout_is_refused) {
  config settings;
  settings.heap = heap_kind::host;
  world w = world::join(std::move(make_thread_bootstraps(1).front()), settings);
  const auto expect = [](const auto& call, code expected, const char* part) {
    try {
      call();
      ADD_FAILURE() << "expected an error: " << part;
    } catch (const error& refused) {
      EXPECT_EQ(refused.code(), expected);
      EXPECT_NE(std::string(refused.what()).find(part), std::string::npos) << refused.what();
    }
  };
  EXPECT_EQ(w.context().abi_, context_layout);
  EXPECT_EQ(w.team().context().abi_, context_layout);
  const std::uint32_t other = context_layout + (1 << 16);
  expect([&] { check_kernels(w, other); }, code::version_mismatch,
         "compile the program, and each library with kernels");
  const auto nothing = [](auto, const auto&) {};
  context newer = w.context();
  newer.abi_ = other;
  expect([&] { launch(w, {}, nothing, newer); }, code::version_mismatch, "compile all parts of the program");
  expect([&] { launch(w, {}, nothing, direct_context(newer)); }, code::version_mismatch, "compile all parts");
  expect([&] { launch(w, {}, nothing, context{}); }, code::invalid_argument, "an empty context");
  launch(w, {}, nothing, w.context());
  launch(w, {}, nothing, w.direct_context());
  w.synchronize();
}

}  // namespace
