// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/pareto.h"

#include <gmock/gmock-matchers.h>

#include <cmath>

namespace npuscope {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

TEST(Pareto, frontHasWhatNothingBeatsAndOneOfEquals) {
    EXPECT_THAT(pareto_front({{3, 1}, {1, 3}, {2, 2}, {2, 2}, {3, 3}, {2, 4}}),
                ElementsAre(1, 2, 0));
    EXPECT_THAT(pareto_front({{5}, {4}, {4}}), ElementsAre(1));
    EXPECT_TRUE(pareto_front({}).empty());
}

TEST(Pareto, hypervolumeIsTheShareOfTheBox) {
    EXPECT_DOUBLE_EQ(hypervolume({{0, 0}}, {0, 0}, {10, 10}), 1);
    EXPECT_DOUBLE_EQ(hypervolume({{5, 0}, {0, 5}}, {0, 0}, {10, 10}), 0.75);
    EXPECT_DOUBLE_EQ(hypervolume({{5, 5, 5}}, {0, 0, 0}, {10, 10, 10}), 0.125);
    EXPECT_DOUBLE_EQ(hypervolume({{11, 0}}, {0, 0}, {10, 10}), 0);
}

/// A synthetic machine: time falls with cells and bandwidth until the other of them bounds it.
struct MadeUpSpace {
    std::vector<std::vector<double>> places;
    std::vector<std::optional<Costs>> estimates;
    std::vector<Costs> costs;

    explicit MadeUpSpace(bool estimated) {
        constexpr int sizes = 20;
        for (int cells = 0; cells < sizes; ++cells) {
            for (int width = 0; width < sizes; ++width) {
                const double compute = 1e6 / (1 + cells);
                const double fetch = 4e5 / (1 + width);
                const double price = (1 + cells) + 0.5 * (1 + width);
                places.push_back({cells / 19.0, width / 19.0});
                costs.push_back(
                    {std::max(compute, fetch) * (1 + 0.1 * std::sin(cells * 7 + width)), price});
                // An estimate does not know of memory.
                estimates.push_back(estimated ? std::optional(Costs{compute, price})
                                              : std::nullopt);
            }
        }
    }
};

/// Share of the whole front's hypervolume that a search finds.
double share_found(const MadeUpSpace& space, std::size_t budget) {
    FrontSearch search(space.places, space.estimates, budget);
    std::vector<Costs> found;
    for (auto batch = search.next(8); !batch.empty(); batch = search.next(8)) {
        for (const std::size_t design : batch) {
            search.tell(design, space.costs[design]);
            found.push_back(space.costs[design]);
        }
    }
    EXPECT_LE(search.runs(), budget);
    Costs best = space.costs.front();
    Costs worst = best;
    for (const Costs& one : space.costs) {
        for (std::size_t i = 0; i < one.size(); ++i) {
            best[i] = std::min(best[i], one[i]);
            worst[i] = std::max(worst[i], one[i]);
        }
    }
    return hypervolume(found, best, worst) / hypervolume(space.costs, best, worst);
}

TEST(FrontSearch, findsTheFrontWithAFewRunsOnly) {
    EXPECT_GE(share_found(MadeUpSpace(true), 60), 0.95);
    EXPECT_GE(share_found(MadeUpSpace(false), 60), 0.95);
}

TEST(FrontSearch, goesOnWhereDesignsCannotBeRun) {
    FrontSearch search({{0}, {0.5}, {1}}, {{}, {}, {}}, 3);
    std::size_t asked = 0;
    for (auto batch = search.next(1); !batch.empty(); batch = search.next(1)) {
        search.tell(batch.front(), std::nullopt);
        ++asked;
    }
    EXPECT_EQ(asked, 3U);
}

TEST(FrontSearch, isNotChargedForDesignsThatAreRefused) {
    FrontSearch search({{0}, {0.5}, {1}}, {{}, {}, {}}, 1);
    std::size_t asked = 0;
    for (auto batch = search.next(1); !batch.empty(); batch = search.next(1)) {
        search.refuse();
        ++asked;
    }
    EXPECT_EQ(asked, 3U);
}

}  // namespace
}  // namespace npuscope
