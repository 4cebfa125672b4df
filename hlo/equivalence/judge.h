#ifndef HONE_HLO_EQUIVALENCE_JUDGE_H_
#define HONE_HLO_EQUIVALENCE_JUDGE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "hlo/equivalence/equivalence.h"
#include "hlo/ir/literal.h"

namespace hone::hlo {

// The results of two modules on one input. docs/VERIFICATION.md derives the
// rules by which they are judged.
struct Evidence {
  Literal original;
  // The original in double precision (double_precision.h), and the rewritten
  // module likewise.
  Literal truth;
  Literal rewritten;
  Literal rewritten_truth;
  // The original with other rounding (EvaluateOptions::rounding_noise): results
  // that would be as good.
  std::vector<Literal> moved;
  // The rewritten module likewise. None where it computes in a narrower type
  // than the original: its own rounding is no excuse then.
  std::vector<Literal> moved_rewritten;
  // False where only what the modules mean is judged: rounding that spoils the
  // rewritten one makes an element unverifiable, not wrong.
  bool judges_rounding = true;
};

// The judgment of one array of the result.
struct ArrayVerdict {
  // Here and below, real and imaginary parts count as elements of their own.
  int64_t elements = 0;
  // Elements whose own error is beyond meaning and on which the mathematics
  // does not agree to more digits than that, or which the rewritten module
  // computes by the same mathematics but rounds worse.
  int64_t unverifiable = 0;
  // Elements that are wrong, and the worst of them.
  int64_t wrong = 0;
  // How many of the wrong elements agree in double precision, so that only
  // rounding makes them wrong.
  int64_t wrong_by_rounding = 0;
  Difference worst;
  // One of them is wrong whatever other rounding does: not finite where the
  // original is.
  bool is_beyond_rounding = false;
  // The largest error of a verified element, relative to the truth.
  double max_rel_error = 0;
};

// Judges every array of the result, in the order of the flattened tuple. All
// four values have the same form. Verdicts name outputs by their path, which
// begins with `path`. On the pool's threads if there is one.
std::vector<ArrayVerdict> JudgeArrays(const Evidence& evidence,
                                      const std::string& path = "",
                                      ThreadPool* pool = nullptr);

}  // namespace hone::hlo

#endif  // HONE_HLO_EQUIVALENCE_JUDGE_H_
