#ifndef HONE_HLO_EVALUATOR_CONTEXT_H_
#define HONE_HLO_EVALUATOR_CONTEXT_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"

#include "base/rng.h"
#include "hlo/evaluator/buffer_pool.h"
#include "hlo/evaluator/evaluator.h"
#include "hlo/evaluator/plan.h"
#include "hlo/ir/module.h"

namespace hone::hlo::evaluator {

// The state that one evaluation shares: memory, threads, the deadline, and the
// plans of the computations run so far.
// Threads: one thread calls; ParallelFor bodies call Expired() only.
class Context {
 public:
  Context(const Module& module, const EvaluateOptions& options);

  const Module& module() const { return module_; }

  // An array whose data is not initialized.
  // Errors: ResourceExhausted over the limit on live bytes.
  absl::StatusOr<Literal> Allocate(const ShapePtr& shape);

  // Calls body(begin, end) over pieces of [0, n), on the pool if there is one.
  // `grain` items are worth a call. Stops early once the deadline has passed.
  // Errors: DeadlineExceeded.
  absl::Status ParallelFor(int64_t n, int64_t grain,
                           const std::function<void(int64_t, int64_t)>& body);

  // Returns true if the deadline has passed.
  bool Expired() const;
  absl::Status CheckDeadline() const;
  // Counts one pass through the body of a loop.
  // Errors: DeadlineExceeded; ResourceExhausted over the limit on such passes.
  absl::Status CountLoopStep();
  // Records the way that a conditional or while took (Coverage).
  void Took(const Instruction& site, int64_t way) {
    if (coverage_ != nullptr) coverage_->Add(running_, site.id(), way);
  }

  // Runs computation `id`. Arguments whose data nobody else holds may be
  // overwritten.
  absl::StatusOr<Literal> Run(ComputationId id, std::vector<Literal> arguments);

 private:
  absl::StatusOr<Literal> RunSteps(ComputationId id,
                                   std::vector<Literal> arguments);
  // Runs a step that adds up many terms, with rounding noise.
  absl::StatusOr<Literal> RunSum(const Computation& computation,
                                 const Plan::Step& step,
                                 std::vector<Literal> inputs);
  // Changes copies of the arrays of floats among the terms of a sum.
  absl::Status ChangeTerms(absl::Span<Literal> terms,
                           const std::function<void(Literal&)>& change);
  // Copies the data of an array that somebody else holds too.
  absl::Status MakeUnique(Literal& array);
  const Plan& PlanOf(ComputationId id);
  // Hands the value of a step to those who wait for it.
  absl::Status Deliver(ComputationId id, const Plan::Step& step,
                       Literal& value);

  const Module& module_;
  ThreadPool* const pool_;
  const int64_t max_live_bytes_;
  const absl::Duration deadline_;
  int64_t loop_steps_left_;
  Coverage* const coverage_;
  // The computation whose instructions are evaluated at the moment.
  ComputationId running_ = kNoComputation;
  const std::function<absl::Status(int64_t, Literal)> take_output_;
  const std::function<void(InstructionId, const Literal&)> on_value_;
  // Empty for results as they are.
  std::optional<Rng> noise_;
  const std::shared_ptr<BufferPool> buffers_;
  absl::flat_hash_map<ComputationId, std::unique_ptr<Plan>> plans_;
};

}  // namespace hone::hlo::evaluator

#endif  // HONE_HLO_EVALUATOR_CONTEXT_H_
