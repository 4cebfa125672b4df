#include "hlo/passes/registry.h"

#include "base/status_macros.h"

namespace hone::hlo {

const Registry<PassEntry>& Passes() {
  static const auto* const passes = new Registry<PassEntry>("pass", {
#define HONE_PASS(id, factory, origin, numeric_class) \
  {id, factory().release(), PassOrigin::origin, NumericClass::numeric_class},
#include "hlo/passes/passes.def"
#undef HONE_PASS
                                                                    });
  return *passes;
}

absl::string_view PassOriginName(PassOrigin origin) {
  switch (origin) {
    case PassOrigin::kUpstream:
      return "upstream";
    case PassOrigin::kStronger:
      return "stronger";
    case PassOrigin::kOwn:
      return "own";
  }
  return "unknown";
}

absl::StatusOr<const Pass*> FindPass(absl::string_view name) {
  HONE_ASSIGN_OR_RETURN(const PassEntry* entry, Passes().Find(name));
  return entry->pass;
}

}  // namespace hone::hlo
