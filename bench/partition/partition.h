#ifndef HONE_BENCH_PARTITION_PARTITION_H_
#define HONE_BENCH_PARTITION_PARTITION_H_

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include <nlohmann/json.hpp>

namespace hone::bench {

struct PartitionBenchOptions {
  // The folder of the graphs and their manifest.json.
  std::string graphs = "bench/data/partition";
  // "train", "validation" or "test"; empty: all.
  std::string split = "test";
  // A regular expression of the names of the graphs; empty: all.
  std::string only;
  // The bundled package.
  std::string package = "hermosa36";
  // "max-load", or "interval", in simulation.
  std::string objective = "max-load";
  // Optimizers, one column each, each once. `genetic` constructs its candidates
  // by the dynamic program. The learned ones and "estimated" are told what some
  // hundred moves a round would make of the chips by the analytical model: by
  // max-load that is the objective itself, and only moves that are tried count
  // as samples. "uniform" is `policy` without weights,
  // "estimated" with the problem's own estimate in their place, "scratch"
  // `ppo` without that estimate, and "sample" `ppo` that draws whole
  // partitions through the constraint solver.
  std::vector<std::string> searches = {"random", "annealing", "genetic"};
  // Whether searches begin with the greedy fill and the dynamic program, or
  // with the default alone.
  bool with_seeds = false;
  // The budget of each search, in partitions evaluated after the first ones.
  int64_t samples = 1000;
  // Seeds 0 … seeds-1.
  int32_t seeds = 5;
  // The file of the policies' weights; empty: those that come with Hone.
  std::string weights;
  // Random partitions of each graph whose max load and interval are compared; 0
  // leaves that table out.
  int64_t draws = 0;
};

// Compares searches for partitions at equal numbers of samples: the cost of the
// greedy fill and of the dynamic program, a lower bound, and what each search
// ends with; after how many samples the mean over graphs and seeds of the
// throughput relative to the greedy fill reaches levels from 1.2 to 1.8; and,
// if asked for, how the analytical model agrees with the simulator. A graph
// that no partition is found for is said and left out. Errors: those of
// ReadPartitionEntries and ReadPartitionGraph; NotFound for an unknown search
// or package.
absl::StatusOr<nlohmann::ordered_json> RunPartitionBench(
    const PartitionBenchOptions& options, std::ostream& out);

}  // namespace hone::bench

#endif  // HONE_BENCH_PARTITION_PARTITION_H_
