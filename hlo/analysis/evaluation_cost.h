#ifndef HONE_HLO_ANALYSIS_EVALUATION_COST_H_
#define HONE_HLO_ANALYSIS_EVALUATION_COST_H_

#include <cstdint>
#include <string>

#include "hlo/ir/module.h"

namespace hone::hlo {

// An estimate of what the evaluator needs for a module, found without
// allocating anything of it.
struct EvaluationCost {
  // Operations of one evaluation, transcendental functions included.
  double flops = 0;
  // The instruction of the entry computation with the most of them: "dot.3".
  std::string most_flops;
  // Memory to compare the module with a rewritten one: the arguments, and for
  // each of the two the result and the instruction with the largest operands
  // and value.
  double bytes = 0;
  std::string most_bytes;
};

EvaluationCost EstimateEvaluation(const Module& module);

// Returns the bytes of the literals in `module`.
int64_t ConstantBytes(const Module& module);

}  // namespace hone::hlo

#endif  // HONE_HLO_ANALYSIS_EVALUATION_COST_H_
