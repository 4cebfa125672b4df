#include "bench/cost_model/cost_data_set.h"

#include "absl/algorithm/container.h"
#include "absl/strings/str_split.h"

namespace hone::bench {

bool CostDataSet::Uses(absl::string_view option) const {
  return absl::c_linear_search(absl::StrSplit(options, ','), option);
}

const Registry<CostDataSet>& CostDataSets() {
  static const auto* const sets =
      new Registry<CostDataSet>("data set of a cost model", {
#define HONE_COST_DATA_SET(id, factory, contents, options) \
  {id, contents, options, &factory},
#include "bench/cost_model/cost_data_sets.def"
#undef HONE_COST_DATA_SET
                                                            });
  return *sets;
}

}  // namespace hone::bench
