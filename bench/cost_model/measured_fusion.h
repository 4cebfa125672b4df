#ifndef HONE_BENCH_COST_MODEL_MEASURED_FUSION_H_
#define HONE_BENCH_COST_MODEL_MEASURED_FUSION_H_

#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"

#include "tuning/tasks/tpu_fusion_problem.h"

namespace hone::bench {

// The problem of a program's fusion as hardware poses it: only whole programs
// are measured. Local states know which moves are legal, and no times; they are
// there if asked for, for searches that only take moves from them.
class MeasuredFusion final : public space::AssignmentProblem {
 public:
  // Both of the same program, and outlive this; `moves`, which may be null, has
  // a timer that runs nothing.
  MeasuredFusion(const tuning::TpuFusionProblem& problem,
                 const tuning::TpuFusionProblem* moves)
      : problem_(problem), moves_(moves) {}

  absl::string_view unit() const override { return problem_.unit(); }
  space::Candidate DefaultCandidate() const override {
    return problem_.DefaultCandidate();
  }
  std::vector<space::Seed> Seeds() const override { return problem_.Seeds(); }
  double reference_cost() const override { return problem_.reference_cost(); }
  absl::StatusOr<std::vector<space::Measurement>> MeasureBatch(
      absl::Span<const space::Candidate> candidates) const override {
    return problem_.MeasureBatch(candidates);
  }
  absl::Span<const space::VariableGroup> groups() const override {
    return problem_.groups();
  }
  std::unique_ptr<space::Domains> MakeDomains() const override {
    return problem_.MakeDomains();
  }
  std::optional<std::vector<int32_t>> Draw(
      space::Domains& domains, Rng& rng,
      const std::function<bool()>& stop) const override {
    return problem_.Draw(domains, rng, stop);
  }
  std::unique_ptr<space::LocalState> MakeLocal(
      const space::Candidate& candidate) const override {
    return moves_ == nullptr ? nullptr : moves_->MakeLocal(candidate);
  }
  absl::StatusOr<std::unique_ptr<space::Surrogate>> MakeSurrogate()
      const override {
    return problem_.MakeSurrogate();
  }

 private:
  const tuning::TpuFusionProblem& problem_;
  const tuning::TpuFusionProblem* const moves_;
};

}  // namespace hone::bench

#endif  // HONE_BENCH_COST_MODEL_MEASURED_FUSION_H_
