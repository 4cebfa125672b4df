#include "bench/training/data_set.h"

#include "absl/algorithm/container.h"
#include "absl/strings/str_split.h"

namespace hone::bench {

bool DataSet::Uses(absl::string_view option) const {
  return absl::c_linear_search(absl::StrSplit(options, ','), option);
}

const Registry<DataSet>& DataSets() {
  static const auto* const sets = new Registry<DataSet>("data set", {
#define HONE_DATA_SET(id, factory, contents, options) \
  {id, contents, options, &factory},
#include "bench/training/data_sets.def"
#undef HONE_DATA_SET
                                                                    });
  return *sets;
}

}  // namespace hone::bench
