#include "group_view.hpp"

#include <algorithm>
#include <chrono>
#include <string>

#include "ask_cuda.hpp"

namespace pgas::torch_backend {
namespace {

std::chrono::milliseconds limit_of(std::size_t timeout_ms) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(timeout_ms));
}

}  // namespace

group_view::group_view(world& w, const std::shared_ptr<group>& of, const std::shared_ptr<block>& from,
                       c10::Device device, std::uint64_t number)
    : world_(w),
      group_(of),
      device_(device),
      bytes_(from->bytes()),
      number_(number),
      words_offset_(from->words_offset(of->slot())),
      words_(from->words()),
      registered_(of->members(), from->data(), from->total()) {
  if (!from->zeroed) {
    const std::vector<std::byte> zeros(from->pad_bytes());
    put(world_, alias(from->pad_offset()), zeros.data(), zeros.size(), world_.my_pe());
  }
  from->zeroed = true;
  std::vector<signal_t> initial(block::kinds_of_words * words_, 0);
  std::fill_n(initial.begin() + static_cast<std::ptrdiff_t>(2 * words_), words_, 1);  // no signal waits for an answer
  put(world_, alias(words_offset_), reinterpret_cast<const std::byte*>(initial.data()),
      initial.size() * sizeof(signal_t), world_.my_pe());
  const team& members = of->members();
  for (int rank = 0; rank < members.n_pes(); ++rank) {
    std::byte* const there = rank == members.my_pe() ? from->data() : world_.ptr(alias(0), members.world_pe(rank));
    buffers_.push_back(there);
    pads_.push_back(there == nullptr ? nullptr : there + from->pad_offset());
  }
  std::vector<void*> all = buffers_;
  all.insert(all.end(), pads_.begin(), pads_.end());
  all.resize(all.size() + (buffers_.size() + 1) / 2);  // space for the global ranks, which are ints
  std::copy(of->global_ranks().begin(), of->global_ranks().end(),
            reinterpret_cast<int*>(all.data() + 2 * buffers_.size()));
  const std::size_t offset = from->table_offset(of->slot());
  put(world_, alias(offset), reinterpret_cast<const std::byte*>(all.data()), all.size() * sizeof(void*),
      world_.my_pe());
  table_ = reinterpret_cast<void**>(from->data() + offset);
  pgas::barrier(members);  // all pads and words are initialized
}

signal_t* group_view::words(int channel, kind which, const char* what) const {
  const auto n = static_cast<std::size_t>(group_->members().n_pes());
  const std::size_t channels = words_ / n;
  if (channel < 0 || static_cast<std::size_t>(channel) >= channels)
    throw error(code::invalid_argument, std::string("pgas.torch: ") + what + ": there is no channel " +
                                            std::to_string(channel) + ": the signal pad of " +
                                            std::to_string(words_ * sizeof(std::uint32_t)) + " bytes has 0 to " +
                                            std::to_string(channels - 1) + " for " + std::to_string(n) +
                                            " ranks; set_signal_pad_size() before the allocation gives more");
  auto* const first = reinterpret_cast<signal_t*>(alias(words_offset_));
  return first + static_cast<std::size_t>(which) * words_ + static_cast<std::size_t>(channel) * n;
}

template <class Body>
void group_view::on_stream(int channel, const Body& body) {
  world_.check();  // throws the failure of an earlier wait
  if (device_.is_cuda()) return body(stream::wrap(world_, current_stream(device_.index())));
  stream* own = nullptr;
  {
    const std::lock_guard guard(streams_lock_);
    own = &streams_.try_emplace(channel, world_).first->second;
  }
  body(*own);
  own->synchronize();
}

void group_view::barrier(int channel, std::size_t timeout_ms) {
  signal_t* const first = words(channel, kind::of_barrier, "barrier");
  on_stream(channel, [&](const stream& on) { pgas::barrier(group_->members(), on, first, limit_of(timeout_ms)); });
}

void group_view::put_signal(int to, int channel, std::size_t timeout_ms) {
  const team& members = group_->members();
  if (to < 0 || to >= members.n_pes())
    throw error(code::pe_out_of_range, "pgas.torch: put_signal: the group has no rank " + std::to_string(to), to);
  signal_t* const first = words(channel, kind::of_signal, "put_signal");
  signal_t* const answers = words(channel, kind::of_answer, "put_signal");
  on_stream(channel, [&](const stream& on) {
    signal_take(members, on, answers, to, limit_of(timeout_ms));
    signal_add(world_, on, first + members.my_pe(), 1, members.world_pe(to));
  });
}

void group_view::wait_signal(int from, int channel, std::size_t timeout_ms) {
  const team& members = group_->members();
  signal_t* const first = words(channel, kind::of_signal, "wait_signal");
  signal_t* const answers = words(channel, kind::of_answer, "wait_signal");
  on_stream(channel, [&](const stream& on) {
    signal_take(members, on, first, from, limit_of(timeout_ms));
    signal_add(world_, on, answers + members.my_pe(), 1, members.world_pe(from));
  });
}

}  // namespace pgas::torch_backend
