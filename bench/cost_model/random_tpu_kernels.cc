#include "bench/cost_model/random_tpu_kernels.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "base/mix_bits.h"

namespace hone::bench {
namespace {

constexpr double kLeastElements = 1 << 10;
constexpr double kMostElements = 1 << 26;

double DrawElements(Rng& rng) {
  return DrawLog(rng, kLeastElements, kMostElements);
}

// "f32[8,128]".
std::string ShapeText(const std::string& type,
                      const std::vector<int64_t>& extents) {
  return absl::StrCat(type, "[", absl::StrJoin(extents, ","), "]");
}

// "8x128".
std::string SizesText(const std::vector<int64_t>& extents) {
  return absl::StrJoin(extents, "x");
}

// `helpers`: computations before the entry.
NamedKernel Kernel(std::string name, const std::string& helpers,
                   const std::string& lines) {
  return {.family = "",
          .name = std::move(name),
          .module = absl::StrCat("HloModule k\n\n", helpers, "ENTRY e {\n",
                                 lines, "}\n")};
}

// A computation of two scalars.
std::string Scalars(const std::string& name, const std::string& type,
                    const std::string& opcode) {
  return absl::StrCat(name, " {\n  a = ", type, "[] parameter(0)\n  b = ", type,
                      "[] parameter(1)\n  ROOT r = ", type, "[] ", opcode,
                      "(a, b)\n}\n\n");
}

NamedKernel DrawSort(Rng& rng) {
  const std::vector<int64_t> extents =
      DrawExtents(rng, 2, DrawLog(rng, kLeastElements, 1 << 22));
  const size_t along = rng.Below(2);
  const std::string shape = ShapeText("f32", extents);
  const bool has_values = rng.Below(2) == 0;
  const std::string name =
      absl::StrCat(has_values ? "sort_by_f32_" : "sort_f32_",
                   SizesText(extents), "_over_", along);
  if (!has_values) {
    return Kernel(
        name,
        "less {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n"
        "  ROOT r = pred[] compare(a, b), direction=LT\n}\n\n",
        absl::StrCat("  x = ", shape, " parameter(0)\n  ROOT s = ", shape,
                     " sort(x), dimensions={", along, "}, to_apply=less\n"));
  }
  const std::string values = ShapeText("s32", extents);
  return Kernel(
      name,
      "less {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n"
      "  c = s32[] parameter(2)\n  d = s32[] parameter(3)\n"
      "  ROOT r = pred[] compare(a, b), direction=LT\n}\n\n",
      absl::StrCat("  x = ", shape, " parameter(0)\n  v = ", values,
                   " parameter(1)\n  ROOT s = (", shape, ", ", values,
                   ") sort(x, v), dimensions={", along, "}, to_apply=less\n"));
}

NamedKernel DrawFft(Rng& rng) {
  const int64_t length = int64_t{1} << (3 + rng.Below(10));
  const int64_t batch = DrawLength(rng, 1, 2048);
  const std::string shape = ShapeText("c64", {batch, length});
  return Kernel(
      absl::StrCat("fft_", batch, "x", length), "",
      absl::StrCat("  x = ", shape, " parameter(0)\n  ROOT f = ", shape,
                   " fft(x), fft_type=FFT, fft_length={", length, "}\n"));
}

NamedKernel DrawCholesky(Rng& rng) {
  const int64_t n = DrawLength(rng, 8, 768);
  const int64_t batch = DrawLength(rng, 1, 32);
  const std::string shape = ShapeText("f32", {batch, n, n});
  return Kernel(absl::StrCat("cholesky_", batch, "x", n), "",
                absl::StrCat("  x = ", shape, " parameter(0)\n  ROOT c = ",
                             shape, " cholesky(x), lower=true\n"));
}

NamedKernel DrawTriangularSolve(Rng& rng) {
  const int64_t n = DrawLength(rng, 8, 512);
  const int64_t sides = DrawLength(rng, 1, 512);
  const int64_t batch = DrawLength(rng, 1, 16);
  const std::string shape = ShapeText("f32", {batch, n, sides});
  return Kernel(
      absl::StrCat("triangular_solve_", batch, "x", n, "x", sides), "",
      absl::StrCat("  a = ", ShapeText("f32", {batch, n, n}),
                   " parameter(0)\n  b = ", shape,
                   " parameter(1)\n  ROOT x = ", shape,
                   " triangular-solve(a, b), left_side=true, lower=true, "
                   "transpose_a=NO_TRANSPOSE\n"));
}

NamedKernel DrawRandomNumbers(Rng& rng) {
  const std::vector<int64_t> extents = DrawExtents(rng, 2, DrawElements(rng));
  const std::string shape = ShapeText("f32", extents);
  const bool is_normal = rng.Below(2) == 0;
  return Kernel(
      absl::StrCat("rng_", is_normal ? "normal_" : "uniform_",
                   SizesText(extents)),
      "",
      absl::StrCat("  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n"
                   "  ROOT r = ",
                   shape, " rng(a, b), distribution=",
                   is_normal ? "rng_normal" : "rng_uniform", "\n"));
}

struct Rows {
  int64_t table = 0;
  int64_t picked = 0;
  int64_t width = 0;
};
Rows DrawRows(Rng& rng) {
  Rows rows;
  rows.width = DrawLength(rng, 1, 1024);
  rows.table = DrawLength(
      rng, 16, std::max(64.0, kMostElements / static_cast<double>(rows.width)));
  rows.picked = DrawLength(rng, 1, 1 << 16);
  return rows;
}
std::string RowsText(const Rows& rows) {
  return absl::StrCat(rows.table, "x", rows.width, "_by_", rows.picked);
}

NamedKernel DrawGather(Rng& rng) {
  const Rows rows = DrawRows(rng);
  const std::string type = DrawType(rng);
  return Kernel(
      absl::StrCat("take_", type, "_", RowsText(rows)), "",
      absl::StrCat("  t = ", ShapeText(type, {rows.table, rows.width}),
                   " parameter(0)\n  i = ", ShapeText("s32", {rows.picked, 1}),
                   " parameter(1)\n  ROOT g = ",
                   ShapeText(type, {rows.picked, rows.width}),
                   " gather(t, i), offset_dims={1}, collapsed_slice_dims={0}, "
                   "start_index_map={0}, index_vector_dim=1, slice_sizes={1,",
                   rows.width, "}\n"));
}

NamedKernel DrawScatter(Rng& rng) {
  const Rows rows = DrawRows(rng);
  const std::string table = ShapeText("f32", {rows.table, rows.width});
  const bool adds = rng.Below(2) == 0;
  return Kernel(
      absl::StrCat(adds ? "scatter_add_" : "scatter_", RowsText(rows)),
      adds ? Scalars("combine", "f32", "add")
           : "combine {\n  a = f32[] parameter(0)\n"
             "  ROOT b = f32[] parameter(1)\n}\n\n",
      absl::StrCat(
          "  t = ", table,
          " parameter(0)\n  i = ", ShapeText("s32", {rows.picked, 1}),
          " parameter(1)\n  u = ", ShapeText("f32", {rows.picked, rows.width}),
          " parameter(2)\n  ROOT s = ", table,
          " scatter(t, i, u), update_window_dims={1}, "
          "inserted_window_dims={0}, "
          "scatter_dims_to_operand_dims={0}, index_vector_dim=1, "
          "to_apply=combine\n"));
}

// A part of an array at a place that scalars say.
struct Part {
  std::vector<int64_t> whole;
  std::vector<int64_t> part;
};
Part DrawPart(Rng& rng) {
  Part drawn;
  drawn.whole = DrawExtents(rng, 3, DrawElements(rng));
  drawn.part = drawn.whole;
  const size_t d = rng.Below(3);
  drawn.part[d] = DrawLength(rng, 1, static_cast<double>(drawn.whole[d]));
  drawn.part[d] = std::min(drawn.part[d], drawn.whole[d]);
  return drawn;
}
constexpr char kPlace[] =
    "  i = s32[] parameter(1)\n  j = s32[] parameter(2)\n"
    "  k = s32[] parameter(3)\n";

NamedKernel DrawDynamicSlice(Rng& rng) {
  const Part drawn = DrawPart(rng);
  const std::string type = DrawType(rng);
  return Kernel(
      absl::StrCat("dynamic_slice_", type, "_", SizesText(drawn.whole), "_",
                   SizesText(drawn.part)),
      "",
      absl::StrCat("  x = ", ShapeText(type, drawn.whole), " parameter(0)\n",
                   kPlace, "  ROOT s = ", ShapeText(type, drawn.part),
                   " dynamic-slice(x, i, j, k), dynamic_slice_sizes={",
                   absl::StrJoin(drawn.part, ","), "}\n"));
}

NamedKernel DrawDynamicUpdateSlice(Rng& rng) {
  const Part drawn = DrawPart(rng);
  const std::string type = DrawType(rng);
  const std::string whole = ShapeText(type, drawn.whole);
  return Kernel(absl::StrCat("update_slice_", type, "_", SizesText(drawn.whole),
                             "_", SizesText(drawn.part)),
                "",
                absl::StrCat("  x = ", whole, " parameter(0)\n", kPlace,
                             "  u = ", ShapeText(type, drawn.part),
                             " parameter(4)\n  ROOT s = ", whole,
                             " dynamic-update-slice(x, u, i, j, k)\n"));
}

NamedKernel DrawPoolingGradient(Rng& rng) {
  const int64_t batch = DrawLength(rng, 1, 32);
  const int64_t side = 2 * DrawLength(rng, 2, 64);
  const int64_t features = DrawLength(rng, 1, 512);
  const std::string whole = ShapeText("f32", {batch, side, side, features});
  return Kernel(
      absl::StrCat("pooling_gradient_", batch, "x", side, "x", features),
      absl::StrCat(
          "larger {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n"
          "  ROOT r = pred[] compare(a, b), direction=GE\n}\n\n",
          Scalars("sum", "f32", "add")),
      absl::StrCat("  x = ", whole, " parameter(0)\n  g = ",
                   ShapeText("f32", {batch, side / 2, side / 2, features}),
                   " parameter(1)\n  z = f32[] constant(0)\n  ROOT s = ", whole,
                   " select-and-scatter(x, g, z), window={size=1x2x2x1 "
                   "stride=1x2x2x1}, select=larger, scatter=sum\n"));
}

NamedKernel DrawCumulativeSum(Rng& rng) {
  const std::vector<int64_t> extents =
      DrawExtents(rng, 2, DrawLog(rng, kLeastElements, 1 << 20));
  const std::string shape = ShapeText("f32", extents);
  const int64_t length = extents[1];
  return Kernel(
      absl::StrCat("cumulative_sum_", SizesText(extents)),
      Scalars("sum", "f32", "add"),
      absl::StrCat("  x = ", shape,
                   " parameter(0)\n  z = f32[] constant(0)\n  ROOT s = ", shape,
                   " reduce-window(x, z), window={size=1x", length, " pad=0_0x",
                   length - 1, "_0}, to_apply=sum\n"));
}

NamedKernel DrawPreciseDot(Rng& rng) {
  const int64_t m = DrawLength(rng, 1, 4096);
  const int64_t k = DrawLength(rng, 1, 4096);
  const int64_t n = DrawLength(rng, 1, 4096);
  const std::string precision = DrawOf<std::string>(rng, {"high", "highest"});
  return Kernel(
      absl::StrCat("dot_", precision, "_", m, "x", k, "x", n), "",
      absl::StrCat("  a = ", ShapeText("f32", {m, k}),
                   " parameter(0)\n  b = ", ShapeText("f32", {k, n}),
                   " parameter(1)\n  ROOT d = ", ShapeText("f32", {m, n}),
                   " dot(a, b), lhs_contracting_dims={1}, "
                   "rhs_contracting_dims={0}, operand_precision={",
                   precision, ",", precision, "}\n"));
}

NamedKernel DrawLargeDot(Rng& rng) {
  const int64_t m = DrawLength(rng, 512, 1 << 17);
  const int64_t k = DrawLength(rng, 512, 1 << 15);
  const int64_t n = DrawLength(rng, 512, 1 << 15);
  const std::string type =
      DrawOf<std::string>(rng, {"bf16", "bf16", "f32", "s8"});
  const std::string result = type == "s8" ? "s32" : type;
  return Kernel(
      absl::StrCat("large_dot_", type, "_", m, "x", k, "x", n), "",
      absl::StrCat("  a = ", ShapeText(type, {m, k}),
                   " parameter(0)\n  b = ", ShapeText(type, {k, n}),
                   " parameter(1)\n  ROOT d = ", ShapeText(result, {m, n}),
                   " dot(a, b), lhs_contracting_dims={1}, "
                   "rhs_contracting_dims={0}\n"));
}

NamedKernel DrawBatchGroups(Rng& rng) {
  const int64_t groups = DrawLength(rng, 2, 64);
  const int64_t batch = DrawLength(rng, 1, 16);
  const int64_t side = DrawLength(rng, 4, 64);
  const int64_t inputs = DrawLength(rng, 1, 64);
  const int64_t outputs = groups * DrawLength(rng, 1, 8);
  const int64_t window = 1 + 2 * static_cast<int64_t>(rng.Below(3));
  const int64_t pad = window / 2;
  return Kernel(
      absl::StrCat("batch_groups_", groups, "x", batch, "x", side, "x", inputs,
                   "_w", window, "_", outputs),
      "",
      absl::StrCat(
          "  x = ", ShapeText("f32", {groups * batch, side, side, inputs}),
          " parameter(0)\n  w = ",
          ShapeText("f32", {window, window, inputs, outputs}),
          " parameter(1)\n  ROOT c = ",
          ShapeText("f32", {batch, side, side, outputs}),
          " convolution(x, w), window={size=", window, "x", window,
          " pad=", pad, "_", pad, "x", pad, "_", pad,
          "}, dim_labels=b01f_01io->b01f, batch_group_count=", groups, "\n"));
}

// Elementwise functions that programs seldom have.
NamedKernel DrawRareChain(Rng& rng) {
  static const auto* const unary = new std::vector<std::string>(
      {"tan", "cosine", "sine", "cbrt", "exponential-minus-one", "log-plus-one",
       "logistic", "erf", "round-nearest-even", "floor", "sign"});
  static const auto* const binary = new std::vector<std::string>(
      {"atan2", "power", "remainder", "minimum", "divide"});
  const std::vector<int64_t> extents =
      DrawExtents(rng, 1 + rng.Below(3), DrawElements(rng));
  const std::string shape = ShapeText("f32", extents);
  std::string lines = absl::StrCat(
      "  v0 = ", shape, " parameter(0)\n  p = ", shape, " parameter(1)\n");
  std::string name = "rare";
  const size_t count = 1 + rng.Below(6);
  for (size_t i = 1; i <= count; ++i) {
    const bool has_two = rng.Below(3) == 0;
    const std::string& opcode = DrawOf(rng, has_two ? *binary : *unary);
    absl::StrAppend(&lines, i == count ? "  ROOT v" : "  v", i, " = ", shape,
                    " ", opcode, "(v", i - 1, has_two ? ", p" : "", ")\n");
    absl::StrAppend(&name, "_", opcode);
  }
  return Kernel(absl::StrCat(name, "_", SizesText(extents)), "", lines);
}

NamedKernel DrawInteriorPad(Rng& rng) {
  const std::vector<int64_t> extents = DrawExtents(rng, 2, DrawElements(rng));
  std::vector<int64_t> padded;
  std::vector<std::string> padding;
  for (const int64_t size : extents) {
    const auto low = static_cast<int64_t>(rng.Below(3));
    const auto high = static_cast<int64_t>(rng.Below(3));
    const auto interior = static_cast<int64_t>(rng.Below(2));
    padded.push_back(low + high + size + (size - 1) * interior);
    padding.push_back(absl::StrCat(low, "_", high, "_", interior));
  }
  const std::string type = DrawType(rng);
  return Kernel(
      absl::StrCat("interior_pad_", type, "_", SizesText(extents), "_",
                   absl::StrJoin(padding, "x")),
      "",
      absl::StrCat("  x = ", ShapeText(type, extents),
                   " parameter(0)\n  z = ", type,
                   "[] parameter(1)\n  ROOT p = ", ShapeText(type, padded),
                   " pad(x, z), padding=", absl::StrJoin(padding, "x"), "\n"));
}

NamedKernel DrawIota(Rng& rng) {
  const std::vector<int64_t> extents = DrawExtents(rng, 2, DrawElements(rng));
  const std::string type = DrawOf<std::string>(rng, {"s32", "f32"});
  const size_t along = rng.Below(2);
  return Kernel(
      absl::StrCat("iota_", type, "_", SizesText(extents), "_over_", along), "",
      absl::StrCat("  ROOT i = ", ShapeText(type, extents),
                   " iota(), iota_dimension=", along, "\n"));
}

}  // namespace

absl::Span<const KernelFamily> TpuFamilies() {
  static constexpr KernelFamily kFamilies[] = {
      {"sort", DrawSort},
      {"fft", DrawFft},
      {"cholesky", DrawCholesky},
      {"triangular_solve", DrawTriangularSolve},
      {"rng", DrawRandomNumbers},
      {"take", DrawGather},
      {"scatter", DrawScatter},
      {"dynamic_slice", DrawDynamicSlice},
      {"update_slice", DrawDynamicUpdateSlice},
      {"pooling_gradient", DrawPoolingGradient},
      {"cumulative_sum", DrawCumulativeSum},
      {"precise_dot", DrawPreciseDot},
      {"large_dot", DrawLargeDot},
      {"batch_groups", DrawBatchGroups},
      {"rare", DrawRareChain},
      {"interior_pad", DrawInteriorPad},
      {"iota", DrawIota}};
  return kFamilies;
}

NamedKernel DrawTpuKernel(uint64_t seed, int64_t number) {
  const auto families = TpuFamilies();
  // Other numbers than those of DrawKernel and DrawComposite of this seed.
  Rng rng(MixBits(seed + 1) ^ static_cast<uint64_t>(number));
  const KernelFamily& family =
      families[static_cast<size_t>(number) % families.size()];
  NamedKernel kernel = family.draw(rng);
  kernel.family = std::string(family.name);
  return kernel;
}

}  // namespace hone::bench
