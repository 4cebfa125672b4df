#include "loops/schedules/scheduler.h"

#include <string>

#include "loops/transforms/registry.h"

namespace hone::loops {

bool Scheduler::Try(absl::string_view transform, const Path& path,
                    std::vector<int64_t> parameters) {
  Step step{std::string(transform), path, std::move(parameters)};
  const auto found = FindTransform(transform);
  if (!found.ok()) return false;
  absl::StatusOr<Program> next = (*found)->Apply(program_, step);
  if (!next.ok()) return false;
  program_ = *std::move(next);
  steps_.push_back(std::move(step));
  return true;
}

void Scheduler::Restore(Checkpoint checkpoint) {
  program_ = std::move(checkpoint.program);
  steps_.resize(checkpoint.steps);
}

}  // namespace hone::loops
