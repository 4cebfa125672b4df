#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "bench/training/data_set.h"
#include "graphs/contiguity.h"
#include "graphs/generated_graph.h"
#include "tuning/tasks/placement_problem.h"

namespace hone::bench {
namespace {

using optimizers::policies::TrainingProblem;
using optimizers::policies::TrainingSet;

// Seeds of the graphs that choose among weights begin here.
constexpr uint64_t kFirstValidationSeed = 1'000'000;
constexpr uint64_t kValidationGraphs = 16;

TrainingProblem GeneratedProblem(uint64_t seed, int32_t most_nodes) {
  TrainingProblem problem;
  problem.name = absl::StrCat("generated-", most_nodes, "-", seed);
  problem.make = [graph = std::make_shared<const graphs::DeviceGraph>(
                      graphs::GenerateDeviceGraph(seed, most_nodes))]()
      -> absl::StatusOr<std::unique_ptr<space::Problem>> {
    return tuning::PlacementProblem::Create(*graph,
                                            graphs::Contiguity::kPipeline);
  };
  return problem;
}

}  // namespace

absl::StatusOr<TrainingSet> MakePlacementData(const DataSetOptions& options) {
  TrainingSet set;
  for (int64_t i = 0; i < options.graphs; ++i) {
    set.training.push_back(
        GeneratedProblem(static_cast<uint64_t>(i), options.max_nodes));
  }
  for (uint64_t i = 0; i < kValidationGraphs; ++i) {
    set.validation.push_back(
        GeneratedProblem(kFirstValidationSeed + i, options.max_nodes));
  }
  return set;
}

}  // namespace hone::bench
