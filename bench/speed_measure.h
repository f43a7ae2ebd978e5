// SPDX-License-Identifier: Apache-2.0
// How long one program takes to simulate, and where the time goes. The parts come from whole
// runs that leave something out, so nothing inside the machine is timed:
//
//   read         the program's text and images; of a network its plan
//   elaboration  a run of a program without statements
//   events       a run without values, less elaboration
//   kernel       the bare convolutions (models/arith/convolve.h) of the same layer, or network
//   layout       a run with values, less all of the above: images into memory, operands out of it,
//                SDP, PDP, CDP, packing, checks
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/layer_of_program.h"
#include "models/base/quantity.h"
#include "sim/config/system_config.h"
#include "sim/model/network.h"
#include "sim/program/program.h"

namespace npuscope::bench {

/// What is measured: reads the program, with its images.
struct SpeedSubject {
    std::string name;
    std::function<Program()> read;
    std::vector<LayerGeometry> layers{};  ///< of a network; for one layer the program defines it
};

/// The network's convolutions, groups of channels one by one.
std::vector<LayerGeometry> convolutions_of(const Network& network);

struct SpeedResult {
    std::string name;
    Cycles simulated;
    std::uint64_t macs = 0;  ///< 0 where there is no kernel
    double read = 0;         ///< seconds, as all of these
    double elaboration = 0;
    double with_values = 0;     ///< a whole run
    double one_thread = 0;      ///< the same without a second thread for values
    double without_values = 0;  ///< a whole run
    std::optional<double> kernel;
    Bytes images;
    Bytes peak;  ///< see measure_memory

    double events() const { return without_values - elaboration; }
    double layout() const { return one_thread - without_values - kernel.value_or(0); }
    double cycles_per_second(double seconds) const {
        return static_cast<double>(simulated.value) / seconds;
    }
};

/// Resident memory of a process that reads and runs the program once. A child begins with its
/// parent's size: measure memory before anything else.
Bytes measure_memory(const SpeedSubject& subject, const SystemConfig& system);

/// Best of `times` runs of each kind.
SpeedResult measure_speed(const SpeedSubject& subject, const SystemConfig& system, unsigned times);

}  // namespace npuscope::bench
