#ifndef HONE_HLO_EQUIVALENCE_EQUIVALENCE_H_
#define HONE_HLO_EQUIVALENCE_EQUIVALENCE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

#include "hlo/evaluator/evaluator.h"
#include "hlo/ir/literal.h"
#include "hlo/ir/module.h"

namespace hone::hlo {

// Arguments for the entry computation, deterministic in `seed`. Indices that
// address other operands, probabilities and the like are not special: floats
// are about normal with standard deviation 0.1, integers are in [0, 8), half of
// those in arrays up to what integers of the module index.
// Errors: Unimplemented for a parameter with tokens or opaque values.
absl::StatusOr<std::vector<Literal>> RandomArguments(const Module& module,
                                                     uint64_t seed);

// The kind of arguments that MakeArguments makes.
enum class ArgumentKind {
  kRandom,
  // A few elements of about half of the arrays are special: ±0, denormal, or
  // large floats, at most one of them infinite or NaN per array; negative or
  // huge integers, except that integer scalars (counts) stay small. Few, so
  // that not everything becomes NaN. In arrays of floats some lines have their
  // maximum twice, and some lines and slices are zero: no variance, and ties.
  kAdversarial,
  // The floats of each argument at a scale of its own, from tiny to huge.
  kMixed,
  // Scalar floats at one end of the range, arrays at the other, an eighth of
  // them zero: products overflow or underflow in one order and not in another.
  kExtreme,
};
absl::StatusOr<std::vector<Literal>> MakeArguments(const Module& module,
                                                   ArgumentKind kind,
                                                   uint64_t seed);

// The place where two results differ most.
struct Difference {
  // Index into the root tuple (nested ones as a path), e.g. "3" or "2.1"; empty
  // for an array root.
  std::string output;
  // Index of the element, e.g. "[4,7]".
  std::string element;
  double a = 0;
  double b = 0;
  // The original's element in double precision; empty if it was not computed.
  std::optional<double> truth;
};

struct Comparison {
  bool equal = true;
  // Largest error, relative to the larger of the value's magnitude and the
  // output's root mean square; infinite when a NaN or infinity stands on one
  // side only.
  double max_rel_error = 0;
  Difference worst;
};

// Compares two results of a measured kernel (verification judges by judge.h),
// under a tolerance per element type: f64 1e-9, f32 1e-4,
// bf16 and f16 2e-2, others exact. Differences smaller than the smallest normal
// number of f64, f32, or bf16 are none, as XLA:CPU flushes denormals to zero.
Comparison CompareLiterals(const Literal& a, const Literal& b);
// Likewise, where `b` may round less often than `a`. `precise` is the result in
// double precision (double_precision.h). An element may also differ from that
// by 8 times the error of `a`, that of the element or the root mean square of
// those of like magnitude, as in rule 1 of docs/VERIFICATION.md.
Comparison CompareLiterals(const Literal& a, const Literal& b,
                           const Literal& precise);

struct EquivalenceOptions {
  int random_inputs = 1;
  int mixed_inputs = 1;
  // Inputs of special values. If there are any, and the modules have scalar
  // floats for parameters, two inputs of extreme scalars are added.
  int adversarial_inputs = 1;
  // False for rewrites that may overflow where the original does not.
  bool extreme_scalars = true;
  // Looks for more inputs, by which control flow takes the ways that it does
  // not take on those.
  bool covers_control_flow = true;
  uint64_t seed = 0;
  EvaluateOptions evaluate;
};

struct EquivalenceReport {
  bool equal = true;
  // "evaluator: 2 random, 1 adversarial inputs", those of mixed magnitudes
  // among the random ones; followed by control_flow.
  std::string method;
  // ", 1 for control flow (4 of 4 branches)"; empty if there is none.
  std::string control_flow;
  // The largest error of an element that was verified, relative to the truth.
  double max_rel_error = 0;
  // When not equal: on which input, output and element.
  std::string explanation;
  // The share of elements of an output that show nothing: the own error leaves
  // nothing to compare, or they are NaN. Of the inputs the best, of the outputs
  // the worst.
  double unverifiable = 0;
};

// Errors: FailedPrecondition if that share of unverifiable elements is so large
// that modules count as not verified, though no difference was found.
absl::Status CheckEvidence(double unverifiable);

// Checks two modules input by input. What the inputs have in common is made
// once: the modules merged into one, memory, what is known of their control
// flow.
//
// A result that is NaN everywhere would show nothing, so inputs adapt to what
// `a` makes of them: if over 1 % of its result is NaN, the arguments that cause
// it are replaced by their absolute values (training steps take square roots of
// second moments); if over half of its result on an adversarial input is not
// finite, the modules are compared on that input with finite special values
// too.
class EquivalenceCheck {
 public:
  // Errors: InvalidArgument when the signatures differ.
  static absl::StatusOr<std::unique_ptr<EquivalenceCheck>> Create(
      const Module& a, const Module& b, const EvaluateOptions& options);
  virtual ~EquivalenceCheck() = default;

  // Compares on one more input. Errors: as Evaluate.
  virtual absl::Status CheckInput(ArgumentKind kind, uint64_t seed) = 0;
  // Looks for inputs by which control flow takes the ways that it has not taken
  // yet, and compares on them. Errors: as Evaluate.
  virtual absl::Status CheckControlFlow(uint64_t seed) = 0;
  // Returns true if an input of that kind has something to show.
  virtual bool IsUseful(ArgumentKind kind) const = 0;
  // For the evaluations that follow.
  virtual void SetTimeLimit(absl::Duration limit) = 0;

  // Returns the findings so far.
  virtual EquivalenceReport Report() const = 0;
};

// Runs both modules on the same inputs, until they differ on one, and judges
// every element of the results by itself, against what double precision makes
// of the original. The rules are in docs/VERIFICATION.md.
// Errors: InvalidArgument when their signatures differ; otherwise as Evaluate.
absl::StatusOr<EquivalenceReport> CheckEquivalent(
    const Module& a, const Module& b, const EquivalenceOptions& options = {});

}  // namespace hone::hlo

#endif  // HONE_HLO_EQUIVALENCE_EQUIVALENCE_H_
