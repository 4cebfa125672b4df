#ifndef HONE_TUNING_TASKS_MODULE_TILES_PROBLEM_H_
#define HONE_TUNING_TASKS_MODULE_TILES_PROBLEM_H_

#include <memory>
#include <vector>

#include "absl/types/span.h"

#include "space/separable_problem.h"
#include "tuning/tasks/tile_problem.h"

namespace hone::tuning {

// The problem of choosing the tiles and flags of all kernels of a module: each
// kernel is a part. Its cost is the time of a run, the sum over kernels.
class ModuleTilesProblem : public space::SeparableProblem {
 public:
  // Not empty.
  explicit ModuleTilesProblem(
      std::vector<std::unique_ptr<TileProblem>> kernels);

  const TileProblem& kernel(size_t index) const { return *kernels_[index]; }

  size_t part_count() const override { return kernels_.size(); }
  const space::AssignmentProblem& part(size_t index) const override {
    return *kernels_[index];
  }
  absl::string_view unit() const override { return "ns"; }
  space::Candidate DefaultCandidate() const override;
  absl::StatusOr<std::vector<space::Measurement>> MeasureBatch(
      absl::Span<const space::Candidate> candidates) const override;
  int32_t measurement_batch() const override {
    return kernels_[0]->measurement_batch();
  }
  double reference_cost() const override {
    return kernels_[0]->reference_cost();
  }
  absl::Span<const space::VariableGroup> groups() const override {
    return groups_;
  }

 private:
  const std::vector<std::unique_ptr<TileProblem>> kernels_;
  std::vector<space::VariableGroup> groups_;
};

}  // namespace hone::tuning

#endif  // HONE_TUNING_TASKS_MODULE_TILES_PROBLEM_H_
