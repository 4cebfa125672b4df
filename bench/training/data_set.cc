#include "bench/training/data_set.h"

namespace hone::bench {

const Registry<DataSet>& DataSets() {
  static const auto* const sets = new Registry<DataSet>("data set", {
#define HONE_DATA_SET(id, factory, contents) {id, contents, &factory},
#include "bench/training/data_sets.def"
#undef HONE_DATA_SET
                                                                    });
  return *sets;
}

}  // namespace hone::bench
