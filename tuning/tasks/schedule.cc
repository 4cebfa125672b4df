#include <memory>

#include "tuning/registry.h"
#include "tuning/tasks/step_task.h"

namespace hone::tuning {

// When each kernel of a step starts: an order and priorities, under the default
// placement and fusion.
std::unique_ptr<Task> MakeSchedule() {
  return std::make_unique<StepTask>("schedule",
                                    StepDecisions{.priorities = true});
}

}  // namespace hone::tuning
