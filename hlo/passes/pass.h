#ifndef HONE_HLO_PASSES_PASS_H_
#define HONE_HLO_PASSES_PASS_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "hlo/ir/module.h"
#include "hlo/rewrite/options.h"

namespace hone::hlo {

// One rewrite of a whole module that keeps its meaning.
//
// Determinism: the result depends on the module and the options only.
// Threads: Run may be called from several threads on distinct modules.
class Pass {
 public:
  virtual ~Pass() = default;

  // The stable id, upstream's name where there is one; equals its line in
  // passes.def.
  virtual absl::string_view name() const = 0;

  // Rewrites `module`, which verifies, as far as `options` permit; returns true
  // if anything changed. A module that is returned changed verifies; an
  // unchanged one still shares every computation with its fork.
  // Errors: Internal for a bug of the pass, never an abort; `module` is then in
  // an unspecified but destructible state. Malformed modules are the verifier's
  // matter.
  virtual absl::StatusOr<bool> Run(
      Module& module, const RewriteOptions& options = {}) const = 0;
};

}  // namespace hone::hlo

#endif  // HONE_HLO_PASSES_PASS_H_
