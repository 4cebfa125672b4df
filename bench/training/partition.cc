#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"

#include "base/rng.h"
#include "base/status_macros.h"
#include "bench/partition/partition_graphs.h"
#include "bench/training/data_set.h"
#include "graphs/mcm/bundled_packages.h"
#include "tuning/tasks/partition_problem.h"

namespace hone::bench {
namespace {

using optimizers::policies::TrainingProblem;
using optimizers::policies::TrainingSet;
using tuning::PartitionObjective;
using tuning::PartitionProblem;
using tuning::PartitionSeeds;

constexpr std::array kPackages = {"hermosa36", "hermosa16", "hermosa8"};
constexpr size_t kValidationProblems = 20;
constexpr int kMostGrowths = 8;

// Makes a problem once, when it is asked for.
class LazyPartition {
 public:
  LazyPartition(PartitionEntry entry, size_t package,
                PartitionObjective objective)
      : entry_(std::move(entry)), package_(package), objective_(objective) {}

  absl::StatusOr<std::shared_ptr<space::Problem>> Get() {
    absl::MutexLock lock(&mutex_);
    HONE_ASSIGN_OR_RETURN(graphs::Package package,
                          graphs::FindPackage(kPackages[package_]));
    // What fits in no memory gets more of it.
    for (int growth = 0; problem_ == nullptr; ++growth) {
      HONE_ASSIGN_OR_RETURN(graphs::PartitionGraph graph,
                            ReadPartitionGraph(entry_, package));
      // By the model searches have to find what the dynamic program finds; in
      // simulation they go on from it.
      absl::StatusOr<std::unique_ptr<PartitionProblem>> problem =
          PartitionProblem::Create(std::move(graph), package, objective_,
                                   nullptr, nullptr,
                                   objective_ == PartitionObjective::kModelled
                                       ? PartitionSeeds::kNone
                                       : PartitionSeeds::kAll);
      if (!problem.ok() && growth == kMostGrowths) return problem.status();
      if (growth == kMostGrowths || (problem.ok() && DefaultFits(**problem))) {
        problem_ = *std::move(problem);
      }
      package.memory_bytes *= 2;
    }
    return problem_;
  }

 private:
  // Whether the default does not run out of memory in simulation, either.
  static bool DefaultFits(const PartitionProblem& problem) {
    return problem.MeasureOne(problem.DefaultCandidate().choices).outcome ==
           space::Outcome::kOk;
  }

  const PartitionEntry entry_;
  const size_t package_;
  const PartitionObjective objective_;
  absl::Mutex mutex_;
  std::shared_ptr<space::Problem> problem_;
};

// Returns problems of the graphs of `from`, in turns, each on a package and by
// an objective drawn at random.
std::vector<TrainingProblem> Draw(const std::vector<PartitionEntry>& from,
                                  size_t count, uint64_t seed) {
  std::vector<TrainingProblem> problems;
  Rng rng(seed);
  for (size_t i = 0; i < count && !from.empty(); ++i) {
    const PartitionEntry& entry = from[i % from.size()];
    const size_t package = rng.Below(kPackages.size());
    const bool simulated = rng.Below(2) == 0;
    problems.push_back(
        {absl::StrCat(entry.name, "-", kPackages[package],
                      simulated ? "-simulated-" : "-", i / from.size()),
         [lazy = std::make_shared<LazyPartition>(
              entry, package,
              simulated ? PartitionObjective::kSimulated
                        : PartitionObjective::kModelled)] {
           return lazy->Get();
         }});
  }
  return problems;
}

}  // namespace

absl::StatusOr<TrainingSet> MakePartitionData(const DataSetOptions& options) {
  HONE_ASSIGN_OR_RETURN(const std::vector<PartitionEntry> training,
                        ReadPartitionEntries(options.partitions, "train", ""));
  HONE_ASSIGN_OR_RETURN(
      const std::vector<PartitionEntry> validation,
      ReadPartitionEntries(options.partitions, "validation", ""));
  return TrainingSet{Draw(training, static_cast<size_t>(options.graphs), 1),
                     Draw(validation, kValidationProblems, 2)};
}

}  // namespace hone::bench
