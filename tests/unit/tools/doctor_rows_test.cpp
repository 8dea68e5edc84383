// The rows of pgas-doctor for figures and differences that the test machines do not have: GPUs, RDMA, many hosts.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "tools/pgas-doctor/job_checks.hpp"
#include "tools/pgas-doctor/report.hpp"
#include "tools/pgas-doctor/row.hpp"
#include "tools/pgas-doctor/world_checks.hpp"

namespace pgas::doctor {
namespace {

/// Two PEs on one host or on two hosts, without GPUs and RDMA.
job two_pes(bool one_host) {
  job all;
  for (int pe = 0; pe < 2; ++pe) {
    facts mine;
    mine["host"] = one_host ? "node1" : "node" + std::to_string(pe + 1);
    mine["boot"] = one_host ? "a" : std::to_string(pe);
    mine["net"] = "n";
    mine["pid namespace"] = "p";
    mine["ipc namespace"] = "i";
    mine["user"] = "1000";
    mine["socket kind"] = "abstract";
    mine["library"] = {{"path", "/lib/libpgas.so"}, {"version", "0.1.0"}, {"build", "b"}};
    mine["PGAS_P2P"] = "all";
    mine["PGAS_HEAP"] = "auto";
    mine["CUDA_VISIBLE_DEVICES"] = "not set";
    mine["gpus"] = nlohmann::json::array();
    mine["cpus"] = {2 * pe, 2 * pe + 1};
    mine["rdma"] = nlohmann::json::array();
    all.pes.push_back(mine);
    all.host_of.push_back(one_host ? 0 : pe);
  }
  all.direct = {{true, one_host}, {one_host, true}};
  return all;
}

std::vector<pair_route> routes(bool direct, const std::string& lanes, double speed) {
  const std::string route = direct ? "load and store" : "proxy over ucx 1.13.1";
  return {{0, 0, true, "itself", "", 100},
          {0, 1, direct, route, lanes, speed},
          {1, 0, direct, route, lanes, speed},
          {1, 1, true, "itself", "", 100}};
}

row named(const std::vector<row>& rows, const std::string& name) {
  const auto found = std::ranges::find_if(rows, [&](const row& each) { return each.name == name; });
  return found == rows.end() ? row{"there is no such row", verdict::unknown, ""} : *found;
}

row judged(const job& all, const std::vector<pair_route>& pairs, bool gpu = false, const config& settings = {}) {
  const std::vector<row> rows = judge_routes(pairs, all, settings, gpu);
  EXPECT_EQ(rows.size(), 1U);
  return rows.front();
}

TEST(DoctorRoutes, tcp_between_hosts_is_ok_where_there_is_nothing_better) {
  EXPECT_EQ(judged(two_pes(false), routes(false, "tcp/eth0", 1)).is, verdict::ok);
}

TEST(DoctorRoutes, tcp_is_slow_where_a_port_of_infiniband_is_active) {
  job all = two_pes(false);
  for (facts& each : all.pes) each["rdma"] = {"mlx5_0:1"};
  const row tcp = judged(all, routes(false, "tcp/eth0", 1));
  EXPECT_EQ(tcp.is, verdict::slow);
  EXPECT_NE(tcp.means.find("mlx5_0:1"), std::string::npos);
  EXPECT_NE(tcp.fix.find("ucx_info -d"), std::string::npos);
  EXPECT_EQ(judged(all, routes(false, "rc_mlx5/mlx5_0:1", 20)).is, verdict::ok);
}

TEST(DoctorRoutes, tcp_is_slow_for_gpu_memory) {
  const row found = judged(two_pes(false), routes(false, "tcp/eth0", 0.4), true);
  EXPECT_EQ(found.is, verdict::slow);
  EXPECT_NE(found.found.find("0.4 GB/s"), std::string::npos);
  EXPECT_EQ(found.means, "GPU memory goes over TCP, staged");
}

TEST(DoctorRoutes, proxies_inside_a_host_name_the_setting_or_the_cause) {
  config settings;
  settings.p2p = "0";
  EXPECT_NE(judged(two_pes(true), routes(false, "posix/memory", 3), false, settings).fix.find("unset PGAS_P2P"),
            std::string::npos);
  EXPECT_NE(judged(two_pes(true), routes(false, "posix/memory", 3)).fix.find("GPU pairs"), std::string::npos);
}

TEST(DoctorRoutes, load_and_store_is_slow_far_below_what_the_hardware_passes) {
  EXPECT_EQ(judged(two_pes(true), routes(true, "", 50)).is, verdict::ok);
  EXPECT_EQ(judged(two_pes(true), routes(true, "", 5)).is, verdict::slow);
  EXPECT_EQ(judged(two_pes(true), routes(true, "", 4), true).is, verdict::slow);
  EXPECT_EQ(judged(two_pes(true), routes(true, "", 12), true).is, verdict::ok);
  EXPECT_EQ(judged(two_pes(true), routes(true, "", 0)).is, verdict::ok) << "it was not measured";
  job crowded = two_pes(true);
  for (facts& each : crowded.pes) each["cpus"] = {0};
  EXPECT_EQ(judged(crowded, routes(true, "", 5)).is, verdict::ok) << "times of a crowded host say little";
}

TEST(DoctorComparison, a_job_that_is_alike_is_ok) {
  for (const row& each : compare(two_pes(true), {})) EXPECT_EQ(each.is, verdict::ok) << each.name << ": " << each.found;
}

TEST(DoctorComparison, gpus_that_some_pes_do_not_see) {
  job all = two_pes(true);
  all.pes[0]["gpus"] = {"GPU-1"};
  EXPECT_EQ(named(compare(all, {}), "same GPUs").is, verdict::slow);
  for (facts& each : all.pes) each["PGAS_HEAP"] = "cuda";
  EXPECT_EQ(named(compare(all, {}), "same GPUs").is, verdict::fails);
  all.pes[1]["gpus"] = {"GPU-2"};
  EXPECT_EQ(named(compare(all, {}), "same GPUs").is, verdict::unknown);
  all.pes[1]["gpus"] = {"GPU-1"};
  EXPECT_EQ(named(compare(all, {}), "same GPUs").is, verdict::ok);
}

TEST(DoctorComparison, one_cpu_is_too_little_for_a_proxied_pe) {
  job all = two_pes(false);
  EXPECT_EQ(named(compare(all, {}), "CPUs").is, verdict::ok);
  for (facts& each : all.pes) each["cpus"] = {0};
  EXPECT_EQ(named(compare(all, {}), "CPUs").is, verdict::slow);
}

TEST(DoctorRows, those_that_say_the_same_are_one) {
  const row same{"threads", verdict::ok, "enough"};
  const row other{"threads", verdict::fails, "none", "joining fails", "ulimit -u"};
  const std::vector<row> merged = merge({{same}, {other}, {same}, {other}});
  ASSERT_EQ(merged.size(), 2U);
  EXPECT_EQ(merged[0].pes, (std::vector<int>{0, 2}));
  EXPECT_EQ(merged[1].pes, (std::vector<int>{1, 3}));
  EXPECT_TRUE(merge({{same}, {same}})[0].pes.empty()) << "a row of all PEs names none";
  EXPECT_EQ(name_pes({0, 1, 2, 5, 7, 8}), "PE 0-2, 5, 7-8");
}

TEST(DoctorRows, figures_that_differ_and_are_ok_fill_no_page) {
  std::vector<std::vector<row>> of_pes;
  for (int pe = 0; pe < 64; ++pe) of_pes.push_back({{"memory", verdict::ok, std::to_string(pe) + " GiB"}});
  EXPECT_EQ(merge(of_pes).size(), 1U);
  of_pes[7] = {{"memory", verdict::fails, "none", "no room", "more"}};
  EXPECT_EQ(merge(of_pes).size(), 2U) << "what fails is never left out";
}

TEST(DoctorTable, fits_its_width_and_has_no_control_characters) {
  const std::string word(300, 'x');
  const std::vector<row> rows{{"UCX", verdict::fails, "a\nb\033[31m" + word, word + " " + word, "fix it"}};
  const std::string table = table_of({0, 2, 1, "pgasrun", {}}, rows, {80, false});
  EXPECT_EQ(table.find('\033'), std::string::npos);
  for (std::size_t at = 0; at < table.size();) {
    const std::size_t stop = table.find('\n', at);
    EXPECT_LE(stop - at, 80U);
    at = stop + 1;
  }
  EXPECT_NE(table_of({}, rows, {80, true}).find("\033[1;31mfails"), std::string::npos);
}

TEST(DoctorDocument, is_json_whatever_a_library_said) {
  const nlohmann::json document = nlohmann::json::parse(
      document_of({0, 2, 1, "pgasrun", routes(true, "", 3)}, {{"UCX", verdict::fails, "\xff\xfe"}}));
  EXPECT_EQ(document["verdict"], "fails");
  EXPECT_EQ(document["pairs"].size(), 4U);
  EXPECT_EQ(document["pairs"][1]["gigabytes_per_second"], 3);
}

}  // namespace
}  // namespace pgas::doctor
