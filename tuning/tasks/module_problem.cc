#include "tuning/tasks/module_problem.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"

#include "backends/plan_script.h"
#include "base/status_macros.h"
#include "loops/text/text.h"
#include "tuning/tasks/kernel_actions.h"

namespace hone::tuning {
namespace {

// Samples of the whole module: about so long in all, and so many pairs. From 6
// on they have a confidence interval.
constexpr double kSampledNs = 10e9;
constexpr double kLeastPairs = 7;
constexpr double kMostPairs = 31;
// A module is compiled, evaluated or timed within this time.
constexpr absl::Duration kModuleTimeout = absl::Minutes(3);
constexpr uint64_t kSeed = 1;

Hash128 HashOf(const space::Candidate& candidate) {
  return FastHash(
      absl::string_view(reinterpret_cast<const char*>(candidate.choices.data()),
                        candidate.choices.size() * sizeof(int32_t)));
}

backends::LeastWork WorkOf(const loops::Program& program) {
  backends::LeastWork work;
  for (const loops::BufferPtr& buffer : program.buffers()) {
    const auto bytes = static_cast<double>(buffer->allocated_bytes());
    if (buffer->memory == loops::Memory::kArgument) work.bytes_read += bytes;
    if (buffer->memory == loops::Memory::kResult) work.bytes_written += bytes;
  }
  return work;
}

}  // namespace

class ModuleProblem::ModuleState final : public space::State {
 public:
  // `at` is the kernel that actions are about; -1 for none yet.
  ModuleState(std::vector<space::StatePtr> kernels, int32_t at)
      : kernels_(std::move(kernels)), at_(at) {
    std::string text = absl::StrCat(at);
    for (const space::StatePtr& kernel : kernels_) {
      absl::StrAppend(&text, " ", kernel->key().low, " ", kernel->key().high);
    }
    key_ = FastHash(text);
  }

  Hash128 key() const override { return key_; }
  const std::vector<space::StatePtr>& kernels() const { return kernels_; }
  int32_t at() const { return at_; }
  const space::StatePtr& current() const {
    return kernels_[static_cast<size_t>(at_)];
  }

 private:
  const std::vector<space::StatePtr> kernels_;
  const int32_t at_;
  Hash128 key_;
};

ModuleProblem::ModuleProblem(ModuleProblemOptions options)
    : options_(std::move(options)) {
  for (const loops::Program& program : options_.plan.kernels) {
    KernelProblemOptions kernel;
    kernel.module = loops::PrintProgram(program);
    kernel.form = backends::KernelForm::kProgram;
    kernel.program = program;
    kernel.work = WorkOf(program);
    kernel.device = options_.device;
    kernel.kernels = options_.measurer;
    kernel.stop = options_.stop;
    parts_.push_back(std::make_unique<KernelProblem>(std::move(kernel)));
    max_steps_ += parts_.back()->max_steps() + 1;
  }
}

void ModuleProblem::Recall(absl::Span<const space::Trial> log) {
  double least = std::numeric_limits<double>::infinity();
  for (const space::Trial& trial : log) {
    const space::Measurement& all = trial.measurement;
    // The default's times, and those of what is built upon.
    if (all.outcome != space::Outcome::kOk || all.cost >= least ||
        all.samples.size() != parts_.size()) {
      continue;
    }
    const auto candidates = Decompose(trial.candidate);
    if (!candidates.ok()) continue;
    const bool is_first = std::isinf(least);
    least = all.cost;
    for (size_t i = 0; i < parts_.size(); ++i) {
      space::Trial own{0, (*candidates)[i], {}};
      own.measurement.cost = all.samples[i] / options_.kernels[i].calls;
      const bool is_default = own.candidate.choices.empty();
      if (is_first && is_default && own.measurement.cost > 0) {
        parts_[i]->Recall({&own, 1});
      }
      absl::MutexLock lock(&mu_);
      if (is_default && own.measurement.cost == 0) unmeasured_.insert(i);
      measured_.try_emplace({i, HashOf(own.candidate)}, own.measurement);
      if (is_first) default_ns_ = all.cost;
    }
  }
}

space::Candidate ModuleProblem::Compose(
    absl::Span<const space::Candidate> parts) const {
  space::Candidate all;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].choices.empty()) continue;
    all.choices.push_back(KernelActionCount() + static_cast<int32_t>(i));
    all.choices.insert(all.choices.end(), parts[i].choices.begin(),
                       parts[i].choices.end());
  }
  return all;
}

absl::StatusOr<std::vector<space::Candidate>> ModuleProblem::Decompose(
    const space::Candidate& candidate) const {
  std::vector<space::Candidate> parts(parts_.size());
  int64_t at = -1;
  for (int32_t action : candidate.choices) {
    const int64_t kernel = int64_t{action} - KernelActionCount();
    if (kernel > at && kernel < static_cast<int64_t>(parts_.size())) {
      at = kernel;
    } else if (kernel >= 0 || at < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("action ", action, " (", ActionName(action),
                       ") after kernel ", at, ", expected a later kernel"));
    } else {
      parts[static_cast<size_t>(at)].choices.push_back(action);
    }
  }
  return parts;
}

space::StatePtr ModuleProblem::InitialState() const {
  std::vector<space::StatePtr> kernels;
  kernels.reserve(parts_.size());
  for (const auto& part : parts_) kernels.push_back(part->InitialState());
  return std::make_shared<const ModuleState>(std::move(kernels), -1);
}

int32_t ModuleProblem::action_count() const {
  return KernelActionCount() + static_cast<int32_t>(parts_.size());
}

std::string ModuleProblem::ActionName(int32_t action) const {
  return action >= KernelActionCount()
             ? absl::StrCat("kernel ", action - KernelActionCount())
             : KernelActionName(action);
}

std::string ModuleProblem::ActionNameIn(const space::StatePtr& state,
                                        int32_t action) const {
  const auto& from = static_cast<const ModuleState&>(*state);
  if (action >= KernelActionCount() || from.at() < 0) return ActionName(action);
  return parts_[static_cast<size_t>(from.at())]->ActionNameIn(from.current(),
                                                              action);
}

std::vector<int32_t> ModuleProblem::LegalActions(
    const space::StatePtr& state) const {
  const auto& from = static_cast<const ModuleState&>(*state);
  std::vector<int32_t> legal;
  if (from.at() >= 0) {
    legal =
        parts_[static_cast<size_t>(from.at())]->LegalActions(from.current());
  }
  for (int32_t k = from.at() + 1; k < static_cast<int32_t>(parts_.size());
       ++k) {
    legal.push_back(KernelActionCount() + k);
  }
  return legal;
}

absl::StatusOr<space::StatePtr> ModuleProblem::Step(
    const space::StatePtr& state, int32_t action) const {
  const auto& from = static_cast<const ModuleState&>(*state);
  if (action >= KernelActionCount()) {
    const int32_t kernel = action - KernelActionCount();
    if (kernel <= from.at() || kernel >= static_cast<int32_t>(parts_.size())) {
      return absl::InvalidArgumentError(
          absl::StrCat(ActionName(action), " after kernel ", from.at(),
                       ", expected a later one of ", parts_.size()));
    }
    return std::make_shared<const ModuleState>(from.kernels(), kernel);
  }
  if (from.at() < 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "action ", action, " of no kernel, expected 'kernel N' before it"));
  }
  const auto at = static_cast<size_t>(from.at());
  std::vector<space::StatePtr> kernels = from.kernels();
  HONE_ASSIGN_OR_RETURN(kernels[at], parts_[at]->Step(kernels[at], action));
  return std::make_shared<const ModuleState>(std::move(kernels), from.at());
}

std::vector<int32_t> ModuleProblem::Substitutes(const space::StatePtr& state,
                                                int32_t action) const {
  const auto& from = static_cast<const ModuleState&>(*state);
  if (action >= KernelActionCount() || from.at() < 0) return {};
  return parts_[static_cast<size_t>(from.at())]->Substitutes(from.current(),
                                                             action);
}

std::vector<int32_t> ModuleProblem::Expand(
    absl::Span<const int32_t> actions) const {
  const std::vector<int32_t> same(actions.begin(), actions.end());
  auto parts = Decompose({same});
  if (!parts.ok()) return same;
  for (size_t i = 0; i < parts->size(); ++i) {
    std::vector<int32_t>& choices = (*parts)[i].choices;
    if (!choices.empty()) choices = parts_[i]->Expand(choices);
  }
  return Compose(*parts).choices;
}

// Costs have to be measured, and only a search may do that.
double ModuleProblem::Cost(const space::StatePtr&) const {
  return std::numeric_limits<double>::infinity();
}

double ModuleProblem::reference_cost() const {
  absl::MutexLock lock(&mu_);
  return default_ns_.value_or(1);
}

absl::StatusOr<std::vector<space::Measurement>> ModuleProblem::MeasureBatch(
    absl::Span<const space::Candidate> candidates) const {
  HONE_RETURN_IF_ERROR(MeasureParts(candidates));
  std::vector<space::Measurement> measurements;
  for (const space::Candidate& candidate : candidates) {
    HONE_ASSIGN_OR_RETURN(space::Measurement measurement,
                          MeasureOne(candidate));
    measurements.push_back(std::move(measurement));
  }
  return measurements;
}

absl::StatusOr<space::Measurement> ModuleProblem::MeasureOne(
    const space::Candidate& candidate) const {
  space::Measurement all;
  const auto candidates = Decompose(candidate);
  if (!candidates.ok()) {
    all.outcome = space::Outcome::kInvalid;
    all.message = std::string(candidates.status().message());
    return all;
  }
  for (size_t i = 0; i < parts_.size(); ++i) {
    HONE_ASSIGN_OR_RETURN(space::Measurement own,
                          MeasurePart(i, (*candidates)[i]));
    if (own.outcome != space::Outcome::kOk) {
      own.message = absl::StrCat("kernel ", i, ": ", own.message);
      own.samples.clear();
      return own;
    }
    all.samples.push_back(own.cost * options_.kernels[i].calls);
    all.cost += all.samples.back();
  }
  if (candidate == DefaultCandidate()) {
    absl::MutexLock lock(&mu_);
    if (!default_ns_) default_ns_ = all.cost;
  }
  return all;
}

absl::Status ModuleProblem::MeasureParts(
    absl::Span<const space::Candidate> candidates) const {
  std::vector<std::vector<space::Candidate>> fresh(parts_.size());
  for (const space::Candidate& candidate : candidates) {
    auto parts = Decompose(candidate);
    if (!parts.ok()) continue;
    absl::MutexLock lock(&mu_);
    for (size_t i = 0; i < parts_.size(); ++i) {
      space::Candidate& own = (*parts)[i];
      if (!own.choices.empty() && !unmeasured_.contains(i) &&
          !measured_.contains({i, HashOf(own)})) {
        fresh[i].push_back(std::move(own));
      }
    }
  }
  for (size_t i = 0; i < parts_.size(); ++i) {
    if (fresh[i].size() < 2) continue;
    const auto measured = parts_[i]->MeasureBatch(fresh[i]);
    if (absl::IsUnavailable(measured.status()) ||
        absl::IsCancelled(measured.status())) {
      return measured.status();
    }
    // MeasurePart tells what else is wrong.
    if (!measured.ok()) continue;
    absl::MutexLock lock(&mu_);
    for (size_t c = 0; c < fresh[i].size(); ++c) {
      measured_.try_emplace({i, HashOf(fresh[i][c])}, (*measured)[c]);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<space::Measurement> ModuleProblem::MeasurePart(
    size_t index, const space::Candidate& candidate) const {
  const std::pair<size_t, Hash128> key(index, HashOf(candidate));
  {
    absl::MutexLock lock(&mu_);
    if (const auto it = measured_.find(key); it != measured_.end()) {
      return it->second;
    }
    if (unmeasured_.contains(index)) {
      return space::Measurement{.outcome = space::Outcome::kInvalid,
                                .message = "its default cannot be measured"};
    }
  }
  absl::StatusOr<space::Measurement> measured =
      parts_[index]->Measure(candidate);
  if (absl::IsUnavailable(measured.status()) ||
      absl::IsCancelled(measured.status())) {
    return measured.status();
  }
  absl::MutexLock lock(&mu_);
  if (!measured.ok()) {
    unmeasured_.insert(index);
    if (!candidate.choices.empty()) {
      return space::Measurement{
          .outcome = space::Outcome::kInvalid,
          .message = std::string(measured.status().message())};
    }
    measured = space::Measurement{};
  }
  return measured_.try_emplace(key, *std::move(measured)).first->second;
}

absl::StatusOr<double> ModuleProblem::TimeOf(
    size_t kernel, const space::Candidate& candidate) const {
  HONE_ASSIGN_OR_RETURN(const space::Measurement measurement,
                        MeasurePart(kernel, candidate));
  if (measurement.outcome == space::Outcome::kOk) return measurement.cost;
  return absl::FailedPreconditionError(
      absl::StrCat("kernel ", kernel, ": ", measurement.message));
}

absl::StatusOr<backends::KernelReport> ModuleProblem::TimeModule(
    absl::Span<const space::Candidate> candidates, double expected_ns) const {
  std::vector<std::vector<loops::Step>> scripts(parts_.size());
  std::vector<std::vector<loops::Step>> defaults(parts_.size());
  for (size_t i = 0; i < parts_.size(); ++i) {
    HONE_ASSIGN_OR_RETURN(scripts[i], parts_[i]->ScriptOf(candidates[i]));
    HONE_ASSIGN_OR_RETURN(defaults[i], parts_[i]->ScriptOf({}));
  }
  backends::KernelRequest request;
  request.module = options_.module;
  request.form = backends::KernelForm::kModule;
  request.baseline_script = backends::PrintPlanScript(defaults);
  request.candidate_scripts = {backends::PrintPlanScript(scripts)};
  request.threads = options_.device.machine.threads;
  request.seed = kSeed;
  // A pair has four calls at least.
  request.pairs = static_cast<int32_t>(std::clamp(
      kSampledNs / (4 * std::max(expected_ns, 1.0)), kLeastPairs, kMostPairs));
  request.timeout = kModuleTimeout;
  request.fresh_process = true;
  request.confirm = true;
  return options_.measurer->Measure(request, options_.device.fingerprint,
                                    options_.stop);
}

}  // namespace hone::tuning
