#include "tuning/tasks/tpu_fusion_surrogate.h"

#include <utility>

#include "base/status_macros.h"

namespace hone::tuning {
namespace {

class TpuFusionSurrogate final : public space::Surrogate {
 public:
  TpuFusionSurrogate(const TpuFusionProblem& measured,
                     std::unique_ptr<TpuKernelPredictor> predictor,
                     std::unique_ptr<TpuFusionProblem> problem)
      : measured_(measured),
        predictor_(std::move(predictor)),
        problem_(std::move(problem)) {}

  const space::Problem& problem() const override { return *problem_; }

  void Learn(absl::Span<const space::Trial> trials) override {
    bool is_new = false;
    for (const space::Trial& trial : trials) {
      if (trial.measurement.outcome != space::Outcome::kOk) continue;
      for (const ProfiledKernel& run :
           measured_.Profile(trial.candidate.choices)) {
        is_new = predictor_->Add(run.kernel, run.ns) || is_new;
      }
    }
    if (!is_new) return;
    predictor_->Refine();
    problem_->ForgetTimes();
  }

 private:
  const TpuFusionProblem& measured_;
  const std::unique_ptr<TpuKernelPredictor> predictor_;
  // Asks the predictor.
  const std::unique_ptr<TpuFusionProblem> problem_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<space::Surrogate>> MakeTpuFusionSurrogate(
    const TpuFusionProblem& problem, const learning::CostPredictor& model,
    costmodels::TpuPeaks peaks, DefaultConfigOf config_of) {
  auto predictor =
      std::make_unique<TpuKernelPredictor>(model, peaks, std::move(config_of));
  HONE_ASSIGN_OR_RETURN(
      std::unique_ptr<TpuFusionProblem> predicted,
      TpuFusionProblem::Create(
          problem.space().module(),
          {.timer = [&predictor =
                         *predictor](absl::Span<const hlo::Module> kernels) {
            return predictor.Of(kernels);
          }}));
  return std::make_unique<TpuFusionSurrogate>(problem, std::move(predictor),
                                              std::move(predicted));
}

}  // namespace hone::tuning
