// SPDX-License-Identifier: Apache-2.0
// npuscope_vectors DIR [DIR ..]: checks every case of the manifest in each folder, in both
// directions. Prints one line for each failure and `N passed, M failed`. Exit 0, 1 on a failure or
// if there is no case, 2 without a readable manifest.
#include <iostream>

#include "tests/vectors/vector_run.h"

int main(int argc, char** argv) {
    if (argc < 2) {
        std::cerr << "usage: npuscope_vectors DIR [DIR ..]   folders with a manifest.json\n";
        return 2;
    }
    npuscope::vectors::Tally tally;
    try {
        for (int i = 1; i < argc; ++i) {
            npuscope::vectors::check_folder(argv[i], tally, std::cout);
        }
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return 2;
    }
    std::cout << tally.passed << " passed, " << tally.failed << " failed\n";
    return tally.failed == 0 && tally.passed > 0 ? 0 : 1;
}
