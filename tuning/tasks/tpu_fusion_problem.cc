#include "tuning/tasks/tpu_fusion_problem.h"

#include <cstddef>
#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "graphs/trip_counts.h"
#include "hlo/fusion/fuse.h"
#include "hlo/fusion/fuse_by_priority.h"
#include "hlo/fusion/kernel_rules.h"
#include "tuning/tasks/tpu_fusion_cost.h"
#include "tuning/tasks/tpu_fusion_domains.h"
#include "tuning/tasks/tpu_fusion_local.h"

namespace hone::tuning {

absl::StatusOr<std::unique_ptr<TpuFusionProblem>> TpuFusionProblem::Create(
    const hlo::Module& module, TpuFusionOptions options) {
  auto problem = std::unique_ptr<TpuFusionProblem>(
      new TpuFusionProblem(module, std::move(options)));
  if (problem->groups_.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("module ", module.name(),
                     ": has nothing to fuse, expected an instruction that "
                     "kernels of others may compute"));
  }
  HONE_RETURN_IF_ERROR(problem->MakeSeeds());
  *problem->evaluations_ = 0;
  return problem;
}

TpuFusionProblem::TpuFusionProblem(const hlo::Module& module,
                                   TpuFusionOptions options)
    : space_(graphs::WithTripCounts(module)),
      stop_(std::move(options.stop)),
      make_surrogate_(std::move(options.make_surrogate)),
      measurement_batch_(options.measurement_batch),
      machines_(std::move(options.machines)),
      times_(space_, std::move(options.timer)) {
  const auto fusible = static_cast<int32_t>(space_.fusible().size());
  const auto swappable = static_cast<int32_t>(space_.swappable().size());
  if (fusible > 0) groups_.push_back({"fuse", 0, fusible, 2});
  if (swappable > 0) groups_.push_back({"layout", fusible, swappable, 2});
}

absl::Status TpuFusionProblem::MakeSeeds() {
  const hlo::FusionBits unfused = space_.Unfused();
  HONE_ASSIGN_OR_RETURN(const space::Measurement measured,
                        Measure({Values({unfused, space_.RowMajor()})}));
  if (measured.outcome != space::Outcome::kOk) {
    return absl::InvalidArgumentError(measured.message);
  }
  absl::Status status;
  const auto times = [&](std::vector<hlo::Module> kernels) {
    std::vector<double> ns(kernels.size(),
                           std::numeric_limits<double>::quiet_NaN());
    if (!status.ok() || (stop_ && stop_())) return ns;
    TpuKernelTimes::Batch batch(times_);
    std::vector<size_t> numbers;
    for (hlo::Module& kernel : kernels) {
      numbers.push_back(batch.Add(std::move(kernel)));
    }
    status = batch.Ask();
    if (!status.ok()) return ns;
    for (size_t i = 0; i < ns.size(); ++i) {
      ns[i] = batch[numbers[i]].value_or(ns[i]);
    }
    return ns;
  };
  const auto add = [this](std::string name, hlo::FusionBits fused) {
    seeds_.push_back(
        {std::move(name), {Values({std::move(fused), space_.RowMajor()})}});
  };
  add("priority", hlo::FuseByPriority(space_, times));
  add("greedy", hlo::FuseGreedily(space_));
  add("unfused", unfused);
  if (stop_ && stop_()) return absl::CancelledError("was stopped");
  HONE_RETURN_IF_ERROR(status);
  HONE_ASSIGN_OR_RETURN(const space::Measurement reference,
                        Measure(seeds_[0].candidate));
  if (reference.cost > 0) reference_cost_ = reference.cost;
  return absl::OkStatus();
}

TpuFusionPlan TpuFusionProblem::Plan(absl::Span<const int32_t> values) const {
  TpuFusionPlan plan = {space_.Unfused(), space_.RowMajor()};
  size_t variable = 0;
  for (const hlo::FusionIndex node : space_.fusible()) {
    plan.fused[static_cast<size_t>(node)] =
        static_cast<uint8_t>(values[variable++]);
  }
  for (const hlo::FusionIndex node : space_.swappable()) {
    plan.layouts[static_cast<size_t>(node)] =
        static_cast<uint8_t>(values[variable++]);
  }
  return plan;
}

std::vector<int32_t> TpuFusionProblem::Values(const TpuFusionPlan& plan) const {
  std::vector<int32_t> values;
  for (const hlo::FusionIndex node : space_.fusible()) {
    values.push_back(plan.fused[static_cast<size_t>(node)]);
  }
  for (const hlo::FusionIndex node : space_.swappable()) {
    values.push_back(plan.layouts[static_cast<size_t>(node)]);
  }
  return values;
}

bool TpuFusionProblem::IsInDomain(absl::Span<const int32_t> values) const {
  if (values.size() != static_cast<size_t>(variable_count())) return false;
  for (const int32_t value : values) {
    if (value != 0 && value != 1) return false;
  }
  return true;
}

std::vector<ProfiledKernel> TpuFusionProblem::Profile(
    absl::Span<const int32_t> values) const {
  std::vector<ProfiledKernel> profile;
  if (!IsInDomain(values)) return profile;
  const TpuFusionPlan plan = Plan(values);
  hlo::KernelRules rules(space_);
  TpuKernelTimes::Batch batch(times_);
  std::vector<NodeQuestion> questions;
  for (size_t i = 0; i < space_.size(); ++i) {
    NodeQuestion question =
        AskAboutNode(rules, static_cast<hlo::FusionIndex>(i), plan.fused,
                     plan.layouts, batch);
    if (question.kernel.has_value()) questions.push_back(std::move(question));
  }
  if (!batch.Ask().ok()) return profile;
  for (const NodeQuestion& question : questions) {
    const absl::StatusOr<double>& ns = batch[*question.kernel];
    if (!ns.ok()) continue;
    absl::StatusOr<hlo::Module> kernel = hlo::MakeKernel(
        space_, rules.MembersOf(question.node, plan.fused).nodes, plan.layouts);
    if (kernel.ok()) profile.push_back({*std::move(kernel), *ns});
  }
  return profile;
}

absl::StatusOr<std::vector<space::Measurement>> TpuFusionProblem::MeasureBatch(
    absl::Span<const space::Candidate> candidates) const {
  hlo::KernelRules rules(space_);
  TpuKernelTimes::Batch batch(times_);
  // Of each candidate, about the nodes that may cost something.
  std::vector<std::vector<NodeQuestion>> questions(candidates.size());
  for (size_t c = 0; c < candidates.size(); ++c) {
    if (stop_ && stop_()) return absl::CancelledError("measuring was stopped");
    ++*evaluations_;
    if (!IsInDomain(candidates[c].choices)) continue;
    const TpuFusionPlan plan = Plan(candidates[c].choices);
    for (size_t i = 0; i < space_.size(); ++i) {
      NodeQuestion question =
          AskAboutNode(rules, static_cast<hlo::FusionIndex>(i), plan.fused,
                       plan.layouts, batch);
      if (!question.is_free()) questions[c].push_back(std::move(question));
    }
  }
  HONE_RETURN_IF_ERROR(batch.Ask());
  std::vector<space::Measurement> measurements(candidates.size());
  for (size_t c = 0; c < candidates.size(); ++c) {
    space::Measurement& measurement = measurements[c];
    if (!IsInDomain(candidates[c].choices)) {
      measurement.outcome = space::Outcome::kInvalid;
      measurement.message = absl::StrCat(
          candidates[c].choices.size(),
          " values, or one out of its domain, expected 0 or 1 for each of ",
          variable_count());
      continue;
    }
    for (const NodeQuestion& question : questions[c]) {
      NodeCost cost = CostOf(question, space_, batch);
      measurement.cost += cost.ns;
      if (cost.fault.empty()) continue;
      measurement.outcome = space::Outcome::kInvalid;
      measurement.violation += 1;
      if (measurement.message.empty()) {
        measurement.message = std::move(cost.fault);
      }
    }
  }
  return measurements;
}

std::unique_ptr<space::Domains> TpuFusionProblem::MakeDomains() const {
  return MakeTpuFusionDomains(space_);
}

std::optional<std::vector<int32_t>> TpuFusionProblem::Draw(
    space::Domains& domains, Rng& rng,
    const std::function<bool()>& stop) const {
  const double share = rng.Uniform();
  std::vector<int32_t> values;
  for (int32_t v = 0; v < variable_count(); ++v) {
    const uint64_t left = domains.Get(v);
    const bool is_one = left == 3 ? rng.Uniform() < share : left == 2;
    values.push_back(is_one ? 1 : 0);
  }
  TpuFusionPlan plan = Plan(values);
  plan.fused = hlo::KernelRules(space_).Legalize(plan.fused);
  values = Values(plan);
  for (int32_t v = 0; v < variable_count(); ++v) {
    if ((domains.Get(v) >> values[static_cast<size_t>(v)] & 1) == 0) {
      return AssignmentProblem::Draw(domains, rng, stop);
    }
  }
  return values;
}

std::unique_ptr<space::LocalState> TpuFusionProblem::MakeLocal(
    const space::Candidate& candidate) const {
  TpuFusionPlan plan = Plan(candidate.choices);
  return MakeTpuFusionLocal(space_, times_, evaluations_, std::move(plan.fused),
                            std::move(plan.layouts));
}

absl::StatusOr<std::unique_ptr<space::Surrogate>>
TpuFusionProblem::MakeSurrogate() const {
  if (!make_surrogate_) return nullptr;
  return make_surrogate_(*this);
}

}  // namespace hone::tuning
