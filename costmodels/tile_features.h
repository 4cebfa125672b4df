#ifndef HONE_COSTMODELS_TILE_FEATURES_H_
#define HONE_COSTMODELS_TILE_FEATURES_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

#include "costmodels/tpu_analytical.h"
#include "hlo/tiles/kernel_config.h"
#include "hlo/tiles/tiled_kernel.h"

namespace hone::costmodels {

// The version of what TileFeatures says. Weights that were trained on another
// one are refused.
inline constexpr absl::string_view kTileFeaturesVersion = "7";

// The names of TileFeatures::Of, in order.
const std::vector<std::string>& TileFeatureNames();

// What a configuration makes of a kernel, for learned models: the sizes of the
// tile, the flags, and static performance information: how many tiles there
// are, what one of them transfers, computes and keeps (in the mean, where tiles
// differ), and what all of them do. Scaled to about -1 … 1, magnitudes by their
// logarithm. Of the device they know its peaks: the analytical model's time,
// and which peak limits it. Source: the whole-kernel features of Kaufman et
// al., "A Learned Performance Model for Tensor Processing Units", 2021,
// section 3.1.
class TileFeatures {
 public:
  // `kernel` outlives this.
  TileFeatures(const hlo::TiledKernel& kernel, const TpuPeaks& peaks)
      : kernel_(kernel), peaks_(peaks), analytical_(kernel, peaks) {}

  // The configuration is in the kernel's space (hlo::TileSpace::Check).
  // [TileFeatureNames()]
  std::vector<float> Of(const hlo::KernelConfig& config) const;

 private:
  const hlo::TiledKernel& kernel_;
  const TpuPeaks peaks_;
  const TpuAnalytical analytical_;
};

}  // namespace hone::costmodels

#endif  // HONE_COSTMODELS_TILE_FEATURES_H_
