#include "tuning/tasks/kernel_problem.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "base/status_macros.h"
#include "costmodels/loop_graph.h"
#include "loops/schedules/choices.h"
#include "loops/schedules/default_schedule.h"
#include "loops/text/text.h"
#include "loops/transforms/registry.h"
#include "loops/transforms/script.h"
#include "tuning/tasks/kernel_action_features.h"

namespace hone::tuning {
namespace {

// The most pairs of samples of a trial, which show differences of a percent,
// and those of a confirmation.
constexpr int32_t kPairs = 11;
constexpr int32_t kConfirmingPairs = 63;
// The most steps, and states with their legal actions, that are remembered:
// some megabytes.
constexpr size_t kRemembered = 512;
// The most schedules that are: a search of a model makes many thousands.
constexpr size_t kRememberedSchedules = 8192;
// Actions besides those that write out the default schedule.
constexpr int32_t kFurtherSteps = 32;

using Script = std::vector<loops::Step>;

// Returns the actions of a schedule, so that a search that tries only the first
// few tries many choices: the first value of every choice, then the second of
// every choice, and so on, everywhere; then the actions that end the choices;
// then the choices of each time.
std::vector<int32_t> ActionsInOrder() {
  std::vector<std::tuple<int, size_t, int32_t>> ranked = {
      {1, 0, TransformAction()}, {1, 1, LoweredAction()}};
  size_t rank = 0;
  for (int32_t action = 0; action < TransformAction(); ++action) {
    const ChoiceAction& made = ChoiceActions()[static_cast<size_t>(action)];
    // The rule, which comes before the values, is the last to return to.
    if (made.value == 0) rank = 0;
    ranked.emplace_back(
        made.time == 0 ? 0 : 2,
        made.value == 0 ? std::numeric_limits<size_t>::max() : rank++, action);
  }
  absl::c_sort(ranked);
  std::vector<int32_t> ordered;
  ordered.reserve(ranked.size());
  for (const auto& [stage, at, action] : ranked) ordered.push_back(action);
  return ordered;
}

}  // namespace

class KernelProblem::ProgramState final : public space::State {
 public:
  // A default schedule.
  ProgramState(const loops::ChoiceUse& use, loops::Program program,
               Script script)
      : use_(use),
        transforming_(false),
        program_(std::move(program)),
        script_(std::move(script)),
        schedule_(std::make_shared<const Script>(script_)),
        program_key_(FastHash(loops::PrintProgram(program_))),
        key_(WithText(absl::StrJoin(use_.effective, " "))) {}

  // What transformations made of a program of `from`.
  ProgramState(const ProgramState& from, loops::Program program, Script script)
      : use_(from.use_),
        transforming_(true),
        program_(std::move(program)),
        script_(std::move(script)),
        schedule_(from.schedule_),
        program_key_(FastHash(loops::PrintProgram(program_))),
        // What is legal depends on the schedule as well.
        key_(WithText(loops::PrintScript(*schedule_))) {}

  Hash128 key() const override { return key_; }
  // Of the default schedule.
  const loops::Choices& choices() const { return use_.effective; }
  // Returns true if the schedule makes the choice there, and the time is not
  // the only one.
  bool Makes(const ChoiceAction& made) const {
    const size_t times = use_.times[made.choice];
    return made.time == 0 ? times > 0 : times > 1 && made.time <= times;
  }
  // False while the program is a default schedule.
  bool transforming() const { return transforming_; }
  const loops::Program& program() const { return program_; }
  const Script& script() const { return script_; }
  // The default schedule of the choices.
  const Script& schedule() const { return *schedule_; }
  const Hash128& program_key() const { return program_key_; }

 private:
  Hash128 WithText(absl::string_view text) const {
    return FastHash(absl::StrCat(program_key_.low, " ", program_key_.high, " ",
                                 transforming_ ? "t" : "c", " ", text));
  }

  const loops::ChoiceUse use_;
  const bool transforming_;
  const loops::Program program_;
  const Script script_;
  const std::shared_ptr<const Script> schedule_;
  const Hash128 program_key_;
  const Hash128 key_;
};

KernelProblem::KernelProblem(KernelProblemOptions options)
    : options_(std::move(options)),
      initial_(Scheduled({})),
      default_script_(loops::PrintScript(initial_->script())) {}

KernelProblem::ProgramStatePtr KernelProblem::Scheduled(
    const loops::Choices& choices) const {
  {
    absl::MutexLock lock(&mu_);
    if (auto it = scheduled_.find(choices); it != scheduled_.end()) {
      return it->second;
    }
  }
  loops::ChoiceUse use;
  std::vector<loops::Step> script = loops::DefaultSchedule(
      options_.program, options_.device.machine, choices, &use);
  // It has applied them itself.
  loops::Program program = loops::ApplyScript(options_.program, script).value();
  auto state = std::make_shared<const ProgramState>(use, std::move(program),
                                                    std::move(script));
  absl::MutexLock lock(&mu_);
  if (scheduled_.size() >= kRememberedSchedules) scheduled_.clear();
  return scheduled_.try_emplace(choices, std::move(state)).first->second;
}

void KernelProblem::Recall(absl::Span<const space::Trial> log) {
  // The first trial is the default's.
  if (log.empty() || log[0].measurement.outcome != space::Outcome::kOk) return;
  absl::MutexLock lock(&mu_);
  default_ns_ = log[0].measurement.cost;
  for (const space::Trial& trial : log) {
    // The slowest sample stands for the upper end of the ratio's interval,
    // which is not stored.
    const std::vector<double>& samples = trial.measurement.samples;
    const double ns = samples.empty() ? space::EffectiveCost(trial.measurement)
                                      : *absl::c_max_element(samples);
    if (trial.measurement.outcome == space::Outcome::kOk) {
      best_ratio_ = std::min(best_ratio_, ns / *default_ns_);
    }
  }
  measured_[initial_->program_key()] = log[0].measurement;
}

space::StatePtr KernelProblem::InitialState() const { return initial_; }

int32_t KernelProblem::action_count() const { return KernelActionCount(); }

int32_t KernelProblem::max_steps() const {
  return static_cast<int32_t>(initial_->script().size()) + kFurtherSteps;
}

std::string KernelProblem::ActionName(int32_t action) const {
  return KernelActionName(action);
}

std::string KernelProblem::ActionNameIn(const space::StatePtr& state,
                                        int32_t action) const {
  const auto& at = static_cast<const ProgramState&>(*state);
  if (IsStepAction(action) && at.transforming()) {
    if (const auto step = StepsAt(at).Find(action)) return PrintStep(*step);
  }
  return KernelActionName(action);
}

KernelSteps KernelProblem::StepsAt(const ProgramState& state) const {
  return KernelSteps(state.program(), options_.device.machine,
                     state.schedule());
}

bool KernelProblem::Changes(const ProgramState& from,
                            const ChoiceAction& made) const {
  loops::Choices choices = from.choices();
  if (!from.Makes(made) || choices[made.index()] == made.value) return false;
  choices[made.index()] = made.value;
  return Scheduled(choices)->program_key() != from.program_key();
}

std::vector<int32_t> KernelProblem::LegalActions(
    const space::StatePtr& state) const {
  const auto& from = static_cast<const ProgramState&>(*state);
  {
    absl::MutexLock lock(&mu_);
    const auto it = legal_.find(from.key());
    if (it != legal_.end()) return it->second;
  }
  std::vector<int32_t> legal = FindLegalActions(from);
  // What was cut short is not remembered.
  if (options_.stop && options_.stop()) return legal;
  absl::MutexLock lock(&mu_);
  if (legal_.size() >= kRemembered) legal_.clear();
  legal_.try_emplace(from.key(), legal);
  return legal;
}

std::vector<int32_t> KernelProblem::FindLegalActions(
    const ProgramState& from) const {
  std::vector<int32_t> legal;
  if (!from.transforming()) {
    static const auto* const ordered =
        new std::vector<int32_t>(ActionsInOrder());
    for (int32_t action : *ordered) {
      // Each may take a schedule, of which there are hundreds.
      if (options_.stop && options_.stop()) break;
      // What makes no difference to this kernel is left out.
      if (action >= TransformAction() ||
          Changes(from, ChoiceActions()[static_cast<size_t>(action)])) {
        legal.push_back(action);
      }
    }
    return legal;
  }
  const KernelSteps steps = StepsAt(from);
  for (size_t t = 0; t < loops::AllTransforms().size(); ++t) {
    if (options_.stop && options_.stop()) break;
    for (const KernelSteps::NumberedStep& step : steps.OfTransform(t)) {
      legal.push_back(step.action);
    }
  }
  return legal;
}

std::vector<int32_t> KernelProblem::LegalSteps(const space::StatePtr& state,
                                               size_t transform) const {
  std::vector<int32_t> legal;
  const auto& from = static_cast<const ProgramState&>(*state);
  for (const KernelSteps::NumberedStep& step :
       StepsAt(from).OfTransform(transform)) {
    legal.push_back(step.action);
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
  if (IsStepAction(action) != from.transforming()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "action ", action, " (", ActionName(action),
        ") is not legal, expected ",
        from.transforming() ? "a transformation"
                            : "a choice, 'transform' or 'lowered'"));
  }
  if (action < TransformAction()) {
    const ChoiceAction& made = ChoiceActions()[static_cast<size_t>(action)];
    loops::Choices choices = from.choices();
    choices[made.index()] = made.value;
    return Scheduled(choices);
  }
  if (action == TransformAction()) {
    return std::make_shared<const ProgramState>(from, from.program(),
                                                from.script());
  }
  if (action == LoweredAction()) {
    return std::make_shared<const ProgramState>(from, options_.program,
                                                Script());
  }
  const std::pair<Hash128, int32_t> key(from.key(), action);
  {
    absl::MutexLock lock(&mu_);
    const auto it = stepped_.find(key);
    if (it != stepped_.end()) return it->second;
  }
  std::optional<loops::Step> step = StepsAt(from).Find(action);
  if (!step.has_value()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "action ", action, " (", ActionName(action), ") is not legal after ",
        from.script().size(), " steps, expected a legal step of the program"));
  }
  HONE_ASSIGN_OR_RETURN(space::StatePtr after, Applied(from, *std::move(step)));
  absl::MutexLock lock(&mu_);
  if (stepped_.size() >= kRemembered) stepped_.clear();
  return stepped_.try_emplace(key, std::move(after)).first->second;
}

absl::StatusOr<space::StatePtr> KernelProblem::Applied(const ProgramState& from,
                                                       loops::Step step) const {
  HONE_ASSIGN_OR_RETURN(loops::Program program,
                        loops::ApplyScript(from.program(), {&step, 1}));
  Script script = from.script();
  script.push_back(std::move(step));
  return std::make_shared<const ProgramState>(from, std::move(program),
                                              std::move(script));
}

std::vector<int32_t> KernelProblem::Substitutes(const space::StatePtr& state,
                                                int32_t action) const {
  const auto& at = static_cast<const ProgramState&>(*state);
  std::vector<int32_t> substitutes;
  if (action < TransformAction()) {
    if (at.transforming()) return substitutes;
    const size_t index = ChoiceActions()[static_cast<size_t>(action)].index();
    for (int32_t other = 0; other < TransformAction(); ++other) {
      const ChoiceAction& made = ChoiceActions()[static_cast<size_t>(other)];
      if (other != action && made.index() == index && Changes(at, made)) {
        substitutes.push_back(other);
      }
    }
    return substitutes;
  }
  if (!IsStepAction(action) || !at.transforming()) return substitutes;
  const size_t transform = TransformOf(action);
  const auto buffers = static_cast<size_t>(
      loops::AllTransforms()[transform]->buffer_parameters());
  const std::vector<KernelSteps::NumberedStep> steps =
      StepsAt(at).OfTransform(transform);
  const auto replaced =
      std::find_if(steps.begin(), steps.end(),
                   [&](const auto& each) { return each.action == action; });
  if (replaced == steps.end()) return substitutes;
  // The same place: a loop or statement, or a buffer.
  const auto place = [&](const loops::Step& step) {
    const size_t named = std::min(buffers, step.parameters.size());
    return std::make_pair(step.path,
                          absl::MakeConstSpan(step.parameters).first(named));
  };
  for (const KernelSteps::NumberedStep& each : steps) {
    if (each.action != action && place(each.step) == place(replaced->step)) {
      substitutes.push_back(each.action);
    }
  }
  return substitutes;
}

std::vector<int32_t> KernelProblem::Expand(
    absl::Span<const int32_t> actions) const {
  const std::vector<int32_t> same(actions.begin(), actions.end());
  space::StatePtr state = initial_;
  std::vector<int32_t> expanded;
  // Up to where transformations begin: these are single decisions already.
  size_t next = 0;
  while (next < actions.size() && actions[next] < TransformAction()) {
    const auto after = Step(state, actions[next]);
    if (!after.ok()) return same;
    state = *after;
    expanded.push_back(actions[next++]);
  }
  if (next < actions.size() && actions[next++] == LoweredAction()) return same;
  const Script script = static_cast<const ProgramState&>(*state).schedule();
  expanded.push_back(LoweredAction());
  state = Step(state, LoweredAction()).value();
  for (const loops::Step& step : script) {
    const auto& at = static_cast<const ProgramState&>(*state);
    const std::optional<int32_t> action = StepsAt(at).ActionOf(step);
    const auto after = Applied(at, step);
    if (!action.has_value() || !after.ok()) return same;
    expanded.push_back(*action);
    state = *after;
  }
  if (next < actions.size()) {
    expanded.insert(expanded.end(),
                    actions.begin() + static_cast<std::ptrdiff_t>(next),
                    actions.end());
  }
  return expanded.size() <= static_cast<size_t>(max_steps()) ? expanded : same;
}

space::ObservationSpec KernelProblem::observation_spec() const {
  return costmodels::KernelObservationSpec();
}

space::Observation KernelProblem::Observe(const space::StatePtr& state) const {
  const auto& at = static_cast<const ProgramState&>(*state);
  return costmodels::ObserveKernel(at.program(), options_.device.machine)
      .observation;
}

space::ActionSpec KernelProblem::action_spec() const {
  return KernelActionSpec();
}

space::ActionBatch KernelProblem::Describe(
    const space::StatePtr& state, absl::Span<const int32_t> actions) const {
  const auto& at = static_cast<const ProgramState&>(*state);
  return DescribeKernelActions(at.program(), options_.device.machine,
                               at.schedule(), actions);
}

absl::StatusOr<std::unique_ptr<space::Surrogate>> KernelProblem::MakeSurrogate()
    const {
  if (!options_.make_surrogate) return nullptr;
  return options_.make_surrogate(*this);
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
  request.form = options_.form;
  request.baseline_script = default_script_;
  request.threads = options_.device.machine.threads;
  return options_.kernels->Measure(request, options_.device.fingerprint,
                                   options_.stop);
}

absl::Status KernelProblem::MeasureDefault() const {
  {
    absl::MutexLock lock(&mu_);
    if (default_ns_.has_value()) return absl::OkStatus();
  }
  backends::KernelRequest request;
  request.seed = options_.seed;
  request.pairs = kPairs;
  request.time_baseline = true;
  // All costs are multiples of it.
  request.confirm = true;
  HONE_ASSIGN_OR_RETURN(const backends::KernelReport report, Request(request));
  const backends::KernelTiming& timing = *report.baseline;
  if (timing.outcome != space::Outcome::kOk) {
    return absl::InternalError(absl::StrCat("the default schedule is ",
                                            space::OutcomeName(timing.outcome),
                                            ": ", timing.message));
  }
  absl::MutexLock lock(&mu_);
  default_ns_ = timing.ns;
  measured_[initial_->program_key()] = {.cost = timing.ns,
                                        .samples = timing.samples_ns};
  return absl::OkStatus();
}

absl::Status KernelProblem::MeasureNew(
    absl::Span<const ProgramStatePtr> states) const {
  HONE_RETURN_IF_ERROR(MeasureDefault());
  backends::KernelRequest request;
  std::vector<Hash128> keys;
  {
    absl::MutexLock lock(&mu_);
    for (const ProgramStatePtr& state : states) {
      const Hash128& key = state->program_key();
      if (measured_.contains(key) || absl::c_linear_search(keys, key)) continue;
      keys.push_back(key);
      request.candidate_scripts.push_back(loops::PrintScript(state->script()));
    }
    request.bar = best_ratio_;
  }
  if (keys.empty()) return absl::OkStatus();
  request.seed = options_.seed;
  request.pairs = kPairs;
  HONE_ASSIGN_OR_RETURN(const backends::KernelReport report, Request(request));
  absl::MutexLock lock(&mu_);
  for (size_t i = 0; i < keys.size(); ++i) {
    const backends::KernelTiming& timing = report.candidates[i];
    measured_[keys[i]] = {.outcome = timing.outcome,
                          .cost = *default_ns_ * timing.ratio,
                          .samples = timing.samples_ns,
                          .message = timing.message};
    if (timing.outcome == space::Outcome::kOk) {
      best_ratio_ = std::min(best_ratio_, timing.ratio_high);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<space::Measurement> KernelProblem::MeasureState(
    const space::StatePtr& state) const {
  const auto at = std::static_pointer_cast<const ProgramState>(state);
  HONE_RETURN_IF_ERROR(MeasureNew({&at, 1}));
  absl::MutexLock lock(&mu_);
  return measured_.at(at->program_key());
}

absl::StatusOr<std::vector<space::Measurement>> KernelProblem::MeasureBatch(
    absl::Span<const space::Candidate> candidates) const {
  std::vector<space::Measurement> measurements(candidates.size());
  std::vector<ProgramStatePtr> states(candidates.size());
  std::vector<ProgramStatePtr> valid;
  for (size_t i = 0; i < candidates.size(); ++i) {
    HONE_ASSIGN_OR_RETURN(
        const space::StatePtr state,
        SequentialProblem::Follow(candidates[i], measurements[i]));
    if (state == nullptr) continue;
    states[i] = std::static_pointer_cast<const ProgramState>(state);
    valid.push_back(states[i]);
  }
  HONE_RETURN_IF_ERROR(MeasureNew(valid));
  absl::MutexLock lock(&mu_);
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (states[i] != nullptr) {
      measurements[i] = measured_.at(states[i]->program_key());
    }
  }
  return measurements;
}

absl::StatusOr<space::StatePtr> KernelProblem::StateOf(
    const space::Candidate& candidate) const {
  space::StatePtr state = initial_;
  for (const int32_t action : candidate.choices) {
    HONE_ASSIGN_OR_RETURN(state, Step(state, action));
  }
  return state;
}

absl::StatusOr<KernelProblem::ProgramStatePtr> KernelProblem::ProgramStateOf(
    const space::Candidate& candidate) const {
  HONE_ASSIGN_OR_RETURN(const space::StatePtr state, StateOf(candidate));
  return std::static_pointer_cast<const ProgramState>(state);
}

KernelProblem::Schedule KernelProblem::ScheduleAt(
    const space::StatePtr& state) {
  const auto& at = static_cast<const ProgramState&>(*state);
  const size_t steps = at.script().size();
  return {at.program(), at.script(), at.program_key(), at.transforming(),
          steps - std::min(steps, at.schedule().size())};
}

absl::StatusOr<std::vector<loops::Step>> KernelProblem::ScriptOf(
    const space::Candidate& candidate) const {
  HONE_ASSIGN_OR_RETURN(const ProgramStatePtr state, ProgramStateOf(candidate));
  return state->script();
}

absl::StatusOr<KernelProblem::Confirmation> KernelProblem::Confirm(
    const space::Candidate& candidate, int32_t repetition, bool by_two) const {
  HONE_ASSIGN_OR_RETURN(const ProgramStatePtr state, ProgramStateOf(candidate));
  const std::pair<Hash128, int32_t> key(state->program_key(), repetition);
  backends::KernelRequest request;
  request.candidate_scripts.push_back(loops::PrintScript(state->script()));
  request.seed = options_.seed + 1 + static_cast<uint64_t>(repetition);
  request.pairs = kConfirmingPairs;
  request.fresh_process = true;
  request.confirm = by_two;
  {
    absl::MutexLock lock(&mu_);
    if (const auto it = confirmed_.find(key); it != confirmed_.end()) {
      return it->second;
    }
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
  confirmation.roofline_ns =
      backends::RooflineNs(*calibration_, options_.work, confirmation.cost);
  return confirmed_.insert_or_assign(key, std::move(confirmation))
      .first->second;
}

}  // namespace hone::tuning
