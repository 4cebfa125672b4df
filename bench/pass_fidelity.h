#ifndef HONE_BENCH_PASS_FIDELITY_H_
#define HONE_BENCH_PASS_FIDELITY_H_

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include <nlohmann/json.hpp>

#include "bench/pass_dump.h"
#include "hlo/passes/pass.h"

namespace hone::bench {

struct PassFidelityOptions {
  // Folder of MODULE.passes.zst files.
  std::string dumps = "bench/data/passes";
  // Id of the only pass to look at; empty: all.
  std::string only;
};

// What our pass made of the input of one of XLA's runs.
struct PairResult {
  enum class Meaning { kEqual, kNotRunnable, kUnequal };

  std::string module;
  std::string state;  // PassPair::state
  // Operations (hlo/analysis/op_count.h) of the input, and after each side's
  // pass.
  int64_t ops_in = 0;
  int64_t ops_xla = 0;
  int64_t ops_ours = 0;
  // Of the input and our result; kNotRunnable where the evaluator lacks an
  // operation or the time is up.
  Meaning meaning = Meaning::kEqual;
  // Of a meaning that is not kEqual.
  std::string explanation;
};

// Runs `pass`, ours of the same id, on the input of `pair`.
// Errors: those of parsing, verifying and running it.
absl::StatusOr<PairResult> JudgePassPair(const hlo::Pass& pass,
                                         const std::string& module,
                                         const PassPair& pair);

// The fidelity table: for every pass in the dumps of the real XLA, on how many
// of the inputs ours leaves at most as many operations, the sums of operations,
// the worst input, and whether the meaning stays. The rows go to `out`, then
// every pair on which ours leaves more or changes the meaning. The same is
// returned as JSON; its field `unequal` counts the pairs whose meaning changed.
// Errors: NotFound when there are no dumps, or none of the pass `only`.
absl::StatusOr<nlohmann::ordered_json> RunPassFidelityBench(
    const PassFidelityOptions& options, std::ostream& out);

}  // namespace hone::bench

#endif  // HONE_BENCH_PASS_FIDELITY_H_
