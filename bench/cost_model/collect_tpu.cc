#include "bench/cost_model/collect_tpu.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "backends/tpu_sim/simulator.h"
#include "backends/tpu_sim/tpu_module.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/rng.h"
#include "base/status_macros.h"
#include "bench/cost_model/data_file.h"
#include "bench/cost_model/resize_kernel.h"
#include "bench/cost_model/tpu_programs.h"
#include "bench/cost_model/tpu_samples.h"
#include "hlo/analysis/fingerprint.h"
#include "hlo/fusion/fuse.h"
#include "hlo/fusion/fuse_by_priority.h"
#include "hlo/fusion/kernel_rules.h"
#include "hlo/fusion/kernels.h"
#include "hlo/text/printer.h"

namespace hone::bench {
namespace {

// Random fusions of a program, with shares of nodes that are to be fused, and
// the share of arrays whose layout is swapped.
constexpr double kFusedShares[] = {0.3, 0.6, 0.9};
constexpr double kSwappedShare = 0.2;

// A kernel of some fusion of a program.
struct DrawnKernel {
  hlo::Module module;
  // The time with the default configuration.
  double ns = 0;
};

// The kernels of a program under several fusions, each different one once.
class KernelDraw {
 public:
  KernelDraw(const hlo::Module& module, const backends::Tpu& tpu, Rng& rng)
      : space_(module), tpu_(tpu), rng_(rng) {}

  std::vector<DrawnKernel> All() {
    hlo::KernelRules rules(space_);
    Add(hlo::FuseByPriority(space_,
                            [this](const hlo::Module& kernel) {
                              return backends::DefaultNs(kernel, tpu_);
                            }),
        space_.RowMajor());
    Add(hlo::FuseGreedily(space_), space_.RowMajor());
    Add(space_.Unfused(), space_.RowMajor());
    for (const double share : kFusedShares) {
      hlo::FusionBits wanted = space_.Unfused();
      for (const hlo::FusionIndex node : space_.fusible()) {
        if (rng_.Uniform() < share) {
          wanted[static_cast<size_t>(node)] = hlo::kFused;
        }
      }
      hlo::LayoutBits layouts = space_.RowMajor();
      for (const hlo::FusionIndex node : space_.swappable()) {
        if (rng_.Uniform() < kSwappedShare) {
          layouts[static_cast<size_t>(node)] = 1;
        }
      }
      Add(rules.Legalize(wanted), layouts);
    }
    return std::move(kernels_);
  }

 private:
  void Add(const hlo::FusionBits& fused, const hlo::LayoutBits& layouts) {
    const auto program = hlo::Fuse(space_, fused, layouts);
    if (!program.ok()) return;
    auto kernels = hlo::KernelsOf(*program);
    if (!kernels.ok()) return;
    for (hlo::Kernel& kernel : *kernels) {
      if (!seen_.insert(hlo::FastFingerprint(kernel.module)).second) continue;
      const double ns = backends::DefaultNs(kernel.module, tpu_);
      if (!std::isnan(ns)) kernels_.push_back({std::move(kernel.module), ns});
    }
  }

  const hlo::FusionSpace space_;
  const backends::Tpu& tpu_;
  Rng& rng_;
  absl::flat_hash_set<Hash128> seen_;
  std::vector<DrawnKernel> kernels_;
};

// Returns `count` of the kernels, half drawn by their time, half evenly.
std::vector<DrawnKernel> Choose(std::vector<DrawnKernel> kernels, size_t count,
                                Rng& rng) {
  std::vector<DrawnKernel> chosen;
  while (chosen.size() < count && !kernels.empty()) {
    size_t index = rng.Below(kernels.size());
    if (chosen.size() % 2 == 0) {
      double sum = 0;
      for (const DrawnKernel& kernel : kernels) sum += kernel.ns;
      double left = rng.Uniform() * sum;
      for (index = 0; index + 1 < kernels.size(); ++index) {
        left -= kernels[index].ns;
        if (left < 0) break;
      }
    }
    chosen.push_back(std::move(kernels[index]));
    kernels.erase(kernels.begin() + static_cast<std::ptrdiff_t>(index));
  }
  return chosen;
}

// The configurations of one kernel.
class ConfigDraw {
 public:
  ConfigDraw(const backends::KernelSimulator& simulator, Rng& rng)
      : simulator_(simulator), rng_(rng) {}

  std::vector<TileSample> Draw(size_t count) {
    Try(simulator_.DefaultConfig());
    if (samples_.empty()) return {};
    const size_t tiles = 2 * count / 3;
    // Spaces may be small, and most of one may not fit.
    for (size_t tries = 0; tries < 8 * count && samples_.size() < tiles;
         ++tries) {
      Try(tries % 2 == 0 ? RandomTile() : EditedBest());
    }
    for (size_t tries = 0; tries < 8 * count && samples_.size() < count;
         ++tries) {
      hlo::KernelConfig config = simulator_.space().RandomConfig(rng_);
      // Several flags of few tiles, so that they can be compared.
      const size_t few = std::min<size_t>(samples_.size(), kTilesWithFlags);
      config.tile = samples_[rng_.Below(few)].config.tile;
      Try(config);
    }
    return std::move(samples_);
  }

 private:
  static constexpr size_t kTilesWithFlags = 2;

  hlo::KernelConfig RandomTile() {
    hlo::KernelConfig config = samples_[0].config;
    config.tile = simulator_.space().RandomConfig(rng_).tile;
    return config;
  }

  // The best tile so far with another size in one dimension.
  hlo::KernelConfig EditedBest() {
    hlo::KernelConfig config = samples_[best_].config;
    const hlo::Tile other = RandomTile().tile;
    const size_t outputs = other.output.size();
    const size_t dimensions = outputs + other.reduction.size();
    if (dimensions == 0) return config;
    const size_t d = rng_.Below(dimensions);
    if (d < outputs) {
      config.tile.output[d] = other.output[d];
    } else {
      config.tile.reduction[d - outputs] = other.reduction[d - outputs];
    }
    return config;
  }

  void Try(const hlo::KernelConfig& config) {
    if (!seen_.insert(hlo::PrintKernelConfig(config)).second) return;
    const auto time = simulator_.Simulate(config);
    if (!time.ok() || time->overflow_bytes > 0) return;
    samples_.push_back({config, time->ns});
    if (time->ns < samples_[best_].ns) best_ = samples_.size() - 1;
  }

  const backends::KernelSimulator& simulator_;
  Rng& rng_;
  absl::flat_hash_set<std::string> seen_;
  std::vector<TileSample> samples_;
  size_t best_ = 0;
};

// Returns the programs that are in the file.
absl::StatusOr<absl::flat_hash_set<std::string>> Present(
    const CollectTpuOptions& options) {
  absl::flat_hash_set<std::string> present;
  if (!HasLines(options.output)) return present;
  HONE_RETURN_IF_ERROR(ReadTpuSamples(
      options.output, [&](const TpuSamples& line) -> absl::Status {
        if (line.device != options.tpu) {
          return absl::InvalidArgumentError(
              absl::StrCat(options.output, ": has kernels of TPU ", line.device,
                           ", expected ", options.tpu));
        }
        present.insert(line.program);
        return absl::OkStatus();
      }));
  return present;
}

}  // namespace

absl::StatusOr<CollectedTpu> CollectTpu(const CollectTpuOptions& options,
                                        std::ostream& log) {
  HONE_ASSIGN_OR_RETURN(const backends::Tpu tpu,
                        backends::FindTpu(options.tpu));
  HONE_ASSIGN_OR_RETURN(const auto present, Present(options));
  HONE_ASSIGN_OR_RETURN(
      std::vector<TpuProgram> programs,
      ReadTpuPrograms(options.corpus, options.partitions, options.only));
  for (TpuProgram& program : RandomTpuPrograms(options.seed, options.random)) {
    programs.push_back(std::move(program));
  }
  HONE_ASSIGN_OR_RETURN(DataFile file,
                        DataFile::Open(options.output, kTpuLineBegin));
  CollectedTpu result;
  const absl::Duration start = SystemClock().Monotonic();
  for (size_t i = 0; i < programs.size(); ++i) {
    const TpuProgram& program = programs[i];
    if (present.contains(program.name)) {
      ++result.present;
      continue;
    }
    HONE_ASSIGN_OR_RETURN(const hlo::Module module, ReadTpuProgram(program));
    Rng rng(options.seed ^ FastHash(program.name).low);
    std::vector<DrawnKernel> kernels =
        Choose(KernelDraw(module, tpu, rng).All(),
               static_cast<size_t>(options.kernels), rng);
    // Each kernel at other sizes too, as far as there are valid ones.
    for (size_t k = 0, drawn = kernels.size(); k < drawn; ++k) {
      std::optional<hlo::Module> resized = ResizeKernel(kernels[k].module, rng);
      if (resized.has_value()) kernels.push_back({*std::move(resized)});
    }
    // All lines of a program or none, so that what is there is complete.
    std::string lines;
    for (const DrawnKernel& kernel : kernels) {
      const backends::KernelSimulator simulator(kernel.module, tpu);
      TpuSamples samples = {.program = program.name,
                            .family = program.family,
                            .device = options.tpu,
                            .kernel = hlo::PrintModule(kernel.module)};
      samples.samples =
          ConfigDraw(simulator, rng).Draw(static_cast<size_t>(options.configs));
      if (samples.samples.empty()) continue;
      ++result.kernels;
      result.configs += static_cast<int64_t>(samples.samples.size());
      if (!lines.empty()) lines.push_back('\n');
      lines += PrintTpuSamples(samples);
    }
    if (!lines.empty()) HONE_RETURN_IF_ERROR(file.Add(std::move(lines)));
    ++result.programs;
    result.seconds = absl::ToDoubleSeconds(SystemClock().Monotonic() - start);
    log << absl::StrFormat("%d/%d %s: %d kernels, %d configurations (%.1f s)\n",
                           i + 1, programs.size(), program.name, result.kernels,
                           result.configs, result.seconds)
        << std::flush;
  }
  return result;
}

}  // namespace hone::bench
