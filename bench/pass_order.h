#ifndef HONE_BENCH_PASS_ORDER_H_
#define HONE_BENCH_PASS_ORDER_H_

#include <cstdint>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include <nlohmann/json.hpp>

namespace hone::bench {

struct PassOrderBenchOptions {
  std::string corpus = "bench/data/corpus";
  std::string only;
  // Only the modules that no policy was trained on (bench/pass_order_split.h).
  bool held_out = false;
  // One column each: optimizer ids, and `guided-uniform` (guided search without
  // a policy).
  std::vector<std::string> searches = {"beam"};
  // The passes to order: "all", or those of the default "pipeline".
  std::string passes = "all";
  // The file of the policy's weights; empty for the built-in ones.
  std::string weights = {};
  // The passes that a search may run beyond those of the default order,
  // ascending: a table of results each, all from one search with the last.
  std::vector<int64_t> budgets = {50, 100, 200, 500};
  // The further budgets of each search of a module.
  int64_t trials = std::numeric_limits<int64_t>::max();
  absl::Duration time = absl::InfiniteDuration();
  int32_t seeds = 1;
  // Folder for every module's best result, NAME.hlo; empty: none.
  std::string tuned_directory;
  // Folder for the modules that the column `own` counts; may be empty.
  std::string own_directory;
};

// Makes the pass-order table: ops of every corpus module as it comes, after our
// default order, with Hone's own passes at a fixed place in that order
// ("own"), after each search (median over the seeds, with the last budget) and
// after the real XLA; then geometric means with each budget. All but the first
// are counted after the mandatory lowering. Searches get equal budgets. Writes
// rows to `out` as they finish and returns the table as JSON.
// Errors: InvalidArgument for budgets that are none or do not ascend, and if no
// module is left; NotFound for an unknown search.
absl::StatusOr<nlohmann::ordered_json> RunPassOrderBench(
    const PassOrderBenchOptions& options, std::ostream& out);

}  // namespace hone::bench

#endif  // HONE_BENCH_PASS_ORDER_H_
