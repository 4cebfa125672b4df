#ifndef HONE_COSTMODELS_REGISTRY_H_
#define HONE_COSTMODELS_REGISTRY_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "base/registry.h"
#include "costmodels/cost_model.h"

namespace hone::costmodels {

#define HONE_COST_MODEL(id, factory) \
  std::unique_ptr<CostModel> factory(const MachineModel& machine);
#include "costmodels/cost_models.def"
#undef HONE_COST_MODEL

// One line of cost_models.def.
struct CostModelEntry {
  absl::string_view id;
  std::unique_ptr<CostModel> (*factory)(const MachineModel&);
};

// All cost models.
const Registry<CostModelEntry>& CostModels();

// Returns the cost model of that id for `machine`.
// Errors: NotFound, listing the known ids.
absl::StatusOr<std::unique_ptr<CostModel>> CreateCostModel(
    absl::string_view id, const MachineModel& machine = {});

}  // namespace hone::costmodels

#endif  // HONE_COSTMODELS_REGISTRY_H_
