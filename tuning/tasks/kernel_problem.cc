#include "tuning/tasks/kernel_problem.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "base/status_macros.h"
#include "loops/schedules/choices.h"
#include "loops/schedules/default_schedule.h"
#include "loops/text/text.h"
#include "loops/transforms/registry.h"
#include "loops/transforms/script.h"

namespace hone::tuning {
namespace {

// Pairs of samples of a trial, and of a confirmation.
constexpr int32_t kPairs = 11;
constexpr int32_t kConfirmingPairs = 31;
// Legal steps of one transformation that have a number.
constexpr int32_t kStepsPerTransform = 64;

// An action that has a schedule decide `choice` by `value`; 0: by the rule.
struct ChoiceAction {
  size_t choice = 0;
  int64_t value = 0;
};

const std::vector<ChoiceAction>& ChoiceActions() {
  static const auto* const actions = [] {
    auto* all = new std::vector<ChoiceAction>;
    const absl::Span<const loops::ChoiceInfo> choices = loops::AllChoices();
    for (size_t c = 0; c < choices.size(); ++c) {
      all->push_back({c, 0});
      for (int64_t value : choices[c].values) all->push_back({c, value});
    }
    return all;
  }();
  return *actions;
}

int32_t ChoiceActionCount() {
  return static_cast<int32_t>(ChoiceActions().size());
}
int32_t TransformAction() { return ChoiceActionCount(); }
int32_t LoweredAction() { return ChoiceActionCount() + 1; }
int32_t FirstStepAction() { return ChoiceActionCount() + 2; }

// The legal steps of transformation `t` that have a number.
std::vector<loops::Step> NumberedSteps(size_t t, const loops::Program& program,
                                       const loops::Machine& machine) {
  std::vector<loops::Step> steps;
  loops::AllTransforms()[t]->Enumerate(program, machine, steps);
  if (steps.size() > kStepsPerTransform) steps.resize(kStepsPerTransform);
  return steps;
}

}  // namespace

class KernelProblem::ProgramState final : public space::State {
 public:
  ProgramState(std::vector<int64_t> choices, bool transforming,
               loops::Program program, std::vector<loops::Step> script)
      : choices_(std::move(choices)),
        transforming_(transforming),
        program_(std::move(program)),
        script_(std::move(script)),
        program_key_(FastHash(loops::PrintProgram(program_))) {
    key_ = program_key_;
    // What may follow depends on these as well.
    if (!transforming_) {
      key_ = FastHash(absl::StrCat(key_.low, " ", key_.high, " ",
                                   absl::StrJoin(choices_, " ")));
    }
  }

  Hash128 key() const override { return key_; }
  const std::vector<int64_t>& choices() const { return choices_; }
  bool transforming() const { return transforming_; }
  const loops::Program& program() const { return program_; }
  const std::vector<loops::Step>& script() const { return script_; }
  const Hash128& program_key() const { return program_key_; }

 private:
  // Of the default schedule, while it is one.
  const std::vector<int64_t> choices_;
  const bool transforming_;
  const loops::Program program_;
  const std::vector<loops::Step> script_;
  const Hash128 program_key_;
  Hash128 key_;
};

KernelProblem::KernelProblem(KernelProblemOptions options)
    : options_(std::move(options)),
      initial_(Scheduled(std::vector<int64_t>(loops::kChoiceCount, 0))),
      default_script_(loops::PrintScript(initial_->script())) {}

KernelProblem::ProgramStatePtr KernelProblem::Scheduled(
    const std::vector<int64_t>& choices) const {
  {
    absl::MutexLock lock(&mu_);
    if (auto it = scheduled_.find(choices); it != scheduled_.end()) {
      return it->second;
    }
  }
  loops::Choices array;
  std::copy(choices.begin(), choices.end(), array.begin());
  std::vector<loops::Step> script =
      loops::DefaultSchedule(options_.program, options_.device.machine, array);
  // It has applied them itself.
  loops::Program program = loops::ApplyScript(options_.program, script).value();
  auto state = std::make_shared<const ProgramState>(
      choices, /*transforming=*/false, std::move(program), std::move(script));
  absl::MutexLock lock(&mu_);
  return scheduled_.try_emplace(choices, std::move(state)).first->second;
}

void KernelProblem::Recall(absl::Span<const space::Trial> log) {
  // The first trial is the default's.
  if (log.empty() || log[0].measurement.outcome != space::Outcome::kOk) return;
  absl::MutexLock lock(&mu_);
  default_ns_ = log[0].measurement.cost;
  measured_[initial_->program_key()] = log[0].measurement;
}

space::StatePtr KernelProblem::InitialState() const { return initial_; }

int32_t KernelProblem::action_count() const {
  return FirstStepAction() +
         kStepsPerTransform *
             static_cast<int32_t>(loops::AllTransforms().size());
}

std::string KernelProblem::ActionName(int32_t action) const {
  if (action < ChoiceActionCount()) {
    const ChoiceAction& made = ChoiceActions()[static_cast<size_t>(action)];
    return absl::StrCat(loops::AllChoices()[made.choice].name, "=",
                        made.value == 0 ? "rule" : absl::StrCat(made.value));
  }
  if (action == TransformAction()) return "transform";
  if (action == LoweredAction()) return "lowered";
  const auto step = static_cast<size_t>(action - FirstStepAction());
  return absl::StrCat(loops::AllTransforms()[step / kStepsPerTransform]->name(),
                      "#", step % kStepsPerTransform);
}

std::vector<int32_t> KernelProblem::LegalActions(
    const space::StatePtr& state) const {
  const auto& from = static_cast<const ProgramState&>(*state);
  std::vector<int32_t> legal;
  if (!from.transforming()) {
    for (int32_t action = 0; action < ChoiceActionCount(); ++action) {
      const ChoiceAction& made = ChoiceActions()[static_cast<size_t>(action)];
      std::vector<int64_t> choices = from.choices();
      if (choices[made.choice] == made.value) continue;
      choices[made.choice] = made.value;
      // What makes no difference to this kernel is left out.
      if (Scheduled(choices)->program_key() != from.program_key()) {
        legal.push_back(action);
      }
    }
    legal.push_back(TransformAction());
    legal.push_back(LoweredAction());
    return legal;
  }
  for (size_t t = 0; t < loops::AllTransforms().size(); ++t) {
    const size_t count =
        NumberedSteps(t, from.program(), options_.device.machine).size();
    for (size_t k = 0; k < count; ++k) {
      legal.push_back(FirstStepAction() +
                      static_cast<int32_t>(t * kStepsPerTransform + k));
    }
  }
  return legal;
}

absl::StatusOr<space::StatePtr> KernelProblem::Step(
    const space::StatePtr& state, int32_t action) const {
  if (action < 0 || action >= action_count()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "action ", action, ", expected 0 to ", action_count() - 1));
  }
  const auto& from = static_cast<const ProgramState&>(*state);
  if ((action < FirstStepAction()) == from.transforming()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "action ", action, " (", ActionName(action),
        ") is not legal, expected ",
        from.transforming() ? "a transformation"
                            : "a choice, 'transform' or 'lowered'"));
  }
  if (action < ChoiceActionCount()) {
    const ChoiceAction& made = ChoiceActions()[static_cast<size_t>(action)];
    std::vector<int64_t> choices = from.choices();
    choices[made.choice] = made.value;
    return Scheduled(choices);
  }
  if (action == TransformAction()) {
    return std::make_shared<const ProgramState>(
        from.choices(), /*transforming=*/true, from.program(), from.script());
  }
  if (action == LoweredAction()) {
    return std::make_shared<const ProgramState>(
        from.choices(), /*transforming=*/true, options_.program,
        std::vector<loops::Step>{});
  }
  const auto number = static_cast<size_t>(action - FirstStepAction());
  const size_t t = number / kStepsPerTransform;
  const std::vector<loops::Step> steps =
      NumberedSteps(t, from.program(), options_.device.machine);
  const size_t k = number % kStepsPerTransform;
  if (k >= steps.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("action ", action, " (", ActionName(action),
                     ") is not legal: there are ", steps.size()));
  }
  HONE_ASSIGN_OR_RETURN(
      loops::Program program,
      loops::AllTransforms()[t]->Apply(from.program(), steps[k]));
  std::vector<loops::Step> script = from.script();
  script.push_back(steps[k]);
  return std::make_shared<const ProgramState>(
      from.choices(), /*transforming=*/true, std::move(program),
      std::move(script));
}

// Costs have to be measured, and only a search may do that.
double KernelProblem::Cost(const space::StatePtr&) const {
  return std::numeric_limits<double>::infinity();
}

double KernelProblem::reference_cost() const {
  absl::MutexLock lock(&mu_);
  return default_ns_.value_or(1);
}

absl::StatusOr<backends::KernelReport> KernelProblem::Request(
    backends::KernelRequest request) const {
  request.module = options_.module;
  request.baseline_script = default_script_;
  request.threads = options_.device.machine.threads;
  return options_.kernels->Measure(request, options_.device.fingerprint,
                                   options_.stop);
}

absl::StatusOr<space::Measurement> KernelProblem::MeasureState(
    const space::StatePtr& state) const {
  const auto& at = static_cast<const ProgramState&>(*state);
  backends::KernelRequest request;
  {
    absl::MutexLock lock(&mu_);
    if (auto it = measured_.find(at.program_key()); it != measured_.end()) {
      return it->second;
    }
    request.time_baseline = !default_ns_.has_value();
    // All costs are multiples of it.
    request.confirm = request.time_baseline;
  }
  const bool is_default = at.program_key() == initial_->program_key();
  request.seed = options_.seed;
  request.pairs = kPairs;
  if (!is_default) {
    request.candidate_scripts.push_back(loops::PrintScript(at.script()));
  }
  HONE_ASSIGN_OR_RETURN(const backends::KernelReport report, Request(request));

  absl::MutexLock lock(&mu_);
  if (report.baseline.has_value()) {
    if (report.baseline->outcome != space::Outcome::kOk) {
      return absl::InternalError(
          absl::StrCat("the default schedule is ",
                       space::OutcomeName(report.baseline->outcome), ": ",
                       report.baseline->message));
    }
    default_ns_ = report.baseline->ns;
  }
  const backends::KernelTiming& timing =
      is_default ? *report.baseline : report.candidates[0];
  space::Measurement measurement;
  measurement.outcome = timing.outcome;
  measurement.message = timing.message;
  measurement.samples = timing.samples_ns;
  measurement.cost = is_default ? *default_ns_ : *default_ns_ * timing.ratio;
  measured_[at.program_key()] = measurement;
  return measurement;
}

absl::StatusOr<KernelProblem::ProgramStatePtr> KernelProblem::Follow(
    const space::Candidate& candidate) const {
  space::StatePtr state = initial_;
  for (int32_t action : candidate.choices) {
    HONE_ASSIGN_OR_RETURN(state, Step(state, action));
  }
  return std::static_pointer_cast<const ProgramState>(state);
}

absl::StatusOr<std::vector<loops::Step>> KernelProblem::ScriptOf(
    const space::Candidate& candidate) const {
  HONE_ASSIGN_OR_RETURN(const ProgramStatePtr state, Follow(candidate));
  return state->script();
}

absl::StatusOr<KernelProblem::Confirmation> KernelProblem::Confirm(
    const space::Candidate& candidate, int32_t repetition, bool by_two) const {
  HONE_ASSIGN_OR_RETURN(const ProgramStatePtr state, Follow(candidate));
  backends::KernelRequest request;
  request.candidate_scripts.push_back(loops::PrintScript(state->script()));
  request.seed = options_.seed + 1 + static_cast<uint64_t>(repetition);
  request.pairs = kConfirmingPairs;
  request.fresh_process = true;
  request.confirm = by_two;
  {
    absl::MutexLock lock(&mu_);
    request.calibrate = !calibration_.has_value();
  }
  HONE_ASSIGN_OR_RETURN(backends::KernelReport report, Request(request));
  HONE_ASSIGN_OR_RETURN(const space::Measurement by_default,
                        MeasureState(initial_));
  Confirmation confirmation;
  confirmation.timing = std::move(report.candidates[0]);
  confirmation.workers = std::move(report.workers);
  confirmation.machines = std::move(report.machines);
  confirmation.cost = state->program_key() == initial_->program_key()
                          ? by_default.cost
                          : by_default.cost * confirmation.timing.ratio;
  absl::MutexLock lock(&mu_);
  if (report.calibration.has_value()) {
    calibration_ = std::move(report.calibration);
  }
  confirmation.roofline_ns = backends::RooflineNs(*calibration_, options_.work);
  return confirmation;
}

}  // namespace hone::tuning
