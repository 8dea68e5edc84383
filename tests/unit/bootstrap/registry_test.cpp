/// @file
/// The choice of a bootstrap, and the error if none is available.
#include "support.hpp"

/// libpmix leaks a few bytes if it is asked to join without a launcher.
extern "C" const char* __lsan_default_suppressions() { return "leak:libpmix.so"; }

namespace pgas::boot::test {
namespace {

error refused(const bootstrap_options& options) {
  return thrown_by([&] { (void)make_bootstrap(options); });
}

TEST(registry, nothing_given_means_singleton) {
  const chosen_bootstrap chosen = make_bootstrap({});
  EXPECT_EQ(chosen.exchange->rank(), 0);
  EXPECT_EQ(chosen.exchange->size(), 1);
  EXPECT_NE(chosen.description.find("singleton"), std::string::npos) << chosen.description;
  exchange_everything(*chosen.exchange);
}

TEST(registry, half_an_address_is_mentioned) {
  bootstrap_options options;
  options.master_address = "127.0.0.1";
  options.rank = 0;
  const chosen_bootstrap chosen = make_bootstrap(options);
  EXPECT_NE(chosen.description.find("MASTER_PORT, WORLD_SIZE"), std::string::npos) << chosen.description;
}

TEST(registry, pgasruns_socket_comes_first) {
  bootstrap_options options = member_at(free_port(), 0, 1);
  options.unique_id = "pgas1-whatever";
  options.local_fd = 1000;  // this descriptor is not open
  const error e = refused(options);
  EXPECT_EQ(e.code(), code::bootstrap_unavailable);
  EXPECT_SAYS(e, "pgasrun's socket, descriptor 1000");
  EXPECT_SAYS(e, "Bad file descriptor");
}

TEST(registry, a_unique_id_comes_before_an_address) {
  bootstrap_options options = member_at(free_port(), 0, 1);
  options.unique_id = make_unique_id();
  EXPECT_NE(make_bootstrap(options).description.find("unique id"), std::string::npos);
}

TEST(registry, a_world_of_one_closes_what_its_unique_id_opened) {
  const std::size_t before = open_descriptors();
  EXPECT_EQ(make_bootstrap(member_of(make_unique_id(), 0, 1)).exchange->size(), 1);
  EXPECT_EQ(open_descriptors(), before);
}

TEST(registry, pmix_that_is_not_there_is_passed_over_with_the_reason) {
  bootstrap_options options = member_at(free_port(), 0, 1);
  options.pmix_launcher = true;
  const chosen_bootstrap chosen = make_bootstrap(options);
  EXPECT_TRUE(chosen.description.starts_with("TCP at 127.0.0.1:")) << chosen.description;
  EXPECT_NE(chosen.description.find("PMIx was passed over"), std::string::npos) << chosen.description;
}

TEST(registry, a_launcher_without_a_way_in_is_no_world_of_one) {
  bootstrap_options options;
  options.pmix_launcher = true;
  const error e = refused(options);
  EXPECT_EQ(e.code(), code::bootstrap_unavailable);
  EXPECT_SAYS(e, "PGAS_BOOTSTRAP=singleton");
}

TEST(registry, a_named_method_is_the_only_one_tried) {
  bootstrap_options options = member_at(free_port(), 0, 1);
  for (const char* const name : {"singleton", "alone"}) {  // the second name is the former name of the first
    options.method = name;
    EXPECT_NE(make_bootstrap(options).description.find("singleton, rank 0 of 1, as requested"), std::string::npos);
  }
  options.method = "local";
  EXPECT_EQ(refused(options).code(), code::bootstrap_unavailable);
  EXPECT_SAYS(refused(options), "pgasrun -n N");
  options.method = "pmix";
  EXPECT_EQ(refused(options).code(), code::bootstrap_unavailable);
  EXPECT_SAYS(refused(options), "PMIx");
  options.method = "carrier-pigeon";
  EXPECT_EQ(refused(options).code(), code::bootstrap_unavailable);
  EXPECT_SAYS(refused(options), "auto, pmix, tcp, local or singleton");
  bootstrap_options nothing;
  nothing.method = "tcp";
  EXPECT_EQ(refused(nothing).code(), code::bootstrap_unavailable);
  EXPECT_SAYS(refused(nothing), "MASTER_ADDR, MASTER_PORT, RANK, WORLD_SIZE");
}

TEST(registry, answers_that_make_no_sense) {
  for (const auto& [rank, size] : {std::pair{4, 4}, {-1, 4}, {0, 0}, {5, 2}, {0, (1 << 20) + 1}}) {
    bootstrap_options by_id = member_of("pgas1-whatever", rank, size);
    EXPECT_EQ(refused(by_id).code(), code::bootstrap_protocol) << rank << " of " << size;
    bootstrap_options by_launcher;
    by_launcher.local_fd = 1000;
    by_launcher.rank = rank;
    by_launcher.size = size;
    EXPECT_EQ(refused(by_launcher).code(), code::bootstrap_protocol) << rank << " of " << size;
  }
  EXPECT_SAYS(refused(member_of("pgas1-whatever", 4, 4)), "rank 4 of 4; ranks go from 0 to 3");
  EXPECT_EQ(refused(member_of("pgas1-whatever", -1, -1)).code(), code::bootstrap_unavailable);
}

TEST(registry, a_time_limit_is_needed) {
  bootstrap_options options;
  options.timeout = milliseconds{0};
  EXPECT_EQ(refused(options).code(), code::invalid_argument);
}

}  // namespace
}  // namespace pgas::boot::test
