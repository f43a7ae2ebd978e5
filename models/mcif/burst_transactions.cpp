// SPDX-License-Identifier: Apache-2.0
// The memory interface if each burst is a separate transaction: requests leave one after the other
// as they are accepted, answers come at any time, or at once with their delay.
#include <algorithm>
#include <utility>

#include "models/link/clock.h"
#include "models/mcif/mcif.h"

namespace npuscope {

void WriteAnswers::answer(std::uint64_t number, Cycles time) {
    const std::size_t place = number - first_;
    if (place >= later_.size()) {
        later_.resize(place + 1);
    }
    later_[place] = time;
    while (!later_.empty() && later_.front()) {
        times_.push_back(times_.empty() ? *later_.front()
                                        : std::max(times_.back(), *later_.front()));
        later_.pop_front();
        ++first_;
    }
    while (times_.size() > remembered) {
        times_.pop_front();
    }
}

Cycles WriteAnswers::time_of(std::uint64_t writes) const {
    if (times_.empty()) {
        return Cycles(0);
    }
    const std::uint64_t before = first_ - times_.size();
    return times_[writes > before ? writes - before - 1 : 0];
}

std::uint64_t Mcif::writes_sent(unsigned client) const {
    return clients_[client].write_answers.sent();
}

Cycles Mcif::wait_answered(Activity& writer, unsigned client, std::uint64_t writes) {
    const WriteAnswers& answers = clients_[client].write_answers;
    while (!answers.has(writes)) {
        writer.wait_for(clients_[client].at_writes(writes), WaitKind::Blocked, "write response");
    }
    return answers.time_of(writes);
}

void Mcif::issue_reads() {
    if (std::exchange(issuing_, true)) {
        return;  // an immediate answer: the channel checks it before its next command
    }
    reads_.advance(now());
    issuing_ = false;
    if (const std::optional<Cycles> next = reads_.next_command(); next && *next > now()) {
        next_read_.notify(to_time(*next - now()));
    }
}

void Mcif::send_bursts(Client& client, const tlm::tlm_generic_payload& payload,
                       const WriteChannel::Burst& burst) {
    const auto* of = payload.get_extension<AccessInfo>();
    AccessInfo info;
    if (of != nullptr) {
        info = *of;
    }
    const std::uint64_t burst_bytes = std::uint64_t{config_.max_burst} * config_.bus_width.value;
    const std::uint64_t begin = payload.get_address();
    const std::uint64_t end = begin + payload.get_data_length();
    const Cycles pace = std::max(burst.step, burst.interval);
    const bool late = writes_late_;  // before the answers to these
    Cycles last;
    if (late) {
        last = wait_taken(client, burst.beats);
        reads_.advance(now());
    }
    Cycles leaves;
    for (std::uint64_t from = begin; from < end;) {
        const std::uint64_t to = std::min(end, (from / burst_bytes + 1) * burst_bytes);
        const std::uint64_t beats_after =
            divide_up(end, config_.bus_width.value) - divide_up(to, config_.bus_width.value);
        if (late) {
            leaves = std::max(leaves, last - std::min(last, pace * beats_after));
        } else {
            wait_taken(client, burst.beats - beats_after);
            leaves = now();
            if (leaves_late()) {
                reads_.advance(leaves);
            }
        }
        leaves = wait_for_write_place(leaves);
        BurstTransaction& write =
            new_transaction(tlm::TLM_WRITE_COMMAND, {Address(from), Bytes(to - from)}, info);
        std::copy_n(payload.get_data_ptr() + (from - begin), to - from, write.bytes.data());
        write.info.asked = leaves;
        write.number = client.write_answers.send();
        ++writes_in_flight_;
        send(write);
        from = to;
    }
}

Cycles Mcif::wait_for_write_place(Cycles leaves) {
    while (writes_in_flight_ >= config_.outstanding_writes) {
        if (write_ends_.empty()) {
            write_awaited_ = true;
            sc_core::wait(write_answered_);
            leaves = std::max(leaves, now());
            continue;
        }
        const Cycles first = std::max(leaves, write_ends_.front());
        if (first > now()) {
            write_awaited_ = true;
            sc_core::wait(to_time(first - now()), write_answered_);
        }
        leaves = std::min(first, now());
        while (!write_ends_.empty() && write_ends_.front() <= leaves) {
            write_ends_.pop_front();
            --writes_in_flight_;
        }
    }
    return leaves;
}

void Mcif::end_write(Cycles time) {
    if (time > now()) {
        // most come last: the latency is the same for all
        write_ends_.insert(std::ranges::upper_bound(write_ends_, time), time);
        return;
    }
    --writes_in_flight_;
    if (std::exchange(write_awaited_, false)) {
        write_answered_.notify(sc_core::SC_ZERO_TIME);
    }
}

BurstTransaction& Mcif::new_transaction(tlm::tlm_command command, const ByteRun& run,
                                        const AccessInfo& info) {
    if (free_.empty()) {
        tlm::tlm_mm_interface& owner = *this;
        free_.push_back(&transactions_.emplace_back(owner));
    }
    BurstTransaction& transaction = *free_.back();
    free_.pop_back();
    transaction.acquire();
    transaction.info.copy_from(info);
    transaction.info.kind = AccessKind::Timed;
    transaction.info.beat_interval = Cycles(1);
    transaction.info.timer = nullptr;
    transaction.bytes.resize(run.bytes.value);
    transaction.set_command(command);
    transaction.set_address(run.address.value);
    transaction.set_data_ptr(transaction.bytes.data());
    transaction.set_data_length(static_cast<unsigned>(run.bytes.value));
    transaction.set_streaming_width(static_cast<unsigned>(run.bytes.value));
    transaction.set_byte_enable_ptr(nullptr);
    transaction.set_dmi_allowed(false);
    transaction.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    return transaction;
}

void Mcif::send(BurstTransaction& transaction) {
    waiting_.push_back(&transaction);
    send_waiting();
}

void Mcif::send_waiting() {
    while (being_accepted_ == nullptr && !waiting_.empty()) {
        BurstTransaction& transaction = *waiting_.front();
        waiting_.pop_front();
        if (!address_fits(transaction, &transaction.info)) {
            finish(transaction, (leaves_late() ? transaction.info.asked : now()) + Cycles(1));
            continue;
        }
        being_accepted_ = &transaction;
        tlm::tlm_phase phase = tlm::BEGIN_REQ;
        sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
        const tlm::tlm_sync_enum state = memory->nb_transport_fw(transaction, phase, delay);
        if (state == tlm::TLM_COMPLETED) {
            being_accepted_ = nullptr;
            finish(transaction, leaves_late() ? transaction.info.asked +
                                                    transaction.info.read_latency + Cycles(1)
                                              : now() + to_cycles(delay));
        } else if (state == tlm::TLM_UPDATED) {
            answer(transaction, phase, delay);
        }
    }
}

tlm::tlm_sync_enum Mcif::answer(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                sc_core::sc_time& delay) {
    if (being_accepted_ == &payload) {  // by END_REQ, or by the response itself
        being_accepted_ = nullptr;
    }
    if (phase != tlm::BEGIN_RESP) {
        send_waiting();
        return tlm::TLM_ACCEPTED;
    }
    finish(static_cast<BurstTransaction&>(payload), now() + to_cycles(delay));
    send_waiting();
    phase = tlm::END_RESP;
    return tlm::TLM_COMPLETED;
}

void Mcif::finish(BurstTransaction& transaction, Cycles time) {
    Client& client = clients_[transaction.info.client];
    beat_interval_ = std::max(transaction.info.beat_interval, Cycles(1));
    if (transaction.is_write()) {
        client.write_answers.answer(transaction.number, time);
        end_write(time);
        writes_late_ = transaction.info.timer == nullptr && leaves_late();
    } else {
        client.port->bring(Address(transaction.get_address()), transaction.bytes);
        reads_.answer(transaction.info.client, transaction.number, time, beat_interval_);
        if (awaits_answers()) {
            issue_reads();
        }
    }
    tell_answers(client, transaction.info.client);
    transaction.release();
}

void Mcif::tell_answers(Client& client, unsigned number) {
    if (reads_.answered(number) >= client.awaited_beats ||
        (client.awaited_writes != Client::nothing &&
         client.write_answers.has(client.awaited_writes))) {
        client.awaited_beats = client.awaited_writes = Client::nothing;
        client.answered->notify(sc_core::SC_ZERO_TIME);
    }
}

void Mcif::free(tlm::tlm_generic_payload* payload) {
    free_.push_back(static_cast<BurstTransaction*>(payload));
}

}  // namespace npuscope
