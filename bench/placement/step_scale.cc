#include "bench/placement/step_scale.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_format.h"

#include "backends/cluster_sim/step_simulator.h"
#include "base/clock.h"
#include "base/rng.h"
#include "base/status_macros.h"
#include "bench/cpu_time.h"
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
constexpr int kChanges = 100;
constexpr size_t kPlacements = 50;
// Work is repeated until it has taken this long.
constexpr absl::Duration kLeastTime = absl::Milliseconds(200);

using Json = nlohmann::ordered_json;

// A quantity of the table.
struct Quantity {
  const char* field;
  const char* name;
};
constexpr std::array kQuantities = {
    Quantity{"known_methods_seconds", "known methods"},
    Quantity{"simulation_ms", "a simulation"},
    Quantity{"simulation_unfused_ms", "a simulation, unfused"},
    Quantity{"change_ms", "a change"},
    Quantity{"policy_seconds", "policy"},
    Quantity{"memory_bytes", "memory"}};

// Returns the CPU time of one run of `work`, which was run before, so that
// nothing is counted that happens only once.
absl::Duration TimeEach(const std::function<void()>& work) {
  work();
  const absl::Duration start = ProcessCpuTime();
  absl::Duration elapsed;
  int64_t runs = 0;
  do {
    work();
    ++runs;
    elapsed = ProcessCpuTime() - start;
  } while (elapsed < kLeastTime);
  return elapsed / runs;
}

// A simulation of all nodes as kernels of their own, on random devices. Other
// devices each time: a processor learns the branches of a small graph.
absl::Duration TimeUnfused(const tuning::StepSpace& space) {
  graphs::FusionRules rules = space.rules();
  const graphs::KernelGraph kernels(rules, graphs::Fusion(space.graph().size()),
                                    space.times());
  backends::StepSimulator simulator(kernels, space.times());
  Rng rng(1);
  const std::vector<uint64_t> priorities(kernels.size());
  std::vector<std::vector<int32_t>> placements(kPlacements);
  for (std::vector<int32_t>& devices : placements) {
    devices.resize(kernels.size());
    for (int32_t& device : devices) {
      device = static_cast<int32_t>(
          rng.Below(static_cast<uint64_t>(space.times().device_count())));
    }
  }
  size_t next = 0;
  return TimeEach([&] {
    simulator.Run(placements[next], priorities);
    next = (next + 1) % placements.size();
  });
}

// A change that the local search proposes from the default; none is made.
absl::Duration TimeChange(const tuning::StepProblem& problem) {
  const std::unique_ptr<space::LocalState> state =
      problem.MakeLocal(problem.DefaultCandidate());
  Rng rng(1);
  std::vector<space::Change> changes;
  int64_t runs = 0;
  int64_t tried = 0;
  const absl::Duration each = TimeEach([&] {
    ++runs;
    for (int i = 0; i < kChanges; ++i) {
      state->Propose(rng, changes);
      if (changes.empty()) continue;
      state->Try(changes);
      ++tried;
    }
  });
  return each * static_cast<double>(runs) /
         static_cast<double>(std::max<int64_t>(tried, 1));
}

// The policy on all nodes: the embedding of the graph and a round of moves.
absl::Status RunPolicy(const tuning::StepProblem& problem) {
  HONE_ASSIGN_OR_RETURN(auto optimizer,
                        optimizers::CreateOptimizer("policy", problem, {}));
  return optimizers::RunSearch(
             problem, *optimizer,
             {.trials = static_cast<int64_t>(problem.Seeds().size() + 1)},
             SystemClock())
      .status();
}

absl::StatusOr<graphs::OpGraph> MakeGraph(int64_t nodes) {
  return graphs::MakeUnrolledGraph(
      {.layers = kLayers,
       .steps = static_cast<int32_t>(
           std::max<int64_t>(1, nodes / kLayers / kNodesPerCell))});
}

absl::StatusOr<Json> MeasureSize(int64_t size, const graphs::Cluster& cluster) {
  const tuning::StepDecisions joint_decisions = {
      .devices = true, .priorities = true, .fusion = true};
  HONE_ASSIGN_OR_RETURN(const Usage before, MeasureUsage([] {}));
  HONE_ASSIGN_OR_RETURN(const graphs::OpGraph graph, MakeGraph(size));
  absl::Status made;
  const absl::Duration known = TimeEach([&] {
    made =
        tuning::StepProblem::Create(graph, cluster, {.devices = true}).status();
  });
  HONE_RETURN_IF_ERROR(made);
  HONE_ASSIGN_OR_RETURN(
      const std::unique_ptr<tuning::StepProblem> placement,
      tuning::StepProblem::Create(graph, cluster, {.devices = true}));
  HONE_ASSIGN_OR_RETURN(
      const std::unique_ptr<tuning::StepProblem> joint,
      tuning::StepProblem::Create(graph, cluster, joint_decisions));
  const space::Candidate by_default = placement->DefaultCandidate();
  const absl::Duration simulated =
      TimeEach([&] { (void)placement->Measure(by_default); });
  const absl::Duration unfused = TimeUnfused(placement->space());
  const absl::Duration changed = TimeChange(*placement);
  absl::Status searched;
  absl::Duration inferred;
  HONE_ASSIGN_OR_RETURN(
      const Usage usage, MeasureUsage([&] {
        inferred = TimeEach([&] { searched.Update(RunPolicy(*joint)); });
      }));
  HONE_RETURN_IF_ERROR(searched);
  return Json{{"nodes", graph.size()},
              {"kernels", placement->space().unit_count()},
              {"known_methods_seconds", absl::ToDoubleSeconds(known)},
              {"simulation_ms", absl::ToDoubleMilliseconds(simulated)},
              {"simulation_unfused_ms", absl::ToDoubleMilliseconds(unfused)},
              {"change_ms", absl::ToDoubleMilliseconds(changed)},
              {"policy_seconds", absl::ToDoubleSeconds(inferred)},
              {"memory_bytes",
               std::max<int64_t>(usage.peak_bytes - before.peak_bytes, 0)},
              {"peak_bytes", usage.peak_bytes}};
}

// How each quantity grew from the smallest to the largest graph, in units of
// n log n. Empty unless there are graphs of two sizes.
Json Growth(const Json& sizes) {
  Json growth = Json::object();
  const auto nodes = [](const Json& row) { return row["nodes"].get<double>(); };
  const auto [least, most] = std::minmax_element(
      sizes.begin(), sizes.end(),
      [&](const Json& a, const Json& b) { return nodes(a) < nodes(b); });
  if (least == sizes.end() || nodes(*least) == nodes(*most)) return growth;
  const auto work = [&](const Json& row) {
    return nodes(row) * std::log(nodes(row));
  };
  for (const Quantity& quantity : kQuantities) {
    const auto from = (*least)[quantity.field].get<double>();
    if (from <= 0) continue;
    growth[quantity.field] = (*most)[quantity.field].get<double>() / from /
                             (work(*most) / work(*least));
  }
  return growth;
}

}  // namespace

absl::StatusOr<Json> MeasureStepScale(const std::vector<int64_t>& nodes,
                                      std::ostream& out) {
  HONE_ASSIGN_OR_RETURN(const graphs::Cluster cluster,
                        graphs::FindCluster("v100x8"));
  // Loads the policy and lets its libraries set themselves up.
  HONE_RETURN_IF_ERROR(MeasureSize(1, cluster).status());
  Json sizes = Json::array();
  for (const int64_t size : nodes) {
    HONE_ASSIGN_OR_RETURN(const Json row, MeasureSize(size, cluster));
    const auto value = [&row](const char* field) {
      return row[field].get<double>();
    };
    out << absl::StrFormat(
        "%d nodes, %d kernels: known methods %.3f s, a simulation %.3f ms "
        "(unfused %.3f), a change %.3f ms, seeds and first moves of the policy "
        "on all nodes %.3f s, memory %.1f MiB, of the process %.0f MiB\n",
        row["nodes"].get<int64_t>(), row["kernels"].get<int64_t>(),
        value("known_methods_seconds"), value("simulation_ms"),
        value("simulation_unfused_ms"), value("change_ms"),
        value("policy_seconds"), value("memory_bytes") / (1 << 20),
        value("peak_bytes") / (1 << 20));
    out.flush();
    sizes.push_back(row);
  }
  const Json growth = Growth(sizes);
  for (const Quantity& quantity : kQuantities) {
    if (!growth.contains(quantity.field)) continue;
    const auto ratio = growth[quantity.field].get<double>();
    out << absl::StrFormat("%s: grew by %.2f times what n log n does, %s\n",
                           quantity.name, ratio,
                           ratio <= 1 ? "no faster" : "faster");
  }
  return Json{{"sizes", sizes}, {"growth", growth}};
}

}  // namespace hone::bench
