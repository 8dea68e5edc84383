/// @file
/// The variables that launchers set, as the bootstrap receives them.
#include "host/config/launcher_variables.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "pgas/error.hpp"

namespace pgas::config_detail {
namespace {

TEST(bootstrap_options, carries_the_configuration) {
  config c;
  c.bootstrap = "tcp";
  c.join_timeout = std::chrono::seconds(5);
  c.unique_id = "id";
  c.secret = "s";
  c.socket_ifname = "eth1";
  const bootstrap_options o = make_bootstrap_options(c, {});
  EXPECT_EQ(o.method, "tcp");
  EXPECT_EQ(o.timeout, std::chrono::seconds(5));
  EXPECT_EQ(o.unique_id, "id");
  EXPECT_EQ(o.secret, "s");
  EXPECT_EQ(o.interface, "eth1");
}

TEST(bootstrap_options, alone_nothing_is_given) {
  const bootstrap_options o = make_bootstrap_options({}, {});
  EXPECT_EQ(o.rank, -1);
  EXPECT_EQ(o.size, -1);
  EXPECT_EQ(o.local_fd, -1);
  EXPECT_EQ(o.master_port, -1);
  EXPECT_EQ(o.master_address, "");
  EXPECT_FALSE(o.pmix_launcher);
  EXPECT_FALSE(o.master_port_taken);
}

TEST(bootstrap_options, pgasrun) {
  const bootstrap_options o =
      make_bootstrap_options({}, {{"PGAS_RANK", "2"}, {"PGAS_SIZE", "4"}, {"PGAS_LOCAL_FD", "7"}});
  EXPECT_EQ(o.rank, 2);
  EXPECT_EQ(o.size, 4);
  EXPECT_EQ(o.local_fd, 7);
}

TEST(bootstrap_options, pmix_needs_rank_and_namespace) {
  EXPECT_TRUE(make_bootstrap_options({}, {{"PMIX_RANK", "0"}, {"PMIX_NAMESPACE", "1234"}}).pmix_launcher);
  EXPECT_FALSE(make_bootstrap_options({}, {{"PMIX_RANK", "0"}}).pmix_launcher);
}

TEST(bootstrap_options, torchrun) {
  const bootstrap_options o = make_bootstrap_options({}, {{"MASTER_ADDR", "node1"},
                                                          {"MASTER_PORT", "29500"},
                                                          {"RANK", "1"},
                                                          {"WORLD_SIZE", "2"},
                                                          {"TORCHELASTIC_RUN_ID", "job"},
                                                          {"TORCHELASTIC_USE_AGENT_STORE", "True"}});
  EXPECT_EQ(o.master_address, "node1");
  EXPECT_EQ(o.master_port, 29500);
  EXPECT_EQ(o.rank, 1);
  EXPECT_EQ(o.size, 2);
  EXPECT_EQ(o.run_id, "job");
  EXPECT_TRUE(o.master_port_taken);
}

TEST(bootstrap_options, processes_of_one_host_need_no_address_that_others_reach) {
  environment job{{"MASTER_ADDR", "node1"},
                  {"MASTER_PORT", "29500"},
                  {"RANK", "1"},
                  {"WORLD_SIZE", "4"},
                  {"LOCAL_WORLD_SIZE", "4"}};
  EXPECT_EQ(make_bootstrap_options({}, job).master_address, "127.0.0.1");
  EXPECT_EQ(make_bootstrap_options({}, {{"MASTER_ADDR", "node1"},
                                        {"MASTER_PORT", "29500"},
                                        {"RANK", "1"},
                                        {"WORLD_SIZE", "4"},
                                        {"LOCAL_WORLD_SIZE", "2"}})
                .master_address,
            "node1");
}

TEST(bootstrap_options, half_a_rendezvous_is_none) {
  const bootstrap_options o = make_bootstrap_options({}, {{"MASTER_ADDR", "node1"}, {"RANK", "not a number"}});
  EXPECT_EQ(o.master_address, "");
  EXPECT_EQ(o.rank, -1);
}

TEST(bootstrap_options, a_unique_id_with_rank_and_size_is_a_rendezvous) {
  const std::string id = make_unique_id();
  config with_id;
  with_id.unique_id = id;
  EXPECT_EQ(make_bootstrap_options(with_id, {{"RANK", "1"}}).rank, -1) << "half of it";
  std::vector<std::thread> pes;
  for (const char* const rank : {"0", "1"})
    pes.emplace_back([&, rank] {
      const bootstrap_options o = make_bootstrap_options(with_id, {{"RANK", rank}, {"WORLD_SIZE", "2"}});
      EXPECT_EQ(o.master_address, "");
      const chosen_bootstrap chosen = make_bootstrap(o);
      EXPECT_EQ(std::to_string(chosen.exchange->rank()), rank);
      EXPECT_EQ(chosen.exchange->size(), 2);
      chosen.exchange->barrier();
    });
  for (std::thread& pe : pes) pe.join();
}

TEST(bootstrap_options, own_rank_and_size_win) {
  const bootstrap_options o = make_bootstrap_options(
      {}, {{"PGAS_RANK", "3"}, {"PGAS_SIZE", "4"}, {"MASTER_ADDR", "node1"}, {"RANK", "1"}, {"WORLD_SIZE", "2"}});
  EXPECT_EQ(o.rank, 3);
  EXPECT_EQ(o.size, 4);
}

TEST(bootstrap_options, nonsense_from_a_launcher_is_an_error_that_names_it) {
  const std::pair<const char*, const char*> bad[] = {{"PGAS_RANK", "-1"},
                                                     {"PGAS_RANK", "two"},
                                                     {"PGAS_SIZE", "0"},
                                                     {"PGAS_SIZE", "99999999999"},
                                                     {"PGAS_LOCAL_FD", "3x"}};
  for (const auto& [name, value] : bad) {
    try {
      (void)make_bootstrap_options({}, {{name, value}});
      ADD_FAILURE() << name << '=' << value;
    } catch (const error& e) {
      EXPECT_EQ(e.code(), code::config_value);
      EXPECT_NE(std::string(e.what()).find(std::string(name) + '=' + value), std::string::npos) << e.what();
    }
  }
  EXPECT_THROW((void)make_bootstrap_options(
                   {}, {{"MASTER_ADDR", "a"}, {"RANK", "0"}, {"WORLD_SIZE", "1"}, {"MASTER_PORT", "70000"}}),
               error);
}

}  // namespace
}  // namespace pgas::config_detail
