#ifndef HONE_TUNING_TASKS_STEP_GROUPS_H_
#define HONE_TUNING_TASKS_STEP_GROUPS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"

#include "tuning/tasks/step_space.h"

namespace hone::tuning {

// Sets of units that are likely to belong on one device, from pairs to large
// parts of the graph: moves of a local search take one at a time.
//
// Each level joins neighbors of the level below, those with the most time of
// transfers between them first, one pair each. The last level are the scopes of
// the model.
class StepGroups {
 public:
  explicit StepGroups(const StepSpace& space);

  size_t level_count() const { return levels_.size(); }
  // The units that share a group of a level with `unit`, itself included.
  absl::Span<const uint32_t> Members(size_t level, size_t unit) const {
    const Level& at = levels_[level];
    const uint32_t group = at.group_of[unit];
    return absl::MakeConstSpan(at.members)
        .subspan(at.begin[group],
                 at.begin[group + size_t{1}] - at.begin[group]);
  }

 private:
  struct Level {
    std::vector<uint32_t> group_of;  // [units]
    std::vector<size_t> begin;       // [groups + 1]
    std::vector<uint32_t> members;   // [units], by group
  };
  // Of units with the same number, below `count`.
  static Level MakeLevel(std::vector<uint32_t> group_of, uint32_t count);

  std::vector<Level> levels_;
};

}  // namespace hone::tuning

#endif  // HONE_TUNING_TASKS_STEP_GROUPS_H_
