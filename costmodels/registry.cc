#include "costmodels/registry.h"

#include "base/status_macros.h"

namespace hone::costmodels {

const Registry<CostModelEntry>& CostModels() {
  static const auto* const models =
      new Registry<CostModelEntry>("cost model", {
#define HONE_COST_MODEL(id, factory) {id, &factory},
#include "costmodels/cost_models.def"
#undef HONE_COST_MODEL
                                                 });
  return *models;
}

absl::StatusOr<std::unique_ptr<CostModel>> CreateCostModel(
    absl::string_view id, const MachineModel& machine) {
  HONE_ASSIGN_OR_RETURN(const CostModelEntry* entry, CostModels().Find(id));
  return entry->factory(machine);
}

}  // namespace hone::costmodels
