#ifndef HONE_BENCH_VERIFICATION_VERIFICATION_H_
#define HONE_BENCH_VERIFICATION_VERIFICATION_H_

#include <cstdint>
#include <ostream>
#include <string>

#include "absl/status/statusor.h"
#include <nlohmann/json.hpp>

namespace hone::bench {

struct VerificationOptions {
  std::string corpus = "bench/data/corpus";
  // Regular expression; of the corpus, modules whose name contains a match.
  std::string only;
  // Modules of more operations are left out, as each is evaluated hundreds of
  // times.
  int64_t max_ops = 3000;
  // Wrong rewrites of each kind and module.
  int32_t mutations = 1;
  uint64_t seed = 0;
};

// Makes the table of what verification refuses: wrong rewrites of corpus
// modules (mutations.h), and right ones, by the default pipelines and by random
// orders of passes. A mutant counts as wrong if in double precision, on an
// input of its own, an element of an output differs by more than 1e-5 of itself
// and of the output's root mean square, or is NaN on one side only; others are
// drawn again. Returns the same as JSON: by kind and for all `wrong` and all
// `right` ones `judged_rightly` of `count`, every judgment that was `false`,
// and the modules that are `not_evaluated`. Errors: those of ReadCorpus,
// reading and evaluating modules.
absl::StatusOr<nlohmann::ordered_json> RunVerificationBench(
    const VerificationOptions& options, std::ostream& out);

}  // namespace hone::bench

#endif  // HONE_BENCH_VERIFICATION_VERIFICATION_H_
