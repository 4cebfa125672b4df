#include "bench/cost_model/tpu_groups.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "backends/tpu_sim/tpu.h"
#include "base/status_macros.h"
#include "costmodels/kernel_graph.h"
#include "costmodels/tile_features.h"
#include "hlo/tiles/tile_space.h"
#include "hlo/tiles/tiled_kernel.h"
#include "tuning/tasks/tile_surrogate.h"
#include "tuning/tasks/tpu_peaks.h"

namespace hone::bench {
namespace {

using learning::CostGroup;
using learning::CostSample;

// The text of the part of a configuration that is kept while the other varies.
std::string FlagsOf(hlo::KernelConfig config) {
  config.tile = {};
  return hlo::PrintKernelConfig(config);
}
std::string TileOf(const hlo::KernelConfig& config) {
  hlo::KernelConfig tile;
  tile.tile = config.tile;
  return hlo::PrintKernelConfig(tile);
}

// Adds a group for each set of samples with the same key.
void AddGroups(const std::map<std::string, std::vector<CostSample>>& by_key,
               const std::string& program, int32_t head,
               std::vector<CostGroup>& groups) {
  for (const auto& [key, samples] : by_key) {
    if (samples.size() < 2) continue;
    groups.push_back({.program = program, .head = head, .samples = samples});
  }
}

}  // namespace

absl::StatusOr<std::vector<CostGroup>> TpuGroups(const TpuSamples& line) {
  HONE_ASSIGN_OR_RETURN(const hlo::Module kernel, ParseTpuKernel(line));
  const hlo::TiledKernel tiled(kernel);
  const hlo::TileSpace space(tiled);
  HONE_ASSIGN_OR_RETURN(const backends::Tpu tpu,
                        backends::FindTpu(line.device));
  const costmodels::TileFeatures features(tiled, tuning::PeaksOf(tpu));
  const auto graph = std::make_shared<const space::Observation>(
      costmodels::ObserveKernelGraph(kernel));
  CostGroup all = {.program = line.program, .head = tuning::kTpuTimeHead};
  std::map<std::string, std::vector<CostSample>> by_flags;
  std::map<std::string, std::vector<CostSample>> by_tile;
  for (const TileSample& sample : line.samples) {
    HONE_RETURN_IF_ERROR(space.Check(sample.config));
    all.samples.push_back(
        {graph, features.Of(sample.config), std::log(sample.ns)});
    by_flags[FlagsOf(sample.config)].push_back(all.samples.back());
    by_tile[TileOf(sample.config)].push_back(all.samples.back());
  }
  std::vector<CostGroup> groups;
  groups.push_back(std::move(all));
  AddGroups(by_flags, line.program, tuning::kTpuTileHead, groups);
  AddGroups(by_tile, line.program, tuning::kTpuFlagsHead, groups);
  return groups;
}

}  // namespace hone::bench
