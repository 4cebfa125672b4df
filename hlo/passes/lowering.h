#ifndef HONE_HLO_PASSES_LOWERING_H_
#define HONE_HLO_PASSES_LOWERING_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "hlo/ir/module.h"
#include "hlo/passes/pipeline.h"

namespace hone::hlo {

// The mandatory lowering of `target`, "xla-cpu" or "xla-gpu"; it lives as long
// as the process. Errors: InvalidArgument for another target.
absl::StatusOr<const Pipeline*> FindLowering(absl::string_view target);

// Returns `module` lowered: the form in which two modules are compared. All of
// the lowering is made, rewrites that change the range of values too, as the
// target makes them of any module; passes that fail are left out.
Module Lowered(Module module, const Pipeline& lowering);

}  // namespace hone::hlo

#endif  // HONE_HLO_PASSES_LOWERING_H_
