#ifndef HONE_TUNING_TASKS_TILE_PROBLEM_H_
#define HONE_TUNING_TASKS_TILE_PROBLEM_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "costmodels/tpu_analytical.h"
#include "hlo/ir/module.h"
#include "hlo/tiles/kernel_config.h"
#include "hlo/tiles/tile_space.h"
#include "hlo/tiles/tiled_kernel.h"
#include "space/assignment_problem.h"

namespace hone::tuning {

// Measures configurations of the kernel. Returns one measurement each, in
// order, in nanoseconds; kInvalid for one that does not fit the device.
// Errors: as space::Problem::MeasureBatch.
using MeasureTiles =
    std::function<absl::StatusOr<std::vector<space::Measurement>>(
        absl::Span<const hlo::KernelConfig> configs)>;

// Returns by how many bytes a configuration does not fit the device, which a
// compiler knows without running it; 0 if it does.
using CheckTile = std::function<int64_t(const hlo::KernelConfig& config)>;

class TileProblem;
// Returns a model of the problem, or null if there is none.
using MakeTileSurrogate =
    std::function<absl::StatusOr<std::unique_ptr<space::Surrogate>>(
        const TileProblem& problem)>;

struct TileProblemOptions {
  // A kernel (hlo/tiles/tiled_kernel.h).
  std::shared_ptr<const hlo::Module> kernel;
  // The configuration that a compiler chooses by itself. Sizes that are no
  // candidates stand for the next larger ones.
  hlo::KernelConfig by_default;
  // Whether the flags are chosen, too; else they stay the default's.
  bool with_flags = true;
  // How often a run of the module runs the kernel: a factor of the cost.
  double executions = 1;
  MeasureTiles measure;
  // What is known of the device, for models.
  costmodels::TpuPeaks peaks = {};
  // For models, which do not propose what does not fit; null: everything fits.
  CheckTile check = nullptr;
  MakeTileSurrogate make_surrogate = nullptr;
};

// The problem of choosing the tile and the flags of one kernel so that it takes
// the least time in nanoseconds. A variable for each tiled dimension chooses
// among its candidate sizes (hlo/tiles/tile_space.h), and three the flags, if
// they are to be chosen.
class TileProblem final : public space::AssignmentProblem {
 public:
  explicit TileProblem(TileProblemOptions options);

  const hlo::Module& kernel() const { return *options_.kernel; }
  const hlo::TiledKernel& tiled() const { return tiled_; }
  double executions() const { return options_.executions; }
  const TileProblemOptions& options() const { return options_; }

  // Returns true if the sizes fit the kernel.
  bool IsLegal(const hlo::KernelConfig& config) const {
    return space_.Check(config).ok();
  }
  // Values are within their domains.
  hlo::KernelConfig ConfigOf(absl::Span<const int32_t> values) const;
  // The candidate of a configuration of the kernel, with the next larger
  // candidate for sizes that are none.
  space::Candidate CandidateOf(const hlo::KernelConfig& config) const;

  absl::string_view unit() const override { return "ns"; }
  space::Candidate DefaultCandidate() const override;
  absl::StatusOr<std::vector<space::Measurement>> MeasureBatch(
      absl::Span<const space::Candidate> candidates) const override;
  int32_t measurement_batch() const override { return kMeasuredTogether; }
  // A typical kernel's time: the default's is known to who measures only.
  double reference_cost() const override { return kMicrosecond; }
  absl::Span<const space::VariableGroup> groups() const override {
    return groups_;
  }
  absl::StatusOr<std::unique_ptr<space::Surrogate>> MakeSurrogate()
      const override;

 private:
  static constexpr int32_t kMeasuredTogether = 16;
  static constexpr double kMicrosecond = 1000;

  bool IsInSpace(absl::Span<const int32_t> values) const;

  const TileProblemOptions options_;
  const hlo::TiledKernel tiled_;
  const hlo::TileSpace space_;
  std::vector<space::VariableGroup> groups_;
};

}  // namespace hone::tuning

#endif  // HONE_TUNING_TASKS_TILE_PROBLEM_H_
