// SPDX-License-Identifier: Apache-2.0
// Records and replays the traffic of a TLM port: a recorder between initiator and target, such as a
// driver and the NPU's registers, or the NPU and a memory; and a replayer in the initiator's place.
//
//     npuscope::Recorder recorder("recorder", {"dram.csv", "dram.vcd"});
//     npu.dram.bind(recorder.from), recorder.to.bind(memory.socket);
//     ...
//     npuscope::Replayer replayer("replayer", "dram.csv");
//     replayer.to.bind(other_memory.socket);
//
// A row of the CSV is a transaction; rows are in order of completion:
//
//     begin_ps,end_ps,access,address,bytes,response,data
//     1000,61000,read,0x80000000,32,ok,00ff..        two digits per byte, lowest address first
//
// Byte enables are not recorded. `access` is read or write, or debug_read or debug_write for debug
// transport, which takes no time. The VCD shows what begins (address, bytes, write) and how many
// reads and writes are in flight, in steps of 1 ps.
// Compiles as C++17 and later; needs only SystemC.
#ifndef NPUSCOPE_RECORDER_H
#define NPUSCOPE_RECORDER_H

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

namespace npuscope {

/// A transaction as in the CSV.
struct RecordedAccess {
    std::uint64_t begin = 0;  ///< ps
    std::uint64_t end = 0;
    std::string access;
    std::uint64_t address = 0;
    std::string response;  ///< ok, or TLM's name of the error
    std::vector<unsigned char> data;

    bool is_write() const { return access == "write" || access == "debug_write"; }
    bool is_debug() const { return access.compare(0, 6, "debug_") == 0; }
};

inline std::uint64_t picoseconds(const sc_core::sc_time& time) {
    return static_cast<std::uint64_t>(time.to_seconds() * 1e12 + 0.5);
}

inline std::string bytes_to_hex(const std::vector<unsigned char>& bytes) {
    static const char digits[] = "0123456789abcdef";
    std::string text;
    text.reserve(2 * bytes.size());
    for (const unsigned char byte : bytes) {
        text += digits[byte >> 4];
        text += digits[byte & 15];
    }
    return text;
}

/// Passes everything on, phases and debug transport too; DMI is refused.
class Recorder : public sc_core::sc_module {
 public:
    /// File names; empty for none.
    struct Setup {
        std::string csv;
        std::string vcd;
    };

    /// Throws std::runtime_error if a file cannot be written.
    Recorder(const sc_core::sc_module_name& name, const Setup& setup)
        : sc_core::sc_module(name), csv_(open(setup.csv)), vcd_(open(setup.vcd)) {
        from.register_b_transport(this, &Recorder::transport);
        from.register_nb_transport_fw(this, &Recorder::forward);
        from.register_transport_dbg(this, &Recorder::debug);
        to.register_nb_transport_bw(this, &Recorder::backward);
        csv_ << "begin_ps,end_ps,access,address,bytes,response,data\n";
        vcd_ << "$timescale 1 ps $end\n$scope module " << this->basename() << " $end\n"
             << "$var wire 64 a address $end\n$var wire 32 b bytes $end\n$var wire 1 w write $end\n"
             << "$var integer 32 r reads_in_flight $end\n$var integer 32 s writes_in_flight $end\n"
             << "$upscope $end\n$enddefinitions $end\n";
    }
    ~Recorder() override { draw(UINT64_MAX); }

    tlm_utils::simple_target_socket<Recorder> from{"from"};
    tlm_utils::simple_initiator_socket<Recorder> to{"to"};
    /// Completed transactions, including debug transport.
    std::uint64_t accesses() const { return accesses_; }
    /// Writes completed transactions to the files, as does the destructor.
    void flush() {
        draw(oldest());
        csv_.flush();
        vcd_.flush();
    }

 private:
    using Payload = tlm::tlm_generic_payload;

    static std::ofstream open(const std::string& file) {
        std::ofstream stream;
        if (!file.empty()) {
            stream.open(file, std::ios::binary);
            if (!stream) {
                throw std::runtime_error("Recorder: cannot write " + file);
            }
        }
        return stream;
    }

    RecordedAccess begin(const Payload& payload, const sc_core::sc_time& delay, bool is_debug) {
        RecordedAccess access;
        access.begin = picoseconds(sc_core::sc_time_stamp() + delay);
        access.access =
            std::string(is_debug ? "debug_" : "") + (payload.is_write() ? "write" : "read");
        access.address = payload.get_address();
        if (payload.is_write()) {
            keep_data(payload, access);
        }
        return access;
    }
    static void keep_data(const Payload& payload, RecordedAccess& access) {
        access.data.assign(payload.get_data_ptr(),
                           payload.get_data_ptr() + payload.get_data_length());
    }
    void end(RecordedAccess access, const Payload& payload, const sc_core::sc_time& delay) {
        access.end = picoseconds(sc_core::sc_time_stamp() + delay);
        if (!access.is_write()) {
            keep_data(payload, access);
        }
        access.response = payload.is_response_ok() || access.is_debug()
                              ? std::string("ok")
                              : payload.get_response_string();
        ++accesses_;
        csv_ << access.begin << ',' << access.end << ',' << access.access << ",0x" << std::hex
             << access.address << std::dec << ',' << access.data.size() << ',' << access.response
             << ',' << bytes_to_hex(access.data) << '\n';
        if (!access.is_debug() && vcd_.is_open()) {
            changes_.emplace(access.begin,
                             Change{true, access.is_write(), access.address, access.data.size()});
            changes_.emplace(access.end, Change{false, access.is_write(), 0, 0});
            draw(oldest());
        }
    }

    void transport(Payload& payload, sc_core::sc_time& delay) {
        RecordedAccess access = begin(payload, delay, false);
        const auto open = begins_.insert(access.begin);
        to->b_transport(payload, delay);
        begins_.erase(open);
        end(std::move(access), payload, delay);
    }

    unsigned debug(Payload& payload) {
        const RecordedAccess access = begin(payload, sc_core::SC_ZERO_TIME, true);
        const unsigned moved = to->transport_dbg(payload);
        end(access, payload, sc_core::SC_ZERO_TIME);
        return moved;
    }

    tlm::tlm_sync_enum forward(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
        if (phase == tlm::BEGIN_REQ) {
            const RecordedAccess access = begin(payload, delay, false);
            in_flight_[&payload] = {access, begins_.insert(access.begin)};
        }
        const tlm::tlm_sync_enum state = to->nb_transport_fw(payload, phase, delay);
        if (state == tlm::TLM_COMPLETED ||
            (state == tlm::TLM_UPDATED && phase == tlm::BEGIN_RESP)) {
            end_in_flight(payload, delay);
        }
        return state;
    }

    tlm::tlm_sync_enum backward(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
        if (phase == tlm::BEGIN_RESP) {
            end_in_flight(payload, delay);
        }
        return from->nb_transport_bw(payload, phase, delay);
    }

    void end_in_flight(Payload& payload, const sc_core::sc_time& delay) {
        const auto found = in_flight_.find(&payload);
        if (found != in_flight_.end()) {
            const RecordedAccess access = found->second.access;
            begins_.erase(found->second.begin);
            in_flight_.erase(found);
            end(access, payload, delay);
        }
    }

    // --- VCD: times in order, although transactions end in any order ---

    struct Change {
        bool begins;
        bool write;
        std::uint64_t address;
        std::uint64_t bytes;
    };

    /// Nothing can begin or end before this time any more.
    std::uint64_t oldest() const {
        const std::uint64_t now = picoseconds(sc_core::sc_time_stamp());
        return begins_.empty() ? now : std::min(now, *begins_.begin());
    }

    void draw(std::uint64_t before) {
        while (!changes_.empty() && changes_.begin()->first < before) {
            const std::uint64_t time = changes_.begin()->first;
            vcd_ << '#' << time << '\n';
            for (auto at = changes_.begin(); at != changes_.end() && at->first == time;
                 at = changes_.erase(at)) {
                const Change& change = at->second;
                long& count = change.write ? writes_ : reads_;
                count += change.begins ? 1 : -1;
                if (change.begins) {
                    vcd_ << binary(change.address) << " a\n"
                         << binary(change.bytes) << " b\n"
                         << (change.write ? "1w\n" : "0w\n");
                }
                vcd_ << binary(static_cast<std::uint64_t>(count) & 0xffff'ffffU)
                     << (change.write ? " s\n" : " r\n");
            }
        }
    }
    static std::string binary(std::uint64_t value) {
        std::string digits;
        do {
            digits.insert(digits.begin(), value & 1 ? '1' : '0');
            value >>= 1;
        } while (value > 0);
        return "b" + digits;
    }

    std::ofstream csv_;
    std::ofstream vcd_;
    struct Open {
        RecordedAccess access;
        std::multiset<std::uint64_t>::iterator begin;  ///< in begins_
    };
    std::map<Payload*, Open> in_flight_;
    std::multiset<std::uint64_t> begins_;  ///< of transactions in flight
    std::multimap<std::uint64_t, Change> changes_;
    long reads_ = 0;
    long writes_ = 0;
    std::uint64_t accesses_ = 0;
};

/// A whole number in `text`; std::invalid_argument if there is anything else.
inline std::uint64_t whole_number(const std::string& text, int base) {
    std::size_t end = 0;
    const std::uint64_t value = std::stoull(text, &end, base);
    if (end != text.size() || text[0] == '-') {
        throw std::invalid_argument(text);
    }
    return value;
}

/// The rows of a recorder's CSV in order of begin. Throws std::runtime_error with file and line.
inline std::vector<RecordedAccess> read_recording(const std::string& file) {
    std::ifstream stream(file);
    const auto wrong = [&](std::size_t line, const std::string& what) {
        throw std::runtime_error(file + ":" + std::to_string(line) + ": " + what);
    };
    std::string text;
    if (!std::getline(stream, text) || text.compare(0, 8, "begin_ps") != 0) {
        wrong(1, "not a recording");
    }
    std::vector<RecordedAccess> rows;
    for (std::size_t line = 2; std::getline(stream, text); ++line) {
        std::istringstream words(text);
        std::vector<std::string> cells(7);
        for (std::string& cell : cells) {
            std::getline(words, cell, ',');
        }
        RecordedAccess row;
        std::uint64_t bytes = 0;
        try {
            row.begin = whole_number(cells[0], 10);
            row.end = whole_number(cells[1], 10);
            row.access = cells[2];
            row.address = whole_number(cells[3], 16);
            bytes = whole_number(cells[4], 10);
            row.response = cells[5];
            if (cells[6].size() % 2 != 0) {
                throw std::invalid_argument(cells[6]);
            }
            for (std::size_t i = 0; i < cells[6].size(); i += 2) {
                row.data.push_back(
                    static_cast<unsigned char>(whole_number(cells[6].substr(i, 2), 16)));
            }
        } catch (const std::logic_error&) {
            wrong(line, "a number is none");
        }
        if (row.data.size() != bytes) {
            wrong(line, "there are " + std::to_string(row.data.size()) + " bytes of data");
        }
        const std::string kind = row.access.substr(row.is_debug() ? 6 : 0);
        if (kind != "read" && kind != "write") {
            wrong(line, "no such access: " + row.access);
        }
        rows.push_back(std::move(row));
    }
    std::stable_sort(rows.begin(), rows.end(),
                     [](const auto& a, const auto& b) { return a.begin < b.begin; });
    return rows;
}

/// Replays a recording: each transaction at its time, counted from the first one, by b_transport
/// from its own thread, so that as many are in flight as when recorded. Debug transport is left
/// out. Each response is compared with the recording, and data that a read has returned.
class Replayer : public sc_core::sc_module {
 public:
    /// Throws std::runtime_error if the file is not a recording.
    Replayer(const sc_core::sc_module_name& name, const std::string& csv)
        : sc_core::sc_module(name), rows_(read_recording(csv)) {
        rows_.erase(std::remove_if(rows_.begin(), rows_.end(),
                                   [](const RecordedAccess& row) { return row.is_debug(); }),
                    rows_.end());
        SC_HAS_PROCESS(Replayer);
        SC_THREAD(replay);
    }

    tlm_utils::simple_initiator_socket<Replayer> to{"to"};
    /// Called for each transaction whose answer differs.
    std::function<void(const RecordedAccess& recorded, const std::string& text)> on_difference;
    std::uint64_t differences() const { return differences_; }
    std::size_t left() const { return left_; }
    /// Notified with the last answer; at once if the recording has no transaction.
    sc_core::sc_event done;

 private:
    void replay() {
        left_ = rows_.size();
        if (rows_.empty()) {
            done.notify(sc_core::SC_ZERO_TIME);
        }
        const sc_core::sc_time begin = sc_core::sc_time_stamp();
        for (const RecordedAccess& row : rows_) {
            const sc_core::sc_time at =
                begin + sc_core::sc_time(static_cast<double>(row.begin - rows_.front().begin),
                                         sc_core::SC_PS);
            if (at > sc_core::sc_time_stamp()) {
                wait(at - sc_core::sc_time_stamp());
            }
            sc_core::sc_spawn([this, &row] { drive(row); });
        }
    }

    void drive(const RecordedAccess& row) {
        std::vector<unsigned char> data =
            row.is_write() ? row.data : std::vector<unsigned char>(row.data.size());
        tlm::tlm_generic_payload payload;
        payload.set_command(row.is_write() ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
        payload.set_address(row.address);
        payload.set_data_ptr(data.data());
        payload.set_data_length(static_cast<unsigned>(data.size()));
        payload.set_streaming_width(static_cast<unsigned>(data.size()));
        sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
        to->b_transport(payload, delay);
        wait(delay);
        const std::string response =
            payload.is_response_ok() ? std::string("ok") : payload.get_response_string();
        if (response != row.response) {
            differ(row, "the response is " + response + ", not " + row.response);
        } else if (payload.is_response_ok() && data != row.data) {
            const auto at =
                std::mismatch(data.begin(), data.end(), row.data.begin()).first - data.begin();
            differ(row, "byte " + std::to_string(at) + " of " + bytes_to_hex(data) +
                            " differs from " + bytes_to_hex(row.data));
        }
        if (--left_ == 0) {
            done.notify();
        }
    }

    void differ(const RecordedAccess& row, const std::string& text) {
        ++differences_;
        if (on_difference) {
            on_difference(row, text);
        }
    }

    std::vector<RecordedAccess> rows_;
    std::uint64_t differences_ = 0;
    std::size_t left_ = 0;
};

}  // namespace npuscope

#endif  // NPUSCOPE_RECORDER_H
