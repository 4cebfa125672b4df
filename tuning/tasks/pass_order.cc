#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "nlohmann/json.hpp"

#include "base/status_macros.h"
#include "costmodels/registry.h"
#include "hlo/analysis/op_count.h"
#include "hlo/passes/lowering.h"
#include "hlo/passes/pipeline.h"
#include "hlo/passes/registry.h"
#include "tuning/registry.h"
#include "tuning/tasks/pass_order_problem.h"

namespace hone::tuning {
namespace {

// Raised whenever a pass changes its result for some module, or the score means
// something else; the list of passes is part of the space version by itself.
constexpr int kPassesVersion = 7;

// A target is a compiler, by the name of its pipeline.
constexpr absl::string_view kDefaultTarget = "xla-cpu";

std::vector<std::string> Passes() {
  const std::vector<absl::string_view> names = hlo::Passes().ids();
  return {names.begin(), names.end()};
}

// Returns the score of that name for `target`, whose mandatory lowering is
// `lowering`. "ops": the instructions left to code generation, of the lowered
// module, so that it does not matter how much of the lowering an order
// contains. "xla": nanoseconds of what XLA:CPU makes of the module, by the cost
// model.
absl::StatusOr<ModuleScore> MakeScore(absl::string_view score,
                                      absl::string_view target,
                                      const hlo::Pipeline& lowering) {
  if (score == "ops") {
    return ModuleScore([&lowering](const hlo::Module& module) {
      return static_cast<double>(hlo::CountOps(hlo::Lowered(module, lowering)));
    });
  }
  if (target != kDefaultTarget) {
    return absl::InvalidArgumentError(
        absl::StrCat("score '", score, "' models no target but ",
                     kDefaultTarget, ", expected ops for target ", target));
  }
  HONE_ASSIGN_OR_RETURN(std::shared_ptr<const costmodels::CostModel> model,
                        costmodels::CreateCostModel("xla-cpu"));
  return ModuleScore([model = std::move(model)](const hlo::Module& module) {
    return model->PredictModuleNs(module);
  });
}

// Runs `pipeline` without the passes that fail and returns those that changed
// the module, in order.
std::vector<std::string> RunWhatWorks(const hlo::Pipeline& pipeline,
                                      hlo::Numerics numerics,
                                      hlo::Module& module) {
  hlo::PipelineOptions options;
  options.rewrite.numerics = numerics;
  options.skip_failing = true;
  std::vector<std::string> passes;
  // Passes that fail are left out, so nothing is left to fail.
  const absl::StatusOr<hlo::PipelineReport> report =
      hlo::RunPipeline(module, pipeline, options);
  for (const hlo::PassRun& run : report->runs) {
    if (run.changed) passes.push_back(run.pass);
  }
  return passes;
}

// Returns the passes of the default pipeline that change the module, in order:
// the runs of the pipeline to its fixed point without those that change
// nothing.
space::Candidate DefaultOrder(hlo::Module module, const hlo::Pipeline& pipeline,
                              const std::vector<std::string>& passes,
                              hlo::Numerics numerics) {
  absl::flat_hash_map<absl::string_view, int32_t> actions;
  for (size_t i = 0; i < passes.size(); ++i) {
    actions[passes[i]] = static_cast<int32_t>(i);
  }
  space::Candidate candidate;
  for (const std::string& pass : RunWhatWorks(pipeline, numerics, module)) {
    candidate.choices.push_back(actions.at(pass));
  }
  return candidate;
}

// Returns the actions whose passes are in the default pipeline.
std::vector<int32_t> PipelineActions(const hlo::Pipeline& pipeline,
                                     const std::vector<std::string>& passes) {
  absl::flat_hash_set<absl::string_view> names;
  for (const hlo::PipelineStage& stage : pipeline.stages) {
    names.insert(stage.passes.begin(), stage.passes.end());
  }
  std::vector<int32_t> actions;
  for (size_t i = 0; i < passes.size(); ++i) {
    if (names.contains(passes[i])) actions.push_back(static_cast<int32_t>(i));
  }
  return actions;
}

class PassOrder final : public Task {
 public:
  absl::string_view name() const override { return "pass_order"; }

  std::vector<SubjectKind> subject_kinds(const TaskOptions&) const override {
    return {SubjectKind::kModule};
  }

  optimizers::Kinds problem_kind() const override {
    return optimizers::kSequential;
  }

  std::string default_optimizer() const override { return "guided"; }

  std::string space_version() const override {
    return absl::StrCat(kPassesVersion, ":",
                        absl::StrJoin(hlo::Passes().ids(), ","));
  }

  absl::StatusOr<std::string> OptionsKey(
      const TaskOptions& options) const override {
    if (options.score != "ops" && options.score != "xla") {
      return absl::InvalidArgumentError(absl::StrCat(
          "unknown score '", options.score, "', expected one of: ops, xla"));
    }
    if (options.passes != "all" && options.passes != "pipeline") {
      return absl::InvalidArgumentError(
          absl::StrCat("unknown passes '", options.passes,
                       "', expected one of: all, pipeline"));
    }
    return absl::StrCat(
        "score=", options.score,
        ";numerics=", hlo::NumericsName(options.numerics),
        options.passes == "all" ? "" : ";passes=" + options.passes);
  }

  std::string default_target() const override {
    return std::string(kDefaultTarget);
  }

  // A kind of device, or a device of it, stands for XLA on it.
  absl::StatusOr<std::string> ResolveTarget(
      absl::string_view requested, backends::KernelMeasurer*) const override {
    if (requested.empty()) return default_target();
    std::string target(requested);
    for (absl::string_view kind : {"cpu", "gpu"}) {
      if (requested == kind ||
          absl::StartsWith(requested, absl::StrCat(kind, ":"))) {
        target = absl::StrCat("xla-", kind);
      }
    }
    HONE_RETURN_IF_ERROR(hlo::FindLowering(target).status());
    return target;
  }

  absl::StatusOr<std::unique_ptr<space::Problem>> CreateProblem(
      const Subject& subject, const TaskOptions& options,
      const TaskContext& context) const override {
    const hlo::Module& module = subject.module();
    HONE_RETURN_IF_ERROR(OptionsKey(options).status());
    HONE_ASSIGN_OR_RETURN(const std::string target,
                          ResolveTarget(context.target, nullptr));
    HONE_ASSIGN_OR_RETURN(const hlo::Pipeline* const pipeline,
                          hlo::FindPipeline(target));
    PassOrderOptions problem;
    problem.unit = options.score == "ops" ? "ops" : "ns";
    HONE_ASSIGN_OR_RETURN(problem.lowering, hlo::FindLowering(target));
    HONE_ASSIGN_OR_RETURN(problem.score,
                          MakeScore(options.score, target, *problem.lowering));
    problem.passes = Passes();
    // What cannot be judged is not rounded either.
    problem.numerics =
        CheckEvaluable(module).ok() ? options.numerics : hlo::Numerics::kExact;
    problem.default_candidate =
        DefaultOrder(module, *pipeline, problem.passes, problem.numerics);
    if (options.passes == "pipeline") {
      problem.legal = PipelineActions(*pipeline, problem.passes);
    }
    // Leaves room to extend the default, however long that is.
    problem.max_steps = std::max(
        problem.max_steps,
        2 * static_cast<int32_t>(problem.default_candidate.choices.size()));
    return std::make_unique<PassOrderProblem>(module, std::move(problem));
  }

  absl::StatusOr<AppliedDecision> Apply(
      const Subject& subject, const space::Problem& problem,
      const space::Candidate& candidate) const override {
    const auto& pass_order = static_cast<const PassOrderProblem&>(problem);
    const hlo::Numerics numerics = pass_order.numerics();
    const std::vector<std::string> known = Passes();
    hlo::Module module = subject.module();
    std::vector<std::string> passes;
    for (int32_t choice : candidate.choices) {
      if (choice < 0 || static_cast<size_t>(choice) >= known.size()) {
        return absl::InvalidArgumentError(absl::StrCat(
            "pass ", choice, ", expected 0 to ", known.size() - 1));
      }
      passes.push_back(known[static_cast<size_t>(choice)]);
      HONE_RETURN_IF_ERROR(RunPass(passes.back(), numerics, module).status());
    }
    // Published lowered, as far as `numerics` permits.
    const std::vector<std::string> lowering =
        RunWhatWorks(pass_order.lowering(), numerics, module);
    passes.insert(passes.end(), lowering.begin(), lowering.end());
    nlohmann::ordered_json decision;
    decision["passes"] = passes;
    // How many of them, at the end, are the lowering.
    decision["lowering"] = lowering.size();
    decision["ops"] =
        hlo::CountOps(hlo::Lowered(module, pass_order.lowering()));
    return AppliedDecision{.decision = decision.dump(),
                           .module = std::move(module)};
  }

  // Passes that are unknown or illegal here are left out, and the lowering,
  // which Apply adds.
  std::optional<space::Candidate> CandidateOf(
      const space::Problem& problem,
      absl::string_view decision) const override {
    const auto json =
        nlohmann::json::parse(decision.begin(), decision.end(), nullptr, false);
    if (!json.is_object() || !json.contains("passes") ||
        !json["passes"].is_array()) {
      return std::nullopt;
    }
    const nlohmann::json& passes = json["passes"];
    size_t count = passes.size();
    if (const auto lowering = json.find("lowering");
        lowering != json.end() && lowering->is_number_unsigned()) {
      count -= std::min(count, lowering->get<size_t>());
    }
    const space::SequentialProblem& sequence = *problem.sequential();
    absl::flat_hash_map<std::string, int32_t> actions;
    for (int32_t action : sequence.LegalActions(sequence.InitialState())) {
      actions[sequence.ActionName(action)] = action;
    }
    space::Candidate candidate;
    for (size_t i = 0; i < count; ++i) {
      if (!passes[i].is_string()) return std::nullopt;
      const auto action = actions.find(passes[i].get<std::string>());
      if (action != actions.end()) candidate.choices.push_back(action->second);
    }
    candidate.choices.resize(std::min(
        candidate.choices.size(), static_cast<size_t>(sequence.max_steps())));
    return candidate;
  }

  absl::StatusOr<Winner> Judge(const Subject& subject,
                               const space::Problem& problem,
                               const space::Candidate& candidate,
                               const VerifyOptions& options) const override {
    VerifyOptions own = options;
    own.numerics = static_cast<const PassOrderProblem&>(problem).numerics();
    return Task::Judge(subject, problem, candidate, own);
  }
};

}  // namespace

std::unique_ptr<Task> MakePassOrder() { return std::make_unique<PassOrder>(); }

}  // namespace hone::tuning
