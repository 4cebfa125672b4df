#include "tuning/tasks/module.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"

#include "backends/plan_script.h"
#include "base/excerpt.h"
#include "base/status_macros.h"
#include "hlo/text/printer.h"
#include "loops/lowering/lowering.h"
#include "loops/text/canonical.h"
#include "tuning/registry.h"
#include "tuning/tasks/kernel_confirmation.h"
#include "tuning/tasks/kernel_decision.h"
#include "tuning/tasks/kernel_target.h"
#include "tuning/tasks/module_problem.h"
#include "tuning/tasks/native_code_task.h"
#include "tuning/tasks/plan_calls.h"

namespace hone::tuning {
namespace {

using Json = nlohmann::ordered_json;

constexpr absl::string_view kKernelTask = "kernel";
// Records of kernels, the newest, that a search looks for its own kernels in.
constexpr size_t kMostShared = 4096;
constexpr int32_t kPage = 512;

Json Parse(absl::string_view json) {
  return Json::parse(json.begin(), json.end(), nullptr,
                     /*allow_exceptions=*/false);
}

// Calls visit(kernel) for each kernel of a decision that has a schedule of its
// own. Returns false for anything but a decision.
template <typename Visit>
bool ForEachScheduled(absl::string_view decision, const Visit& visit) {
  const Json json = Parse(decision);
  if (!json.is_object() || !json.contains("kernels") ||
      !json["kernels"].is_array()) {
    return false;
  }
  for (const Json& kernel : json["kernels"]) {
    if (!kernel.is_object() || !kernel.contains("fingerprint") ||
        !kernel["fingerprint"].is_string()) {
      return false;
    }
    if (kernel.contains("script")) visit(kernel);
  }
  return true;
}

class ModuleTask final : public NativeCodeTask {
 public:
  absl::string_view name() const override { return "module"; }

  optimizers::Kinds problem_kind() const override {
    return optimizers::kSequential | optimizers::kComposite;
  }

  std::string default_optimizer() const override { return "parts"; }

  std::string space_version() const override {
    return absl::StrCat("1:", KernelSpaceVersion());
  }

  int64_t default_trials() const override { return 256; }

  absl::StatusOr<std::unique_ptr<space::Problem>> CreateProblem(
      const Subject& subject, const TaskOptions& options,
      const TaskContext& context) const override {
    const hlo::Module& module = subject.module();
    HONE_RETURN_IF_ERROR(OptionsKey(options).status());
    ModuleProblemOptions problem;
    // Canonical kernels have no names.
    HONE_ASSIGN_OR_RETURN(const loops::ModulePlan named,
                          loops::LowerToPlan(module));
    HONE_ASSIGN_OR_RETURN(problem.plan, backends::LowerToCanonicalPlan(module));
    const std::vector<double> calls = CallsOfKernels(module, problem.plan);
    for (size_t i = 0; i < calls.size(); ++i) {
      problem.kernels.push_back(
          {.name = named.kernels[i].name(),
           .fingerprint = loops::FingerprintOf(problem.plan.kernels[i]),
           .calls = calls[i]});
    }
    HONE_ASSIGN_OR_RETURN(problem.device, AwaitKernelDevice(options, context));
    problem.module = hlo::PrintModule(module);
    problem.measurer = context.kernels;
    problem.stop = context.stop;
    return std::make_unique<ModuleProblem>(std::move(problem));
  }

  // The module stays as it is; the decision has a script for each kernel that
  // does not keep its default.
  absl::StatusOr<AppliedDecision> Apply(
      const Subject& subject, const space::Problem& problem,
      const space::Candidate& candidate) const override {
    const auto& whole = static_cast<const ModuleProblem&>(problem);
    HONE_ASSIGN_OR_RETURN(const std::vector<space::Candidate> candidates,
                          whole.Decompose(candidate));
    Json kernels = Json::array();
    for (size_t i = 0; i < candidates.size(); ++i) {
      const ModuleKernel& info = whole.kernels()[i];
      HONE_ASSIGN_OR_RETURN(const double default_ns, whole.TimeOf(i, {}));
      Json kernel = {{"name", info.name},
                     {"fingerprint", info.fingerprint},
                     {"calls", info.calls},
                     {"default_ns", default_ns}};
      if (!candidates[i].choices.empty()) {
        HONE_ASSIGN_OR_RETURN(kernel["ns"], whole.TimeOf(i, candidates[i]));
        HONE_ASSIGN_OR_RETURN(const std::string decision,
                              KernelDecision(whole.kernel(i), candidates[i]));
        kernel.update(Parse(decision));
      }
      kernels.push_back(std::move(kernel));
    }
    return AppliedDecision{.decision = Json{{"kernels", kernels}}.dump(),
                           .module = subject.module()};
  }

  std::optional<space::Candidate> CandidateOf(
      const space::Problem& problem,
      absl::string_view decision) const override {
    const auto& whole = static_cast<const ModuleProblem&>(problem);
    absl::flat_hash_map<std::string, std::string> decisions;
    if (!ForEachScheduled(decision, [&](const Json& kernel) {
          decisions.try_emplace(kernel["fingerprint"].get<std::string>(),
                                kernel.dump());
        })) {
      return std::nullopt;
    }
    std::vector<space::Candidate> candidates(whole.part_count());
    for (size_t i = 0; i < candidates.size(); ++i) {
      const auto it = decisions.find(whole.kernels()[i].fingerprint);
      if (it == decisions.end()) continue;
      auto candidate = CandidateOfDecision(whole.kernel(i), it->second);
      if (candidate) candidates[i] = *std::move(candidate);
    }
    space::Candidate all = whole.Compose(candidates);
    if (all.choices.empty()) return std::nullopt;
    return all;
  }

  std::optional<std::string> SharedDecision(
      storage::Store& store, const storage::CacheKey& key) const override {
    Json kernels = Json::array();
    std::string token;
    do {
      const auto page = store.ListRecords(
          {.target = key.target, .task = std::string(kKernelTask)}, kPage,
          token);
      if (!page.ok()) break;
      for (const storage::Record& record : page->items) {
        if (record.key.task_options != key.task_options) continue;
        Json kernel = Parse(record.decision);
        if (!kernel.is_object()) continue;
        kernel["fingerprint"] = record.key.module_fingerprint;
        kernels.push_back(std::move(kernel));
      }
      token = page->next_page_token;
    } while (!token.empty() && kernels.size() < kMostShared);
    if (kernels.empty()) return std::nullopt;
    return Json{{"kernels", std::move(kernels)}}.dump();
  }

  std::vector<storage::Record> RecordsOfParts(
      const storage::Record& record) const override {
    std::vector<storage::Record> records;
    ForEachScheduled(record.decision, [&](const Json& kernel) {
      storage::Record part = record;
      part.key.module_fingerprint = kernel["fingerprint"].get<std::string>();
      part.key.task = std::string(kKernelTask);
      part.key.space_version = KernelSpaceVersion();
      part.module_name = kernel.value("name", std::string());
      part.default_cost = kernel.value("default_ns", 0.0);
      part.best_cost = kernel.value("ns", 0.0);
      part.decision =
          Json{{"script", kernel["script"]}, {"choices", kernel["choices"]}}
              .dump();
      part.tuned_module_digest.clear();
      part.tuning_id.clear();
      part.verification.method =
          absl::StrCat("as a kernel of module ", record.module_name,
                       ", with its "
                       "default as the reference; ",
                       record.verification.method);
      records.push_back(std::move(part));
    });
    return records;
  }

  absl::StatusOr<Winner> Judge(const Subject& subject,
                               const space::Problem& problem,
                               const space::Candidate& candidate,
                               const VerifyOptions&) const override {
    const auto& whole = static_cast<const ModuleProblem&>(problem);
    HONE_ASSIGN_OR_RETURN(std::vector<space::Candidate> candidates,
                          whole.Decompose(candidate));
    HONE_ASSIGN_OR_RETURN(const space::Measurement by_default,
                          problem.Measure(problem.DefaultCandidate()));
    HONE_RETURN_IF_ERROR(KeepConfirmed(whole, candidates));
    const space::Candidate confirmed = whole.Compose(candidates);
    const bool is_default = confirmed.choices.empty();
    if (is_default && !candidate.choices.empty()) {
      return absl::FailedPreconditionError(
          "measured once more, no kernel is surely faster than its default");
    }
    HONE_ASSIGN_OR_RETURN(const backends::KernelReport report,
                          whole.TimeModule(candidates, by_default.cost));
    const backends::KernelTiming& timing = report.candidates[0];
    if (timing.outcome != space::Outcome::kOk || !is_default) {
      HONE_RETURN_IF_ERROR(CheckFaster(timing));
    }
    Winner winner;
    winner.cost = by_default.cost * (is_default ? 1 : timing.ratio);
    HONE_ASSIGN_OR_RETURN(winner.applied, Apply(subject, problem, confirmed));
    const auto tuned = std::count_if(
        candidates.begin(), candidates.end(),
        [](const space::Candidate& each) { return !each.choices.empty(); });
    winner.verification.method = absl::StrFormat(
        "evaluator, in a fresh process: 2 random inputs; %d of %d kernels "
        "tuned, the module in %.3f of the default's time (%.3f to %.3f, %d "
        "pairs)%s",
        tuned, candidates.size(), timing.ratio, timing.ratio_low,
        timing.ratio_high, timing.samples_ns.size(),
        DescribeWorkers(report.workers));
    winner.verification.measured_by = report.machines;
    winner.verification.max_rel_error = timing.max_rel_error;
    return winner;
  }

 private:
  // Puts back to the default what fresh processes do not confirm.
  // Errors: Unavailable and Cancelled.
  static absl::Status KeepConfirmed(const ModuleProblem& whole,
                                    std::vector<space::Candidate>& candidates) {
    for (size_t i = 0; i < candidates.size(); ++i) {
      if (candidates[i].choices.empty()) continue;
      const absl::Status confirmed =
          ConfirmKernel(whole.kernel(i), candidates[i]).status();
      if (absl::IsUnavailable(confirmed) || absl::IsCancelled(confirmed)) {
        return confirmed;
      }
      if (!confirmed.ok()) candidates[i].choices.clear();
    }
    return absl::OkStatus();
  }
};

}  // namespace

absl::StatusOr<KernelScripts> ScriptsOfModuleDecision(absl::string_view json) {
  KernelScripts scripts;
  absl::Status status;
  const bool is_decision = ForEachScheduled(json, [&](const Json& kernel) {
    auto script = ScriptOfDecision(kernel.dump());
    if (!script.ok()) {
      status.Update(script.status());
      return;
    }
    scripts[kernel["fingerprint"].get<std::string>()] = *std::move(script);
  });
  if (!is_decision) {
    return absl::InvalidArgumentError(
        absl::StrCat("decision '", Excerpt(json),
                     "': expected an object with an array 'kernels'"));
  }
  HONE_RETURN_IF_ERROR(status);
  return scripts;
}

std::unique_ptr<Task> MakeModule() { return std::make_unique<ModuleTask>(); }

}  // namespace hone::tuning
