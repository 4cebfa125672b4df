#ifndef HONE_BENCH_PASS_ORDER_H_
#define HONE_BENCH_PASS_ORDER_H_

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include <nlohmann/json.hpp>

namespace hone::bench {

struct PassOrderOptions {
  std::string corpus = "bench/data/corpus";
  std::string only;
  // Optimizer ids, one column each.
  std::vector<std::string> searches = {"beam"};
  int64_t trials = 300;
  int32_t seeds = 1;
  // Where NAME.hlo of every module's best result goes; empty: nowhere.
  std::string tuned_directory;
};

// The pass-order table: ops of every corpus module as lowered, after our
// default order, after each search (median over the seeds) and after the real
// XLA, with geometric means. Searches get equal budgets. Rows go to `out` as
// they are done; the same as JSON is returned.
absl::StatusOr<nlohmann::ordered_json> RunPassOrderBench(
    const PassOrderOptions& options, std::ostream& out);

}  // namespace hone::bench

#endif  // HONE_BENCH_PASS_ORDER_H_
