#include "hlo/tiles/tile_space.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

#include "base/division.h"
#include "base/saturating.h"
#include "hlo/tiles/register_layout.h"

namespace hone::hlo {
namespace {

constexpr std::array<GridOrder, 2> kOrders = {GridOrder::kRow,
                                              GridOrder::kColumn};
constexpr std::array<int32_t, 3> kBuffers = {1, 2, 3};
constexpr std::array<int32_t, 4> kUnrolls = {1, 2, 4, 8};
constexpr int64_t kFlagCount =
    kOrders.size() * kBuffers.size() * kUnrolls.size();

void SetFlags(int64_t index, KernelConfig& config) {
  const auto take = [&index](const auto& list) {
    const auto value = list[static_cast<size_t>(index) % list.size()];
    index /= static_cast<int64_t>(list.size());
    return value;
  };
  config.unroll = take(kUnrolls);
  config.buffers = take(kBuffers);
  config.order = take(kOrders);
}

// The unit of dimension `d` of an operand of the hero.
int64_t OperandUnit(const TiledKernel& kernel, size_t operand, int64_t d) {
  const Instruction& hero = kernel.computation()[kernel.hero()];
  const Shape* const shape =
      TiledShape(kernel.computation()[hero.operand(operand)]);
  return shape == nullptr ? 1 : TileUnit(*shape, d);
}

// The unit of number `i` of the dimensions that the hero reduces.
int64_t ReductionUnit(const TiledKernel& kernel, size_t i) {
  const Instruction& hero = kernel.computation()[kernel.hero()];
  switch (hero.opcode()) {
    case Opcode::kDot: {
      const DotDimensions& dot = *hero.attributes().dot;
      return std::max(OperandUnit(kernel, 0, dot.lhs_contracting[i]),
                      OperandUnit(kernel, 1, dot.rhs_contracting[i]));
    }
    case Opcode::kConvolution: {
      const ConvolutionDimensions& c = *hero.attributes().convolution;
      return std::max(OperandUnit(kernel, 0, c.input_feature),
                      OperandUnit(kernel, 1, c.kernel_input_feature));
    }
    default:
      return OperandUnit(kernel, 0, hero.dimensions()[i]);
  }
}

// Powers of two and three times these, divisors, and the whole, in units; of
// too many an even choice.
std::vector<int64_t> Candidates(int64_t size, int64_t unit) {
  const int64_t units = CeilDivide(size, unit);
  std::set<int64_t> counts;
  for (int64_t power = 1; power < units; power *= 2) {
    counts.insert(power);
    if (power <= units / 3) counts.insert(3 * power);
    // Divisors are looked for among small ones: they and their complements.
    if (power > (int64_t{1} << 60)) break;
  }
  constexpr int64_t kMaxDivisor = 64;
  for (int64_t divisor = 2; divisor <= std::min(kMaxDivisor, units);
       ++divisor) {
    if (units % divisor != 0) continue;
    counts.insert(divisor);
    counts.insert(units / divisor);
  }
  std::vector<int64_t> sizes;
  for (const int64_t count : counts) {
    if (count < units) sizes.push_back(count * unit);
  }
  const auto limit = static_cast<size_t>(kMaxTileSizes - 1);
  if (sizes.size() > limit) {
    std::vector<int64_t> chosen;
    for (size_t i = 0; i < limit; ++i) {
      chosen.push_back(sizes[i * sizes.size() / limit]);
    }
    sizes = std::move(chosen);
  }
  sizes.push_back(std::max<int64_t>(size, 1));
  return sizes;
}

}  // namespace

TileSpace::TileSpace(const TiledKernel& kernel) {
  const absl::Span<const int64_t> outputs = kernel.output_dimensions();
  output_rank_ = outputs.size();
  for (size_t d = 0; d < outputs.size(); ++d) {
    dimensions_.push_back(
        {outputs[d],
         TileUnit(*TiledShape(kernel.computation()[kernel.primary()]),
                  static_cast<int64_t>(d))});
  }
  const absl::Span<const int64_t> reduced = kernel.reduction_dimensions();
  for (size_t i = 0; i < reduced.size(); ++i) {
    dimensions_.push_back({reduced[i], ReductionUnit(kernel, i)});
  }
  for (const Dimension& dimension : dimensions_) {
    sizes_.push_back(Candidates(dimension.size, dimension.unit));
  }
}

absl::Status TileSpace::Check(const KernelConfig& config) const {
  const Tile& tile = config.tile;
  if (absl::Status status = CheckSizes("output", tile.output, 0, output_rank_);
      !status.ok()) {
    return status;
  }
  if (absl::Status status =
          CheckSizes("reduction", tile.reduction, output_rank_,
                     dimensions_.size() - output_rank_);
      !status.ok()) {
    return status;
  }
  if (!absl::c_linear_search(kBuffers, config.buffers)) {
    return absl::InvalidArgumentError(
        absl::StrCat(config.buffers, " buffers, expected 1 to ", kMaxBuffers));
  }
  if (!absl::c_linear_search(kUnrolls, config.unroll)) {
    return absl::InvalidArgumentError(
        absl::StrCat("unrolled ", config.unroll,
                     " times, expected a power of two up to ", kMaxUnroll));
  }
  return absl::OkStatus();
}

absl::Status TileSpace::CheckSizes(absl::string_view what,
                                   const DimensionVector& sizes, size_t first,
                                   size_t count) const {
  if (sizes.size() != count) {
    return absl::InvalidArgumentError(
        absl::StrCat("the ", what, " tile has ", sizes.size(),
                     " dimensions, expected ", count));
  }
  for (size_t i = 0; i < count; ++i) {
    const Dimension& dimension = dimensions_[first + i];
    const int64_t whole = std::max<int64_t>(dimension.size, 1);
    if (sizes[i] < 1 || sizes[i] > whole) {
      return absl::InvalidArgumentError(
          absl::StrCat("the tile of ", what, " dimension ", i, " is ", sizes[i],
                       ", expected 1 to ", whole));
    }
    if (sizes[i] != whole && sizes[i] % dimension.unit != 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("the tile of ", what, " dimension ", i, " is ", sizes[i],
                       ", expected a multiple of ", dimension.unit,
                       " or the whole ", whole));
    }
  }
  return absl::OkStatus();
}

int64_t TileSpace::tile_count() const {
  int64_t count = 1;
  for (const std::vector<int64_t>& sizes : sizes_) {
    count = SaturatingMultiply(count, static_cast<int64_t>(sizes.size()));
  }
  return count;
}

Tile TileSpace::TileOf(const std::vector<int64_t>& sizes) const {
  Tile tile;
  for (size_t i = 0; i < sizes.size(); ++i) {
    (i < output_rank_ ? tile.output : tile.reduction).push_back(sizes[i]);
  }
  return tile;
}

Tile TileSpace::TileAt(int64_t index) const {
  std::vector<int64_t> chosen(sizes_.size());
  for (size_t i = sizes_.size(); i-- > 0;) {
    const auto count = static_cast<int64_t>(sizes_[i].size());
    chosen[i] = sizes_[i][static_cast<size_t>(index % count)];
    index /= count;
  }
  return TileOf(chosen);
}

KernelConfig TileSpace::RandomConfig(Rng& rng) const {
  std::vector<int64_t> chosen;
  for (const std::vector<int64_t>& sizes : sizes_) {
    chosen.push_back(sizes[rng.Below(sizes.size())]);
  }
  KernelConfig config;
  config.tile = TileOf(chosen);
  SetFlags(static_cast<int64_t>(rng.Below(kFlagCount)), config);
  return config;
}

}  // namespace hone::hlo
