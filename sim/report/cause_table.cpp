// SPDX-License-Identifier: Apache-2.0
#include "sim/report/cause_table.h"

#include <algorithm>

namespace npuscope {
namespace {

std::vector<std::size_t> causes_in_use(const std::vector<OperationRecord>& operations) {
    std::vector<std::size_t> used;
    for (std::size_t i = 0; i < cause_names.size(); ++i) {
        const auto has = [i](const OperationRecord& operation) {
            return operation.causes.cycles[i].value != 0;
        };
        if (std::ranges::any_of(operations, has)) {
            used.push_back(i);
        }
    }
    return used;
}

}  // namespace

std::string cause_table(const std::vector<OperationRecord>& operations, std::size_t width) {
    const std::vector<std::size_t> used = causes_in_use(operations);
    std::vector<TextTable::Column> columns{{"#", Align::Right}};
    for (const std::size_t cause : used) {
        columns.push_back({std::string(cause_names[cause]), Align::Right});
    }
    columns.push_back({"sum", Align::Right});
    TextTable table(std::move(columns));
    for (std::size_t i = 0; i < operations.size(); ++i) {
        std::vector<std::string> cells{std::to_string(i)};
        std::uint64_t sum = 0;
        for (const std::size_t cause : used) {
            const std::uint64_t cycles = operations[i].causes.cycles[cause].value;
            sum += cycles;
            cells.push_back(cycles == 0 ? "" : with_separators(cycles));
        }
        cells.push_back(with_separators(sum));
        table.add_row(std::move(cells));
    }
    return table.empty() || used.empty() ? std::string()
                                         : "\nwhere the cycles went\n" + table.text(width);
}

}  // namespace npuscope
