#ifndef HONE_TUNING_TASKS_STEP_LOCAL_H_
#define HONE_TUNING_TASKS_STEP_LOCAL_H_

#include <atomic>
#include <cstdint>
#include <memory>

#include "absl/types/span.h"

#include "space/local_state.h"
#include "tuning/tasks/step_groups.h"
#include "tuning/tasks/step_space.h"

namespace hone::tuning {

// Returns an assignment of `space`, for a local search. An evaluation, which
// counts in `evaluations`, is a simulation, exact, from the moment on that a
// change can matter. `space` and `groups` outlive it.
std::unique_ptr<space::LocalState> MakeStepLocal(
    const StepSpace& space, const StepGroups& groups,
    std::shared_ptr<std::atomic<int64_t>> evaluations,
    absl::Span<const int32_t> values);

}  // namespace hone::tuning

#endif  // HONE_TUNING_TASKS_STEP_LOCAL_H_
