#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/synchronization/mutex.h"

#include "base/rng.h"
#include "base/status_macros.h"
#include "bench/corpus.h"
#include "bench/training/data_set.h"
#include "graphs/bundled_clusters.h"
#include "graphs/hlo_import.h"
#include "hlo/read_module.h"
#include "tuning/tasks/step_problem.h"

namespace hone::bench {
namespace {

using optimizers::policies::TrainingProblem;
using optimizers::policies::TrainingSet;

// Families of the published table: no policy sees them.
constexpr std::array kHeldOut = {"rnnlm",     "gnmt",      "txl",
                                 "inception", "amoebanet", "wavenet"};
// Families that choose among weights.
constexpr std::array kValidation = {"vit", "vgg"};
constexpr std::array kClusters = {"v100x2", "v100x4",      "v100x8",
                                  "t4x4",   "v100x2-t4x2", "a100x8"};
constexpr uint64_t kValidationGraphs = 16;

template <size_t N>
bool IsOf(absl::string_view name, const std::array<const char*, N>& families) {
  for (const char* const family : families) {
    if (absl::StartsWith(name, family)) return true;
  }
  return false;
}

// The modules of the corpus are small: as if all their tensors had `factor`
// times as many elements, with work in proportion to the power 1.25, between
// that of elementwise operators and that of matrix products.
absl::StatusOr<graphs::OpGraph> Enlarged(const graphs::OpGraph& graph,
                                         double factor) {
  std::vector<graphs::OpNode> nodes(graph.nodes().begin(), graph.nodes().end());
  for (graphs::OpNode& node : nodes) {
    node.flops *= std::pow(factor, 1.25);
    node.bytes *= factor;
    node.output_bytes *= factor;
    // Scalars stay.
    if (node.parameter_bytes > 64) node.parameter_bytes *= factor;
  }
  std::vector<graphs::OpEdge> edges(graph.edges().begin(), graph.edges().end());
  for (graphs::OpEdge& edge : edges) edge.bytes *= factor;
  return graphs::OpGraph::Create(std::move(nodes), std::move(edges));
}

// Makes a problem once, when it is asked for.
class LazyProblem {
 public:
  LazyProblem(std::shared_ptr<const graphs::OpGraph> graph, double factor,
              const char* cluster, const tuning::StepDecisions& decisions)
      : graph_(std::move(graph)),
        factor_(factor),
        cluster_(cluster),
        decisions_(decisions) {}

  absl::StatusOr<std::shared_ptr<space::Problem>> Get() {
    absl::MutexLock lock(&mutex_);
    HONE_ASSIGN_OR_RETURN(const graphs::Cluster cluster,
                          graphs::FindCluster(cluster_));
    // What fits in no memory is made smaller.
    for (double factor = factor_; problem_ == nullptr; factor /= 2) {
      HONE_ASSIGN_OR_RETURN(graphs::OpGraph enlarged,
                            Enlarged(*graph_, factor));
      absl::StatusOr<std::unique_ptr<tuning::StepProblem>> problem =
          tuning::StepProblem::Create(std::move(enlarged), cluster, decisions_);
      if (problem.ok()) {
        problem_ = *std::move(problem);
      } else if (factor < 1) {
        return problem.status();
      }
    }
    return problem_;
  }

 private:
  const std::shared_ptr<const graphs::OpGraph> graph_;
  const double factor_;
  const char* const cluster_;
  const tuning::StepDecisions decisions_;
  absl::Mutex mutex_;
  std::shared_ptr<space::Problem> problem_;
};

// Returns problems of the graphs of a split, in turns, each time with another
// size and cluster. Those of every third turn decide everything, the others
// devices.
std::vector<TrainingProblem> Draw(
    const std::vector<
        std::pair<std::string, std::shared_ptr<const graphs::OpGraph>>>& from,
    uint64_t count, uint64_t seed) {
  std::vector<TrainingProblem> problems;
  Rng rng(seed);
  for (uint64_t i = 0; i < count && !from.empty(); ++i) {
    const auto& [name, graph] = from[i % from.size()];
    const double factor = std::exp2(2 + 6 * rng.Uniform());
    const char* const cluster = kClusters[rng.Below(kClusters.size())];
    const bool joint = i / from.size() % 3 == 2;
    const tuning::StepDecisions decisions = {
        .devices = true, .priorities = joint, .fusion = joint};
    problems.push_back(
        {absl::StrFormat("%s-%.0f-%s%s", name, factor, cluster,
                         joint ? "-joint" : ""),
         [lazy = std::make_shared<LazyProblem>(
              graph, factor, cluster, decisions)] { return lazy->Get(); }});
  }
  return problems;
}

}  // namespace

absl::StatusOr<TrainingSet> MakeGoData(const DataSetOptions& options) {
  HONE_ASSIGN_OR_RETURN(const std::vector<CorpusEntry> corpus,
                        ReadCorpus(options.corpus, ""));
  std::vector<std::pair<std::string, std::shared_ptr<const graphs::OpGraph>>>
      training, validation;
  for (const CorpusEntry& entry : corpus) {
    // Steps of training only: their graphs are those that are placed.
    if (IsOf(entry.name, kHeldOut) || absl::EndsWith(entry.name, ".fwd")) {
      continue;
    }
    HONE_ASSIGN_OR_RETURN(const hlo::Module module,
                          hlo::ReadModuleFile(entry.path));
    if (module.instruction_count() > options.max_instructions) continue;
    HONE_ASSIGN_OR_RETURN(graphs::OpGraph graph, graphs::ImportHlo(module));
    (IsOf(entry.name, kValidation) ? validation : training)
        .emplace_back(entry.name, std::make_shared<const graphs::OpGraph>(
                                      std::move(graph)));
  }
  TrainingSet set = {Draw(training, static_cast<uint64_t>(options.graphs), 1),
                     Draw(validation, kValidationGraphs, 2)};
  if (set.training.empty()) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "--corpus '%s' --max-instructions %d: no modules to train on, expected "
        "1 or more",
        options.corpus, options.max_instructions));
  }
  return set;
}

}  // namespace hone::bench
