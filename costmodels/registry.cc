#include "costmodels/registry.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace hone::costmodels {
namespace {

struct Entry {
  absl::string_view id;
  std::unique_ptr<CostModel> (*factory)(const MachineModel&);
};

constexpr Entry kCostModels[] = {
#define HONE_COST_MODEL(id, factory) {id, &factory},
#include "costmodels/cost_models.def"
#undef HONE_COST_MODEL
};

}  // namespace

std::vector<absl::string_view> CostModelNames() {
  std::vector<absl::string_view> names;
  for (const Entry& entry : kCostModels) names.push_back(entry.id);
  return names;
}

absl::StatusOr<std::unique_ptr<CostModel>> CreateCostModel(
    absl::string_view id, const MachineModel& machine) {
  for (const Entry& entry : kCostModels) {
    if (entry.id == id) return entry.factory(machine);
  }
  return absl::NotFoundError(absl::StrCat(
      "unknown cost model '", id,
      "', expected one of: ", absl::StrJoin(CostModelNames(), ", ")));
}

}  // namespace hone::costmodels
