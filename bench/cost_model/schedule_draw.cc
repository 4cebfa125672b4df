#include "bench/cost_model/schedule_draw.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/algorithm/container.h"

#include "loops/transforms/registry.h"
#include "optimizers/moves.h"
#include "tuning/tasks/kernel_actions.h"

namespace hone::bench {
namespace {

// Schedules that edits start from.
constexpr size_t kBest = 4;
// Draws in vain, for each schedule asked for, before a kernel counts as drawn
// out.
constexpr size_t kAttempts = 8;
constexpr uint64_t kMostChoices = 4;
constexpr uint64_t kMostSteps = 3;

}  // namespace

ScheduleDraw::ScheduleDraw(const tuning::KernelProblem& problem, uint64_t seed)
    : problem_(problem), rng_(seed) {
  const space::StatePtr initial = problem.InitialState();
  known_.insert(tuning::KernelProblem::ScheduleAt(initial).program_key);
  std::map<size_t, std::vector<int32_t>> by_choice;
  for (const int32_t action : problem.LegalActions(initial)) {
    if (action >= tuning::TransformAction()) continue;
    by_choice[tuning::ChoiceActions()[static_cast<size_t>(action)].index()]
        .push_back(action);
  }
  for (auto& [choice, actions] : by_choice) {
    choices_.push_back(std::move(actions));
  }
}

std::vector<int32_t> ScheduleDraw::DrawChoices(uint64_t most) {
  std::vector<int32_t> actions;
  if (choices_.empty()) return actions;
  const uint64_t count = 1 + rng_.Below(most);
  for (uint64_t i = 0; i < count; ++i) {
    const std::vector<int32_t>& values = choices_[rng_.Below(choices_.size())];
    actions.push_back(values[rng_.Below(values.size())]);
  }
  return actions;
}

std::vector<int32_t> ScheduleDraw::DrawSteps() {
  std::vector<int32_t> actions;
  if (rng_.Below(2) == 0) actions = DrawChoices(2);
  actions.push_back(tuning::TransformAction());
  auto state = problem_.StateOf({actions});
  const uint64_t count = 1 + rng_.Below(kMostSteps);
  for (uint64_t i = 0; i < count && state.ok(); ++i) {
    // A transformation first: some have many steps, some have few. To list
    // those of all would take most of the time.
    const size_t transforms = loops::AllTransforms().size();
    const size_t first = rng_.Below(transforms);
    std::vector<int32_t> legal;
    for (size_t t = 0; t < transforms && legal.empty(); ++t) {
      legal = problem_.LegalSteps(*state, (first + t) % transforms);
    }
    if (legal.empty()) break;
    actions.push_back(legal[rng_.Below(legal.size())]);
    state = problem_.StateOf({actions});
  }
  return actions;
}

std::vector<int32_t> ScheduleDraw::EditBest() {
  const Judged& best = best_[rng_.Below(best_.size())];
  // A choice more, as long as there are only choices.
  if (rng_.Below(3) == 0 && (best.actions.empty() ||
                             best.actions.back() < tuning::TransformAction())) {
    std::vector<int32_t> actions = best.actions;
    const std::vector<int32_t> further = DrawChoices(1);
    actions.insert(actions.end(), further.begin(), further.end());
    return actions;
  }
  return optimizers::EditSequence(problem_, best.actions, rng_);
}

std::vector<ScheduleDraw::Drawn> ScheduleDraw::Draw(size_t count) {
  std::vector<Drawn> drawn;
  for (size_t i = 0; drawn.size() < count && i < kAttempts * count; ++i) {
    // Half of them edit what is known to be good, once anything is.
    std::vector<int32_t> actions;
    if (!best_.empty() && rng_.Below(2) == 0) {
      actions = EditBest();
    } else if (rng_.Below(3) > 0) {
      actions = DrawChoices(kMostChoices);
    } else {
      actions = DrawSteps();
    }
    auto state = problem_.StateOf({actions});
    if (!state.ok()) continue;
    const Hash128 key = tuning::KernelProblem::ScheduleAt(*state).program_key;
    if (!known_.insert(key).second) continue;
    drawn.push_back({std::move(actions), *std::move(state)});
  }
  return drawn;
}

void ScheduleDraw::Learn(const Drawn& drawn, double cost) {
  const auto at = std::upper_bound(
      best_.begin(), best_.end(), cost,
      [](double value, const Judged& other) { return value < other.cost; });
  best_.insert(at, {cost, drawn.actions});
  if (best_.size() > kBest) best_.pop_back();
}

}  // namespace hone::bench
