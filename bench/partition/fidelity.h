#ifndef HONE_BENCH_PARTITION_FIDELITY_H_
#define HONE_BENCH_PARTITION_FIDELITY_H_

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include <nlohmann/json.hpp>

#include "tuning/tasks/partition_domains.h"
#include "tuning/tasks/partition_problem.h"

namespace hone::bench {

// How the analytical model agrees with the simulator on random valid partitions
// of a graph.
struct FidelityRow {
  std::string name;
  // Milliseconds of the partitions that do not run out of memory in simulation.
  std::vector<double> loads;
  std::vector<double> intervals;
  int64_t failures = 0;  // partitions that do
  // The effort of drawing them.
  double draw_seconds = 0;
  tuning::SolverStatistics solver;
};

// Draws `draws` partitions through the constraint solver
// (tuning/tasks/partition_draw.h), fewer where most draws fail. Errors: those
// of CheckPartition, which accepts all that is drawn.
absl::StatusOr<FidelityRow> CompareModels(
    const std::string& name, const tuning::PartitionProblem& problem,
    int64_t draws);

// Prints the linear correlation and that of ranks by graph and of all, each
// graph's values relative to their means, the share of failures, and by graph
// how fast partitions were drawn and what the solver did for each.
nlohmann::ordered_json PrintFidelity(const std::vector<FidelityRow>& rows,
                                     std::ostream& out);

}  // namespace hone::bench

#endif  // HONE_BENCH_PARTITION_FIDELITY_H_
