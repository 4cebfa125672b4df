#ifndef HONE_HLO_PASSES_REGISTRY_H_
#define HONE_HLO_PASSES_REGISTRY_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "hlo/passes/pass.h"

namespace hone::hlo {

#define HONE_PASS(id, factory) std::unique_ptr<Pass> factory();
#include "hlo/passes/passes.def"
#undef HONE_PASS

// Ids of all passes, sorted.
std::vector<absl::string_view> PassNames();

// The pass of that id; it lives as long as the process.
// Errors: NotFound, listing the known ids.
absl::StatusOr<const Pass*> FindPass(absl::string_view name);

}  // namespace hone::hlo

#endif  // HONE_HLO_PASSES_REGISTRY_H_
