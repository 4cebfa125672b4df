#include "loops/schedules/scheduler.h"

#include <string>

#include "loops/transforms/registry.h"

namespace hone::loops {

int64_t Scheduler::Choose(Choice choice, int64_t by_rule) {
  const auto c = static_cast<size_t>(choice);
  const size_t time = ++use_.times[c];
  int64_t value = by_rule;
  const auto decide = [&](size_t index) {
    const int64_t made = choices_[index];
    if (made == 0 || made == value) return;
    value = use_.effective[index] = made;
  };
  decide(ChoiceIndex(c, 0));
  if (time <= kChoiceTimes) decide(ChoiceIndex(c, time));
  return value;
}

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
