#ifndef HONE_HLO_EQUIVALENCE_H_
#define HONE_HLO_EQUIVALENCE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "hlo/evaluator/evaluator.h"
#include "hlo/literal.h"
#include "hlo/module.h"

namespace hone::hlo {

// Arguments for the entry computation, deterministic in `seed`. Indices that
// address other operands, probabilities and the like are not special: values
// are small normals for floats, small non-negative numbers for integers.
std::vector<Literal> RandomArguments(const Module& module, uint64_t seed);

// How RandomArguments is spiced for a check.
enum class ArgumentKind {
  kRandom,
  // Some elements are ±inf, NaN, ±0, denormal, or large.
  kAdversarial,
};
std::vector<Literal> MakeArguments(const Module& module, ArgumentKind kind,
                                   uint64_t seed);

// Where two results differ most.
struct Difference {
  // Index into the root tuple (nested ones as a path), e.g. "3" or "2.1"; empty
  // for an array root.
  std::string output;
  // Index of the element, e.g. "[4,7]".
  std::string element;
  double a = 0;
  double b = 0;
};

struct Comparison {
  bool equal = true;
  // Largest error, relative to the larger of the value's magnitude and the
  // output's root mean square; infinite when a NaN or infinity stands on one
  // side only.
  double max_rel_error = 0;
  Difference worst;
};

// Compares two results under a tolerance per element type: f64 1e-9, f32 1e-4,
// bf16 and f16 2e-2, others exact.
Comparison CompareLiterals(const Literal& a, const Literal& b);

struct EquivalenceOptions {
  int random_inputs = 2;
  int adversarial_inputs = 1;
  uint64_t seed = 0;
  EvaluateOptions evaluate;
};

struct EquivalenceReport {
  bool equal = true;
  // "evaluator: 2 random, 1 adversarial inputs".
  std::string method;
  double max_rel_error = 0;
  // When not equal: on which input, output and element.
  std::string explanation;
};

// Runs both modules on the same inputs and compares.
// Errors: InvalidArgument when their signatures differ; otherwise as Evaluate.
absl::StatusOr<EquivalenceReport> CheckEquivalent(
    const Module& a, const Module& b, const EquivalenceOptions& options = {});

}  // namespace hone::hlo

#endif  // HONE_HLO_EQUIVALENCE_H_
