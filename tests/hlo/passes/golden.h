#ifndef HONE_TESTS_HLO_PASSES_GOLDEN_H_
#define HONE_TESTS_HLO_PASSES_GOLDEN_H_

#include <string>

#include "absl/strings/string_view.h"

#include "hlo/ir/module.h"
#include "hlo/rewrite/options.h"

namespace hone::hlo {

// Parses HLO text; the test fails and the module is empty unless it parses and
// verifies.
Module ParseForTest(absl::string_view text);

// Expects that the pass turns `before` into `after` (names and the order of
// instructions are ignored), reports a change, leaves a module that verifies
// and, unless the evaluator cannot run it, computes the same.
void ExpectRewrites(absl::string_view pass, absl::string_view before,
                    absl::string_view after,
                    const RewriteOptions& options = {});

// Expects that the pass reports no change, makes none and shares every
// computation with the fork from before.
void ExpectUnchanged(absl::string_view pass, absl::string_view text,
                     const RewriteOptions& options = {});

// Expects that the pass changes the module, leaves one that verifies and, on
// second thought, nothing to do, and that both compute the same. Returns the
// module after the pass.
Module ExpectKeepsMeaning(absl::string_view pass, absl::string_view text,
                          const RewriteOptions& options = {});

}  // namespace hone::hlo

#endif  // HONE_TESTS_HLO_PASSES_GOLDEN_H_
