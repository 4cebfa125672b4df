#ifndef HONE_HLO_EVALUATOR_EVALUATOR_H_
#define HONE_HLO_EVALUATOR_EVALUATOR_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"

#include "base/thread_pool.h"
#include "hlo/evaluator/coverage.h"
#include "hlo/ir/module.h"

namespace hone::hlo {

namespace evaluator {
class BufferPool;
}  // namespace evaluator

struct EvaluateOptions {
  // Used for large elementwise work; null runs on the caller's thread.
  ThreadPool* pool = nullptr;
  // Live bytes of intermediate results over which evaluation gives up.
  int64_t max_live_bytes = int64_t{8} << 30;
  // Memory that several evaluations share, results included; its limit holds
  // instead of max_live_bytes. Null gives each its own.
  std::shared_ptr<evaluator::BufferPool> buffers = nullptr;
  absl::Duration time_limit = absl::InfiniteDuration();
  // Passes through the bodies of all `while`s together over which evaluation
  // gives up; unlike the time, it does not depend on the machine.
  int64_t max_loop_steps = std::numeric_limits<int64_t>::max();
  // If not null, gets the ways that control flow takes.
  Coverage* coverage = nullptr;
  // If not 0, results of arithmetic are moved at random, by this seed, as
  // rounding in another order might: a sample of what the module computes as
  // well as what it computes.
  uint64_t rounding_noise = 0;
  // If set, gets each element of the entry's root, which is a tuple
  // instruction, as soon as it is there, so that values need not be kept: those
  // of the first elements come first. The result is then the empty tuple. An
  // error ends the evaluation. Called on the caller's thread.
  std::function<absl::Status(int64_t, Literal)> take_output = nullptr;
  // If set, sees the values of the entry's instructions, but for parameters and
  // what only other elementwise instructions need. On the caller's thread.
  std::function<void(InstructionId, const Literal&)> on_value = nullptr;
};

// Runs a verified module on `arguments` (one literal per entry parameter) and
// returns the root's value. The reference for what an instruction means:
// results follow XLA:CPU up to rounding.
// Errors: Unimplemented for opcodes without a meaning on one device (the
// message names opcode and instruction) and for elided constants;
// InvalidArgument when arguments do not fit; ResourceExhausted and
// DeadlineExceeded by the options.
absl::StatusOr<Literal> Evaluate(const Module& module,
                                 absl::Span<const Literal> arguments,
                                 const EvaluateOptions& options = {});

// Evaluates one instruction of `computation` on given operand values. For
// constant folding.
// Errors: as Evaluate.
absl::StatusOr<Literal> EvaluateInstruction(
    const Module& module, const Computation& computation, InstructionId id,
    absl::Span<const Literal> operands, const EvaluateOptions& options = {});

}  // namespace hone::hlo

#endif  // HONE_HLO_EVALUATOR_EVALUATOR_H_
