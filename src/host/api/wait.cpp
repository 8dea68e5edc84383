// Waits and tests that the host calls, which poll a set of words with growing pauses. Also waits on streams.
#include "pgas/wait.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include "host/world/host_operation.hpp"
#include "host/world/world_state.hpp"
#include "pgas/detail/poll_fairness.hpp"
#include "pgas/device/wait.hpp"
#include "pgas/stream_wait.hpp"

namespace pgas::detail {

namespace {

using clock = std::chrono::steady_clock;

constexpr auto poll_for = std::chrono::microseconds(30);

/// A word that does not satisfy the comparison yet.
struct missing_word {
  std::size_t index = no_index;
  std::uint64_t expected = 0;
  std::uint64_t seen = 0;
};

/// The result of one poll of a set.
struct poll_result {
  std::size_t wanted = 0;
  std::size_t satisfied = 0;
  std::size_t some = no_index;
  missing_word missing;
};

/// A set of words of type T that is polled.
template <class T>
class word_poll {
 public:
  word_poll(world_state& state, const word_set& set)
      : state_(state), set_(set), words_(set.count), met_(set.count, false) {}

  /// Reads all words once. With `keep`, a word that satisfied the comparison in an earlier poll still counts as
  /// satisfied.
  [[nodiscard]] poll_result poll(std::size_t* indices, bool keep) {
    state_.device().snapshot(words_.data(), set_.words, set_.count, sizeof(T));
    poll_result found;
    // Each call starts its search at a random word, so that repeated calls find every satisfied word.
    const std::size_t begin = anywhere_below(set_.count);
    for (std::size_t i = 0; i < set_.count; ++i) {
      if (set_.status != nullptr && set_.status[i] != 0) continue;
      ++found.wanted;
      const T value = expected(i);
      if (compare(words_[i], set_.compare, value) || met_[i]) {
        met_[i] = keep;
        if (indices != nullptr) indices[found.satisfied] = i;
        if (found.some == no_index || (found.some < begin && i >= begin)) found.some = i;
        ++found.satisfied;
      } else if (found.missing.index == no_index) {
        found.missing = {i, as_recorded(value), as_recorded(words_[i])};
      }
    }
    return found;
  }
  [[nodiscard]] std::uint64_t seen(std::size_t i) const { return bits_of(words_[i]); }

  /// Records in the trace the words that ended the wait, at most the first 64.
  void end_wait(host_operation& s) const {
    if (!s.traced()) return;
    std::size_t told = 0;
    for (std::size_t i = 0; i < set_.count && told < 64; ++i) {
      if (set_.status != nullptr && set_.status[i] != 0) continue;
      const T value = expected(i);
      if (!compare(words_[i], set_.compare, value) && !met_[i]) continue;
      s.end_wait(set_, i, bits_of(value), seen(i));
      ++told;
    }
  }

 private:
  [[nodiscard]] T expected(std::size_t i) const {
    return set_.values != nullptr ? static_cast<const T*>(set_.values)[i] : from_bits<T>(set_.value);
  }

  world_state& state_;
  const word_set& set_;
  std::vector<T> words_;
  std::vector<bool> met_;
};

/// The bell that a proxy rings after it writes a word; null if it is not known that a proxy writes the words.
[[nodiscard]] const proxy_bell* bell_of(world_state& state) {
  return state.kind() == heap_kind::host ? &state.context().control_->bell : nullptr;
}

/// The control of a wait that has no limits of its own. The limits of the world's settings still apply.
const wait_control plain_wait;

/// The pauses and the time limit of one wait.
class wait_backoff {
 public:
  wait_backoff(world_state& state, const word_set& set, const wait_control& how = plain_wait)
      : state_(state), set_(set), how_(how) {}

  /// Returns after a pause that grows with the length of the wait. *Errors* the first failure of the world;
  /// wait_timeout when the wait has lasted longer than PGAS_WAIT_TIMEOUT.
  void pause(const missing_word& missing) {
    state_.check();
    const auto limit = how_.limit.value_or(state_.settings().wait_timeout);
    if ((how_.limit || limit.count() > 0) && clock::now() - begin_ > limit) {
      const std::uint64_t at = state_.context().offset(set_.words) + missing.index * size_of(set_.as);
      throw state_.with_stopped_pe(error(
          code::wait_timeout,
          fmt::format("wait_until on PE {} gave up after {} ms ({}): the word at heap offset {:#x} was compared "
                      "with {}; its last value is {}. Find the PE that should have written it, or raise the limit",
                      state_.context().my_pe(), limit.count(), how_.limit ? how_.limit_name : "PGAS_WAIT_TIMEOUT", at,
                      missing.expected, missing.seen)));
    }
    // Short waits poll. Long waits sleep for up to 1 ms at a time, so that they cost little CPU time.
    if (clock::now() - begin_ < poll_for)
      yield_now_and_then(bell_of(state_));
    else {
      state_.calls().waits_for({state_.context().offset(set_.words) + missing.index * size_of(set_.as),
                                missing.expected, missing.seen, static_cast<std::int32_t>(set_.compare), -1});
      const std::chrono::microseconds time(std::min(1000u, 10 + sleeps_++ / 4));
      if (how_.pause)
        how_.pause(time);
      else
        std::this_thread::sleep_for(time);
    }
  }

 private:
  world_state& state_;
  const word_set& set_;
  const wait_control& how_;
  clock::time_point begin_ = clock::now();
  unsigned sleeps_ = 0;
};

template <class Call>
std::uint64_t with_type(datatype as, const Call& call) {
  switch (as) {
    case datatype::i16: return call(std::type_identity<std::int16_t>{});
    case datatype::u16: return call(std::type_identity<std::uint16_t>{});
    case datatype::i32: return call(std::type_identity<std::int32_t>{});
    case datatype::u32: return call(std::type_identity<std::uint32_t>{});
    case datatype::i64: return call(std::type_identity<std::int64_t>{});
    default: return call(std::type_identity<std::uint64_t>{});
  }
}

/// Checks the arguments of a wait or test. Returns whether the set has any words.
bool check_set(host_operation& s, const word_set& set, which words, const std::size_t* indices) {
  s.check_compare(set.compare);
  if (set.count == 0) return false;
  const std::size_t bytes = size_of(set.as);
  s.state().check_symmetric(set.words, byte_count(set.count, bytes), bytes, "wait_until");
  if (words == which::some && indices == nullptr)
    throw error(code::invalid_argument, "wait_until_some, test_some: the place for the indices is null");
  return true;
}

std::size_t outcome(const poll_result& found, which words) {
  switch (words) {
    case which::all: return found.satisfied == found.wanted ? 1 : 0;
    case which::any: return found.some;
    case which::some: return found.satisfied;
  }
  return 0;
}

/// The result for a set without words.
std::size_t empty_answer(which words) { return outcome({}, words); }

}  // namespace

std::size_t test_words(world& w, const word_set& set, which words, std::size_t* indices) {
  const op_target how = blocking(w);
  host_operation s(how, "test");
  if (!check_set(s, set, words, indices)) return empty_answer(words);
  return with_type(set.as, [&]<class T>(std::type_identity<T>) -> std::uint64_t {
    return outcome(word_poll<T>(s.state(), set).poll(indices, false), words);
  });
}

std::size_t wait_words(world& w, const word_set& set, which words, std::size_t* indices) {
  return wait_words(w, set, words, indices, plain_wait);
}

std::size_t wait_words(world& w, const word_set& set, which words, std::size_t* indices, const wait_control& control) {
  const op_target how = blocking(w);
  host_operation s(how, "wait_until");
  const listed_call listed(s.state(), "wait_until");
  s.begin_wait();
  if (!check_set(s, set, words, indices)) return empty_answer(words);
  return with_type(set.as, [&]<class T>(std::type_identity<T>) -> std::uint64_t {
    word_poll<T> words_of_set(s.state(), set);
    wait_backoff backoff(s.state(), set, control);
    for (;;) {
      const poll_result now = words_of_set.poll(indices, words == which::all);
      const bool enough = words == which::all ? now.satisfied == now.wanted : now.satisfied != 0;
      if (enough || now.wanted == 0) {
        words_of_set.end_wait(s);
        return outcome(now, words);
      }
      backoff.pause(now.missing);
    }
  });
}

std::uint64_t wait_word(world& w, const word_set& set) {
  const op_target how = blocking(w);
  host_operation s(how, "wait_until");
  const listed_call listed(s.state(), "wait_until");
  s.begin_wait();
  static_cast<void>(check_set(s, set, which::all, nullptr));
  return with_type(set.as, [&]<class T>(std::type_identity<T>) -> std::uint64_t {
    word_poll<T> words_of_set(s.state(), set);
    wait_backoff backoff(s.state(), set);
    for (;;) {
      const poll_result now = words_of_set.poll(nullptr, false);
      if (now.satisfied != 0) {
        words_of_set.end_wait(s);
        return words_of_set.seen(0);
      }
      backoff.pause(now.missing);
    }
  });
}

void enqueue_wait(world& w, const stream& on, const word_set& set) {
  const op_target how = on_stream(w, on);
  host_operation s(how, "wait_until on a stream");
  s.check_compare(set.compare);
  if (set.count == 0) return;
  const std::size_t bytes = size_of(set.as);
  s.state().check_symmetric(set.words, byte_count(set.count, bytes), bytes, "wait_until on a stream");
  s.check_kernel_memory(set.status, "the status array");
  s.check_kernel_memory(set.values, "the array of values");
  operation_request request;
  request.what = operation_request::kind::wait;
  request.as = set.as;
  request.compare = set.compare;
  request.from = set.words;
  request.count = set.count;
  request.status = set.status;
  request.values = set.values;
  request.value[0] = set.value;
  request.here = s.state().context();
  request.ticket = s.state().enqueued().add_wait(s.queue());
  s.device().enqueue(request, s.queue());
}

}  // namespace pgas::detail
