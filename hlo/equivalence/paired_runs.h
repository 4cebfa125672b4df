#ifndef HONE_HLO_EQUIVALENCE_PAIRED_RUNS_H_
#define HONE_HLO_EQUIVALENCE_PAIRED_RUNS_H_

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/span.h"

#include "hlo/equivalence/merged_module.h"
#include "hlo/evaluator/coverage.h"
#include "hlo/evaluator/evaluator.h"
#include "hlo/ir/literal.h"
#include "hlo/ir/module.h"

namespace hone::hlo {

// Runs two modules beside each other, as one merged module, and hands over
// their outputs in pairs as soon as both are there.
class PairedRuns {
 public:
  // Gets the number of an output and what a and b make of it. An error ends the
  // run.
  using OnOutput =
      std::function<absl::Status(int64_t output, Literal a, Literal b)>;
  // Likewise, of one of them alone.
  using OnOneOutput = std::function<absl::Status(int64_t output, Literal)>;

  // `options` are of every run; runs share memory up to their limit.
  PairedRuns(const Module& a, const Module& b, const EvaluateOptions& options);

  const MergedModule& merged() const { return merged_; }
  // Returns true if b computes more than a does in types narrower than a's
  // widest.
  bool is_b_narrower() const { return is_b_narrower_; }
  const EvaluateOptions& options() const { return options_; }
  void set_time_limit(absl::Duration limit) { options_.time_limit = limit; }

  // All outputs, in the modules' own types. Finds values of b that have the
  // bits of one of a, for InDoublePrecision on the same arguments. Adds to
  // `coverage` the ways that control flow took. Errors: as Evaluate.
  absl::Status InOwnTypes(absl::Span<const Literal> arguments,
                          Coverage& coverage, const OnOutput& on_output);

  // All outputs of a, in its own types.
  absl::Status OfAInOwnTypes(absl::Span<const Literal> arguments,
                             const OnOneOutput& on_output) const;

  // Some outputs, with every narrower float as f64.
  absl::Status InDoublePrecision(absl::Span<const Literal> arguments,
                                 absl::Span<const int64_t> outputs,
                                 const OnOutput& on_output) const;

  // Some outputs of one partner, in their own types, rounded at random by the
  // seed, which is not 0 (EvaluateOptions::rounding_noise).
  absl::Status WithRoundingNoise(Partner partner,
                                 absl::Span<const Literal> arguments,
                                 absl::Span<const int64_t> outputs,
                                 uint64_t seed,
                                 const OnOneOutput& on_output) const;

 private:
  // Runs slices with some outputs.
  absl::Status RunOne(Partner partner, absl::Span<const int64_t> outputs,
                      absl::Span<const Literal> arguments,
                      EvaluateOptions options,
                      const OnOneOutput& on_output) const;
  static absl::Status Run(const Module& slice,
                          absl::Span<const int64_t> outputs,
                          absl::Span<const Literal> arguments,
                          EvaluateOptions options, const OnOutput& on_output);

  const MergedModule merged_;
  const bool is_b_narrower_;
  EvaluateOptions options_;
  std::vector<int64_t> all_outputs_;
  // On the arguments at hand: values of b and values of a with the same bits.
  std::vector<std::pair<InstructionId, InstructionId>> replacements_;
};

}  // namespace hone::hlo

#endif  // HONE_HLO_EQUIVALENCE_PAIRED_RUNS_H_
