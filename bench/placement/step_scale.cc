#include "bench/placement/step_scale.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_format.h"

#include "backends/cluster_sim/step_simulator.h"
#include "base/clock.h"
#include "base/rng.h"
#include "base/status_macros.h"
#include "bench/placement/peak_memory.h"
#include "graphs/bundled_clusters.h"
#include "graphs/step/kernel_graph.h"
#include "graphs/unrolled_graph.h"
#include "optimizers/registry.h"
#include "optimizers/search.h"
#include "tuning/tasks/step_problem.h"

namespace hone::bench {
namespace {

constexpr int32_t kLayers = 8;
constexpr int64_t kNodesPerCell = 21;
constexpr int kSimulations = 10;
constexpr int kChanges = 100;

double MillisecondsEach(absl::Duration time, int count) {
  return absl::ToDoubleMilliseconds(time) / count;
}

// Random placements of all nodes as kernels of their own.
absl::StatusOr<Usage> SimulateUnfused(const tuning::StepSpace& space) {
  graphs::FusionRules rules = space.rules();
  const graphs::KernelGraph kernels(rules, graphs::Fusion(space.graph().size()),
                                    space.times());
  backends::StepSimulator simulator(kernels, space.times());
  Rng rng(1);
  std::vector<int32_t> devices(kernels.size());
  const std::vector<uint64_t> priorities(kernels.size());
  for (int32_t& device : devices) {
    device = static_cast<int32_t>(
        rng.Below(static_cast<uint64_t>(space.times().device_count())));
  }
  return MeasureUsage([&] {
    for (int i = 0; i < kSimulations; ++i) simulator.Run(devices, priorities);
  });
}

// Proposals of the local search from the default, none of which is made.
absl::StatusOr<Usage> TryChanges(const tuning::StepProblem& problem,
                                 int& tried) {
  const std::unique_ptr<space::LocalState> state =
      problem.MakeLocal(problem.DefaultCandidate());
  Rng rng(1);
  std::vector<space::Change> changes;
  tried = 0;
  return MeasureUsage([&] {
    for (int i = 0; i < kChanges; ++i) {
      state->Propose(rng, changes);
      if (changes.empty()) continue;
      state->Try(changes);
      ++tried;
    }
  });
}

}  // namespace

absl::StatusOr<nlohmann::ordered_json> MeasureStepScale(
    const std::vector<int64_t>& nodes, std::ostream& out) {
  HONE_ASSIGN_OR_RETURN(const graphs::Cluster cluster,
                        graphs::FindCluster("v100x8"));
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const int64_t size : nodes) {
    HONE_ASSIGN_OR_RETURN(graphs::OpGraph graph,
                          graphs::MakeUnrolledGraph(
                              {.layers = kLayers,
                               .steps = static_cast<int32_t>(std::max<int64_t>(
                                   1, size / kLayers / kNodesPerCell))}));
    const size_t count = graph.size();
    absl::StatusOr<std::unique_ptr<tuning::StepProblem>> placement =
        absl::UnknownError("not made");
    absl::StatusOr<std::unique_ptr<tuning::StepProblem>> joint =
        absl::UnknownError("not made");
    HONE_ASSIGN_OR_RETURN(const Usage made, MeasureUsage([&] {
                            placement = tuning::StepProblem::Create(
                                graph, cluster, {.devices = true});
                          }));
    HONE_RETURN_IF_ERROR(placement.status());
    joint = tuning::StepProblem::Create(
        graph, cluster, {.devices = true, .priorities = true, .fusion = true});
    HONE_RETURN_IF_ERROR(joint.status());
    const space::Candidate by_default = (*placement)->DefaultCandidate();
    HONE_ASSIGN_OR_RETURN(const Usage simulated, MeasureUsage([&] {
                            for (int i = 0; i < kSimulations; ++i) {
                              (void)(*placement)->Measure(by_default);
                            }
                          }));
    HONE_ASSIGN_OR_RETURN(const Usage unfused,
                          SimulateUnfused((*placement)->space()));
    int tried = 0;
    HONE_ASSIGN_OR_RETURN(const Usage changed, TryChanges(**placement, tried));
    // On all nodes: the embedding of the graph and a round of moves.
    absl::Status searched;
    HONE_ASSIGN_OR_RETURN(
        const Usage inferred, MeasureUsage([&] {
          auto optimizer = optimizers::CreateOptimizer("policy", **joint, {});
          searched = optimizer.status();
          if (!searched.ok()) return;
          searched = optimizers::RunSearch(**joint, **optimizer,
                                           {.trials = static_cast<int64_t>(
                                                (*joint)->Seeds().size() + 1)},
                                           SystemClock())
                         .status();
        }));
    HONE_RETURN_IF_ERROR(searched);
    nlohmann::ordered_json row = {
        {"nodes", count},
        {"kernels", (*placement)->space().unit_count()},
        {"known_methods_seconds", absl::ToDoubleSeconds(made.cpu_time)},
        {"simulation_ms", MillisecondsEach(simulated.cpu_time, kSimulations)},
        {"simulation_unfused_ms",
         MillisecondsEach(unfused.cpu_time, kSimulations)},
        {"change_ms", MillisecondsEach(changed.cpu_time, std::max(1, tried))},
        {"policy_seconds", absl::ToDoubleSeconds(inferred.cpu_time)},
        {"peak_bytes", inferred.peak_bytes}};
    out << absl::StrFormat(
        "%d nodes, %d kernels: known methods %.2f s, a simulation %.2f ms "
        "(unfused %.2f), a change %.2f ms, seeds and first moves of the policy "
        "on all nodes %.2f s, peak memory %.0f MiB\n",
        count, (*placement)->space().unit_count(),
        row["known_methods_seconds"].get<double>(),
        row["simulation_ms"].get<double>(),
        row["simulation_unfused_ms"].get<double>(),
        row["change_ms"].get<double>(), row["policy_seconds"].get<double>(),
        static_cast<double>(inferred.peak_bytes) / (1 << 20));
    out.flush();
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace hone::bench
