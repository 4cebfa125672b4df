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
// modules (mutations.h), of which double precision on other inputs shows that
// they compute something else, and right ones, by the default pipeline and by
// random orders of passes. Returns the same as JSON: `wrong_refused` of
// `wrong`, `right_accepted` of `right`, and every judgment that was false.
// Errors: those of ReadCorpus, reading and evaluating modules.
absl::StatusOr<nlohmann::ordered_json> RunVerificationBench(
    const VerificationOptions& options, std::ostream& out);

}  // namespace hone::bench

#endif  // HONE_BENCH_VERIFICATION_VERIFICATION_H_
