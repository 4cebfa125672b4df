#include "tuning/tasks/partition_moves.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/rng.h"
#include "graphs/mcm/chip_loads.h"
#include "graphs/mcm/partition_graph.h"
#include "graphs/placement_moves.h"
#include "tests/graphs/mcm/random_partition_graph.h"
#include "tests/support/status_matchers.h"
#include "tuning/tasks/partition_problem.h"

namespace hone::tuning {
namespace {

using graphs::PartitionGraph;
using ::hone::testing::RandomPartitionGraph;
using ::hone::testing::SmallPackage;

using Chips = std::vector<int32_t>;
using Changes = std::vector<space::Change>;
using Features = std::map<std::string, double>;

Features ByName(const std::vector<float>& values) {
  const std::vector<std::string> names = PartitionMoveFeatureNames();
  EXPECT_EQ(values.size(), names.size());
  Features features;
  for (size_t i = 0; i < names.size(); ++i) features[names[i]] = values[i];
  EXPECT_EQ(features.size(), names.size());
  return features;
}

Chips After(Chips chips, const Changes& changes) {
  for (const space::Change& change : changes) {
    chips[static_cast<size_t>(change.variable)] = change.value;
  }
  return chips;
}

// Random values for some random nodes, which may break any rule.
Changes AnyMove(const PartitionGraph& graph, const Chips& from, Rng& rng) {
  std::set<int32_t> variables;
  Changes changes;
  for (uint64_t i = 1 + rng.Below(4); i > 0; --i) {
    const auto variable = static_cast<int32_t>(rng.Below(graph.size()));
    const auto value =
        static_cast<int32_t>(rng.Below(static_cast<uint64_t>(graph.chips())));
    if (from[static_cast<size_t>(variable)] == value) continue;
    if (variables.insert(variable).second) changes.push_back({variable, value});
  }
  return changes;
}

// The figures of a chip, by graphs/mcm/chip_loads.h.
struct Chip {
  std::set<size_t> nodes;
  graphs::ChipLoad load;
  double overhead = 0;
  double memory = 0;
  double output = 0;

  double busy() const { return load.total() + overhead; }
};

// The chips with nodes.
std::vector<Chip> ChipsOf(const PartitionGraph& graph, const Chips& chips,
                          double op_time) {
  const graphs::ChipLoads loads = graphs::ComputeChipLoads(graph, chips);
  const std::vector<double> bytes = graphs::ResidentBytes(graph, chips);
  std::vector<Chip> result;
  for (int32_t c = 0; c < graph.chips(); ++c) {
    Chip chip;
    chip.load = loads.chips[static_cast<size_t>(c)];
    chip.memory = bytes[static_cast<size_t>(c)];
    for (size_t v = 0; v < graph.size(); ++v) {
      if (chips[v] != c) continue;
      const graphs::PartitionNode& node = graph.nodes()[v];
      chip.nodes.insert(v);
      chip.overhead += op_time * static_cast<double>(node.origins.size());
      chip.output = std::max(chip.output, node.output_bytes);
    }
    if (!chip.nodes.empty()) result.push_back(std::move(chip));
  }
  return result;
}

std::vector<Chip> Without(std::vector<Chip> chips,
                          const std::vector<Chip>& others) {
  std::erase_if(chips, [&](const Chip& chip) {
    return std::any_of(others.begin(), others.end(), [&](const Chip& other) {
      return other.nodes == chip.nodes;
    });
  });
  return chips;
}

template <typename Function>
double Most(const std::vector<Chip>& chips, const Function& of) {
  double most = 0;
  for (const Chip& chip : chips) most = std::max(most, of(chip));
  return most;
}

template <typename Function>
double Sum(const std::vector<Chip>& chips, const Function& of) {
  double sum = 0;
  for (const Chip& chip : chips) sum += of(chip);
  return sum;
}

double LoadOf(const Chip& chip) { return chip.load.total(); }
double BusyOf(const Chip& chip) { return chip.busy(); }

double Energy(const std::vector<Chip>& chips) {
  std::vector<double> busy;
  for (const Chip& chip : chips) busy.push_back(chip.busy());
  return graphs::PlacementEnergy(busy);
}

double Share(double value, double of) {
  return of > 0 ? std::clamp(value / of, -4.0, 4.0) : 0;
}

// The cube root of a share, whose small values float arithmetic blurs.
void ExpectSaved(double feature, double saved, double of, const char* name) {
  EXPECT_NEAR(feature * feature * feature, Share(saved, of), 1e-5) << name;
}

void ExpectSide(const Features& features, const std::string& side,
                const std::vector<Chip>& chips, double load, double busy,
                double memory) {
  const auto expect = [&](const char* name, double value) {
    EXPECT_NEAR(features.at(side + name), value, 1e-5) << side << name;
  };
  expect("load", Share(Most(chips, LoadOf), load));
  expect("busy", Share(Most(chips, BusyOf), busy));
  expect("memory",
         Share(Most(chips, [](const Chip& c) { return c.memory; }), memory));
  expect("output",
         Share(Most(chips, [](const Chip& c) { return c.output; }), memory));
  const auto count = static_cast<double>(std::max<size_t>(1, chips.size()));
  expect("mean", Share(Sum(chips, LoadOf) / count, load));
  // The parts of one of the busiest.
  const double most = Most(chips, BusyOf);
  double best = std::numeric_limits<double>::infinity();
  for (const Chip& chip : chips) {
    if (chip.busy() < most * (1 - 1e-9)) continue;
    best = std::min(best, std::abs(features.at(side + "compute") -
                                   Share(chip.load.compute, busy)) +
                              std::abs(features.at(side + "inbound") -
                                       Share(chip.load.inbound, busy)) +
                              std::abs(features.at(side + "outbound") -
                                       Share(chip.load.outbound, busy)) +
                              std::abs(features.at(side + "overhead") -
                                       Share(chip.overhead, busy)));
  }
  if (chips.empty()) {
    for (const char* part : {"compute", "inbound", "outbound", "overhead"}) {
      expect(part, 0);
    }
  } else {
    EXPECT_LT(best, 1e-5) << side;
  }
}

void ExpectDescription(const PartitionGraph& graph, double op_time,
                       const Chips& from, const Changes& changes,
                       const Features& features) {
  const std::vector<Chip> before = ChipsOf(graph, from, op_time);
  const std::vector<Chip> after = ChipsOf(graph, After(from, changes), op_time);
  const std::vector<Chip> was = Without(before, after);
  const std::vector<Chip> is = Without(after, before);
  // The chips that are the same on both sides.
  const std::vector<Chip> rest = Without(before, was);
  const double load = Most(before, LoadOf);
  const double busy = Most(before, BusyOf);
  EXPECT_NEAR(features.at("changes"),
              std::log2(1 + static_cast<double>(changes.size())) / 16, 1e-6);
  EXPECT_EQ(features.at("chips_added"), static_cast<double>(after.size()) -
                                            static_cast<double>(before.size()));
  EXPECT_NEAR(features.at("chips_changed"),
              static_cast<double>(was.size()) / 16, 1e-6);
  EXPECT_NEAR(features.at("rest_load"), Share(Most(rest, LoadOf), load), 1e-5);
  EXPECT_NEAR(features.at("rest_busy"), Share(Most(rest, BusyOf), busy), 1e-5);
  ExpectSide(features, "was_", was, load, busy, graph.memory_bytes());
  ExpectSide(features, "is_", is, load, busy, graph.memory_bytes());
  const auto transfers = [](const Chip& chip) {
    return chip.load.inbound + chip.load.outbound;
  };
  ExpectSaved(features.at("transfers_saved"),
              Sum(before, transfers) - Sum(after, transfers), load,
              "transfers_saved");
  ExpectSaved(features.at("busy_saved"), busy - Most(after, BusyOf), busy,
              "busy_saved");
  ExpectSaved(features.at("energy_saved"), Energy(before) - Energy(after),
              Energy(before), "energy_saved");
}

Chips AnyChips(const PartitionGraph& graph, Rng& rng) {
  Chips chips(graph.size());
  for (int32_t& chip : chips) {
    chip =
        static_cast<int32_t>(rng.Below(static_cast<uint64_t>(graph.chips())));
  }
  return chips;
}

TEST(PartitionMoves, NamesAreDistinct) {
  const std::vector<std::string> names = PartitionMoveFeatureNames();
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(),
            names.size());
}

TEST(PartitionMoves, DescribeWhatChipsDoBeforeAndAfter) {
  Rng rng(60);
  for (int i = 0; i < 60; ++i) {
    const PartitionGraph graph = RandomPartitionGraph(
        rng, 2 + rng.Below(30),
        i % 10 == 1 ? 64 : 1 + static_cast<int32_t>(rng.Below(8)), i % 3 == 0);
    const double op_time = i % 2 == 0 ? 0 : 2e-3 * rng.Uniform();
    PartitionMoves moves(graph, op_time);
    std::vector<float> features;
    for (int start = 0; start < 4; ++start) {
      const Chips from = AnyChips(graph, rng);
      moves.Start(from);
      for (int move = 0; move < 10; ++move) {
        const Changes changes = AnyMove(graph, from, rng);
        moves.Describe(changes, features);
        ExpectDescription(graph, op_time, from, changes, ByName(features));
      }
    }
  }
}

TEST(PartitionMoves, LocalStatesDescribeWhatTheyPropose) {
  Rng rng(61);
  int described = 0;
  for (const PartitionObjective objective :
       {PartitionObjective::kModelled, PartitionObjective::kSimulated}) {
    for (int i = 0; i < 8; ++i) {
      const int32_t chips = 2 + static_cast<int32_t>(rng.Below(8));
      const graphs::Package package = SmallPackage(chips, 1e9);
      HONE_ASSERT_OK_AND_ASSIGN(
          const auto problem,
          PartitionProblem::Create(
              RandomPartitionGraph(rng, 5 + rng.Below(30), chips), package,
              objective));
      EXPECT_EQ(problem->move_feature_names(), PartitionMoveFeatureNames());
      // Operators take time only in simulation.
      const double op_time = objective == PartitionObjective::kSimulated
                                 ? package.op_seconds * 1e3
                                 : 0;
      const auto state = problem->MakeLocal(problem->DefaultCandidate());
      Changes changes;
      std::vector<float> features;
      for (int step = 0; step < 20; ++step) {
        state->Propose(rng, changes);
        if (changes.empty()) continue;
        const Chips from(state->values().begin(), state->values().end());
        const space::LocalScore score = state->score();
        const int64_t evaluations = problem->evaluations();
        state->DescribeMove(changes, features);
        ExpectDescription(problem->graph(), op_time, from, changes,
                          ByName(features));
        ++described;
        // Nothing else happens.
        EXPECT_EQ(problem->evaluations(), evaluations);
        EXPECT_EQ(Chips(state->values().begin(), state->values().end()), from);
        EXPECT_EQ(state->score().rank, score.rank);
        EXPECT_EQ(state->score().energy, score.energy);
        const space::LocalScore tried = state->Try(changes);
        // A description between a try and its commit changes neither.
        std::vector<float> other;
        state->DescribeMove(AnyMove(problem->graph(), from, rng), other);
        std::vector<float> again;
        state->DescribeMove(changes, again);
        EXPECT_EQ(again, features);
        if (rng.Below(2) == 0) continue;
        state->Commit();
        EXPECT_EQ(Chips(state->values().begin(), state->values().end()),
                  After(from, changes));
        EXPECT_EQ(state->score().rank, tried.rank);
      }
    }
  }
  EXPECT_GT(described, 150);
}

TEST(PartitionMoves, RenumberingSavesNothing) {
  Rng rng(62);
  for (int i = 0; i < 40; ++i) {
    const PartitionGraph graph = RandomPartitionGraph(
        rng, 2 + rng.Below(30), 2 + static_cast<int32_t>(rng.Below(8)));
    const Chips from = AnyChips(graph, rng);
    Chips numbers(static_cast<size_t>(graph.chips()));
    for (size_t c = 0; c < numbers.size(); ++c) {
      numbers[c] = static_cast<int32_t>(c);
    }
    // At first none.
    if (i > 0) std::shuffle(numbers.begin(), numbers.end(), rng);
    Changes changes;
    for (size_t v = 0; v < from.size(); ++v) {
      const int32_t to = numbers[static_cast<size_t>(from[v])];
      if (to == from[v]) continue;
      changes.push_back({static_cast<int32_t>(v), to});
    }
    PartitionMoves moves(graph, 1e-3);
    moves.Start(from);
    std::vector<float> values;
    moves.Describe(changes, values);
    for (const auto& [name, value] : ByName(values)) {
      if (name == "changes") continue;
      const bool is_rest = name == "rest_load" || name == "rest_busy";
      EXPECT_NEAR(value, is_rest ? 1 : 0, is_rest ? 1e-6 : 1e-4) << name;
    }
    EXPECT_NEAR(EstimatePartitionMove(values), 0, 1e-3);
  }
}

TEST(PartitionMoves, DependOnTheMoveOnly) {
  Rng rng(63);
  for (int i = 0; i < 30; ++i) {
    const PartitionGraph graph = RandomPartitionGraph(
        rng, 5 + rng.Below(30), 2 + static_cast<int32_t>(rng.Below(8)));
    PartitionMoves used(graph, 1e-3);
    used.Start(AnyChips(graph, rng));
    std::vector<float> features;
    used.Describe(AnyMove(graph, AnyChips(graph, rng), rng), features);
    const Chips from = AnyChips(graph, rng);
    used.Start(from);
    PartitionMoves fresh(graph, 1e-3);
    fresh.Start(from);
    for (int move = 0; move < 10; ++move) {
      Changes changes = AnyMove(graph, from, rng);
      used.Describe(changes, features);
      std::reverse(changes.begin(), changes.end());
      std::vector<float> expected;
      fresh.Describe(changes, expected);
      EXPECT_EQ(features, expected);
    }
  }
}

// The estimate orders moves as the energy after them does.
TEST(PartitionMoves, EstimateOrdersByEnergy) {
  Rng rng(64);
  int compared = 0;
  for (int i = 0; i < 20; ++i) {
    const int32_t chips = 2 + static_cast<int32_t>(rng.Below(8));
    const graphs::Package package = SmallPackage(chips, 1e9);
    HONE_ASSERT_OK_AND_ASSIGN(
        const auto problem,
        PartitionProblem::Create(
            RandomPartitionGraph(rng, 10 + rng.Below(20), chips), package,
            PartitionObjective::kModelled));
    const Chips from = AnyChips(problem->graph(), rng);
    const double before = Energy(ChipsOf(problem->graph(), from, 0));
    PartitionMoves moves(problem->graph(), 0);
    moves.Start(from);
    std::vector<std::pair<double, float>> ranked;  // energy, estimate
    std::vector<float> features;
    for (int move = 0; move < 20; ++move) {
      const Changes changes = AnyMove(problem->graph(), from, rng);
      moves.Describe(changes, features);
      const double energy =
          Energy(ChipsOf(problem->graph(), After(from, changes), 0));
      const float estimate = problem->EstimateMove(features);
      EXPECT_EQ(estimate, EstimatePartitionMove(features));
      if (std::abs(energy - before) > 1e-6 * before) {
        EXPECT_EQ(estimate > 0, energy < before);
      }
      ranked.emplace_back(energy, estimate);
    }
    for (const auto& [energy, estimate] : ranked) {
      for (const auto& [other, estimate_of_other] : ranked) {
        if (energy > other - 1e-5 * before || energy < before / 4) continue;
        if (other > 4 * before) continue;
        EXPECT_GT(estimate, estimate_of_other);
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 1000);
}

}  // namespace
}  // namespace hone::tuning
