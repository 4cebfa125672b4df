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

// Raised whenever a pass comes to make something else of the same module; the
// list of passes is part of the space version by itself.
constexpr int kPassesVersion = 2;

constexpr absl::string_view kDefaultPipeline = "xla-cpu";

std::vector<std::string> Passes() {
  const std::vector<absl::string_view> names = hlo::PassNames();
  return {names.begin(), names.end()};
}

// "ops": what is left to code generation. "time": nanoseconds by the
// analytical model, which knows what each instruction costs.
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

// The passes of the default pipeline that change something, in order: the
// pipeline's fixed point without the runs that found it.
absl::StatusOr<space::Candidate> DefaultOrder(
    const hlo::Module& module, const std::vector<std::string>& passes) {
  absl::flat_hash_map<absl::string_view, int32_t> actions;
  for (size_t i = 0; i < passes.size(); ++i) {
    actions[passes[i]] = static_cast<int32_t>(i);
  }
  hlo::Module optimized = module;
  HONE_ASSIGN_OR_RETURN(const hlo::PipelineReport report,
                        hlo::RunPipeline(optimized, kDefaultPipeline));
  space::Candidate candidate;
  for (const hlo::PassRun& run : report.runs) {
    if (run.changed) candidate.choices.push_back(actions.at(run.pass));
  }
  return candidate;
}

// The actions whose passes the default pipeline has.
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
                        absl::StrJoin(hlo::PassNames(), ","));
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
        options.passes == "all" ? "" : ";passes=" + options.passes);
  }

  std::string default_target() const override { return "hlo"; }

  // A name of one's own keeps results apart. Devices do not matter.
  absl::StatusOr<std::string> ResolveTarget(
      absl::string_view asked, backends::KernelMeasurer*) const override {
    if (asked.empty() || asked == "cpu") return default_target();
    return std::string(asked);
  }

  absl::StatusOr<std::unique_ptr<space::Problem>> MakeProblem(
      const hlo::Module& module, const TaskOptions& options,
      const TaskContext&) const override {
    HONE_RETURN_IF_ERROR(OptionsKey(options).status());
    PassOrderOptions problem;
    problem.unit = options.score == "ops" ? "ops" : "ns";
    HONE_ASSIGN_OR_RETURN(problem.score, MakeScore(options.score));
    problem.passes = Passes();
    HONE_ASSIGN_OR_RETURN(problem.default_candidate,
                          DefaultOrder(module, problem.passes));
    if (options.passes == "pipeline") {
      HONE_ASSIGN_OR_RETURN(problem.legal, PipelineActions(problem.passes));
    }
    // Room to go on from the default, however long that is.
    problem.max_steps = std::max(
        problem.max_steps,
        2 * static_cast<int32_t>(problem.default_candidate.choices.size()));
    return std::make_unique<PassOrderProblem>(module, std::move(problem));
  }

  absl::StatusOr<AppliedDecision> Apply(
      const hlo::Module& module, const space::Problem&,
      const space::Candidate& candidate) const override {
    const std::vector<std::string> known = Passes();
    std::vector<std::string> passes;
    for (int32_t choice : candidate.choices) {
      if (choice < 0 || static_cast<size_t>(choice) >= known.size()) {
        return absl::InvalidArgumentError(absl::StrCat(
            "pass ", choice, ", expected 0 to ", known.size() - 1));
      }
      passes.push_back(known[static_cast<size_t>(choice)]);
    }
    AppliedDecision applied{.decision = "", .module = module};
    HONE_RETURN_IF_ERROR(hlo::RunPasses(applied.module, passes).status());
    nlohmann::ordered_json decision;
    decision["passes"] = passes;
    decision["ops"] = hlo::CountOps(applied.module);
    applied.decision = decision.dump();
    return applied;
  }

  absl::StatusOr<hlo::Module> ApplyDecision(
      const hlo::Module& module, absl::string_view decision) const override {
    HONE_ASSIGN_OR_RETURN(const std::vector<std::string> passes,
                          ParseDecision(decision));
    hlo::Module result = module;
    HONE_RETURN_IF_ERROR(hlo::RunPasses(result, passes).status());
    return result;
  }

 private:
  static absl::StatusOr<std::vector<std::string>> ParseDecision(
      absl::string_view decision) {
    const auto invalid = [&](absl::string_view what) {
      return absl::InvalidArgumentError(
          absl::StrCat("decision '", decision, "': ", what));
    };
    const nlohmann::json json =
        nlohmann::json::parse(decision.begin(), decision.end(), nullptr,
                              /*allow_exceptions=*/false);
    if (!json.is_object() || !json.contains("passes") ||
        !json["passes"].is_array()) {
      return invalid("expected an object with an array 'passes'");
    }
    std::vector<std::string> passes;
    for (const nlohmann::json& pass : json["passes"]) {
      if (!pass.is_string()) return invalid("expected names of passes");
      passes.push_back(pass.get<std::string>());
      if (absl::Status found = hlo::FindPass(passes.back()).status();
          !found.ok()) {
        return invalid(found.message());
      }
    }
    return passes;
  }
};

}  // namespace

std::unique_ptr<Task> MakePassOrder() { return std::make_unique<PassOrder>(); }

}  // namespace hone::tuning
