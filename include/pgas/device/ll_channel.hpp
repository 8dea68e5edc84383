/// @file
/// Channels for values in registers. Each thread of a group sends up to 16 bytes to the thread of the same rank on
/// another PE, or on all members of a team, and waits for the values of these threads. A message is one store (two for
/// more than 8 bytes), and the receiver polls for the message. There is no load of data, no sync of the group, no
/// shared counter and no fence. packet_channel.hpp has messages between buffers.
///
/// The memory of a channel is a *box*, in the symmetric heap and initially zero. With one box on every PE:
///
///     auto box = world.allocate<pgas::packet_line>(pgas::ll_lines<float>(block_size), pgas::initialize::zero);
///
///     pgas::ll_channel<float> channel(ctx, block, box, box, other_pe);
///     for (int step = 0; step < n; ++step) {
///       pgas::send(ctx, channel, mine);
///       mine = next(mine, pgas::receive(ctx, channel));
///     }
///
/// Among all members of a team, with boxes of ll_lines<float>(block_size, n_members) lines:
///
///     pgas::ll_team_channel<float> all(ctx, block, ctx.team(), box);
///     pgas::broadcast(ctx, all, mine);
///     const float sum = pgas::receive_reduce(ctx, all, pgas::op::sum{});
///
/// Threads are independent: no thread waits for other threads of the group, and the number of messages may differ from
/// thread to thread. The progress of a channel is in registers. The destructor stores the progress in the box, and the
/// next kernel, or another group, continues from this progress. A CUDA graph may repeat the kernel.
#pragma once

#include "pgas/detail/names_begin.inc"

#include "pgas/device/impl/ll/ll_round.hpp"
#include "pgas/device/impl/sync/collective_argument_check.hpp"
#include "pgas/type_requirements.hpp"

namespace pgas {

/// @brief A type that fits a message of a thread: at most 16 bytes.
template <class T>
inline constexpr bool is_ll_type = is_rma_type<T> && sizeof(T) <= 16;

#if __cpp_concepts >= 201907L  // the same as a concept
template <class T>
concept ll_type = is_ll_type<T>;
#endif

/// @brief The number of lines that a box needs for values of type T and groups of up to `threads` threads. The box is
/// for an ll_channel or, if `members` is given, for an ll_team_channel of a team with `members` members.
///
/// A box may be larger than its group requires. Groups that use a box one after another may differ in size. All groups
/// that use a box must have the same team, and types T of the same size after rounding up to 8 or 16 bytes.
template <PGAS_IS(ll_type) T>
[[nodiscard]] PGAS_HD constexpr std::size_t ll_lines(std::size_t threads, std::size_t members = 1) {
  return (threads + detail::packets_in_line - 1) / detail::packets_in_line *
         detail::ll_tile_lines(members, detail::packets_of_value<T>);
}

/// @brief A thread's side of a channel with another PE.
///
/// The other side belongs to the thread of the same rank on the other PE. Each side receives one message for each
/// message that it sends; a side may send first or receive first. Two alternating receive buffers (places) are
/// therefore sufficient (`impl/ll/ll_value.hpp`). Only the thread that opened a channel uses and destroys the channel.
/// A channel can't be copied or moved.
template <PGAS_IS(ll_type) T>
class ll_channel {
  static_assert(is_ll_type<T>, "a message of a thread is a trivially copyable value of at most 16 bytes");

 public:
  /// @brief Opens this side of a channel with PE `pe`, which may be this PE.
  ///
  /// *Callers* all threads of the group `g`, converged; only one group at a time may use a box. If groups of one kernel
  /// use a box one after another, the program must synchronize the groups.
  /// *Memory* `in` and `out` are symmetric memory of ll_lines<T>(g.size()) lines each. `in` is this PE's box for
  /// messages from PE `pe`. `out` is the box of PE `pe` for messages from this PE, given as an address on this PE. `in`
  /// and `out` may be equal if both PEs use the box for no other channel. Between the last message and the freeing or
  /// clearing of a box, the program must call a barrier.
  /// *Errors* if checks are on, a box outside the heap ends the group.
  template <PGAS_IS(group) G>
  PGAS_FN ll_channel(const context& ctx, const G& g, packet_line* in, packet_line* out, pe_or_peer pe) {
    constexpr std::uint32_t packets = detail::packets_of_value<T>;
    constexpr std::size_t tile = detail::ll_tile_lines(1, packets);
    const auto rank = static_cast<std::size_t>(g.thread_rank());
    const auto size = static_cast<std::size_t>(g.size());
    detail::check(ctx, detail::operation::receive, in, ll_lines<T>(size), pe.pe());
    detail::check(ctx, detail::operation::send, out, ll_lines<T>(size), pe.pe());
    in_ = detail::ll_places(in, rank, tile);
    out_ = detail::ll_places(out, rank, tile);
    remote_ = ctx.remote(out_, pe);
    slow_ = ctx.checks() || (ctx.has_proxied() && remote_ == nullptr);
    pe_ = ctx.team().world_pe(pe.pe());
    g.sync();  // after this sync, the box contains the progress that an earlier use by this group has stored
    now_ = detail::load_progress(in_);
  }
  /// @brief Opens this side of a channel for one thread instead of a group.
  PGAS_FN ll_channel(const context& ctx, packet_line* in, packet_line* out, pe_or_peer pe)
      : ll_channel(ctx, this_thread{}, in, out, pe) {}

  ll_channel(const ll_channel&) = delete;
  ll_channel& operator=(const ll_channel&) = delete;

  /// @brief Stores the progress in this PE's box.
  PGAS_FN ~ll_channel() { detail::store_progress(in_, now_); }

  // For the library's internal use.
  /// @brief The distance, in packets, between the places of two successive messages of a thread.
  static constexpr std::uint32_t turn = detail::packets_of_value<T> * detail::packets_in_line;
  detail::vec16* in_;
  detail::vec16* out_;     ///< the other PE's places, given as an address on this PE
  detail::vec16* remote_;  ///< the load/store accessible address of the other PE's places, or null
  bool slow_;              ///< the other PE is proxied, or checks are on; always false with a direct_context
  std::int32_t pe_;        ///< number of the other PE in the world
  detail::ll_progress now_;
};

/// @brief Sends a value to the thread of the same rank on the other PE.
///
/// *Callers* the thread that opened the channel. *On return* the message is in flight.
/// *Order* the message does not order accesses to other memory: the receiver might not see earlier puts and
/// stores. To send data in order with a signal, use put_signal().
/// *Errors* the thread must not send a second message before it has received a message from the other PE. If checks are
/// on or the other PE is proxied, a second message that is sent too early ends the thread with a record. Without
/// checks, a second message to a direct PE can overwrite the first message. If the second message overwrites the first
/// message, the other PE's wait never succeeds, and the record of this wait names the sender.
template <PGAS_IS(ll_type) T>
PGAS_FN void send(const context& ctx, ll_channel<T>& channel, const detail::type_identity_t<T>& value) {
  const std::uint32_t number = ++channel.now_.sent;
  const std::uint32_t turn = (number & 1) * channel.turn;
  const detail::ll_value_of<T> data = detail::to_ll<T>(value);
  if (channel.slow_) PGAS_UNLIKELY {
    detail::vec16* const remote = channel.remote_ != nullptr ? channel.remote_ + turn : nullptr;
    detail::send_ll_slow(ctx.copy_, channel.pe_, channel.now_, channel.out_ + turn, remote, data);
    return;
  }
  detail::send_ll_value(channel.remote_ + turn, number, data);
}

/// @brief Waits for the next value from the thread of the same rank on the other PE.
///
/// *Callers* the thread that opened the channel. *Order* the receive orders only the message, not accesses to other
/// memory. *Errors* ends the thread with a record that names the other PE when the world is aborted or the deadline
/// passes. With checks on, or if the other PE is proxied, the call also ends the thread if this thread receives twice
/// without a send in between. If the call did not end the thread, both PEs would wait forever.
///
/// @return The value.
template <PGAS_IS(ll_type) T>
[[nodiscard]] PGAS_FN T receive(const context& ctx, ll_channel<T>& channel) {
  const std::uint32_t number = ++channel.now_.received;
  detail::vec16* const place = channel.in_ + (number & 1) * channel.turn;
  if (channel.slow_) PGAS_UNLIKELY {
    return detail::from_ll<T>(detail::receive_ll_slow<detail::packets_of_value<T>>(ctx.copy_, channel.pe_, channel.now_,
                                                                                   place, channel.remote_ == nullptr));
  }
  detail::ll_value_of<T> data[1];
  detail::receive_ll_values(ctx, {nullptr, channel.pe_, 0}, place, 1, number, data);
  return detail::from_ll<T>(data[0]);
}

/// @brief The number of rounds of a box, for programs that count the rounds themselves (for example in one word per
/// block).
struct ll_rounds {
  std::uint32_t begun;  ///< number of rounds that have begun; the last one might still be in progress
};

/// @brief The members that receive a thread's values in a round.
enum class ll_to {
  all,    ///< including this PE
  others  ///< without this PE, whose value the program passes to the receives
};

/// @brief A thread's side of a channel with the threads of its rank on all members of a team, including this PE.
///
/// Messages are exchanged in *rounds*: in each round a thread sends one message to every member, by broadcast() or
/// send_each(), and receives one message from every member. An `ll_team_channel<T, ll_to::others>` sends to all other
/// members, by broadcast_to_others(), which saves a store and a load. The receives of an `ll_team_channel<T,
/// ll_to::others>` take this PE's own value as an argument, because no message carries that value.
///
/// A thread begins a round when all messages of the previous round have arrived. If the program has not received all
/// messages of the previous round, the thread waits for the missing messages and drops them. Two receive buffers
/// (places) for each member are therefore sufficient. A message of round k overwrites the message of round k - 2.
/// Before a member sends its message of round k, it has received this thread's message of round k - 1. This thread sent
/// its message of round k - 1 after all messages of round k - 2 had arrived. If the program counts the rounds, the
/// channel does not record which messages were requested, so the program must request all messages.
///
/// In each round, the sender and the receiver must use the same type of channel. Between two rounds, the program may
/// change from a channel with one ll_to to a channel with the other ll_to.
template <PGAS_IS(ll_type) T, ll_to To = ll_to::all>
class ll_team_channel {
  static_assert(is_ll_type<T>, "a message of a thread is a trivially copyable value of at most 16 bytes");

 public:
  /// @brief Opens this PE's side.
  ///
  /// *Callers* all threads of the group `g`, converged; only one group at a time may use a box. If groups of one kernel
  /// use a box one after another, the program must synchronize the groups.
  /// *Memory* `box` is symmetric memory of ll_lines<T>(g.size(), team.n_pes()) lines, at the same offset on all
  /// members. Between the last message and the freeing or clearing of the box, the program must call a barrier.
  /// *Errors* if checks are on, a box outside the heap or a team that does not contain this PE ends the group.
  template <PGAS_IS(group) G>
  PGAS_FN ll_team_channel(const context& ctx, const G& g, const team_view& team, packet_line* box)
      : team_(team), places_(places_of(ctx, g, team, box)) {
    g.sync();  // after this sync, the box contains the progress that an earlier use by this group has stored
    now_ = detail::load_progress(places_);
    ++now_.sent;  // message numbers start at 1, so a box of zeros contains no message
  }
  /// @brief Opens this PE's side, for a program that counts the rounds that have begun.
  ///
  /// The constructor reads nothing, the destructor stores nothing, and the group is not synchronized.
  ///
  /// *Callers* as above.
  /// *Units* `rounds.begun` is 0 for a box of zeros, and the same for all threads and members. A thread that skips
  /// rounds must skip an even number of rounds.
  /// *Order* before a thread begins a round, it must have received the messages of the previous round from all other
  /// members. The thread may receive the messages of the previous round on either of two channels: the channel by which
  /// it has sent its own message of the previous round, or a channel opened later whose `rounds.begun` includes that
  /// round. If a round begins too early, its messages can overwrite messages for which a member still waits. Either all
  /// channels of a box use this constructor, or none does.
  /// *Errors* as above. With checks on, a round that begins too early ends the thread with a record that names the box,
  /// the round, and a member whose message of the previous round was not received.
  template <PGAS_IS(group) G>
  PGAS_FN ll_team_channel(const context& ctx, const G& g, const team_view& team, packet_line* box, ll_rounds rounds)
      : team_(team), places_(places_of(ctx, g, team, box)), now_{rounds.begun + 1, 0}, is_counted_(true) {}
  /// @brief Opens this PE's side for one thread instead of a group.
  PGAS_FN ll_team_channel(const context& ctx, const team_view& team, packet_line* box)
      : ll_team_channel(ctx, this_thread{}, team, box) {}
  /// @brief Opens this PE's side for one thread instead of a group, with the number of rounds that have begun.
  PGAS_FN ll_team_channel(const context& ctx, const team_view& team, packet_line* box, ll_rounds rounds)
      : ll_team_channel(ctx, this_thread{}, team, box, rounds) {}

  ll_team_channel(const ll_team_channel&) = delete;
  ll_team_channel& operator=(const ll_team_channel&) = delete;

  /// @brief Stores the progress in this PE's box, unless the program counts the rounds.
  PGAS_FN ~ll_team_channel() {
    if (!is_counted_) detail::store_progress(places_, {now_.sent - 1, now_.received});
  }

  // For the library's internal use.
  using value_type = T;                                                  ///< type of a message
  static constexpr bool to_others = To == ll_to::others;                 ///< no message carries this PE's own value
  static constexpr std::uint32_t packets = detail::packets_of_value<T>;  ///< number of packets of a message
  static constexpr std::uint32_t apart =
      packets * detail::packets_in_line;  ///< the distance between the places of two members, in packets
  /// @brief The place for messages of member `from` in this round.
  [[nodiscard]] PGAS_FN detail::vec16* place(std::int32_t from) const {
    const auto first = (now_.sent & 1) * static_cast<std::uint32_t>(team_.n_pes());
    return places_ + std::size_t{first + static_cast<std::uint32_t>(from)} * apart;
  }
  /// @brief The senders, beginning with member `first`.
  [[nodiscard]] PGAS_FN detail::ll_senders senders(std::int32_t first) const {
    if (team_.members_ != nullptr) return {team_.members_ + first, 0, 0};
    return {nullptr, team_.start_ + first * team_.stride_, team_.stride_};
  }
  /// @brief Member `from`'s message of this round.
  [[nodiscard]] PGAS_FN detail::ll_value<packets> await(const context& ctx, std::int32_t from) const {
    if (ctx.has_proxied()) PGAS_UNLIKELY {
      const std::int32_t pe = team_.world_pe(from);
      if (!ctx.is_direct(pe))
        return detail::receive_ll_proxied<packets>(detail::ll_waiter_of(ctx), pe, place(from), now_.sent);
    }
    detail::ll_value<packets> data[1];
    detail::receive_ll_values(ctx, senders(from), place(from), 1, now_.sent, data);
    return data[0];
  }

  team_view team_;
  detail::vec16* places_;
  detail::ll_progress now_;  ///< the number of the round, and the count of its messages that were not requested
  bool is_counted_ = false;  ///< whether the program counts the rounds

 private:
  /// @brief The places of the calling thread.
  ///
  /// Checks the arguments.
  template <PGAS_IS(group) G>
  [[nodiscard]] PGAS_FN static detail::vec16* places_of(const context& ctx, const G& g, const team_view& team,
                                                        packet_line* box) {
    const auto members = static_cast<std::uint32_t>(team.n_pes());
    if (ctx.checks()) PGAS_UNLIKELY {
      detail::check_member(ctx.copy_, team, detail::operation::receive);
      detail::check(ctx, detail::operation::receive, box, ll_lines<T>(static_cast<std::size_t>(g.size()), members),
                    ctx.my_pe());
    }
    return detail::ll_places(box, static_cast<std::size_t>(g.thread_rank()),
                             detail::ll_tile_lines(members, detail::packets_of_value<T>));
  }
};

/// @brief Begins a round and sends each member a separate value: calls `value_for(member)` once for each member,
/// including this PE, in any order.
///
/// *Callers* the thread that opened the channel, together with the threads of the same rank on all members.
/// *On return* the values are in flight. *Order* as send().
/// *Errors* ends the thread with a record that names a member whose message of the previous round does not arrive.
template <PGAS_IS(ll_type) T, class F>
PGAS_FN void send_each(const context& ctx, ll_team_channel<T>& channel, const F& value_for) {
  detail::send_round(ctx, channel, value_for);
}

/// @brief Begins a round and sends every member the same value.
///
/// *Callers*, *On return*, *Order*, *Errors* as send_each().
template <PGAS_IS(ll_type) T>
PGAS_FN void broadcast(const context& ctx, ll_team_channel<T>& channel, const detail::type_identity_t<T>& value) {
  const T copy = value;  // loads the value once, not once per member
  send_each(ctx, channel, [copy](std::int32_t) { return copy; });
}

/// @brief Like broadcast(), on a channel that does not send this PE its own value.
template <PGAS_IS(ll_type) T>
PGAS_FN void broadcast_to_others(const context& ctx, ll_team_channel<T, ll_to::others>& channel,
                                 const detail::type_identity_t<T>& value) {
  const T copy = value;
  detail::send_round(ctx, channel, [copy](std::int32_t) { return copy; });
}

/// @brief Waits for the value of member `pe` of the team in this round. If `pe` is this PE, returns the value that this
/// PE has sent.
///
/// *Callers* the thread that opened the channel; at most once for each member in a round, in any order.
/// *Order* as receive() of an ll_channel.
/// *Errors* ends the thread with a record that names the member when the world is aborted or the deadline passes. With
/// checks on, also ends the thread if the team has no member `pe`.
///
/// @return The value.
template <PGAS_IS(ll_type) T>
[[nodiscard]] PGAS_FN T receive(const context& ctx, ll_team_channel<T>& channel, std::int32_t pe) {
  return detail::receive_of_round(ctx, channel, pe);
}
/// @brief Like receive(), on a channel that does not send this PE its own value.
///
/// @param own this PE's value
template <PGAS_IS(ll_type) T>
[[nodiscard]] PGAS_FN T receive(const context& ctx, ll_team_channel<T, ll_to::others>& channel, std::int32_t pe,
                                const detail::type_identity_t<T>& own) {
  return pe == channel.team_.my_pe() ? own : detail::receive_of_round(ctx, channel, pe);
}

/// @brief Waits for the values of all members in this round. Calls f(member, value) for each member, including this PE,
/// in the order of the members.
///
/// The thread polls several places at the same time.
///
/// *Callers* the thread that opened the channel, once in a round. *Order*, *Errors* as receive().
template <PGAS_IS(ll_type) T, class F>
PGAS_FN void receive_each(const context& ctx, ll_team_channel<T>& channel, const F& f) {
  detail::receive_round(ctx, channel, nullptr, f);
}
/// @brief Like receive_each(), on a channel that does not send this PE its own value.
///
/// @param own this PE's value
template <PGAS_IS(ll_type) T, class F>
PGAS_FN void receive_each(const context& ctx, ll_team_channel<T, ll_to::others>& channel,
                          const detail::type_identity_t<T>& own, const F& f) {
  detail::receive_round(ctx, channel, &own, f);
}

/// @brief Waits for the values of all members in this round and combines them in the order of the members.
///
/// The result has the same bits on all members if broadcast() sent the values. 16-bit floats are combined as floats and
/// rounded once.
///
/// *Callers*, *Order*, *Errors* as receive_each().
///
/// @return The combined value.
template <PGAS_IS(ll_type) T, PGAS_IS(reduce_op<T>) Op>
[[nodiscard]] PGAS_FN T receive_reduce(const context& ctx, ll_team_channel<T>& channel, const Op& op) {
  detail::ll_sum<T, Op> sum{op};
  receive_each(ctx, channel, [&](std::int32_t member, const T& value) { sum.add(member, value); });
  return sum.value();
}
/// @brief Like receive_reduce(), on a channel that does not send this PE its own value.
///
/// @param own this PE's value
template <PGAS_IS(ll_type) T, PGAS_IS(reduce_op<T>) Op>
[[nodiscard]] PGAS_FN T receive_reduce(const context& ctx, ll_team_channel<T, ll_to::others>& channel,
                                       const detail::type_identity_t<T>& own, const Op& op) {
  detail::ll_sum<T, Op> sum{op};
  receive_each(ctx, channel, own, [&](std::int32_t member, const T& value) { sum.add(member, value); });
  return sum.value();
}

}  // namespace pgas

#include "pgas/detail/names_end.inc"
