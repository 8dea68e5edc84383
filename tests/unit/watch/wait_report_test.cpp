// The wait report of a PE: kernels that answer the host's question, and calls of host threads.
#include "host/watch/wait_report.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "pgas/device/impl/sync/wait.hpp"

namespace {

using namespace pgas::detail;
using nlohmann::json;

/// A PE's control block and the start of its slot, as kernels use them.
class WaitReport : public ::testing::Test {
 protected:
  WaitReport() : area_(internal_area::world_state / 8) {
    control_.my_slot = reinterpret_cast<std::uintptr_t>(area_.data());
    const std::vector<int> all{0, 1, 2, 3};
    teams_.add(this, control_group::world, world(), all);
  }
  /// Writes the record by which a waiting thread of a kernel answers while it polls.
  void answer(const failure_record& wait) { leave_record(&control_, control_.my_slot, wait); }
  [[nodiscard]] static failure_record wait_for(int pe) {
    failure_record found{};
    found.why = failure::asked;
    found.what = operation::barrier;
    found.pe = pe;
    found.heap_offset = 0x480;
    found.expected = 7;
    found.seen = 6;
    found.compare = static_cast<std::int32_t>(pgas::cmp::ge);
    found.limit_ms = 1500;
    return found;
  }
  [[nodiscard]] json told() { return json::parse("{" + report_.answer() + "}"); }

  [[nodiscard]] static pgas::team_view world() {
    pgas::team_view four;
    four.n_pes_ = 4;
    four.my_pe_ = 0;
    four.n_channels_ = default_channels;
    four.state_offset_ = internal_area::world_state;
    four.staging_offset_ = internal_area::bytes(4);
    return four;
  }

  /// The record of a wait in a collective for packets of member `from`. The awaited word is in the state of a team.
  [[nodiscard]] static failure_record packet_wait(std::uint64_t packets, int from, std::uint64_t units = 3) {
    failure_record wait = wait_for(-1);
    wait.what = operation::none;
    wait.bytes = units * 16;
    wait.heap_offset = packets + team_state_layout::line + static_cast<std::uint64_t>(from) * units * 32;
    return wait;
  }
  /// Does the same as answer(), but in a new thread of this process.
  void answer_elsewhere(const failure_record& wait) {
    std::thread([&] { answer(wait); }).join();
  }

  std::vector<std::uint64_t> area_;
  control_block control_{};
  calls_in_progress calls_;
  std::unique_ptr<device> device_ = make_cpu_device();
  team_list teams_;
  stream_log streams_{*device_};
  wait_report report_{control_, calls_, teams_, streams_};
};

TEST_F(WaitReport, a_wait_in_a_collective_names_its_team) {
  pgas::team_view pair;
  pair.n_pes_ = 2;
  pair.n_channels_ = 4;
  pair.state_offset_ = std::uint64_t{1} << 20;
  constexpr control_group::identity id = std::uint64_t{3} << 40 | 7;
  const std::vector<int> members{1, 3};
  teams_.add(&pair, id, pair, members);
  report_.ask();
  answer(packet_wait(pair.state_offset_ + team_state_layout::packets(2, 4, false), 1));
  json said = told();
  EXPECT_EQ(said.at("waits")[0].at("pe"), 3);
  EXPECT_EQ(said.at("waits")[0].at("team"), id);
  EXPECT_EQ(said.at("waits")[0].at("channel"), 0);
  EXPECT_EQ(said.at("teams"), json::parse(R"([{"id":3298534883335,"members":[1,3]}])"));
  report_.ask();
  failure_record barrier = wait_for(3);
  barrier.heap_offset = pair.state_offset_ + 2 * team_state_layout::channel_bytes(2) + team_state_layout::arrived(1);
  answer(barrier);
  said = told();
  EXPECT_EQ(said.at("waits")[0].at("pe"), 3);
  EXPECT_EQ(said.at("waits")[0].at("channel"), 2);
  teams_.remove(&pair);
  report_.ask();
  answer(barrier);
  EXPECT_FALSE(told().at("waits")[0].contains("team"));
}

TEST_F(WaitReport, two_groups_in_one_collective_are_told) {
  const std::uint64_t packets = internal_area::world_state + team_state_layout::packets(4, default_channels, false);
  failure_record wait = packet_wait(packets, 2);
  report_.ask();
  answer(wait);
  // A wait for the word of the next epoch, in another launch.
  wait.heap_offset += team_state_layout::packet_buffer_bytes(false);
  ++wait.expected;
  answer_elsewhere(wait);
  json said = told();
  ASSERT_EQ(said.at("waits").size(), 2u);
  EXPECT_EQ(said.at("crowd"), json::parse(R"({"team":0,"channel":0,"first":[0,0],"second":[0,0]})"));
  report_.ask();
  answer(packet_wait(packets, 2));
  answer_elsewhere(packet_wait(packets, 1));  // the answer of another thread of the same group
  said = told();
  EXPECT_EQ(said.at("waits").size(), 2u);
  EXPECT_FALSE(said.contains("crowd"));
}

TEST_F(WaitReport, a_wait_that_began_after_the_question_is_no_second_group) {
  const std::uint64_t packets = internal_area::world_state + team_state_layout::packets(4, default_channels, false);
  failure_record wait = packet_wait(packets, 2);
  report_.ask();
  answer(wait);
  wait.limit_ms = 0;  // a wait in the next launch of the same kernel, after the launch that has answered
  answer_elsewhere(wait);
  const json said = told();
  EXPECT_EQ(said.at("waits").size(), 2u);
  EXPECT_FALSE(said.contains("crowd"));
}

TEST_F(WaitReport, words_of_the_program_are_awaited_by_as_many_threads_as_like) {
  failure_record wait = wait_for(-1);
  wait.what = operation::wait;
  wait.heap_offset = std::uint64_t{1} << 30;
  report_.ask();
  answer(wait);
  answer_elsewhere(wait);
  const json said = told();
  EXPECT_EQ(said.at("waits").size(), 2u);
  EXPECT_FALSE(said.contains("crowd"));
}

TEST_F(WaitReport, what_is_enqueued_behind_a_wait_of_a_stream_is_told) {
  const stream_handle item = device_->create_stream();
  const stream_handle other = device_->create_stream();
  streams_.add_write(item, {"signal_set", 1, 64, 8});  // enqueued before the wait
  const wait_ticket ticket = streams_.add_wait(item);
  streams_.add_write(other, {"signal_set", 2, 64, 8});
  streams_.add_write(item, {"put", 3, 512, 4096});
  failure_record wait = wait_for(-1);
  wait.what = operation::wait;
  wait.pe = ticket.as_pe();
  report_.ask();
  answer(wait);
  json said = told().at("waits")[0];
  EXPECT_EQ(said.at("pe"), -1);
  EXPECT_EQ(said.at("behind"), json::parse(R"([{"what":"put","pe":3,"offset":512,"bytes":4096}])"));
  // An entry that newer entries have replaced is not mistaken for one of the newer entries.
  for (int i = 0; i < 1000; ++i) static_cast<void>(streams_.add_wait(other));
  streams_.add_write(other, {"put", 3, 512, 4096});
  report_.ask();
  answer(wait);
  said = told().at("waits")[0];
  EXPECT_EQ(said.at("behind"), json::array());
  device_->destroy_stream(item);
  device_->destroy_stream(other);
}

TEST_F(WaitReport, what_is_enqueued_behind_a_collective_of_a_stream_is_told) {
  const stream_handle on = device_->create_stream();
  streams_.add_collective(on, control_group::world);
  streams_.add_write(on, {"signal_add", 2, 128, 8});
  report_.ask();
  answer(packet_wait(internal_area::world_state + team_state_layout::packets(4, default_channels, true), 1));
  const json said = told().at("waits")[0];
  EXPECT_EQ(said.at("pe"), 1);
  EXPECT_EQ(said.at("behind"), json::parse(R"([{"what":"signal_add","pe":2,"offset":128,"bytes":8}])"));
  device_->destroy_stream(on);
}

TEST_F(WaitReport, has_what_a_kernel_answers) {
  report_.ask();
  answer(wait_for(2));
  const json said = told();
  ASSERT_EQ(said.at("waits").size(), 1u);
  const json& wait = said.at("waits")[0];
  EXPECT_EQ(wait.at("what"), "barrier");
  EXPECT_EQ(wait.at("pe"), 2);
  EXPECT_EQ(wait.at("compare"), ">=");
  EXPECT_EQ(wait.at("expected"), 7);
  EXPECT_EQ(wait.at("seen"), 6);
  EXPECT_EQ(wait.at("ms"), 1500);
  EXPECT_FALSE(said.at("more"));
}

TEST_F(WaitReport, a_thread_answers_a_question_once) {
  report_.ask();
  answer(wait_for(2));
  answer(wait_for(3));
  EXPECT_EQ(told().at("waits").size(), 1u);
}

TEST_F(WaitReport, every_question_is_answered_anew) {
  for (int pe = 0; pe < 4; ++pe) {
    report_.ask();
    answer(wait_for(pe));
    const json said = told();
    ASSERT_EQ(said.at("waits").size(), 1u);
    EXPECT_EQ(said.at("waits")[0].at("pe"), pe);
  }
}

TEST_F(WaitReport, a_thread_answers_the_next_question_after_the_host_has_read_its_answer) {
  std::atomic<bool> ends = false;
  std::thread waits([&] {
    while (!ends.load(std::memory_order_relaxed)) answer(wait_for(2));
  });
  int answered = 0;
  for (int question = 0; question < 2000 && answered < 50; ++question) {
    report_.ask();
    std::this_thread::sleep_for(std::chrono::microseconds(100));
    const json said = told();
    if (said.at("waits").empty()) continue;
    ++answered;
    EXPECT_EQ(said.at("waits")[0].at("pe"), 2);
  }
  ends.store(true, std::memory_order_relaxed);
  waits.join();
  EXPECT_EQ(answered, 50);
}

TEST_F(WaitReport, an_answer_to_an_earlier_question_leaves_the_later_answers_as_they_are) {
  report_.ask();
  const std::uint32_t first = control_.question;
  failure_record* const interrupted = claim_answer(&control_, control_.my_slot, first);
  ASSERT_NE(interrupted, nullptr);
  EXPECT_EQ(told().at("waits").size(), 0u);
  report_.ask();
  answer(wait_for(3));  // this thread's first entry is the entry of the earlier answer
  fill_record(interrupted, wait_for(1));
  finish_record(interrupted, first);
  const failure_record* const late = claim_answer(&control_, control_.my_slot, first);
  EXPECT_TRUE(late == nullptr || late->complete != control_.question);
  const json said = told();
  ASSERT_EQ(said.at("waits").size(), 1u);
  EXPECT_EQ(said.at("waits")[0].at("pe"), 3);
}

TEST_F(WaitReport, nobody_answers_unless_asked) {
  answer(wait_for(2));
  report_.ask();
  EXPECT_EQ(told().at("waits").size(), 0u);
  answer(wait_for(2));  // the question has ended
  report_.ask();
  EXPECT_EQ(told().at("waits").size(), 0u);
}

TEST_F(WaitReport, a_wait_that_gives_up_is_no_answer) {
  report_.ask();
  failure_record lost = wait_for(1);
  lost.why = failure::timed_out;
  answer(lost);
  EXPECT_EQ(told().at("waits").size(), 0u);
  EXPECT_EQ(control_.record.complete, 1u);
}

TEST_F(WaitReport, a_wait_that_is_asked_goes_on) {
  std::uint64_t word = 0;
  std::uint64_t seen = 0;
  bool arrived = false;
  report_.ask();
  std::thread waits([&] {
    const failure why = poll_until(
        &control_, [&] { return (seen = load_relaxed(&word)) == 1; },
        [&](wait_state now) {
          answer(wait_record(now, operation::wait, -1, std::uint64_t{64}, pgas::cmp::eq, std::uint64_t{1}, seen));
        });
    arrived = why == failure::none;
  });
  json said;
  for (int tries = 0; tries < 2000; ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    if (!(said = told()).at("waits").empty()) break;
    report_.ask();
  }
  store_release(&word, std::uint64_t{1});
  waits.join();
  EXPECT_TRUE(arrived);
  ASSERT_EQ(said.at("waits").size(), 1u);
  EXPECT_EQ(said.at("waits")[0].at("what"), "wait_until");
  EXPECT_EQ(said.at("waits")[0].at("offset"), 64);
}

TEST_F(WaitReport, the_sender_of_a_packet_is_told_by_its_place) {
  constexpr std::uint64_t units = 3;
  for (const bool of_host : {false, true}) {
    for (int from = 0; from < 4; ++from) {
      report_.ask();
      failure_record wait = wait_for(-1);
      wait.what = operation::none;
      wait.bytes = units * 16;
      wait.heap_offset = internal_area::world_state + team_state_layout::packets(4, default_channels, of_host) +
                         team_state_layout::line + team_state_layout::packet_buffer_bytes(of_host) +
                         static_cast<std::uint64_t>(from) * units * 32 + 16;
      answer(wait);
      EXPECT_EQ(told().at("waits")[0].at("pe"), from);
    }
  }
}

TEST_F(WaitReport, the_sender_of_a_packet_for_a_block_of_the_host_is_told) {
  constexpr std::uint64_t units = 5;
  for (const int block : {0, 1, oneshot_staging::blocks - 1}) {
    for (int from = 0; from < 4; ++from) {
      report_.ask();
      failure_record wait = wait_for(-1);
      wait.what = operation::none;
      wait.bytes = units * 16;
      wait.heap_offset = internal_area::bytes(4) + oneshot_staging::packets(block) + team_state_layout::line +
                         team_state_layout::packet_buffer_bytes(true) + static_cast<std::uint64_t>(from) * units * 32 +
                         16;
      answer(wait);
      EXPECT_EQ(told().at("waits")[0].at("pe"), from);
    }
  }
}

TEST_F(WaitReport, has_the_outermost_call_of_a_thread_and_its_word) {
  EXPECT_TRUE(calls_.enter("barrier_all"));
  EXPECT_FALSE(calls_.enter("quiet"));
  json said = told();
  ASSERT_EQ(said.at("calls").size(), 1u);
  EXPECT_EQ(said.at("calls")[0].at("name"), "barrier_all");
  EXPECT_FALSE(said.at("calls")[0].contains("word"));
  calls_.waits_for({128, 5, 4, static_cast<std::int32_t>(pgas::cmp::gt), 3});
  said = told();
  EXPECT_EQ(said.at("calls")[0].at("word").at("compare"), ">");
  EXPECT_EQ(said.at("calls")[0].at("word").at("pe"), 3);
  calls_.leave();
  EXPECT_EQ(told().at("calls").size(), 0u);
  ASSERT_TRUE(calls_.enter("wait_until"));
  EXPECT_FALSE(told().at("calls")[0].contains("word"));
  calls_.leave();
}

TEST_F(WaitReport, counts_short_calls_while_a_question_is_open) {
  calls_.count();
  report_.ask();
  EXPECT_EQ(told().at("short_calls"), 0);
  report_.ask();
  calls_.count();
  calls_.count();
  EXPECT_EQ(told().at("short_calls"), 2);
}

TEST_F(WaitReport, two_programs_that_ask_at_once_both_get_the_answers) {
  report_.ask();
  answer(wait_for(2));
  report_.ask();
  EXPECT_EQ(report_.collect().kernels.size(), 1u);
  EXPECT_NE(control_.question, 0u);
  EXPECT_EQ(report_.collect().kernels.size(), 1u);
  EXPECT_EQ(control_.question, 0u);
}

TEST_F(WaitReport, a_call_whose_kernel_has_not_answered_leaves_the_question_open) {
  using std::chrono::milliseconds;
  ASSERT_TRUE(calls_.enter("reduce"));
  std::this_thread::sleep_for(milliseconds(50));  // longer than one step of the coarse clock
  report_.ask();
  EXPECT_FALSE(report_.settled());
  answer(wait_for(2));
  EXPECT_TRUE(report_.settled());
  static_cast<void>(report_.answer());
  report_.ask();
  EXPECT_FALSE(report_.settled());
  std::this_thread::sleep_for(milliseconds(20));
  EXPECT_GE(told().at("looked_ms"), 20);
  calls_.leave();
  report_.ask();
  EXPECT_TRUE(report_.settled()) << "no call lasts";
  static_cast<void>(report_.collect());
}

TEST_F(WaitReport, a_program_that_asks_waits_for_a_kernel_without_a_processor) {
  ASSERT_TRUE(calls_.enter("reduce"));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  std::thread kernel([&] {  // this thread simulates a kernel that gets a processor late
    while (load_relaxed(&control_.question) == 0) std::this_thread::yield();
    std::this_thread::sleep_for(3 * time_to_answer);
    answer(wait_for(2));
  });
  EXPECT_EQ(report_.ask_and_collect().kernels.size(), 1u);
  kernel.join();
  calls_.leave();
}

TEST_F(WaitReport, names_all_waits_that_are_overdue) {
  using std::chrono::milliseconds;
  report_.ask();
  answer(wait_for(2));
  static_cast<void>(report_.answer());
  EXPECT_TRUE(report_.overdue(milliseconds(1501)).empty());
  ASSERT_EQ(report_.overdue(milliseconds(1500)).size(), 1u);
  EXPECT_EQ(report_.overdue(milliseconds(1500))[0].sentence,
            "barrier by block 0 thread 0 of a kernel has waited 1.5 s for PE 2: the word at heap offset 0x480 has to "
            "become >= 7 and is 6");
  ASSERT_TRUE(calls_.enter("barrier_all"));
  report_.ask();
  static_cast<void>(report_.answer());
  ASSERT_EQ(report_.overdue(milliseconds(0)).size(), 1u);
  EXPECT_EQ(report_.overdue(milliseconds(0))[0].sentence.find("barrier_all has waited 0"), 0u);
  calls_.leave();
  ASSERT_TRUE(calls_.enter("synchronize"));
  report_.ask();
  static_cast<void>(report_.answer());
  EXPECT_TRUE(report_.overdue(milliseconds(0)).empty()) << "its kernel may compute";
  calls_.leave();
}

TEST_F(WaitReport, a_word_is_told_with_the_allocation_that_it_lies_in) {
  allocation_list list;
  list.add(0, 0x400);
  list.add(0x400, 512);
  wait_report located(control_, calls_, teams_, streams_, nullptr,
                      [&](std::uint64_t offset) { return list.around(offset); });
  located.ask();
  answer(wait_for(2));
  const json said = json::parse("{" + located.answer() + "}").at("waits")[0].at("allocation");
  EXPECT_EQ(said.at("number"), 1);
  EXPECT_EQ(said.at("offset"), 0x400);
  EXPECT_EQ(said.at("bytes"), 512);
  ASSERT_EQ(located.sentences().size(), 1u);
  EXPECT_NE(located.sentences()[0].find("0x480 (128 bytes into allocation 1 of 512 bytes) has to"), std::string::npos)
      << located.sentences()[0];
  list.remove(0x400);
  located.ask();
  answer(wait_for(2));
  EXPECT_FALSE(json::parse("{" + located.answer() + "}").at("waits")[0].contains("allocation"));
}

TEST_F(WaitReport, sentences_are_of_all_waits) {
  report_.ask();
  answer(wait_for(2));
  ASSERT_TRUE(calls_.enter("synchronize"));
  static_cast<void>(report_.answer());
  calls_.leave();
  ASSERT_EQ(report_.sentences().size(), 2u);
  EXPECT_NE(report_.sentences()[0].find("barrier by block 0 thread 0 of a kernel"), std::string::npos);
  EXPECT_NE(report_.sentences()[1].find("synchronize has waited 0."), std::string::npos);
  report_.end();
  EXPECT_TRUE(report_.sentences().empty());
}

TEST_F(WaitReport, says_that_a_pe_leaves_once_it_has_ended) {
  report_.end();
  report_.ask();
  EXPECT_EQ(control_.question, 0u);
  EXPECT_TRUE(told().at("leaving"));
}

}  // namespace
