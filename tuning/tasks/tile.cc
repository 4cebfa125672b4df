#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"

#include "backends/tpu_sim/stated_config.h"
#include "backends/tpu_sim/tpu_module.h"
#include "base/status_macros.h"
#include "tuning/cache_key.h"
#include "tuning/registry.h"
#include "tuning/tasks/module_tiles_problem.h"
#include "tuning/tasks/tpu_tile_problem.h"
#include "tuning/tasks/tpu_worker.h"

namespace hone::tuning {
namespace {

// A result is valid for the TPU of the options, and for no other.
constexpr absl::string_view kTarget = "tpu";

// The tiles of a module on a TPU, with the module.
class TpuTilesProblem final : public ModuleTilesProblem {
 public:
  TpuTilesProblem(backends::TpuModule module,
                  std::vector<std::unique_ptr<TileProblem>> kernels,
                  std::shared_ptr<const TpuWorker> worker)
      : ModuleTilesProblem(std::move(kernels)),
        module_(std::move(module)),
        worker_(std::move(worker)) {}

  const backends::TpuModule& module() const { return module_; }
  // The machines that have measured; none if this process simulates.
  std::vector<std::string> machines() const {
    return worker_ == nullptr ? std::vector<std::string>()
                              : worker_->machines();
  }

 private:
  const backends::TpuModule module_;
  const std::shared_ptr<const TpuWorker> worker_;  // may be null
};

// Returns the configurations of all kernels, for a candidate in the space.
absl::StatusOr<std::vector<hlo::KernelConfig>> ConfigsOf(
    const TpuTilesProblem& problem, const space::Candidate& candidate) {
  if (candidate.choices.size() !=
      static_cast<size_t>(problem.variable_count())) {
    return absl::InvalidArgumentError(absl::StrCat(candidate.choices.size(),
                                                   " values, expected ",
                                                   problem.variable_count()));
  }
  std::vector<hlo::KernelConfig> configs;
  size_t first = 0;
  for (size_t i = 0; i < problem.part_count(); ++i) {
    const auto count = static_cast<size_t>(problem.part(i).variable_count());
    configs.push_back(problem.kernel(i).ConfigOf(
        absl::MakeConstSpan(candidate.choices).subspan(first, count)));
    first += count;
  }
  return configs;
}

// The tile and the flags of every kernel of a module on a TPU.
class TileTask final : public Task {
 public:
  absl::string_view name() const override { return "tile"; }
  std::vector<SubjectKind> subject_kinds(const TaskOptions&) const override {
    return {SubjectKind::kModule};
  }
  optimizers::Kinds problem_kind() const override {
    return optimizers::kAssignment;
  }
  std::string default_optimizer() const override { return "xtat"; }
  // A trial measures one configuration of each kernel.
  int64_t default_trials() const override { return 32; }
  std::string space_version() const override { return "1"; }
  absl::StatusOr<std::string> OptionsKey(
      const TaskOptions& options) const override {
    HONE_RETURN_IF_ERROR(CheckTpu(options));
    return TpuKey(*options.tpu);
  }
  std::string default_target() const override { return std::string(kTarget); }
  absl::StatusOr<std::string> ResolveTarget(
      absl::string_view requested, backends::KernelMeasurer*) const override {
    if (requested.empty() || requested == kTarget) return default_target();
    return absl::InvalidArgumentError(
        absl::StrCat("target '", requested, "', expected '", kTarget, "'"));
  }

  absl::StatusOr<AppliedDecision> Apply(
      const Subject&, const space::Problem& problem,
      const space::Candidate& candidate) const override {
    const auto& tiles = static_cast<const TpuTilesProblem&>(problem);
    HONE_ASSIGN_OR_RETURN(const std::vector<hlo::KernelConfig> configs,
                          ConfigsOf(tiles, candidate));
    hlo::Module tuned = tiles.module().fused;
    nlohmann::ordered_json decision = nlohmann::ordered_json::object();
    auto& list = decision["kernels"] = nlohmann::ordered_json::array();
    for (size_t i = 0; i < configs.size(); ++i) {
      const std::string text = hlo::PrintKernelConfig(configs[i]);
      for (const auto& [computation, id] : tiles.module().kernels[i].places) {
        hlo::Instruction& instruction =
            tuned.mutable_computation(computation).mutable_instruction(id);
        list.push_back({{"instruction", instruction.name()}, {"config", text}});
        backends::StateConfig(configs[i], instruction);
      }
    }
    return AppliedDecision{.decision = decision.dump(),
                           .module = std::move(tuned)};
  }

  std::optional<space::Candidate> CandidateOf(
      const space::Problem& problem, absl::string_view decision) const override;

  absl::StatusOr<Winner> Judge(const Subject& subject,
                               const space::Problem& problem,
                               const space::Candidate& candidate,
                               const VerifyOptions& options) const override {
    HONE_ASSIGN_OR_RETURN(Winner winner,
                          Task::Judge(subject, problem, candidate, options));
    winner.verification.measured_by =
        static_cast<const TpuTilesProblem&>(problem).machines();
    return winner;
  }

 private:
  static absl::Status CheckTpu(const TaskOptions& options) {
    if (options.tpu.has_value()) return absl::OkStatus();
    return absl::InvalidArgumentError(
        "task 'tile' has no TPU, expected the description of one");
  }

  absl::StatusOr<std::unique_ptr<space::Problem>> CreateProblem(
      const Subject& subject, const TaskOptions& options,
      const TaskContext& context) const override {
    HONE_RETURN_IF_ERROR(CheckTpu(options));
    const backends::Tpu tpu = *options.tpu;
    absl::StatusOr<backends::TpuModule> module =
        backends::PrepareForTpu(subject.module(), tpu);
    if (module.ok() && module->kernels.empty()) {
      module = absl::InvalidArgumentError(
          "no kernels, expected a module that computes something");
    }
    if (!module.ok()) {
      return absl::Status(
          module.status().code(),
          absl::StrCat(subject.name(), ": ", module.status().message()));
    }
    const std::shared_ptr<TpuWorker> worker = TpuWorker::Find(tpu, context);
    std::vector<std::unique_ptr<TileProblem>> kernels;
    for (const backends::TpuKernel& kernel : module->kernels) {
      kernels.push_back(MakeTpuTileProblem(kernel, tpu,
                                           /*with_flags=*/true, worker));
    }
    return std::make_unique<TpuTilesProblem>(*std::move(module),
                                             std::move(kernels), worker);
  }
};

std::optional<space::Candidate> TileTask::CandidateOf(
    const space::Problem& problem, absl::string_view decision) const {
  const auto& tiles = static_cast<const TpuTilesProblem&>(problem);
  const auto json = nlohmann::ordered_json::parse(decision, nullptr,
                                                  /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("kernels")) return std::nullopt;
  // By instruction: another TPU may have fused the module differently.
  std::map<std::string, std::string> configs;
  for (const auto& kernel : json["kernels"]) {
    if (!kernel.is_object()) return std::nullopt;
    configs[kernel.value("instruction", "")] = kernel.value("config", "");
  }
  space::Candidate candidate = problem.DefaultCandidate();
  bool is_of_use = false;
  size_t first = 0;
  for (size_t i = 0; i < tiles.part_count(); ++i) {
    const TileProblem& kernel = tiles.kernel(i);
    const auto& [computation, id] = tiles.module().kernels[i].places[0];
    const auto found =
        configs.find(tiles.module().fused.computation(computation)[id].name());
    if (found != configs.end()) {
      const auto config = hlo::ParseKernelConfig(found->second);
      if (config.ok() && kernel.IsLegal(*config)) {
        const space::Candidate own = kernel.CandidateOf(*config);
        std::copy(
            own.choices.begin(), own.choices.end(),
            candidate.choices.begin() + static_cast<std::ptrdiff_t>(first));
        is_of_use = true;
      }
    }
    first += static_cast<size_t>(kernel.variable_count());
  }
  if (!is_of_use) return std::nullopt;
  return candidate;
}

}  // namespace

std::unique_ptr<Task> MakeTile() { return std::make_unique<TileTask>(); }

}  // namespace hone::tuning
