/// @file
/// Converts environment variables to a config: every option, aliases, errors that name the variable, and remarks about
/// unknown variables.
#include "host/config/read_environment.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "host/config/config_text.hpp"
#include "host/config/option_value.hpp"
#include "pgas/error.hpp"

namespace pgas::config_detail {
namespace {

std::string message_of(const environment& variables) {
  try {
    (void)read(variables);
  } catch (const error& e) {
    EXPECT_EQ(e.code(), code::config_value);
    return e.what();
  }
  return "no error";
}

bool mentions(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(read, an_empty_environment_gives_the_defaults) {
  const reading result = read({});
  const config defaults;
  for (const option& row : options()) EXPECT_EQ(print(result.settings, row), print(defaults, row)) << row.name;
  EXPECT_TRUE(result.origin.empty());
  EXPECT_TRUE(result.remarks.empty());
}

TEST(read, every_option_reaches_its_field) {
  const config c = read({{"PGAS_BOOTSTRAP", "tcp"},
                         {"PGAS_UNIQUE_ID", "id"},
                         {"PGAS_SECRET", "s"},
                         {"PGAS_SOCKET_IFNAME", "eth0"},
                         {"PGAS_JOIN_TIMEOUT", "2m"},
                         {"PGAS_HEAP", "host"},
                         {"PGAS_MEM_HANDLE", "named"},
                         {"PGAS_DEVICE", "3"},
                         {"PGAS_HEAP_LIMIT", "8G"},
                         {"PGAS_SEGMENT_SIZE", "512K"},
                         {"PGAS_HEAP_STRIDE", "3G"},
                         {"PGAS_P2P", "0,2/1,3"},
                         {"PGAS_SOCKET_DIR", "/run/x"},
                         {"PGAS_TEST_HOST", "b"},
                         {"PGAS_HEARTBEAT_TIMEOUT", "5s"},
                         {"PGAS_CHECKS", "yes"},
                         {"PGAS_WAIT_TIMEOUT", "1500ms"},
                         {"PGAS_WAIT_WARNING", "90s"},
                         {"PGAS_DEFAULT_STREAM_WAIT", "3s"},
                         {"PGAS_HOST_BLOCK_THREADS", "4"},
                         {"PGAS_LENT_MEMORY", "1"},
                         {"PGAS_NVTX", "off"},
                         {"PGAS_LOG", "debug"},
                         {"PGAS_LOG_FILE", "x.log"},
                         {"PGAS_SIGUSR1", "1"},
                         {"PGAS_TRACE", "trace.%r"},
                         {"PGAS_TRACE_SAMPLE", "16"}})
                       .settings;
  EXPECT_EQ(c.bootstrap, "tcp");
  EXPECT_EQ(c.unique_id, "id");
  EXPECT_EQ(c.secret, "s");
  EXPECT_EQ(c.socket_ifname, "eth0");
  EXPECT_EQ(c.join_timeout, std::chrono::minutes(2));
  EXPECT_EQ(c.heap, heap_kind::host);
  EXPECT_EQ(c.mem_handle, handle_kind::named);
  EXPECT_EQ(c.device, 3);
  EXPECT_EQ(c.heap_limit, std::size_t{8} << 30);
  EXPECT_EQ(c.segment_size, 512u << 10);
  EXPECT_EQ(c.heap_stride, std::size_t{4} << 30) << "rounded up to a power of two";
  EXPECT_EQ(c.p2p, "0,2/1,3");
  EXPECT_EQ(c.socket_directory, "/run/x");
  EXPECT_EQ(c.test_host, "b");
  EXPECT_EQ(c.heartbeat_timeout, std::chrono::seconds(5));
  EXPECT_TRUE(c.checks);
  EXPECT_EQ(c.wait_timeout, std::chrono::milliseconds(1500));
  EXPECT_EQ(c.wait_warning, std::chrono::seconds(90));
  EXPECT_EQ(c.default_stream_wait, std::chrono::seconds(3));
  EXPECT_EQ(c.host_block_threads, 4);
  EXPECT_TRUE(c.lent_memory);
  EXPECT_FALSE(c.nvtx);
  EXPECT_EQ(c.log, log_level::debug);
  EXPECT_EQ(c.log_file, "x.log");
  EXPECT_TRUE(c.sigusr1);
  EXPECT_EQ(c.trace, "trace.%r");
  EXPECT_EQ(c.trace_sample, 16);
}

TEST(read, every_word_of_an_enumeration_has_its_value) {
  EXPECT_EQ(read({{"PGAS_HEAP", "auto"}}).settings.heap, heap_kind::automatic);
  EXPECT_EQ(read({{"PGAS_HEAP", "CUDA"}}).settings.heap, heap_kind::cuda);
  EXPECT_EQ(read({{"PGAS_MEM_HANDLE", "auto"}}).settings.mem_handle, handle_kind::automatic);
  EXPECT_EQ(read({{"PGAS_MEM_HANDLE", "fabric"}}).settings.mem_handle, handle_kind::fabric);
  EXPECT_EQ(read({{"PGAS_MEM_HANDLE", "posix_fd"}}).settings.mem_handle, handle_kind::posix_fd);
  EXPECT_EQ(read({{"PGAS_MEM_HANDLE", "cuda_ipc"}}).settings.mem_handle, handle_kind::cuda_ipc);
  EXPECT_EQ(read({{"PGAS_LOG", "error"}}).settings.log, log_level::error);
  EXPECT_EQ(read({{"PGAS_LOG", "warn"}}).settings.log, log_level::warn);
  EXPECT_EQ(read({{"PGAS_LOG", "info"}}).settings.log, log_level::info);
}

TEST(read, a_bad_value_names_variable_value_and_what_is_allowed) {
  const std::string heap = message_of({{"PGAS_HEAP", "gpu"}});
  EXPECT_TRUE(mentions(heap, "PGAS-E0601")) << heap;
  EXPECT_TRUE(mentions(heap, "PGAS_HEAP=gpu")) << heap;
  EXPECT_TRUE(mentions(heap, "auto, cuda, host")) << heap;
  EXPECT_TRUE(mentions(message_of({{"PGAS_CHECKS", "maybe"}}), "PGAS_CHECKS=maybe"));
  EXPECT_TRUE(mentions(message_of({{"PGAS_HOST_BLOCK_THREADS", "0"}}), "from 1 to 1024"));
  EXPECT_TRUE(mentions(message_of({{"PGAS_DEVICE", "-2"}}), "from -1 to"));
  EXPECT_TRUE(mentions(message_of({{"PGAS_DEVICE", "4294967295"}}), "PGAS_DEVICE=4294967295"));
  EXPECT_TRUE(mentions(message_of({{"PGAS_SEGMENT_SIZE", "1"}}), "at least 4K"));
  EXPECT_TRUE(mentions(message_of({{"PGAS_HEAP_STRIDE", "16777215T"}}), "PGAS_HEAP_STRIDE"));
  EXPECT_TRUE(mentions(message_of({{"PGAS_JOIN_TIMEOUT", "0"}}), "at least 1ms"));
  EXPECT_TRUE(mentions(message_of({{"PGAS_HEARTBEAT_TIMEOUT", "999ms"}}), "at least 1s"));
  EXPECT_TRUE(mentions(message_of({{"PGAS_BOOTSTRAP", "mpi"}}), "auto, pmix, tcp, local, singleton"));
}

TEST(read, an_empty_variable_is_not_set) {
  const reading result = read({{"PGAS_HEAP", ""}, {"PGAS_HOST_BLOCK_THREADS", ""}});
  EXPECT_EQ(result.settings.heap, heap_kind::automatic);
  EXPECT_TRUE(result.origin.empty());
}

TEST(read, aliases_apply_where_the_option_is_not_set) {
  EXPECT_EQ(read({{"NVSHMEM_HEAP_KIND", "DEVICE"}}).settings.heap, heap_kind::cuda);
  EXPECT_EQ(read({{"NVSHMEM_HEAP_KIND", "SYSMEM"}}).settings.heap, heap_kind::host);
  EXPECT_EQ(read({{"SHMEM_HEAP_KIND", "DEVICE"}}).settings.heap, heap_kind::cuda);
  EXPECT_EQ(read({{"NVSHMEM_SYMMETRIC_SIZE", "1G"}}).settings.segment_size, std::size_t{1} << 30);
  EXPECT_EQ(read({{"SHMEM_SYMMETRIC_SIZE", "2G"}}).settings.segment_size, std::size_t{2} << 30);
  EXPECT_EQ(read({{"NVSHMEM_MAX_MEMORY_PER_GPU", "200G"}}).settings.heap_stride, std::size_t{256} << 30);
  EXPECT_EQ(read({{"NVSHMEM_CUMEM_HANDLE_TYPE", "FILE_DESCRIPTOR"}}).settings.mem_handle, handle_kind::posix_fd);
  EXPECT_EQ(read({{"NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME", "ib0"}}).settings.socket_ifname, "ib0");
  EXPECT_TRUE(read({{"NVSHMEM_ENABLE_ERROR_CHECKS", "1"}}).settings.checks);
  EXPECT_FALSE(read({{"NVSHMEM_TMA_POLICY", "DISABLE"}}).settings.lent_memory);
  EXPECT_TRUE(read({{"NVSHMEM_TMA_POLICY", "ENABLE"}}).settings.lent_memory);
  EXPECT_TRUE(read({{"NVSHMEM_TMA_POLICY", "FORCE"}}).settings.lent_memory);
  EXPECT_FALSE(read({{"NVSHMEM_NVTX", "off"}}).settings.nvtx);
  EXPECT_TRUE(read({{"NVSHMEM_NVTX", "common"}}).settings.nvtx);
  EXPECT_EQ(read({{"NVSHMEM_DEBUG", "TRACE"}}).settings.log, log_level::debug);
  EXPECT_EQ(read({{"NVSHMEM_DEBUG_FILE", "n.log"}}).settings.log_file, "n.log");
  EXPECT_EQ(read({{"SHMEM_SYMMETRIC_SIZE", ".5g"}}).settings.segment_size, std::size_t{1} << 29);
  EXPECT_EQ(read({{"SHMEM_SYMMETRIC_SIZE", "20kk"}}).settings.segment_size, 20u << 10);
  EXPECT_EQ(read({{"SHMEM_SYMMETRIC_SIZE", "0"}}).settings.segment_size, 4096u) << "as little as there can be";
  EXPECT_EQ(read({{"SMA_SYMMETRIC_SIZE", "3m"}}).settings.segment_size, 3u << 20);
  EXPECT_EQ(read({{"SMA_SYMMETRIC_SIZE", "3m"}, {"SHMEM_SYMMETRIC_SIZE", "4m"}}).settings.segment_size, 4u << 20);
  EXPECT_EQ(read({{"SMA_DEBUG", "1"}}).settings.log, log_level::debug);
  EXPECT_EQ(read({{"SHMEM_DEBUG", "yes"}}).settings.log, log_level::debug);
  EXPECT_EQ(read({{"NVSHMEM_CUMEM_GRANULARITY", "512M"}}).settings.segment_size, std::size_t{512} << 20);

  const reading both = read({{"NVSHMEM_HEAP_KIND", "SYSMEM"}, {"PGAS_HEAP", "cuda"}});
  EXPECT_EQ(both.settings.heap, heap_kind::cuda);
  EXPECT_EQ(both.origin.at("PGAS_HEAP"), "PGAS_HEAP");
  EXPECT_EQ(read({{"NVSHMEM_HEAP_KIND", "SYSMEM"}}).origin.at("PGAS_HEAP"), "NVSHMEM_HEAP_KIND");
}

TEST(read, booleans_of_nvshmem_are_true_unless_they_say_no) {
  for (const auto* no : {"0", "n", "N", "no", "f", "F", "false", "FALSE"}) {
    EXPECT_FALSE(read({{"NVSHMEM_ENABLE_ERROR_CHECKS", no}}).settings.checks) << no;
    EXPECT_EQ(read({{"SHMEM_DEBUG", no}}).settings.log, log_level::warn) << no;
    EXPECT_EQ(startup_text("X 1", {"SHMEM"}, {{"SHMEM_VERSION", no}, {"SHMEM_INFO", no}}), "") << no;
  }
  for (const auto* yes : {"1", "2", "y", "Y", "yes", "t", "true", "on", "whatever"}) {
    EXPECT_TRUE(read({{"NVSHMEM_ENABLE_ERROR_CHECKS", yes}}).settings.checks) << yes;
    EXPECT_TRUE(mentions(startup_text("X 1", {"SHMEM"}, {{"SHMEM_VERSION", yes}}), ", X 1\n")) << yes;
    EXPECT_EQ(read({{"SHMEM_DEBUG", yes}}).settings.log, log_level::debug) << yes;
  }
}

TEST(read, a_bad_alias_value_names_the_alias) {
  const std::string kind = message_of({{"NVSHMEM_HEAP_KIND", "host"}});
  EXPECT_TRUE(mentions(kind, "NVSHMEM_HEAP_KIND=host")) << kind;
  EXPECT_TRUE(mentions(kind, "DEVICE, VIDMEM, SYSMEM")) << kind;
  for (const std::string variable : {"SHMEM_SYMMETRIC_SIZE", "SMA_SYMMETRIC_SIZE", "NVSHMEM_SYMMETRIC_SIZE"})
    EXPECT_TRUE(
        mentions(message_of({{variable, "lots"}}), variable + "=lots is not allowed; set it to: a number, 0 or more"));
}

TEST(read, former_names_and_words_apply_with_a_remark) {
  const reading names = read({{"PGAS_DIRECT", "0"},
                              {"PGAS_CREW", "4"},
                              {"PGAS_SEGMENT", "8M"},
                              {"PGAS_STRIDE", "1G"},
                              {"PGAS_INTERFACE", "eth0"},
                              {"PGAS_PEER_TIMEOUT", "9s"}});
  EXPECT_EQ(names.settings.p2p, "0");
  EXPECT_EQ(names.settings.host_block_threads, 4);
  EXPECT_EQ(names.settings.segment_size, 8u << 20);
  EXPECT_EQ(names.settings.heap_stride, std::size_t{1} << 30);
  EXPECT_EQ(names.settings.socket_ifname, "eth0");
  EXPECT_EQ(names.settings.heartbeat_timeout, std::chrono::seconds(9));
  EXPECT_EQ(names.origin.at("PGAS_P2P"), "PGAS_DIRECT");
  ASSERT_EQ(names.remarks.size(), 6u);
  for (const remark& r : names.remarks) EXPECT_EQ(r.level, log_level::warn);

  const reading both = read({{"PGAS_HANDLE", "FD"}});
  EXPECT_EQ(both.settings.mem_handle, handle_kind::posix_fd);
  ASSERT_EQ(both.remarks.size(), 1u);
  EXPECT_EQ(both.remarks[0].text, "PGAS_HANDLE=FD is a former spelling; set PGAS_MEM_HANDLE=posix_fd instead");
  const reading word = read({{"PGAS_MEM_HANDLE", "fd"}});
  EXPECT_EQ(word.settings.mem_handle, handle_kind::posix_fd);
  ASSERT_EQ(word.remarks.size(), 1u);
  EXPECT_EQ(word.remarks[0].text, "PGAS_MEM_HANDLE=fd is a former spelling; set PGAS_MEM_HANDLE=posix_fd instead");
  const reading singleton = read({{"PGAS_BOOTSTRAP", "alone"}});
  EXPECT_EQ(singleton.settings.bootstrap, "singleton");
  ASSERT_EQ(singleton.remarks.size(), 1u);
  EXPECT_EQ(singleton.remarks[0].text,
            "PGAS_BOOTSTRAP=alone is a former spelling; set PGAS_BOOTSTRAP=singleton instead");
}

TEST(read, a_former_name_may_repeat_the_value_and_not_contradict_it) {
  const reading same = read({{"PGAS_HANDLE", "fd"}, {"PGAS_MEM_HANDLE", "posix_fd"}});
  EXPECT_EQ(same.settings.mem_handle, handle_kind::posix_fd);
  EXPECT_EQ(same.origin.at("PGAS_MEM_HANDLE"), "PGAS_MEM_HANDLE");
  const std::string different = message_of({{"PGAS_CREW", "2"}, {"PGAS_HOST_BLOCK_THREADS", "4"}});
  EXPECT_TRUE(mentions(different, "PGAS_HOST_BLOCK_THREADS=4 and PGAS_CREW=2 contradict each other")) << different;
  EXPECT_TRUE(mentions(message_of({{"PGAS_CREW", "0"}}), "PGAS_CREW=0 is not allowed"));
  // The former name has priority over the names of other libraries.
  EXPECT_EQ(read({{"PGAS_SEGMENT", "8M"}, {"NVSHMEM_SYMMETRIC_SIZE", "2M"}}).settings.segment_size, 8u << 20);
}

TEST(read, an_unknown_variable_is_remarked_on_with_the_nearest_name) {
  const reading result = read({{"PGAS_HEEP", "host"}});
  ASSERT_EQ(result.remarks.size(), 1u);
  EXPECT_EQ(result.remarks[0].level, log_level::warn);
  EXPECT_TRUE(mentions(result.remarks[0].text, "PGAS_HEEP"));
  EXPECT_TRUE(mentions(result.remarks[0].text, "did you mean PGAS_HEAP?"));
}

TEST(read, an_option_that_was_removed_is_remarked_on_with_what_there_is_instead) {
  const reading result = read({{"PGAS_METRICS", ":9400"}});
  ASSERT_EQ(result.remarks.size(), 1u);
  EXPECT_EQ(result.remarks[0].level, log_level::warn);
  EXPECT_TRUE(mentions(result.remarks[0].text, "PGAS_METRICS is no option any more"));
  EXPECT_TRUE(mentions(result.remarks[0].text, "`pgas-info --serve :9400`"));
}

TEST(read, what_launchers_set_is_known) {
  EXPECT_TRUE(read({{"PGAS_RANK", "0"}, {"PGAS_SIZE", "2"}, {"PGAS_LOCAL_FD", "3"}, {"PATH", "/bin"}}).remarks.empty());
}

TEST(read, foreign_variables_without_counterpart_get_one_line) {
  const reading result =
      read({{"NVSHMEM_IB_SL", "1"}, {"SMA_X", "1"}, {"NVSHMEM_HEAP_KIND", "SYSMEM"}, {"SHMEM_INFO", "1"}});
  ASSERT_EQ(result.remarks.size(), 1u);
  EXPECT_EQ(result.remarks[0].level, log_level::info);
  EXPECT_TRUE(mentions(result.remarks[0].text, "NVSHMEM_IB_SL, SMA_X;"));
  EXPECT_FALSE(mentions(result.remarks[0].text, "HEAP_KIND"));
}

TEST(startup_text, print_the_version_and_all_variables) {
  EXPECT_EQ(startup_text("X 1", {"SHMEM", "SMA"}, {}), "");
  EXPECT_TRUE(mentions(startup_text("X 1", {"SHMEM", "SMA"}, {{"SMA_VERSION", "1"}}), ", X 1\n"));
  EXPECT_EQ(startup_text("X 1", {"SHMEM", "SMA"}, {{"SHMEM_VERSION", "0"}, {"SMA_VERSION", "1"}}), "");
  EXPECT_EQ(startup_text("X 1", {"NVSHMEM"}, {{"SHMEM_VERSION", "1"}, {"SHMEM_INFO", "1"}}), "");
  const std::string info =
      startup_text("X 1", {"SHMEM"}, {{"SHMEM_INFO", "1"}, {"SMA_SYMMETRIC_SIZE", "2m"}, {"PGAS_SECRET", "swordfish"}});
  for (const option& row : options()) EXPECT_TRUE(mentions(info, row.name)) << row.name;
  EXPECT_TRUE(mentions(info, "PGAS_SEGMENT_SIZE=2M  (from SMA_SYMMETRIC_SIZE)")) << info;
  EXPECT_TRUE(mentions(info, "SHMEM_VERSION\n"));
  EXPECT_FALSE(mentions(info, "swordfish"));
}

TEST(table, secrets_are_never_printed) {
  config c;
  c.secret = "swordfish";
  c.unique_id = "swordfish";
  for (const option& row : options()) EXPECT_FALSE(mentions(print(c, row), "swordfish")) << row.name;
}

TEST(table, names_are_unique_and_sorted_into_namespaces) {
  std::set<std::string_view> names;
  for (const option& row : options()) {
    EXPECT_TRUE(row.name.starts_with("PGAS_")) << row.name;
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_FALSE(row.help.empty()) << row.name;
    const bool is_new = row.former.empty() || names.insert(row.former).second;
    EXPECT_TRUE(is_new) << row.former;
    for (const alias& other : row.aliases) EXPECT_TRUE(names.insert(other.name).second) << other.name;
  }
}

TEST(from_environment, reads_the_process_and_logs_remarks_once) {
  const std::filesystem::path file =
      std::filesystem::path(testing::TempDir()) / ("pgas_config_remarks." + std::to_string(getpid()));
  std::filesystem::remove(file);
  ::setenv("PGAS_LOG_FILE", file.c_str(), 1);
  ::setenv("PGAS_HEEP", "host", 1);
  ::setenv("PGAS_CREW", "5", 1);
  const config c = config::from_environment();
  (void)config::from_environment();  // logged once per process
  ::setenv("PGAS_RANK", "1", 1);
  (void)config::from_environment();  // this PE is not the first PE, so it logs nothing
  for (const auto* name : {"PGAS_LOG_FILE", "PGAS_HEEP", "PGAS_CREW", "PGAS_RANK"}) ::unsetenv(name);

  EXPECT_EQ(c.host_block_threads, 5);
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  std::filesystem::remove(file);
  EXPECT_TRUE(mentions(text.str(), "warn: PGAS_HEEP is not an option")) << text.str();
  EXPECT_EQ(text.str().find("PGAS_HEEP"), text.str().rfind("PGAS_HEEP")) << text.str();
  EXPECT_TRUE(mentions(text.str(), "warn: PGAS_CREW=5 is a former spelling; set PGAS_HOST_BLOCK_THREADS=5"))
      << text.str();
  EXPECT_EQ(text.str().find("PGAS_CREW"), text.str().rfind("PGAS_CREW")) << text.str();
}

const std::vector<std::string_view> names = {"PGAS_HEAP", "PGAS_HEAP_LIMIT", "PGAS_LOG", "PGAS_LOG_FILE"};

TEST(nearest, finds_typing_errors) {
  EXPECT_EQ(nearest("PGAS_HEEP", names), "PGAS_HEAP");
  EXPECT_EQ(nearest("PGAS_HEAPLIMIT", names), "PGAS_HEAP_LIMIT");
  EXPECT_EQ(nearest("PGAS_LGO", names), "PGAS_LOG");
  EXPECT_EQ(nearest("PGAS_LOGFILE", names), "PGAS_LOG_FILE");
}

TEST(nearest, an_exact_name_is_nearest_to_itself) { EXPECT_EQ(nearest("PGAS_LOG", names), "PGAS_LOG"); }

TEST(nearest, does_not_guess_wildly) {
  EXPECT_EQ(nearest("PGAS_SOMETHING_ELSE", names), "");
  EXPECT_EQ(nearest("PGAS_LOG", {}), "");
}

}  // namespace
}  // namespace pgas::config_detail
