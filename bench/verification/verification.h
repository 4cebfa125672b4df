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
  // Folder of tuned modules, NAME.hlo, that are judged too; may be empty.
  std::string tuned_directory;
  // Larger modules are judged by their tuned form alone: the mutants of one
  // take hundreds of evaluations.
  int64_t max_ops = 3000;
  // Wrong rewrites of each kind and module.
  int32_t mutations = 1;
  uint64_t seed = 0;
};

// Makes the table of what verification refuses: wrong rewrites of corpus
// modules (mutations.h), and right ones, by the default pipelines, by random
// orders of passes and by those that tuning found; what a rewrite left
// identical is not counted. A mutant counts as wrong if in double precision, on
// one of four inputs of its own (random, of mixed magnitudes, adversarial, of
// extreme scalars), an element of an output differs by more than 1e-5 of itself
// and of the output's root mean square, or is NaN on one side only; for others,
// others are drawn. Returns the same as JSON: by kind and for all `wrong` and
// all `right` ones `judged_rightly` of `count`, and of these `otherwise` than
// by comparing all outputs, every judgment that was `false`, and the modules
// that are `not_evaluated` or `too_large` but for their tuned forms. Errors:
// those of ReadCorpus, reading and evaluating modules.
absl::StatusOr<nlohmann::ordered_json> RunVerificationBench(
    const VerificationOptions& options, std::ostream& out);

}  // namespace hone::bench

#endif  // HONE_BENCH_VERIFICATION_VERIFICATION_H_
