#include <memory>

#include "tuning/registry.h"
#include "tuning/tasks/step_task.h"

namespace hone::tuning {

// Which operators of a step are computed within the kernels of their users,
// under the default placement and order.
std::unique_ptr<Task> MakeFusion() {
  return std::make_unique<StepTask>("fusion", StepDecisions{.fusion = true});
}

}  // namespace hone::tuning
