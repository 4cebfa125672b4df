#include "tuning/tasks/kernel_action_features.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "costmodels/log_scale.h"
#include "costmodels/loop_graph.h"
#include "loops/schedules/choices.h"
#include "loops/transforms/registry.h"
#include "tuning/tasks/kernel_actions.h"

namespace hone::tuning {
namespace {

enum Feature : size_t {
  kByRule,  // a choice is left to the rule
  kValue,   // of a choice
  kTime,    // the only time that a choice is made so
  // The first parameters of a step that are no buffers.
  kParameter1,
  kParameter2,
  kExtent,     // of the loop that a step acts on
  kDivides,    // parameter 1 divides the extent
  kQuotient,   // the extent by parameter 1
  kLanes,      // parameter 1 fills vector registers
  kBytes,      // of the buffer that a step names
  kScheduled,  // the schedule has this step
  kFeatureCount,
};
constexpr const char* kFeatureNames[] = {
    "by_rule", "value",    "time",  "parameter_1", "parameter_2", "extent",
    "divides", "quotient", "lanes", "bytes",       "scheduled"};
static_assert(std::size(kFeatureNames) == kFeatureCount);

float Log(int64_t value, float doublings) {
  return costmodels::LogScale(static_cast<double>(value), doublings);
}

int32_t KindOf(int32_t action) {
  const auto choices = static_cast<int32_t>(loops::AllChoices().size());
  if (action < TransformAction()) {
    return static_cast<int32_t>(
        ChoiceActions()[static_cast<size_t>(action)].choice);
  }
  if (!IsStepAction(action)) return choices + action - TransformAction();
  return choices + 2 + static_cast<int32_t>(TransformOf(action));
}

class Describer {
 public:
  Describer(const loops::Program& program, const loops::Machine& machine,
            absl::Span<const loops::Step> schedule)
      : program_(program),
        machine_(machine),
        schedule_(schedule),
        observed_(costmodels::ObserveKernel(program, machine)) {}

  // Adds an action; `step` is null unless it is a step.
  void Add(int32_t action, const loops::Step* step) {
    batch_.kinds.push_back(KindOf(action));
    batch_.focus.push_back(-1);
    batch_.features.resize(batch_.features.size() + kFeatureCount);
    if (action < TransformAction()) {
      const ChoiceAction& made = ChoiceActions()[static_cast<size_t>(action)];
      Set(kByRule, made.value == 0 ? 1 : 0);
      Set(kValue, Log(made.value, 8));
      Set(kTime, static_cast<float>(made.time) / loops::kChoiceTimes);
    }
    if (step != nullptr) Describe(action, *step);
  }

  space::ActionBatch Result() { return std::move(batch_); }

 private:
  void Set(Feature feature, float value) {
    *(batch_.features.end() - kFeatureCount + feature) = value;
  }

  void Describe(int32_t action, const loops::Step& step) {
    const auto buffers = static_cast<size_t>(
        loops::AllTransforms()[TransformOf(action)]->buffer_parameters());
    const auto place = observed_.places.find(step.path);
    if (place != observed_.places.end()) batch_.focus.back() = place->second;
    if (buffers > 0 && !step.parameters.empty()) {
      const auto id = static_cast<loops::BufferId>(step.parameters[0]);
      Set(kBytes, Log(program_.buffer(id).allocated_bytes(), 36));
      const auto node = observed_.buffers.find(id);
      if (step.path.empty() && node != observed_.buffers.end()) {
        batch_.focus.back() = node->second;
      }
    }
    const size_t first = std::min(buffers, step.parameters.size());
    const absl::Span<const int64_t> numbers =
        absl::MakeConstSpan(step.parameters).subspan(first);
    if (!numbers.empty()) Set(kParameter1, Log(numbers[0], 16));
    if (numbers.size() > 1) Set(kParameter2, Log(numbers[1], 16));
    Set(kScheduled,
        std::find(schedule_.begin(), schedule_.end(), step) != schedule_.end()
            ? 1
            : 0);
    const loops::Loop* loop =
        step.path.empty() ? nullptr : program_.At(step.path).loop();
    if (loop == nullptr) return;
    Set(kExtent, Log(loop->extent, 24));
    const int64_t size = numbers.empty() ? loop->extent : numbers[0];
    const int64_t lanes = std::max<int64_t>(machine_.vector_bytes / 4, 1);
    Set(kLanes, size > 0 && size % lanes == 0 ? 1 : 0);
    if (numbers.empty() || numbers[0] < 1) return;
    Set(kDivides, loop->extent % numbers[0] == 0 ? 1 : 0);
    Set(kQuotient, Log(loop->extent / numbers[0], 24));
  }

  const loops::Program& program_;
  const loops::Machine& machine_;
  const absl::Span<const loops::Step> schedule_;
  const costmodels::ObservedKernel observed_;
  space::ActionBatch batch_;
};

}  // namespace

space::ActionSpec KernelActionSpec() {
  space::ActionSpec spec;
  for (const loops::ChoiceInfo& choice : loops::AllChoices()) {
    spec.kind_names.emplace_back(choice.name);
  }
  spec.kind_names.emplace_back("transform");
  spec.kind_names.emplace_back("lowered");
  for (const loops::Transform* transform : loops::AllTransforms()) {
    spec.kind_names.emplace_back(transform->name());
  }
  spec.feature_names = {std::begin(kFeatureNames), std::end(kFeatureNames)};
  return spec;
}

space::ActionBatch DescribeKernelActions(const loops::Program& program,
                                         const loops::Machine& machine,
                                         absl::Span<const loops::Step> schedule,
                                         absl::Span<const int32_t> actions) {
  const KernelSteps steps(program, machine, schedule);
  // The legal steps of the transformations that come up.
  absl::flat_hash_map<size_t, absl::flat_hash_map<int32_t, loops::Step>> legal;
  Describer describer(program, machine, schedule);
  for (const int32_t action : actions) {
    if (!IsStepAction(action)) {
      describer.Add(action, nullptr);
      continue;
    }
    const size_t transform = TransformOf(action);
    const auto [of_transform, added] = legal.try_emplace(transform);
    if (added) {
      for (KernelSteps::NumberedStep& each : steps.OfTransform(transform)) {
        of_transform->second[each.action] = std::move(each.step);
      }
    }
    const auto step = of_transform->second.find(action);
    describer.Add(action,
                  step == of_transform->second.end() ? nullptr : &step->second);
  }
  return describer.Result();
}

}  // namespace hone::tuning
