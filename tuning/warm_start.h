#ifndef HONE_TUNING_WARM_START_H_
#define HONE_TUNING_WARM_START_H_

#include <string>
#include <vector>

#include "storage/store.h"

namespace hone::tuning {

// Returns the published decisions that a tuning of `key` starts from, the most
// promising first, at most 3: that of the key itself, then those of the same
// module, task and options for the same target, then for others; and one that
// other subjects suggest (Task::SharedDecision). Best effort: what the store
// cannot read is left out.
std::vector<std::string> FindStarts(storage::Store& store,
                                    const storage::CacheKey& key);

}  // namespace hone::tuning

#endif  // HONE_TUNING_WARM_START_H_
