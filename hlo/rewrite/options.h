#ifndef HONE_HLO_REWRITE_OPTIONS_H_
#define HONE_HLO_REWRITE_OPTIONS_H_

#include <functional>
#include <string>

#include "absl/strings/string_view.h"

#include "hlo/rewrite/numerics.h"

namespace hone::hlo {

// One replacement, as the driver reports it.
struct RewriteEvent {
  absl::string_view rewrite;      // RewriteRule::name
  absl::string_view computation;  // its name
  // The instruction as HLO text without its attributes, `add.3 = f32[4] add`.
  std::string instruction;
};

// The caller's choices for all rewrites of a pass.
struct RewriteOptions {
  Numerics numerics = Numerics::kReassociate;
  // Verifies the module after every single rewrite, which is slow, so that the
  // error names the rewrite that broke it. For debugging and tests.
  bool verify_rewrites = false;
  // Called after every rewrite; may be empty.
  std::function<void(const RewriteEvent&)> trace = {};
};

}  // namespace hone::hlo

#endif  // HONE_HLO_REWRITE_OPTIONS_H_
