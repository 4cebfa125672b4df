#include "tuning/tasks/kernel_actions.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"

#include "base/check.h"
#include "base/hash.h"
#include "loops/transforms/registry.h"
#include "loops/transforms/script.h"

namespace hone::tuning {
namespace {

int32_t ChoiceActionCount() {
  return static_cast<int32_t>(ChoiceActions().size());
}

int32_t FirstStepAction() { return LoweredAction() + 1; }

// The numbers of each transformation. The last two of int32_t stay free: for
// the count of actions, and for agents that stop by an action of their own.
int32_t StepSpan() {
  static const int32_t span =
      (std::numeric_limits<int32_t>::max() - 1 - kNumbersForKernels -
       FirstStepAction()) /
      static_cast<int32_t>(loops::AllTransforms().size());
  return span;
}

int32_t ActionAt(size_t transform, int32_t number) {
  return FirstStepAction() + static_cast<int32_t>(transform) * StepSpan() +
         number;
}

int32_t NumberOf(const loops::Step& step, int attempt, int32_t span,
                 StepHash hash) {
  return static_cast<int32_t>(hash(step, attempt) %
                              static_cast<uint64_t>(span));
}

bool Contains(absl::Span<const loops::Step> steps, const loops::Step& step) {
  return std::find(steps.begin(), steps.end(), step) != steps.end();
}

}  // namespace

absl::Span<const ChoiceAction> ChoiceActions() {
  static const auto* const actions = [] {
    auto* all = new std::vector<ChoiceAction>;
    const absl::Span<const loops::ChoiceInfo> choices = loops::AllChoices();
    for (size_t time = 0; time <= loops::kChoiceTimes; ++time) {
      for (size_t c = 0; c < choices.size(); ++c) {
        all->push_back({c, time, 0});
        for (int64_t value : choices[c].values) {
          all->push_back({c, time, value});
        }
      }
    }
    return all;
  }();
  return *actions;
}

int32_t TransformAction() { return ChoiceActionCount(); }
int32_t LoweredAction() { return ChoiceActionCount() + 1; }

int32_t KernelActionCount() {
  return ActionAt(loops::AllTransforms().size(), 0);
}

size_t TransformOf(int32_t action) {
  return static_cast<size_t>((action - FirstStepAction()) / StepSpan());
}

std::string KernelActionName(int32_t action) {
  if (action < ChoiceActionCount()) {
    const ChoiceAction& made = ChoiceActions()[static_cast<size_t>(action)];
    return absl::StrCat(loops::AllChoices()[made.choice].name,
                        made.time == 0 ? "" : absl::StrCat("@", made.time), "=",
                        made.value == 0 ? "rule" : absl::StrCat(made.value));
  }
  if (action == TransformAction()) return "transform";
  if (action == LoweredAction()) return "lowered";
  return absl::StrCat(
      loops::AllTransforms()[TransformOf(action)]->name(), "#",
      absl::Hex((action - FirstStepAction()) % StepSpan(), absl::kZeroPad7));
}

uint64_t HashOfStep(const loops::Step& step, int attempt) {
  std::string text = loops::PrintStep(step);
  if (attempt > 0) absl::StrAppend(&text, " #", attempt);
  return FastHash(text).low;
}

std::vector<int32_t> NumberSteps(absl::Span<const loops::Step> steps,
                                 int32_t span, StepHash hash) {
  HONE_CHECK(steps.size() <= static_cast<size_t>(span));
  std::vector<int32_t> numbers(steps.size());
  std::vector<size_t> rest;
  absl::flat_hash_set<int32_t> taken;
  for (size_t i = 0; i < steps.size(); ++i) {
    numbers[i] = NumberOf(steps[i], 0, span, hash);
    if (!taken.insert(numbers[i]).second) rest.push_back(i);
  }
  for (const size_t i : rest) {
    int attempt = 0;
    do {
      numbers[i] = NumberOf(steps[i], ++attempt, span, hash);
    } while (!taken.insert(numbers[i]).second);
  }
  return numbers;
}

std::vector<KernelSteps::NumberedStep> KernelSteps::OfTransform(
    size_t transform) const {
  const loops::Transform& rewrite = *loops::AllTransforms()[transform];
  std::vector<loops::Step> steps;
  for (const loops::Step& step : schedule_) {
    if (step.transform == rewrite.name() && !Contains(steps, step) &&
        rewrite.Apply(program_, step).ok()) {
      steps.push_back(step);
    }
  }
  const size_t scheduled = steps.size();
  std::vector<loops::Step> enumerated;
  rewrite.Enumerate(program_, machine_, enumerated);
  for (loops::Step& step : enumerated) {
    if (!Contains(absl::MakeConstSpan(steps).first(scheduled), step)) {
      steps.push_back(std::move(step));
    }
  }
  const std::vector<int32_t> numbers = NumberSteps(steps, StepSpan());
  std::vector<NumberedStep> numbered(steps.size());
  for (size_t i = 0; i < steps.size(); ++i) {
    numbered[i] = {ActionAt(transform, numbers[i]), std::move(steps[i])};
  }
  return numbered;
}

std::optional<loops::Step> KernelSteps::FindInSchedule(int32_t action) const {
  const size_t transform = TransformOf(action);
  const loops::Transform& rewrite = *loops::AllTransforms()[transform];
  for (const loops::Step& step : schedule_) {
    if (step.transform == rewrite.name() &&
        ActionAt(transform, NumberOf(step, 0, StepSpan(), HashOfStep)) ==
            action &&
        rewrite.Apply(program_, step).ok()) {
      return step;
    }
  }
  return std::nullopt;
}

std::optional<loops::Step> KernelSteps::Find(int32_t action) const {
  if (std::optional<loops::Step> step = FindInSchedule(action)) return step;
  for (NumberedStep& numbered : OfTransform(TransformOf(action))) {
    if (numbered.action == action) return std::move(numbered.step);
  }
  return std::nullopt;
}

std::optional<int32_t> KernelSteps::ActionOf(const loops::Step& step) const {
  const absl::Span<const loops::Transform* const> all = loops::AllTransforms();
  const auto rewrite =
      std::find_if(all.begin(), all.end(), [&](const loops::Transform* each) {
        return each->name() == step.transform;
      });
  if (rewrite == all.end()) return std::nullopt;
  const auto transform = static_cast<size_t>(rewrite - all.begin());
  const int32_t plain =
      ActionAt(transform, NumberOf(step, 0, StepSpan(), HashOfStep));
  if (FindInSchedule(plain) == step) return plain;
  for (const NumberedStep& numbered : OfTransform(transform)) {
    if (numbered.step == step) return numbered.action;
  }
  return std::nullopt;
}

}  // namespace hone::tuning
