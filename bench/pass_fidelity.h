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
  // Id of the only pass to compare; empty: all.
  std::string only;
  // Compares counts only, and runs nothing: seconds instead of minutes.
  bool counts_only = false;
};

// The comparison of our pass with one run of XLA's pass, on the same input.
struct PairResult {
  enum class Meaning { kEqual, kNotRunnable, kUnequal };

  std::string module;
  std::string state;  // PassPair::state
  // Operations (hlo/analysis/op_count.h) of the input, and after each side's
  // pass.
  int64_t ops_in = 0;
  int64_t ops_xla = 0;
  int64_t ops_ours = 0;
  // True if both leave the same number, dead instructions left out: upstream's
  // passes leave operands that died to dce, ours mostly remove them.
  bool same = false;
  // The equivalence of the input and our result; kNotRunnable if the evaluator
  // lacks an operation or runs out of time.
  Meaning meaning = Meaning::kEqual;
  // The reason for a meaning other than kEqual.
  std::string explanation;
};

// Runs `pass`, ours of the same id, on the input of `pair` and compares.
// Errors: those of parsing, verifying and running it.
absl::StatusOr<PairResult> JudgePassPair(const hlo::Pass& pass,
                                         const std::string& module,
                                         const PassPair& pair,
                                         bool counts_only = false);

// Makes the fidelity table: for every pass in the dumps of the real XLA, the
// number of inputs on which ours leaves at most as many operations and the
// number on which it leaves the same (PairResult::same), the sums of
// operations, the worst input, and whether the meaning is preserved. Writes the
// rows to `out`, then every pair on which ours leaves more or changes the
// meaning. Returns the same as JSON; its field `unequal` counts the pairs whose
// meaning changed.
// Errors: NotFound if there are no dumps, or none of the pass `only`.
absl::StatusOr<nlohmann::ordered_json> RunPassFidelityBench(
    const PassFidelityOptions& options, std::ostream& out);

}  // namespace hone::bench

#endif  // HONE_BENCH_PASS_FIDELITY_H_
