#ifndef HONE_BENCH_COST_MODEL_SEARCH_COMPARISON_H_
#define HONE_BENCH_COST_MODEL_SEARCH_COMPARISON_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "backends/tpu_sim/tpu.h"
#include "bench/cost_model/tpu_programs.h"
#include "optimizers/optimizer.h"
#include "space/problem.h"

namespace hone::bench {

// The parts that comparisons of searches on simulated TPUs share: the programs
// that are tuned, and a table of what each search reaches after so many
// measurements.

struct SearchComparisonOptions {
  // As optimizers::ParseOptimizer reads them, one row each.
  std::vector<std::string> optimizers = {"random", "beam", "annealing",
                                         "genetic", "greedy"};
  // Measurements, ascending, the default's included.
  std::vector<int64_t> budgets;
  int32_t seeds = 5;
  std::string tpu = "v4";
  // The split whose test families are tuned (ReadFamilySplit).
  std::string split = "bench/data/cost_model/tpu_split.json";
  std::string corpus = "bench/data/corpus";
  std::string partitions = "bench/data/partition";
  // A regular expression that program names must match; empty: all.
  std::string only;
};

// The TPU, and the programs of test families.
struct TunedPrograms {
  backends::Tpu tpu;
  std::vector<TpuProgram> programs;
};
// Errors: those of reading TPU, split and programs; InvalidArgument for budgets
// that are not ascending, or none.
absl::StatusOr<TunedPrograms> ReadTunedPrograms(
    const SearchComparisonOptions& options);

// The least time that a search had after each measurement, the default's first.
// A candidate that breaks a rule or was measured before is no measurement, as
// whoever measures would know without a device.
struct Found {
  std::vector<double> least_ns;
  space::Candidate best;

  void Add(const space::Candidate& candidate, double ns);

 private:
  absl::flat_hash_set<std::vector<int32_t>> seen_;
};
// Returns the search that `optimizer` names (optimizers::ParseOptimizer).
// Errors: those of the text, and of optimizers::CreateOptimizer.
absl::StatusOr<std::unique_ptr<optimizers::Optimizer>> MakeSearch(
    const std::string& optimizer, const space::Problem& problem, uint64_t seed);

// Runs a new `search` until it has made `budget` measurements, or nearly
// nothing new comes. Batches may end with a few more. Errors: those of
// optimizers::RunSearch.
absl::StatusOr<Found> FindWithin(const space::Problem& problem,
                                 optimizers::Optimizer& search, int64_t budget);

// The sums over all cases (kernels or programs) of the logarithms of a ratio,
// by seed; of a method without seeds, with one.
using LogSums = std::vector<double>;

// The geometric mean of a ratio over cases: the mean over seeds, the least and
// the most.
struct Spread {
  double mean = 0;
  double least = 0;
  double most = 0;
};
// `sums` has at least one seed.
Spread SpreadOf(const LogSums& sums, int64_t cases);

// The results of one search, after each of several numbers of measurements.
struct SearchRow {
  std::string optimizer;
  std::vector<LogSums> sums;  // [counts][seeds]
};
SearchRow MakeSearchRow(const std::string& optimizer, size_t counts,
                        size_t seeds);

// Prints the head of a table with a row for each search: two columns for each
// budget, and `further` ones.
void PrintSearchHead(absl::string_view first, absl::Span<const int64_t> budgets,
                     absl::Span<const absl::string_view> further,
                     std::ostream& out);
// Returns the two cells of a budget.
std::string SpreadCells(const Spread& spread);

}  // namespace hone::bench

#endif  // HONE_BENCH_COST_MODEL_SEARCH_COMPARISON_H_
