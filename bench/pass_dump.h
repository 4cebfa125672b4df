#ifndef HONE_BENCH_PASS_DUMP_H_
#define HONE_BENCH_PASS_DUMP_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace hone::bench {

// A module in XLA's dump, after one pass.
struct PassState {
  // "0011.simplification.after_algsimp.before_simplify-sorts".
  std::string name;
  std::string pipeline;    // "simplification"
  std::string pass;        // "algsimp"
  absl::string_view text;  // HLO, a part of the dump
};

// One run of one XLA pass that changed the module.
struct PassPair {
  std::string pass;
  // The name of the state after it.
  std::string state;
  absl::string_view before;
  absl::string_view after;
};

// Parses the states in the decompressed contents of a .passes file, in order
// (bench/data/README.md describes the format). Keeps views of `dump`.
// Errors: InvalidArgument for text before the first state and for names that
// are not SSSS.PIPELINE.after_PASS.before_NEXT.
absl::StatusOr<std::vector<PassState>> ParsePassDump(absl::string_view dump);

// Returns the runs of passes in a module's states. The input of a state is the
// state before it: passes in between changed nothing, or they would have been
// dumped. Leaves out marks, which repeat the state before them: the beginning
// of a pipeline (pass "pipeline-start") and its end (a pass with the name of a
// pipeline).
std::vector<PassPair> FindPassPairs(const std::vector<PassState>& states);

}  // namespace hone::bench

#endif  // HONE_BENCH_PASS_DUMP_H_
