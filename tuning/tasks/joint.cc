#include <memory>

#include "tuning/registry.h"
#include "tuning/tasks/step_task.h"

namespace hone::tuning {

// Placement, schedule and fusion of a step at once.
std::unique_ptr<Task> MakeJoint() {
  return std::make_unique<StepTask>(
      "joint",
      StepDecisions{.devices = true, .priorities = true, .fusion = true});
}

}  // namespace hone::tuning
