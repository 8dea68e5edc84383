// The runtime that C interfaces share, with PEs that are threads. Each thread has its own runtime, as a process would
// have.
#include "host/compat/common/runtime.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <future>
#include <map>
#include <system_error>
#include <thread>

#include "../code_of.hpp"
#include "pgas/collective.hpp"
#include "pgas/rma.hpp"

namespace {

using namespace pgas::compat;
using pgas::code;
using pgas_test::code_of;

// Runs `body` as each of `n` PEs. An exception of a PE fails the test.
void as_pes(int n, const std::function<void(runtime&, start_request)>& body) {
  auto exchanges = pgas::make_thread_bootstraps(n, std::chrono::seconds(20));
  std::vector<std::thread> pes;
  for (int pe = 0; pe < n; ++pe)
    pes.emplace_back([&, pe] {
      runtime here;
      start_request request;
      request.exchange = std::move(exchanges[static_cast<std::size_t>(pe)]);
      try {
        body(here, std::move(request));
      } catch (const pgas::error& failed) {
        ADD_FAILURE() << "PE " << pe << ": " << failed.what();
      }
    });
  for (std::thread& pe : pes) pe.join();
}

class compat_runtime : public testing::Test {
 protected:
  void SetUp() override { ::unsetenv("PGAS_HEAP"); }
};

TEST_F(compat_runtime, a_deferred_start_knows_the_pes_and_joins_when_the_world_is_asked_for) {
  as_pes(3, [](runtime& here, start_request request) {
    int joined = 0;
    request.deferred = true;
    request.joined = [&](pgas::world& w) {
      ++joined;
      EXPECT_EQ(here.team(team_number::world).n_pes(), w.n_pes());
    };
    here.start(std::move(request));
    EXPECT_EQ(here.stage(), stage::bootstrapped);
    EXPECT_EQ(here.n_pes(), 3);
    for (const int team : {team_number::world, team_number::shared, team_number::node}) {
      EXPECT_EQ(here.team_my_pe(team), here.my_pe());
      EXPECT_EQ(here.team_n_pes(team), 3);
    }
    EXPECT_EQ(here.team_my_pe(team_number::same_rank_on_each_node), 0);
    EXPECT_EQ(here.team_n_pes(team_number::same_rank_on_each_node), 1);
    EXPECT_EQ(here.stage(), stage::bootstrapped);
    EXPECT_EQ(joined, 0);

    EXPECT_EQ(here.world().my_pe(), here.my_pe());
    EXPECT_EQ(here.stage(), stage::joined);
    EXPECT_EQ(joined, 1);
    for (const int team : {team_number::world, team_number::shared, team_number::node}) {
      EXPECT_EQ(here.team_my_pe(team), here.my_pe());
      EXPECT_EQ(here.team_n_pes(team), 3);
    }
    EXPECT_EQ(here.team_n_pes(team_number::same_rank_on_each_node), 1);
    here.stop();
    EXPECT_EQ(here.stage(), stage::none);
  });
}

TEST_F(compat_runtime, a_host_heap_is_joined_at_once) {
  ::setenv("PGAS_HEAP", "host", 1);
  as_pes(2, [](runtime& here, start_request request) {
    request.deferred = true;
    here.start(std::move(request));
    EXPECT_EQ(here.stage(), stage::joined);
    here.stop();
  });
}

TEST_F(compat_runtime, a_start_that_was_never_joined_ends_without_a_world) {
  as_pes(2, [](runtime& here, start_request request) {
    request.deferred = true;
    request.joined = [](pgas::world&) { ADD_FAILURE() << "nobody asked for it"; };
    request.leaving = [] { ADD_FAILURE() << "there is no world to leave"; };
    here.start(std::move(request));
    here.stop();
    EXPECT_EQ(here.stage(), stage::none);
  });
}

TEST_F(compat_runtime, starts_are_counted_and_only_the_last_stop_leaves) {
  as_pes(2, [](runtime& here, start_request request) {
    int left = 0;
    request.leaving = [&] { ++left; };
    here.start(std::move(request));
    here.start({});
    here.stop();
    EXPECT_EQ(here.stage(), stage::joined);
    EXPECT_EQ(left, 0);
    here.world().barrier_all();
    here.stop();
    EXPECT_EQ(here.stage(), stage::none);
    EXPECT_EQ(left, 1);
    here.stop();  // this is one call more than the number of starts
    EXPECT_EQ(left, 1);
  });
}

TEST_F(compat_runtime, calls_before_the_start_and_after_the_stop_are_refused) {
  runtime here;
  const auto refused = [&] {
    EXPECT_EQ(code_of([&] { static_cast<void>(here.world()); }), code::not_joined);
    EXPECT_EQ(code_of([&] { static_cast<void>(here.my_pe()); }), code::not_joined);
    EXPECT_EQ(code_of([&] { static_cast<void>(here.n_pes()); }), code::not_joined);
    EXPECT_EQ(code_of([&] { static_cast<void>(here.team_my_pe(0)); }), code::not_joined);
    EXPECT_EQ(code_of([&] { static_cast<void>(here.team(0)); }), code::not_joined);
    EXPECT_EQ(code_of([&] { here.destroy_team(6); }), code::not_joined);
    here.stop();  // the runtime is not started
  };
  refused();
  start_request alone;
  alone.exchange = std::move(pgas::make_thread_bootstraps(1).front());
  here.start(std::move(alone));
  here.stop();
  refused();
}

TEST_F(compat_runtime, teams_have_numbers_until_they_are_destroyed) {
  as_pes(4, [](runtime& here, start_request request) {
    here.start(std::move(request));
    const pgas::team& all = here.team(team_number::world);
    const int even = here.add_team(all.split_strided(0, 2, 2), 5);
    const bool member = here.my_pe() % 2 == 0;
    EXPECT_EQ(even, member ? team_number::first_own : team_number::invalid);
    const int every = here.add_team(all.split_strided(0, 1, 4));
    EXPECT_EQ(every, member ? team_number::first_own + 1 : team_number::first_own);
    EXPECT_EQ(here.team_n_pes(every), 4);
    if (member) {
      EXPECT_EQ(here.team_my_pe(even), here.my_pe() / 2);
      EXPECT_EQ(here.find_team(even).num_contexts, 5);
      here.destroy_team(even);
      EXPECT_FALSE(here.has_team(even));
      EXPECT_EQ(code_of([&] { static_cast<void>(here.team(even)); }), code::invalid_argument);
      EXPECT_EQ(code_of([&] { here.destroy_team(even); }), code::invalid_argument);
    }
    for (const int none : {-1, 4, 5, 1000})
      EXPECT_EQ(code_of([&] { static_cast<void>(here.team(none)); }), code::invalid_argument) << none;
    for (const int predefined : {0, 1, 2, 3, team_number::multicast})
      EXPECT_EQ(code_of([&] { here.destroy_team(predefined); }), code::invalid_argument) << predefined;
    EXPECT_TRUE(here.has_team(every));
    std::map<int, const pgas::team*> all_teams;
    here.for_each_team([&](int number, const pgas::team& item) { all_teams.emplace(number, &item); });
    EXPECT_EQ(all_teams.size(), 6u);
    for (const int number : {0, 1, 2, 3, team_number::multicast, every})
      EXPECT_EQ(all_teams[number], &here.team(number)) << number;
    here.stop();  // a team that still exists ends with the world
  });
}

TEST_F(compat_runtime, a_failed_start_leaves_nothing_behind) {
  as_pes(2, [](runtime& here, start_request request) {
    request.joined = [](pgas::world&) { throw pgas::error(code::device_failed, "no"); };
    const code thrown = code_of([&] { here.start(std::move(request)); });
    EXPECT_TRUE(thrown == code::device_failed || thrown == code::aborted) << pgas::to_string(thrown);
    EXPECT_EQ(here.stage(), stage::none);
    start_request alone;
    alone.exchange = std::move(pgas::make_thread_bootstraps(1).front());
    here.start(std::move(alone));
    EXPECT_EQ(here.world().n_pes(), 1);
    here.stop();
  });
}

// Simulates the lack of threads or memory on one PE, after the world was joined.
TEST_F(compat_runtime, what_the_system_refuses_ends_a_start_like_any_failure) {
  as_pes(2, [](runtime& here, start_request request) {
    int left = 0;
    request.joined = [&](pgas::world& w) {
      if (w.my_pe() == 0) throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
      w.barrier_all();  // PE 0 never reaches this barrier
    };
    request.leaving = [&] { ++left; };
    const bool refused = request.exchange->rank() == 0;
    EXPECT_EQ(code_of([&] { here.start(std::move(request)); }), refused ? code::system : code::aborted);
    EXPECT_EQ(here.stage(), stage::none);
    EXPECT_EQ(left, 1);
    start_request alone;
    alone.exchange = std::move(pgas::make_thread_bootstraps(1).front());
    here.start(std::move(alone));
    EXPECT_EQ(here.world().n_pes(), 1);
    here.stop();
  });
}

TEST_F(compat_runtime, a_failed_deferred_join_fails_the_same_way_again) {
  const std::pair<std::function<void()>, code> failures[] = {
      {[] { throw pgas::error(code::device_failed, "no"); }, code::device_failed},
      {[] { throw std::bad_alloc(); }, code::out_of_memory}};
  for (const auto& [fail, failed] : failures)
    as_pes(1, [&, wanted = failed](runtime& here, start_request request) {
      request.deferred = true;
      request.joined = [&](pgas::world&) { fail(); };
      here.start(std::move(request));
      for (int attempt = 0; attempt < 2; ++attempt)
        EXPECT_EQ(code_of([&] { static_cast<void>(here.world()); }), wanted);
      EXPECT_EQ(here.stage(), stage::bootstrapped);
      here.stop();
      EXPECT_EQ(here.stage(), stage::none);
    });
}

TEST(compat_to_status, errors_become_a_value_or_the_result_of_a_function) {
  const auto fail = []() -> int { throw pgas::error(code::pe_out_of_range, "PE 7"); };
  EXPECT_EQ(to_status("f", -3, fail), -3);
  EXPECT_EQ(to_status(
                "f", [](const pgas::error& e) { return static_cast<int>(e.code()); }, fail),
            301);
  EXPECT_EQ(to_status("f", -3, [] { return 4; }), 4);
  const auto no_memory = []() -> void* { throw std::bad_alloc(); };
  EXPECT_EQ(to_status("f", nullptr, no_memory), nullptr);
}

TEST(compat_or_global_exit_death_test, errors_end_the_process_and_name_the_function_that_the_program_called) {
  const auto fail_with = [](const char* text) { throw pgas::error(code::pe_out_of_range, text); };
  const auto ended = testing::ExitedWithCode(1);
  EXPECT_EQ(or_global_exit("f", [] { return 4; }), 4);
  EXPECT_EXIT(or_global_exit("f_p", [&] { fail_with("p: PE 7 is none"); }), ended,
              "error: f_p: PGAS-E0301: PE 7 is none\n$");
  EXPECT_EXIT(or_global_exit("f_p", [&] { fail_with("PE 7: none"); }), ended, "error: f_p: PGAS-E0301: PE 7: none\n$");
  EXPECT_EXIT(or_global_exit("f_all<>", [&] { fail_with("PE 7: none"); }), ended,
              "error: f_all: PGAS-E0301: PE 7: none\n$");  // the form in which nvcc names a function that is a template
  EXPECT_EXIT(or_global_exit("f", [] { throw std::bad_alloc(); }), ended,
              "error: f: PGAS-E0[0-9]*: this process has no host memory .*\n$");
}

TEST(compat_handle_table, gives_the_lowest_free_number) {
  handle_table<std::string> table("thing", 3);
  EXPECT_EQ(table.add("a"), 3);
  EXPECT_EQ(table.add("b"), 4);
  std::string& c = table.find(table.add("c"));
  EXPECT_EQ(table.end(), 6);
  EXPECT_EQ(table.take(4), "b");
  EXPECT_FALSE(table.contains(4));
  EXPECT_EQ(code_of([&] { static_cast<void>(table.take(4)); }), code::invalid_argument);
  for (const int none : {-1, 0, 2, 4, 6, 1 << 30})
    EXPECT_EQ(code_of([&] { static_cast<void>(table.find(none)); }), code::invalid_argument) << none;
  EXPECT_EQ(table.add("d"), 4);
  EXPECT_EQ(c, "c");
  table.clear();
  EXPECT_EQ(table.add("e"), 3);
}

TEST(compat_handle_table, nothing_is_taken_out_while_it_is_looked_at) {
  handle_table<std::string> table("thing", 3);
  for (const auto* text : {"a", "b", "c"}) static_cast<void>(table.add(text));
  static_cast<void>(table.take(4));
  std::string seen;
  std::future<std::string> taken;
  table.for_each([&](int number, const std::string& text) {
    if (!taken.valid()) taken = std::async(std::launch::async, [&] { return table.take(5); });
    EXPECT_EQ(taken.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
    seen += text + std::to_string(number);
  });
  EXPECT_EQ(seen, "a3c5");
  EXPECT_EQ(taken.get(), "c");
  EXPECT_FALSE(table.contains(5));
}

}  // namespace
