#ifndef HONE_TESTS_HLO_PASSES_CHECK_ORDER_H_
#define HONE_TESTS_HLO_PASSES_CHECK_ORDER_H_

#include <functional>
#include <optional>
#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "hlo/passes/pass.h"
#include "tests/hlo/passes/shrink.h"

namespace hone::hlo {

// The failure of a case.
struct OrderFailure {
  enum class Kind {
    kPassFailed,
    kDoesNotVerify,
    kUntruthful,
    // The printed module reads back as another one, or not at all.
    kText,
    kSignature,
    // Side effects are lost, added or in another order.
    kEffects,
    kUnequal,
    // Loops so often that it cannot be evaluated.
    kRunsAway
  };
  Kind kind = Kind::kUnequal;
  // The pass after which it showed; empty when only the end differs.
  std::string pass;
  std::string message;
};

// Finds a pass by its id; FindPass but in tests of the check itself.
using PassLookup =
    std::function<absl::StatusOr<const Pass*>(absl::string_view)>;

struct CheckOptions {
  // With Numerics::kExact, results must have the same bits, up to the payload
  // of NaNs and the sign of zero.
  RewriteOptions rewrite = {};
  // Compares on arguments of magnitudes from 1e-38 to 1e38 too: the same
  // elements must be finite.
  bool extremes = false;
};

// Runs the passes in order; after each that reports a change the module must
// verify and be what its text says, after each that reports none it must be the
// same, and in the end it must have the same signature and effects and compute
// what it did. Passes that changed something are added to `changing` if that is
// not null. Modules that the evaluator cannot run count as equal.
std::optional<OrderFailure> CheckOrder(const FailingCase& order,
                                       const PassLookup& find_pass,
                                       std::set<std::string>* changing,
                                       const CheckOptions& options = {});

// The smallest case found that fails with the same kind of failure.
FailingCase ShrinkFailure(const FailingCase& failing, OrderFailure::Kind kind,
                          const PassLookup& find_pass,
                          const CheckOptions& options = {});

// HLO text that a test can replay: its first line is "// passes: a,b".
std::string PrintCase(const FailingCase& failing);
// Errors: InvalidArgument without that line; those of the parser.
absl::StatusOr<FailingCase> ParseCase(absl::string_view text);

}  // namespace hone::hlo

#endif  // HONE_TESTS_HLO_PASSES_CHECK_ORDER_H_
