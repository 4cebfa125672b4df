#ifndef HONE_HLO_REWRITE_DRIVER_H_
#define HONE_HLO_REWRITE_DRIVER_H_

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "hlo/rewrite/rewriter.h"

namespace hone::hlo {

// The order in which a rewrite sees the instructions of a computation.
enum class Visit {
  // Each instruction that the computation had before, once, in slot order;
  // those that the rewrite adds are not visited.
  kEach,
  // Likewise, operands before users.
  kPostOrder,
  // Each instruction and, after a change, those that it may concern, until
  // nothing changes.
  kFixedPoint,
};

// The order in which RewriteModule goes through computations.
enum class CallOrder {
  kAny,
  kCalleesFirst,
  kCallersFirst,
};

// The properties of a rewrite that the driver needs.
struct RewriteRule {
  // The name of the pass, or of the rewrite within it, for errors and traces.
  absl::string_view name;
  // Not applied unless the caller permits the class. A rewrite of several kinds
  // declares the least of them and asks Rewriter::Permits for the others.
  NumericClass numeric_class = NumericClass::kExact;
  // The opcodes that it applies to; all if empty.
  OpcodeSet opcodes = {};
  Visit visit = Visit::kEach;
  CallOrder call_order = CallOrder::kAny;
  // It moves values without a look at sizes, so dynamic dimensions are fine.
  bool dynamic = false;
  // It asks Rewriter::MayReplace itself: what it replaces is not always the
  // instruction that it is shown.
  bool checks_itself = false;
  // It makes calls go: computations that nothing calls afterwards are removed.
  bool drops_callees = false;
};

// Tries to rewrite `id`: a match, makers, then Replace. Returns true if it
// changed something; what it made for nothing is removed.
using RewriteFunction = absl::FunctionRef<bool(Rewriter& r, InstructionId id)>;

// Applies `rewrite` to the instructions of one computation, or of all that
// nothing owns (owned_computations.h), for which Rewriter::MayReplace holds;
// returns true if anything changed. Scheduled modules are left alone.
// Errors: Internal when a request of the rewrite did not fit (Rewriter::status)
// or, with RewriteOptions::verify_rewrites, left a module that does not verify;
// `module` is then in an unspecified but destructible state.
absl::StatusOr<bool> RewriteComputation(Module& module,
                                        ComputationId computation,
                                        const RewriteRule& rule,
                                        const RewriteOptions& options,
                                        RewriteFunction rewrite);
absl::StatusOr<bool> RewriteModule(Module& module, const RewriteRule& rule,
                                   const RewriteOptions& options,
                                   RewriteFunction rewrite);

// For rewrites that have to look at a whole computation at once: calls
// `rewrite` for each of them. Which instructions it may replace it asks
// Rewriter::MayReplace, and it calls Rewriter::EndRewrite after each
// replacement; `rule.opcodes`, if there are any, says which computations are
// worth a call. Otherwise like RewriteModule.
absl::StatusOr<bool> RewriteComputations(
    Module& module, const RewriteRule& rule, const RewriteOptions& options,
    absl::FunctionRef<void(Rewriter& r)> rewrite);

}  // namespace hone::hlo

#endif  // HONE_HLO_REWRITE_DRIVER_H_
