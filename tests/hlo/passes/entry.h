#ifndef HONE_TESTS_HLO_PASSES_ENTRY_H_
#define HONE_TESTS_HLO_PASSES_ENTRY_H_

#include <string>

#include "absl/strings/string_view.h"

#include "hlo/rewrite/options.h"

namespace hone::hlo {

// A module whose entry computation has these instructions.
std::string Entry(absl::string_view body);

// Likewise, with f32 regions `sum` (a + b) and `maximum` (max(a, b)) that the
// instructions may call.
std::string EntryWithRegions(absl::string_view body);

// ExpectRewrites and ExpectUnchanged for entry computations; the regions of
// EntryWithRegions are there when the text names them.
void ExpectEntryRewrites(absl::string_view pass, absl::string_view before,
                         absl::string_view after,
                         const RewriteOptions& options = {});
void ExpectEntryUnchanged(absl::string_view pass, absl::string_view body,
                          const RewriteOptions& options = {});

// Returns the text of EntryWithRegions(body) after the pass, for passes on
// layouts, which are no part of a fingerprint; empty when it changes nothing.
// Expects a module that verifies and that the pass then leaves alone.
std::string PrintedAfter(absl::string_view pass, absl::string_view body);

}  // namespace hone::hlo

#endif  // HONE_TESTS_HLO_PASSES_ENTRY_H_
