#ifndef HONE_TUNING_VERIFY_H_
#define HONE_TUNING_VERIFY_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "base/thread_pool.h"
#include "hlo/ir/module.h"
#include "hlo/rewrite/numerics.h"
#include "storage/record.h"

namespace hone::tuning {

struct VerifyOptions {
  ThreadPool* pool = nullptr;
  uint64_t seed = 0;
  // A module that exceeds these limits is too large to evaluate in full.
  absl::Duration time_limit = absl::Minutes(2);
  int64_t max_live_bytes = int64_t{8} << 30;
  // The classes of the rewrite's steps. A rewrite of exact ones only needs no
  // evaluation, so outputs that cannot be evaluated are left out; where
  // overflow is permitted, no inputs are made to provoke it.
  hlo::Numerics numerics = hlo::Numerics::kReassociate;
};

// Returns OK if the module can be evaluated, as far as that shows without doing
// so: its result, and what its side effects take. Otherwise Unimplemented,
// naming an instruction that cannot (a custom call, a collective, values left
// out of the text, a side effect in a loop).
absl::Status CheckEvaluable(const hlo::Module& module);

// Checks that `rewritten` computes the same as `input`, with the evaluator on
// random and adversarial inputs and on those that control flow needs; fewer of
// them if one run takes long. Modules too large for that get a scaled-down
// check: one random input, and only the outputs that need the least work, in
// full size, as many as the limits allow. It misses errors that only the other
// outputs show. The method of the result states exactly what was checked:
//   "identical to the input"
//   "evaluator: 2 random, 1 adversarial inputs"
//   "evaluator: 2 random, 1 adversarial inputs, 1 for control flow (2 of 2
//   branches)"
//   "evaluator: 1 random, 0 adversarial inputs (no time for more)"
//   "evaluator, scaled down: 1 random input, 3 of 17 outputs (in full: WHY)"
// and of exact rewrites of modules that CheckEvaluable refuses:
//   "evaluator: 2 random, 1 adversarial inputs, 3 of 17 outputs, exact rewrites
//   only (WHY)"
//   "not evaluated (WHY), exact rewrites only"
// Errors: FailedPrecondition if they differ, saying where; Unimplemented,
// ResourceExhausted or DeadlineExceeded if the check could not be made (the
// caller then publishes the default).
absl::StatusOr<storage::Verification> VerifyRewrite(
    const hlo::Module& input, const hlo::Module& rewritten,
    const VerifyOptions& options);

}  // namespace hone::tuning

#endif  // HONE_TUNING_VERIFY_H_
