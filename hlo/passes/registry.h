#ifndef HONE_HLO_PASSES_REGISTRY_H_
#define HONE_HLO_PASSES_REGISTRY_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "base/registry.h"
#include "hlo/passes/pass.h"

namespace hone::hlo {

#define HONE_PASS(id, factory, origin, numeric_class) \
  std::unique_ptr<Pass> factory();
#include "hlo/passes/passes.def"
#undef HONE_PASS

// The origin of a pass.
enum class PassOrigin {
  kUpstream,  // does what upstream XLA's pass of that name does
  kStronger,  // and more, as its header says
  kOwn,       // upstream has no such pass
};
// `upstream`, `stronger` or `own`.
absl::string_view PassOriginName(PassOrigin origin);

// One line of passes.def.
struct PassEntry {
  absl::string_view id;
  const Pass* pass;  // lives as long as the process
  PassOrigin origin;
  NumericClass numeric_class;  // of its strongest rewrite
};

// All passes.
const Registry<PassEntry>& Passes();

// Returns the pass of that id. Errors: NotFound, listing the known ids.
absl::StatusOr<const Pass*> FindPass(absl::string_view name);

}  // namespace hone::hlo

#endif  // HONE_HLO_PASSES_REGISTRY_H_
