// Regions by brute force: whatever is changed outside of what a tile needs, the
// evaluator finds the same tile.

#include "hlo/tiles/tile_regions.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/rng.h"
#include "hlo/equivalence/equivalence.h"
#include "hlo/evaluator/evaluator.h"
#include "hlo/inference/verifier.h"
#include "hlo/text/parser.h"
#include "hlo/tiles/tile_space.h"
#include "tests/support/random_module.h"
#include "tests/support/status_matchers.h"

namespace hone::hlo {
namespace {

constexpr char kRegions[] = R"(HloModule m

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}

ge {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = pred[] compare(a, b), direction=GE
}

lt {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = pred[] compare(a, b), direction=LT
}

ENTRY e {
)";

Module Parse(const std::string& lines) {
  auto module = ParseHloText(absl::StrCat(kRegions, lines, "\n}\n"));
  HONE_EXPECT_OK(module);
  HONE_EXPECT_OK(VerifyModule(*module));
  return *std::move(module);
}

// The elements of an array by their number in row-major order.
bool IsInside(const Box& box, const Shape& shape, int64_t element) {
  for (int64_t d = shape.rank() - 1; d >= 0; --d) {
    const int64_t index = element % shape.dimension(d);
    element /= shape.dimension(d);
    const Interval& interval = box[static_cast<size_t>(d)];
    if (index < interval.start || index >= interval.end()) return false;
  }
  return true;
}

Literal RandomLiteral(const ShapePtr& shape, Rng& rng) {
  Literal literal(shape);
  for (int64_t i = 0; i < literal.num_elements(); ++i) {
    literal.SetDouble(i, static_cast<double>(rng.Below(17)) - 4);
  }
  return literal;
}

std::vector<int64_t> RandomPosition(const TileRegions& regions, Rng& rng) {
  std::vector<int64_t> position;
  for (const int64_t tiles : regions.grid()) {
    position.push_back(static_cast<int64_t>(
        rng.Below(static_cast<uint64_t>(std::max<int64_t>(tiles, 1)))));
  }
  return position;
}

// Any sizes, not only those of the space.
Tile RandomTile(const TiledKernel& kernel, bool whole_reduction, Rng& rng) {
  Tile tile;
  for (const int64_t size : kernel.output_dimensions()) {
    tile.output.push_back(
        1 + static_cast<int64_t>(
                rng.Below(static_cast<uint64_t>(std::max<int64_t>(size, 1)))));
  }
  for (const int64_t size : kernel.reduction_dimensions()) {
    const int64_t whole = std::max<int64_t>(size, 1);
    tile.reduction.push_back(whole_reduction
                                 ? whole
                                 : 1 + static_cast<int64_t>(rng.Below(
                                           static_cast<uint64_t>(whole))));
  }
  return tile;
}

struct Kernel {
  const char* name;
  const char* lines;
};

const Kernel kKernels[] = {
    {"elementwise", R"(
  p = f32[6,9] parameter(0)
  q = f32[6,9] parameter(1)
  c = f32[6,9] cosine(p)
  ROOT r = f32[6,9] add(c, q))"},
    {"scalar", R"(
  p = f32[] parameter(0)
  ROOT r = f32[] negate(p))"},
    {"clamp", R"(
  p = f32[] parameter(0)
  q = f32[7,5] parameter(1)
  ROOT r = f32[7,5] clamp(p, q, p))"},
    {"broadcast", R"(
  p = f32[6] parameter(0)
  ROOT r = f32[5,6,3] broadcast(p), dimensions={1})"},
    {"transpose", R"(
  p = f32[6,5,4] parameter(0)
  t = f32[4,6,5] transpose(p), dimensions={2,0,1}
  ROOT r = f32[4,6,5] negate(t))"},
    {"reverse", R"(
  p = f32[6,5] parameter(0)
  ROOT r = f32[6,5] reverse(p), dimensions={0})"},
    {"reduce", R"(
  p = f32[6,5,4] parameter(0)
  z = f32[] constant(0)
  ROOT r = f32[5] reduce(p, z), dimensions={0,2}, to_apply=add)"},
    {"reduce of a product, subtracted", R"(
  p = f32[8,10] parameter(0)
  q = f32[10] parameter(1)
  b = f32[8,10] broadcast(q), dimensions={1}
  m = f32[8,10] multiply(p, b)
  z = f32[] constant(0)
  s = f32[8] reduce(m, z), dimensions={1}, to_apply=add
  c = f32[8,10] broadcast(s), dimensions={0}
  ROOT r = f32[8,10] subtract(p, c))"},
    {"dot", R"(
  p = f32[3,6,5] parameter(0)
  q = f32[5,3,7] parameter(1)
  d = f32[3,6,7] dot(p, q), lhs_batch_dims={0}, rhs_batch_dims={1},
    lhs_contracting_dims={2}, rhs_contracting_dims={0}
  ROOT r = f32[3,6,7] negate(d))"},
    {"convolution", R"(
  p = f32[2,9,8,4] parameter(0)
  q = f32[3,2,4,5] parameter(1)
  ROOT r = f32[2,5,9,5] convolution(p, q),
    window={size=3x2 stride=2x1 pad=1_1x1_1}, dim_labels=b01f_01io->b01f)"},
    {"dilated convolution in groups", R"(
  p = f32[2,9,6] parameter(0)
  q = f32[3,2,9] parameter(1)
  ROOT r = f32[2,13,9] convolution(p, q),
    window={size=3 pad=0_0 lhs_dilate=2 rhs_dilate=2 rhs_reversal=1}, dim_labels=b0f_0io->b0f,
    feature_group_count=3)"},
    {"convolution in groups of the batch", R"(
  p = f32[4,9,6] parameter(0)
  q = f32[3,6,8] parameter(1)
  ROOT r = f32[2,7,8] convolution(p, q), window={size=3}, dim_labels=b0f_0io->b0f,
    batch_group_count=2)"},
    {"reduce-window", R"(
  p = f32[9,8] parameter(0)
  z = f32[] constant(0)
  ROOT r = f32[5,4] reduce-window(p, z), window={size=3x2 stride=2x2 pad=1_1x0_0}, to_apply=add)"},
    {"dilated reduce-window", R"(
  p = f32[9,8] parameter(0)
  z = f32[] constant(0)
  ROOT r = f32[15,6] reduce-window(p, z), window={size=3x2 lhs_dilate=2x1 rhs_dilate=1x2}, to_apply=add)"},
    {"select-and-scatter", R"(
  p = f32[8,9] parameter(0)
  q = f32[4,4] parameter(1)
  z = f32[] constant(0)
  ROOT r = f32[8,9] select-and-scatter(p, q, z), window={size=2x3 stride=2x2}, select=ge, scatter=add)"},
    {"slice of a pad", R"(
  p = f32[6,7] parameter(0)
  z = f32[] constant(0)
  a = f32[14,9] pad(p, z), padding=1_2_1x3_-1
  ROOT r = f32[4,4] slice(a), slice={[2:14:3], [1:9:2]})"},
    {"concatenate", R"(
  p = f32[3,4] parameter(0)
  q = f32[5,4] parameter(1)
  c = f32[11,4] concatenate(p, q, p), dimensions={0}
  ROOT r = f32[11,4] negate(c))"},
    {"reshape", R"(
  p = f32[4,6,5] parameter(0)
  ROOT r = f32[2,12,1,5] reshape(p))"},
    {"reshape that splits", R"(
  p = f32[24,5] parameter(0)
  ROOT r = f32[3,8,5] reshape(p))"},
    {"reshape that mixes", R"(
  p = f32[4,6] parameter(0)
  ROOT r = f32[3,8] reshape(p))"},
    {"dynamic-slice", R"(
  p = f32[9,6] parameter(0)
  i = s32[] parameter(1)
  z = s32[] constant(0)
  ROOT r = f32[3,6] dynamic-slice(p, i, z), dynamic_slice_sizes={3,6})"},
    {"dynamic-update-slice", R"(
  p = f32[9,6] parameter(0)
  u = f32[3,6] parameter(1)
  i = s32[] parameter(2)
  z = s32[] constant(0)
  ROOT r = f32[9,6] dynamic-update-slice(p, u, i, z))"},
    {"gather of rows", R"(
  p = f32[9,6] parameter(0)
  i = s32[7] parameter(1)
  ROOT r = f32[7,6] gather(p, i), offset_dims={1}, collapsed_slice_dims={0},
    start_index_map={0}, index_vector_dim=1, slice_sizes={1,6})"},
    {"gather of windows", R"(
  p = f32[9,6] parameter(0)
  i = s32[4,5,1] parameter(1)
  ROOT r = f32[4,2,5,6] gather(p, i), offset_dims={1,3}, collapsed_slice_dims={},
    start_index_map={0}, index_vector_dim=2, slice_sizes={2,6})"},
    {"scatter", R"(
  p = f32[9,6] parameter(0)
  i = s32[4,1] parameter(1)
  u = f32[4,6] parameter(2)
  ROOT r = f32[9,6] scatter(p, i, u), update_window_dims={1}, inserted_window_dims={0},
    scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add)"},
    {"sort", R"(
  p = f32[5,9] parameter(0)
  ROOT r = f32[5,9] sort(p), dimensions={1}, to_apply=lt)"},
    {"iota", R"(
  p = s32[5,9] parameter(0)
  i = s32[5,9] iota(), iota_dimension=1
  ROOT r = s32[5,9] add(p, i))"},
    {"cholesky", R"(
  p = f32[4,3,3] parameter(0)
  ROOT r = f32[4,3,3] cholesky(p), lower=true)"},
    {"bitcast-convert to bytes", R"(
  p = f32[4,3] parameter(0)
  ROOT r = u8[4,3,4] bitcast-convert(p))"},
    {"sum and what is summed", R"(
  p = f32[8,6] parameter(0)
  q = f32[8,6] parameter(1)
  a = f32[8,6] add(p, q)
  z = f32[] constant(0)
  s = f32[8] reduce(a, z), dimensions={1}, to_apply=add
  ROOT r = (f32[8], f32[8,6]) tuple(s, a))"},
    {"two of equal dimensions", R"(
  p = f32[8,6] parameter(0)
  q = f32[6] parameter(1)
  b = f32[8,6] broadcast(q), dimensions={1}
  n = f32[8,6] negate(p)
  ROOT r = (f32[8,6], f32[8,6]) tuple(b, n))"},
    {"results without relation", R"(
  p = f32[8,6] parameter(0)
  q = f32[5] parameter(1)
  n = f32[8,6] negate(p)
  m = f32[5] negate(q)
  ROOT r = (f32[5], f32[8,6]) tuple(m, n))"},
    {"empty", R"(
  p = f32[0,6] parameter(0)
  q = f32[4,6] parameter(1)
  ROOT r = f32[4,6] concatenate(p, q), dimensions={0})"},
};

// Evaluates a module on `arguments` and on others that differ everywhere
// outside of the regions of a tile, and compares the tile.
void ExpectTileDependsOnRegionsOnly(const TiledKernel& kernel,
                                    const IdMap<Region>& tile,
                                    const std::vector<Literal>& arguments,
                                    Rng& rng) {
  const Computation& entry = kernel.computation();
  std::vector<Literal> others = arguments;
  for (size_t p = 0; p < others.size(); ++p) {
    const InstructionId id = entry.parameters()[p];
    const Shape& shape = entry[id].shape();
    if (!shape.IsArray() || IsComplex(shape.element_type())) continue;
    others[p] = RandomLiteral(entry[id].shape_ptr(), rng);
    const Region region = tile.at(id);
    for (int64_t i = 0; i < others[p].num_elements(); ++i) {
      if (region.touched > 0 && IsInside(region.box, shape, i)) {
        others[p].SetDouble(i, arguments[p].AsDouble(i));
      }
    }
  }
  const auto expected = Evaluate(kernel.module(), arguments);
  const auto found = Evaluate(kernel.module(), others);
  ASSERT_THAT(expected, hone::testing::IsOk());
  ASSERT_THAT(found, hone::testing::IsOk());
  const bool is_tuple = entry[entry.root()].opcode() == Opcode::kTuple &&
                        !kernel.results().empty();
  for (size_t r = 0; r < kernel.results().size(); ++r) {
    const Literal& a = is_tuple ? expected->elements()[r] : *expected;
    const Literal& b = is_tuple ? found->elements()[r] : *found;
    if (!a.shape().IsArray() || IsComplex(a.shape().element_type())) continue;
    const Box& box = tile.at(kernel.results()[r]).box;
    for (int64_t i = 0; i < a.num_elements(); ++i) {
      if (!IsInside(box, a.shape(), i)) continue;
      const double x = a.AsDouble(i);
      const double y = b.AsDouble(i);
      ASSERT_TRUE(x == y || (x != x && y != y)) << "result " << r << ": " << i;
    }
  }
}

TEST(TileRegions, NothingOutsideOfTheRegionChangesTheTile) {
  Rng rng(1);
  for (const Kernel& each : kKernels) {
    SCOPED_TRACE(each.name);
    const Module module = Parse(each.lines);
    const TiledKernel kernel(module);
    for (int round = 0; round < 30; ++round) {
      const TileRegions regions(
          kernel, RandomTile(kernel, /*whole_reduction=*/true, rng));
      if (regions.tile_count() == 0) continue;
      std::vector<Literal> arguments;
      for (const InstructionId id : kernel.computation().parameters()) {
        arguments.push_back(
            RandomLiteral(kernel.computation()[id].shape_ptr(), rng));
      }
      ExpectTileDependsOnRegionsOnly(
          kernel, regions.At(RandomPosition(regions, rng)), arguments, rng);
    }
  }
}

// Whole programs, of every opcode that the evaluator runs.
TEST(TileRegions, NothingOutsideOfTheRegionChangesTheTileOfARandomProgram) {
  Rng rng(5);
  for (uint64_t seed = 0; seed < 150; ++seed) {
    const std::string text = hone::testing::RandomModuleText(seed);
    SCOPED_TRACE(absl::StrCat("seed ", seed, "\n", text));
    const auto module = ParseHloText(text);
    ASSERT_THAT(module, hone::testing::IsOk());
    const auto arguments = RandomArguments(*module, seed);
    ASSERT_THAT(arguments, hone::testing::IsOk());
    const TiledKernel kernel(*module);
    for (int round = 0; round < 4; ++round) {
      const TileRegions regions(
          kernel, RandomTile(kernel, /*whole_reduction=*/true, rng));
      if (regions.tile_count() == 0) continue;
      ExpectTileDependsOnRegionsOnly(
          kernel, regions.At(RandomPosition(regions, rng)), *arguments, rng);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(TileRegions, RegionsLieInTheirArraysAndTilesCoverTheResults) {
  Rng rng(2);
  for (const Kernel& each : kKernels) {
    SCOPED_TRACE(each.name);
    const Module module = Parse(each.lines);
    const TiledKernel kernel(module);
    const TileRegions regions(
        kernel, RandomTile(kernel, /*whole_reduction=*/false, rng));
    std::vector<std::vector<bool>> covered;
    for (const InstructionId id : kernel.results()) {
      covered.emplace_back(
          module.entry_computation()[id].shape().num_elements());
    }
    std::vector<int64_t> position(regions.grid().size());
    for (int64_t tile = 0; tile < regions.tile_count(); ++tile) {
      int64_t rest = tile;
      for (size_t d = 0; d < position.size(); ++d) {
        position[d] = rest % regions.grid()[d];
        rest /= regions.grid()[d];
      }
      const IdMap<Region> at = regions.At(position);
      for (const InstructionId id : kernel.instructions()) {
        const Region region = at.at(id);
        if (region.touched == 0) continue;
        const Instruction& instruction = module.entry_computation()[id];
        EXPECT_TRUE(Contains(WholeRegion(instruction).box, region.box));
        EXPECT_LE(region.touched, Volume(region.box));
      }
      for (size_t r = 0; r < covered.size(); ++r) {
        const InstructionId id = kernel.results()[r];
        for (size_t i = 0; i < covered[r].size(); ++i) {
          if (IsInside(at.at(id).box, module.entry_computation()[id].shape(),
                       static_cast<int64_t>(i))) {
            covered[r][i] = true;
          }
        }
      }
    }
    for (const std::vector<bool>& result : covered) {
      EXPECT_EQ(std::count(result.begin(), result.end(), false), 0);
    }
  }
}

// The sums of a product over tiles of its terms are those of the whole: what
// the tiles of the reduction need is disjoint and complete.
TEST(TileRegions, TilesOfTheReductionAddUp) {
  Rng rng(3);
  for (const std::string name :
       {"dot", "convolution", "dilated convolution in groups", "reduce"}) {
    SCOPED_TRACE(name);
    const Kernel& each = *std::find_if(
        std::begin(kKernels), std::end(kKernels),
        [&name](const Kernel& kernel) { return kernel.name == name; });
    const Module module = Parse(each.lines);
    const TiledKernel kernel(module);
    const Computation& entry = module.entry_computation();
    for (int round = 0; round < 20; ++round) {
      const TileRegions regions(
          kernel, RandomTile(kernel, /*whole_reduction=*/false, rng));
      std::vector<int64_t> position = RandomPosition(regions, rng);
      std::vector<Literal> arguments;
      for (const InstructionId id : entry.parameters()) {
        arguments.push_back(RandomLiteral(entry[id].shape_ptr(), rng));
      }
      const auto expected = Evaluate(module, arguments);
      ASSERT_THAT(expected, hone::testing::IsOk());
      std::vector<double> sums(static_cast<size_t>(expected->num_elements()));
      const size_t outputs = kernel.output_dimensions().size();
      int64_t tiles = 1;
      for (size_t d = outputs; d < position.size(); ++d) {
        tiles *= regions.grid()[d];
      }
      Box box;
      for (int64_t tile = 0; tile < tiles; ++tile) {
        int64_t rest = tile;
        for (size_t d = outputs; d < position.size(); ++d) {
          position[d] = rest % regions.grid()[d];
          rest /= regions.grid()[d];
        }
        const IdMap<Region> at = regions.At(position);
        std::vector<Literal> parts;
        for (size_t p = 0; p < arguments.size(); ++p) {
          const InstructionId id = entry.parameters()[p];
          Literal part(entry[id].shape_ptr());
          for (int64_t i = 0; i < part.num_elements(); ++i) {
            const bool inside = IsInside(at.at(id).box, entry[id].shape(), i);
            part.SetDouble(i, inside ? arguments[p].AsDouble(i) : 0);
          }
          parts.push_back(std::move(part));
        }
        const auto part = Evaluate(module, parts);
        ASSERT_THAT(part, hone::testing::IsOk());
        for (size_t i = 0; i < sums.size(); ++i) {
          sums[i] += part->AsDouble(static_cast<int64_t>(i));
        }
        box = at.at(kernel.primary()).box;
      }
      for (size_t i = 0; i < sums.size(); ++i) {
        const auto element = static_cast<int64_t>(i);
        if (!IsInside(box, expected->shape(), element)) continue;
        ASSERT_EQ(sums[i], expected->AsDouble(element));
      }
    }
  }
}

TEST(TileRegions, SideReductionsReadWhatIsTiled) {
  const Module module = Parse(R"(
  p = f32[8,6] parameter(0)
  q = f32[8,6] parameter(1)
  a = f32[8,6] add(p, q)
  z = f32[] constant(0)
  s = f32[6] reduce(a, z), dimensions={0}, to_apply=add
  t = f32[8] reduce(a, z), dimensions={1}, to_apply=add
  ROOT r = (f32[6], f32[8], f32[8,6]) tuple(s, t, a))");
  const TiledKernel kernel(module);
  // The first of equal work is the hero.
  const Tile tile = {{3}, {4}};
  const IdMap<Region> at = TileRegions(kernel, tile).At({1, 1});
  const InstructionId p = module.entry_computation().parameters()[0];
  EXPECT_EQ(at.at(p).box, (Box{{4, 4}, {3, 3}}));
  EXPECT_EQ(at.at(kernel.results()[0]).box, (Box{{3, 3}}));
  EXPECT_EQ(at.at(kernel.results()[1]).box, (Box{{0, 8}}));
  EXPECT_EQ(at.at(kernel.results()[2]).box, (Box{{4, 4}, {3, 3}}));
}

TEST(TileRegions, ElementsReadAtUnknownPlacesAreCounted) {
  const Module module = Parse(R"(
  p = f32[900,6] parameter(0)
  n = f32[900,6] negate(p)
  i = s32[8] parameter(1)
  ROOT r = f32[8,6] gather(n, i), offset_dims={1}, collapsed_slice_dims={0},
    start_index_map={0}, index_vector_dim=1, slice_sizes={1,6})");
  const TiledKernel kernel(module);
  const IdMap<Region> at = TileRegions(kernel, {{2, 6}, {}}).At({3, 0});
  const std::vector<InstructionId>& parameters =
      module.entry_computation().parameters();
  EXPECT_EQ(at.at(parameters[0]), (Region{{{0, 900}, {0, 6}}, 12}));
  EXPECT_EQ(at.at(parameters[1]), (Region{{{6, 2}}, 2}));
}

TEST(TileRegions, UnknownOpcodesReadEverything) {
  auto module = ParseHloText(R"(HloModule m
ENTRY e {
  p = f32[8,6] parameter(0)
  ROOT r = f32[8,6] swizzle-at-will(p)
})");
  ASSERT_THAT(module, hone::testing::IsOk());
  const TiledKernel kernel(*module);
  const IdMap<Region> at = TileRegions(kernel, {{2, 6}, {}}).At({3, 0});
  EXPECT_EQ(at.at(module->entry_computation().parameters()[0]),
            (Region{{{0, 8}, {0, 6}}, 48}));
}

TEST(TileRegions, HugeWindowsAndShapesDoNotOverflow) {
  auto module = ParseHloText(R"(HloModule m
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}
ENTRY e {
  p = f32[1000000000000000] parameter(0)
  z = f32[] constant(0)
  b = f32[1000000000000000,1000] broadcast(p), dimensions={0}
  ROOT r = f32[1000000000000000] reduce(b, z), dimensions={1}, to_apply=add
})");
  ASSERT_THAT(module, hone::testing::IsOk());
  const TiledKernel kernel(*module);
  const TileRegions regions(kernel, {{1024}, {128}});
  EXPECT_EQ(regions.grid()[0], 976562500000);
  const IdMap<Region> at = regions.At({976562499999, 7});
  EXPECT_EQ(at.at(module->entry_computation().parameters()[0]).box,
            (Box{{999999999998976, 1024}}));
}

}  // namespace
}  // namespace hone::hlo
