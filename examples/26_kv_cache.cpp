// A prefill process computes the keys and values of requests, layer by layer, and hands them to a decode process, which
// has a paged cache. The two processes start independently, find each other through tickets in a folder, and either may
// be killed and restarted at any time.
//
//     26_kv_cache prefill FOLDER [PAUSE_US]
//     26_kv_cache decode FOLDER push|pull REQUESTS [early]
//
// push: prefill copies the pages of a layer into the pages of the cache that decode has chosen. pull: decode copies
// them from the pages of prefill. In both cases one copy_blocks() copies all pages of a layer, and the timeline
// `filled` orders the streams of both processes: decode can use a layer while prefill computes the next layer.
//
// Decode sends orders: the number of a request, and the pages for it. Decode sends order k only when it has received
// all pages of order k - window, so the order also tells prefill that its own pages of order k - window may be reused.
// When one process has ended, the other process drops the memory and the timeline of the ended process, and starts
// again with the next process. Pages of an unfinished request are used again only after the old process has ended,
// because the old process may write into the pages until then.
//
// PAUSE_US delays the copies by random times. With `early`, decode does not wait for the pages, so that it finds wrong
// pages.
#include <chrono>
#include <cstdio>
#include <deque>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "common/station.hpp"
#include "pgas/copy_blocks.hpp"
#include "pgas/timeline.hpp"

namespace {

using examples::station;
using examples::step;
using std::chrono::milliseconds;

constexpr int layers = 61;
constexpr std::size_t page_bytes = std::size_t{16} * 576 * 2;  // 16 tokens of 576 numbers of 16 bits
constexpr std::size_t page_words = page_bytes / sizeof(std::uint64_t);
constexpr int most_pages = 8;                   // pages of a request
constexpr int window = 3;                       // orders that are under way at the same time
constexpr int cache_pages = 40;                 // pages of the cache, for each layer
constexpr int own_pages = window * most_pages;  // pages of prefill, for each layer

/// The pages of one request.
struct page_numbers {
  std::int32_t at[most_pages] = {};
};

struct order {
  std::uint64_t request = 0;
  std::int32_t pages = 0;  ///< 0: the last order
  page_numbers to;         ///< the pages of the cache
};

PGAS_HD std::uint64_t word_of(std::uint64_t request, int layer, int page, std::size_t i) {
  return (request * layers + static_cast<std::uint64_t>(layer)) * most_pages * page_words +
         static_cast<std::uint64_t>(page) * page_words + i;
}

/// The "model": writes the pages of a layer.
struct compute {
  template <pgas::block_group Block>
  PGAS_FN void operator()(Block block, std::uint64_t* first_page, std::uint64_t request, int layer, int pages) const {
    for (int page = 0; page < pages; ++page)
      for (std::size_t i = block.thread_rank(); i < page_words; i += block.size())
        first_page[static_cast<std::size_t>(page) * page_words + i] = word_of(request, layer, page, i);
  }
};

/// Keeps the stream busy.
struct delay {
  template <pgas::block_group Block>
  PGAS_FN void operator()(Block block, std::uint64_t rounds, volatile std::uint64_t* word) const {
    if (block.thread_rank() == 0)
      for (std::uint64_t i = 0; i < rounds; ++i) *word = i;
  }
};

/// Compares a layer with the request, and counts the words that differ.
struct inspect {
  template <pgas::block_group Block>
  PGAS_FN void operator()(Block block, pgas::context ctx, const std::uint64_t* cache, page_numbers to,
                          std::uint64_t request, int layer, int pages, std::uint64_t* wrong) const {
    std::uint64_t mine = 0;
    for (int page = 0; page < pages; ++page) {
      const std::uint64_t* const at = cache + static_cast<std::size_t>(to.at[page]) * page_words;
      for (std::size_t i = block.thread_rank(); i < page_words; i += block.size())
        mine += at[i] != word_of(request, layer, page, i);
    }
    if (mine > 0) pgas::atomic_add(ctx, wrong, mine, ctx.my_pe());
  }
};

std::byte* layer_of(void* pages, int layer, int pages_of_layer) {
  return static_cast<std::byte*>(pages) + static_cast<std::size_t>(layer * pages_of_layer) * page_bytes;
}
/// The value of `filled` when a layer of order k has arrived.
std::uint64_t value_of(std::uint64_t k, int layer) { return (k - 1) * layers + static_cast<std::uint64_t>(layer) + 1; }
/// The content of decode's file after all requests are done.
const std::vector<std::string> all_is_done{"done"};
int slot_of(std::uint64_t k) { return static_cast<int>(k % window); }

/// The tickets that the prefill program publishes. The text of `filled` distinguishes one publication from the next.
struct offer {
  std::string filled, pages;

  explicit offer(const std::string& folder) {
    const std::vector<std::string> lines = examples::read_lines(folder + "/prefill");
    if (lines.size() == 2) filled = lines[0], pages = lines[1];
  }
};

/// Executes the orders of one decode process. Throws peer_lost if that process ends before its last order.
void serve(station& here, void* own, pgas::timeline& filled, const std::vector<std::string>& answer, unsigned pause_us,
           volatile std::uint64_t* scratch) {
  const bool push = answer[1] == "push";
  const pgas::open_options at_place{.place = here.place};
  const auto orders = pgas::opened_memory::open(answer[2]);
  const auto ordered = pgas::timeline::open(answer[3]);
  const auto cache = pgas::opened_memory::open(answer[4], at_place);
  const auto* const ring = static_cast<const order*>(orders.data());
  for (std::uint64_t k = 1;; ++k) {
    step();
    ordered.wait_host(k);
    const order& now = ring[slot_of(k)];
    if (now.pages == 0) return here.stream.synchronize();
    for (int layer = 0; layer < layers; ++layer) {
      std::byte* const first =
          layer_of(own, layer, own_pages) + static_cast<std::size_t>(slot_of(k) * most_pages) * page_bytes;
      pgas::launch(here.world, here.shape, compute{}, reinterpret_cast<std::uint64_t*>(first), now.request, layer,
                   now.pages);
      if (pause_us != 0)
        pgas::launch(here.world, here.shape, delay{}, std::uint64_t{100} * (k * 7919 % pause_us), scratch);
      if (push) {
        const pgas::page_side<void, std::int32_t> to{layer_of(cache.data(), layer, cache_pages), page_bytes, now.to.at};
        const pgas::page_side<const void, std::int32_t> from{first, page_bytes};
        pgas::copy_blocks(here.place, here.stream.native(),
                          {to, from, page_bytes, static_cast<std::size_t>(now.pages)});
      }
      step();
      filled.record(here.stream.native(), value_of(k, layer));
    }
  }
}

/// Serves one decode process after another, until one of these processes has received all its requests.
void prefill(const std::string& folder, unsigned pause_us) {
  station here;
  const auto scratch = here.world.allocate<std::uint64_t>(1);
  for (;;) {
    auto own = pgas::shared_memory::make(here.place, static_cast<std::size_t>(layers * own_pages) * page_bytes);
    auto filled = pgas::timeline::make(here.place);
    const std::string mine = filled.ticket();
    examples::write_lines(folder + "/prefill", {mine, own.ticket()});
    step();
    std::vector<std::string> answer;
    while (answer.size() != 5 || answer[0] != mine) {  // an answer to an earlier publication is ignored
      std::this_thread::sleep_for(milliseconds(5));
      answer = examples::read_lines(folder + "/decode");
      if (answer == all_is_done) return;
    }
    try {
      serve(here, own.data(), filled, answer, pause_us, scratch.data());
    } catch (const pgas::error& failed) {
      if (!examples::is_gone(failed)) throw;
      std::printf("prefill offers its work again: %s\n", failed.what());
      here.stream.synchronize();
    }
  }
}

/// A decode process: its cache, the free pages of the cache, and the requests that are done.
struct decoder {
  std::string folder;
  bool push;
  bool early;
  std::uint64_t requests;
  station here{};
  std::uint64_t done = 0;
  std::uint64_t wrong_words = 0;
  pgas::shared_memory cache =
      pgas::shared_memory::make(here.place, static_cast<std::size_t>(layers* cache_pages) * page_bytes);
  pgas::symmetric<std::uint64_t> wrong = here.world.allocate<std::uint64_t>(1, pgas::initialize::zero);
  std::deque<std::int32_t> free_pages = all_pages();

  static std::deque<std::int32_t> all_pages() {
    std::deque<std::int32_t> all(cache_pages);
    std::iota(all.begin(), all.end(), 0);
    return all;
  }

  /// The order for a request. Takes its pages from the free pages.
  order order_for(std::uint64_t request) {
    order result{request, static_cast<std::int32_t>(1 + request * 5 % most_pages), {}};
    for (int i = 0; i < result.pages; ++i) {
      result.to.at[i] = free_pages.front();
      free_pages.pop_front();
    }
    return result;
  }

  /// Uses each layer of order k when the layer has arrived.
  void receive(const order& now, std::uint64_t k, pgas::timeline& filled, const pgas::opened_memory& theirs) {
    for (int layer = 0; layer < layers; ++layer) {
      if (!early) filled.wait(here.stream.native(), value_of(k, layer));
      if (!push) {
        const pgas::page_side<void, std::int32_t> to{layer_of(cache.data(), layer, cache_pages), page_bytes, now.to.at};
        const pgas::page_side<const void, std::int32_t> from{
            layer_of(theirs.data(), layer, own_pages) + static_cast<std::size_t>(slot_of(k) * most_pages) * page_bytes,
            page_bytes};
        pgas::copy_blocks(here.place, here.stream.native(),
                          {to, from, page_bytes, static_cast<std::size_t>(now.pages)});
      }
      pgas::launch(here.world, here.shape, inspect{}, here.world.context(),
                   reinterpret_cast<const std::uint64_t*>(layer_of(cache.data(), layer, cache_pages)), now.to,
                   now.request, layer, now.pages, wrong.data());
      step();
    }
  }

  /// Sends the requests to one prefill process. Throws peer_lost if that process ends.
  void work_with(const offer& from) {
    const pgas::open_options at_place{.place = here.place};
    auto filled = pgas::timeline::open(from.filled, at_place);
    const auto theirs = pgas::opened_memory::open(from.pages, at_place);
    auto orders = pgas::shared_memory::make(pgas::memory_place::host(), window * sizeof(order));
    auto ordered = pgas::timeline::make(pgas::memory_place::host());
    auto* const ring = static_cast<order*>(orders.data());
    step();
    examples::write_lines(folder + "/decode",
                          {from.filled, push ? "push" : "pull", orders.ticket(), ordered.ticket(), cache.ticket()});
    std::uint64_t sent = 0;
    const std::uint64_t before = done;
    const auto send = [&](const order& next) {
      ring[slot_of(sent + 1)] = next;
      step();
      ordered.set(++sent);
    };
    while (done < requests) {
      while (sent < done - before + window && before + sent < requests) send(order_for(before + sent));
      const std::uint64_t k = done - before + 1;
      const order& now = ring[slot_of(k)];
      const std::uint64_t seen = pgas::g(here.world, wrong.data(), 0);
      receive(now, k, filled, theirs);
      here.stream.synchronize();
      // If prefill has ended, the stream has continued without the missing pages, and the count means nothing.
      filled.wait_host(value_of(k, layers - 1));
      wrong_words += pgas::g(here.world, wrong.data(), 0) - seen;
      free_pages.insert(free_pages.end(), now.to.at, now.to.at + now.pages);
      ++done;
    }
    send({});
    step();
    // Prefill reads the last order from the memory of this process.
    while (filled.alive()) std::this_thread::sleep_for(milliseconds(1));
  }

  /// Waits for the stream. Ignores failed waits of the stream for a process that has ended.
  void drain() try { here.stream.synchronize(); } catch (const pgas::error& failed) {
    if (!examples::is_gone(failed)) throw;
  }

  int run() {
    std::string lost;
    int partners = 0;
    for (;;) {
      const offer from(folder);
      const std::vector<std::string> answered = examples::read_lines(folder + "/decode");
      // An offer is used only once, because its timeline begins at 0. If an earlier decode process has answered this
      // offer, the offer is not used again.
      if (from.filled.empty() || from.filled == lost || (!answered.empty() && answered[0] == from.filled)) {
        std::this_thread::sleep_for(milliseconds(5));
        continue;
      }
      try {
        ++partners;
        work_with(from);
        examples::write_lines(folder + "/decode", all_is_done);
        std::printf("decode: %llu requests, %d prefill processes, %llu words wrong\n",
                    static_cast<unsigned long long>(done), partners, static_cast<unsigned long long>(wrong_words));
        return wrong_words == 0 ? 0 : 1;
      } catch (const pgas::error& failed) {
        if (!examples::is_gone(failed)) throw;
        std::printf("decode waits for another prefill process: %s\n", failed.what());
        drain();
        lost = from.filled;
        free_pages = all_pages();  // no process writes into the pages any more
      }
    }
  }
};

}  // namespace

int main(int argc, char** argv) try {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const std::string role = argc > 1 ? argv[1] : "";
  if (role == "prefill" && argc >= 3) {
    prefill(argv[2], argc > 3 ? static_cast<unsigned>(std::stoul(argv[3])) : 0);
    return 0;
  }
  if (role == "decode" && argc >= 5)
    return decoder{argv[2], std::string(argv[3]) == "push", argc > 5, std::stoull(argv[4])}.run();
  std::fprintf(stderr, "usage: %s prefill FOLDER [PAUSE_US] | decode FOLDER push|pull REQUESTS [early]\n", argv[0]);
  return 2;
} catch (const std::exception& failed) {
  std::fprintf(stderr, "%s\n", failed.what());
  return 1;
}
