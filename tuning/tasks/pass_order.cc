#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "nlohmann/json.hpp"

#include "base/status_macros.h"
#include "costmodels/registry.h"
#include "hlo/analysis/op_count.h"
#include "hlo/passes/pipeline.h"
#include "hlo/passes/registry.h"
#include "tuning/registry.h"
#include "tuning/tasks/pass_order_problem.h"

namespace hone::tuning {
namespace {

// Raised whenever a pass changes its result for some module; the list of passes
// is part of the space version by itself.
constexpr int kPassesVersion = 6;

constexpr absl::string_view kDefaultPipeline = "xla-cpu";

std::vector<std::string> Passes() {
  const std::vector<absl::string_view> names = hlo::Passes().ids();
  return {names.begin(), names.end()};
}

// Returns the score of that name. "ops": the instructions left to code
// generation. "time": nanoseconds by the analytical model.
absl::StatusOr<ModuleScore> MakeScore(absl::string_view score) {
  if (score == "ops") {
    return ModuleScore([](const hlo::Module& module) {
      return static_cast<double>(hlo::CountOps(module));
    });
  }
  HONE_ASSIGN_OR_RETURN(std::shared_ptr<const costmodels::CostModel> model,
                        costmodels::CreateCostModel("analytical"));
  return ModuleScore([model = std::move(model)](const hlo::Module& module) {
    return model->PredictModuleNs(module);
  });
}

// Returns the passes of the default pipeline that change the module, in order:
// the runs of the pipeline to its fixed point without those that change
// nothing. A pass that fails is left out, from its first failure on, so that it
// cannot keep a module from being tuned.
absl::StatusOr<space::Candidate> DefaultOrder(
    hlo::Module module, const std::vector<std::string>& passes,
    hlo::Numerics numerics) {
  HONE_ASSIGN_OR_RETURN(const hlo::Pipeline* const pipeline,
                        hlo::FindPipeline(kDefaultPipeline));
  absl::flat_hash_map<absl::string_view, int32_t> actions;
  for (size_t i = 0; i < passes.size(); ++i) {
    actions[passes[i]] = static_cast<int32_t>(i);
  }
  absl::flat_hash_set<absl::string_view> failed;
  space::Candidate candidate;
  // Returns true if anything changed.
  const auto run_round = [&](const hlo::PipelineStage& stage) {
    bool any_changed = false;
    for (const std::string& pass : stage.passes) {
      if (failed.contains(pass)) continue;
      hlo::Module next = module;
      const absl::StatusOr<bool> changed = RunPass(pass, numerics, next);
      if (!changed.ok()) {
        failed.insert(pass);
      } else if (*changed) {
        module = std::move(next);
        candidate.choices.push_back(actions.at(pass));
        any_changed = true;
      }
    }
    return any_changed;
  };
  for (const hlo::PipelineStage& stage : pipeline->stages) {
    for (int round = 0; round < stage.max_rounds; ++round) {
      if (!run_round(stage)) break;
    }
  }
  return candidate;
}

// Returns the actions whose passes are in the default pipeline.
absl::StatusOr<std::vector<int32_t>> PipelineActions(
    const std::vector<std::string>& passes) {
  HONE_ASSIGN_OR_RETURN(const hlo::Pipeline* const pipeline,
                        hlo::FindPipeline(kDefaultPipeline));
  absl::flat_hash_set<absl::string_view> names;
  for (const hlo::PipelineStage& stage : pipeline->stages) {
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

  optimizers::Kinds problem_kind() const override {
    return optimizers::kSequential;
  }

  std::string space_version() const override {
    return absl::StrCat(kPassesVersion, ":",
                        absl::StrJoin(hlo::Passes().ids(), ","));
  }

  absl::StatusOr<std::string> OptionsKey(
      const TaskOptions& options) const override {
    if (options.score != "ops" && options.score != "time") {
      return absl::InvalidArgumentError(absl::StrCat(
          "unknown score '", options.score, "', expected one of: ops, time"));
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

  std::string default_target() const override { return "hlo"; }

  // Devices do not matter; any other name keeps results apart.
  absl::StatusOr<std::string> ResolveTarget(
      absl::string_view requested, backends::KernelMeasurer*) const override {
    if (requested.empty() || requested == "cpu") return default_target();
    return std::string(requested);
  }

  absl::StatusOr<std::unique_ptr<space::Problem>> MakeProblem(
      const hlo::Module& module, const TaskOptions& options,
      const TaskContext&) const override {
    HONE_RETURN_IF_ERROR(OptionsKey(options).status());
    PassOrderOptions problem;
    problem.unit = options.score == "ops" ? "ops" : "ns";
    HONE_ASSIGN_OR_RETURN(problem.score, MakeScore(options.score));
    problem.passes = Passes();
    problem.numerics = options.numerics;
    HONE_ASSIGN_OR_RETURN(
        problem.default_candidate,
        DefaultOrder(module, problem.passes, options.numerics));
    if (options.passes == "pipeline") {
      HONE_ASSIGN_OR_RETURN(problem.legal, PipelineActions(problem.passes));
    }
    // Leaves room to extend the default, however long that is.
    problem.max_steps = std::max(
        problem.max_steps,
        2 * static_cast<int32_t>(problem.default_candidate.choices.size()));
    return std::make_unique<PassOrderProblem>(module, std::move(problem));
  }

  absl::StatusOr<AppliedDecision> Apply(
      const hlo::Module& module, const space::Problem& problem,
      const space::Candidate& candidate) const override {
    const hlo::Numerics numerics =
        static_cast<const PassOrderProblem&>(problem).numerics();
    const std::vector<std::string> known = Passes();
    AppliedDecision applied{.decision = "", .module = module};
    std::vector<std::string> passes;
    for (int32_t choice : candidate.choices) {
      if (choice < 0 || static_cast<size_t>(choice) >= known.size()) {
        return absl::InvalidArgumentError(absl::StrCat(
            "pass ", choice, ", expected 0 to ", known.size() - 1));
      }
      passes.push_back(known[static_cast<size_t>(choice)]);
      HONE_RETURN_IF_ERROR(
          RunPass(passes.back(), numerics, applied.module).status());
    }
    nlohmann::ordered_json decision;
    decision["passes"] = passes;
    decision["ops"] = hlo::CountOps(applied.module);
    applied.decision = decision.dump();
    return applied;
  }
};

}  // namespace

std::unique_ptr<Task> MakePassOrder() { return std::make_unique<PassOrder>(); }

}  // namespace hone::tuning
