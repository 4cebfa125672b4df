#ifndef HONE_HLO_PASSES_PASS_H_
#define HONE_HLO_PASSES_PASS_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "hlo/ir/module.h"

namespace hone::hlo {

// One rewrite of a whole module that keeps its meaning.
//
// Determinism: the result depends on the module only.
// Threads: Run may be called from several threads on distinct modules.
class Pass {
 public:
  virtual ~Pass() = default;

  // The stable id, upstream's name where there is one; equals its line in
  // passes.def.
  virtual absl::string_view name() const = 0;

  // Rewrites `module`, which verifies; returns whether anything changed. A
  // module that is returned changed verifies; an unchanged one still shares
  // every computation with its fork (ask for mutable_computation only when
  // there is something to change).
  // Errors: Internal for a bug; malformed modules are the verifier's matter.
  virtual absl::StatusOr<bool> Run(Module& module) const = 0;
};

}  // namespace hone::hlo

#endif  // HONE_HLO_PASSES_PASS_H_
