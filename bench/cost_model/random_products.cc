// Products of matrices, alone and fused, attention and convolutions.

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "bench/cost_model/kernel_blocks.h"
#include "bench/cost_model/kernel_text.h"
#include "bench/cost_model/random_kernels.h"

namespace hone::bench {
namespace {

using Value = KernelText::Value;

// Multiply-adds of a kernel of 10 microseconds to a millisecond.
constexpr double kFewProducts = 4e5;
constexpr double kManyProducts = 5e7;
constexpr double kManyElements = 1.5e6;

NamedKernel Matmul(Rng& rng) {
  const ProductSize p = DrawProduct(rng);
  const std::string type = DrawType(rng);
  const bool left = rng.Below(2) == 0;
  const bool right = rng.Below(2) == 0;
  KernelText text(type);
  const Value a = text.Parameter(left ? Extents{p.k, p.m} : Extents{p.m, p.k});
  const Value b = text.Parameter(right ? Extents{p.n, p.k} : Extents{p.k, p.n});
  text.Apply(
      "dot", {p.m, p.n}, {a, b},
      absl::StrFormat("lhs_contracting_dims={%d}, rhs_contracting_dims={%d}",
                      left ? 0 : 1, right ? 1 : 0));
  return {"",
          absl::StrFormat("matmul_%s%s_%s_%dx%dx%d", left ? "t" : "n",
                          right ? "t" : "n", type, p.m, p.k, p.n),
          text.Finish()};
}

NamedKernel MatmulBias(Rng& rng) {
  const ProductSize p = DrawProduct(rng);
  const std::string type = DrawType(rng);
  const std::string function =
      DrawOf<std::string>(rng, {"relu", "gelu", "silu", "none"});
  KernelText text(type);
  const Value x = text.Parameter({p.m, p.k});
  const Value w = text.Parameter({p.k, p.n});
  const Value bias = text.Parameter({p.n});
  const Value dot = Dot(text, x, w);
  const Value sum =
      text.Map("add", {dot, text.Broadcast(bias, dot.extents, {1})});
  if (function == "relu")
    text.Map("maximum", {sum, text.Fill(sum.extents, "0")});
  if (function == "gelu") Gelu(text, sum);
  if (function == "silu") Silu(text, sum);
  return {"",
          absl::StrFormat("matmul_bias_%s_%s_%dx%dx%d", function, type, p.m,
                          p.k, p.n),
          text.Finish()};
}

NamedKernel GatedMatmul(Rng& rng) {
  ProductSize p = DrawProduct(rng, 2);
  const std::string type = DrawType(rng);
  KernelText text(type);
  const Value x = text.Parameter({p.m, p.k});
  const Value gate = text.Parameter({p.k, p.n});
  const Value up = text.Parameter({p.k, p.n});
  const Value gated = Silu(text, Dot(text, x, gate));
  const Value product = Dot(text, x, up);
  text.Map("multiply", {gated, product});
  return {"", absl::StrFormat("swiglu_%s_%dx%dx%d", type, p.m, p.k, p.n),
          text.Finish()};
}

NamedKernel BatchedMatmul(Rng& rng) {
  const int64_t batch = DrawLength(rng, 2, 48);
  const ProductSize p = DrawProduct(rng, batch);
  const std::string type = DrawType(rng);
  const bool right = rng.Below(2) == 0;
  KernelText text(type);
  const Value a = text.Parameter({batch, p.m, p.k});
  const Value b = text.Parameter(right ? Extents{batch, p.n, p.k}
                                       : Extents{batch, p.k, p.n});
  text.Apply("dot", {batch, p.m, p.n}, {a, b},
             absl::StrFormat("lhs_batch_dims={0}, rhs_batch_dims={0}, "
                             "lhs_contracting_dims={2}, "
                             "rhs_contracting_dims={%d}",
                             right ? 2 : 1));
  return {"",
          absl::StrFormat("batched_matmul_n%s_%s_%dx%dx%dx%d",
                          right ? "t" : "n", type, batch, p.m, p.k, p.n),
          text.Finish()};
}

NamedKernel Matvec(Rng& rng) {
  const double elements = DrawLog(rng, 5e4, 2e6);
  const Extents shape = DrawExtents(rng, 2, elements);
  const std::string type = DrawType(rng);
  const bool left = rng.Below(2) == 0;
  KernelText text(type);
  const Value a = text.Parameter(shape);
  const Value x = text.Parameter({shape[left ? 0 : 1]});
  text.Apply(
      "dot", {shape[left ? 1 : 0]}, {a, x},
      absl::StrFormat("lhs_contracting_dims={%d}, rhs_contracting_dims={0}",
                      left ? 0 : 1));
  return {"",
          absl::StrFormat("%s_%s_%s", left ? "vecmat" : "matvec", type,
                          JoinExtents(shape)),
          text.Finish()};
}

NamedKernel Attention(Rng& rng) {
  const int64_t width = DrawOf<int64_t>(rng, {32, 48, 64, 80, 128});
  int64_t heads = DrawLength(rng, 1, 12);
  int64_t queries = DrawLength(rng, 16, 256);
  int64_t keys = rng.Below(2) == 0 ? queries : DrawLength(rng, 16, 256);
  while (2.0 * static_cast<double>(heads * queries * keys * width) >
         kManyProducts / 2) {
    heads = std::max<int64_t>(1, heads / 2);
    queries = std::max<int64_t>(1, queries * 3 / 4);
    keys = std::max<int64_t>(1, keys * 3 / 4);
  }
  const std::string type = DrawType(rng);
  KernelText text(type);
  const Value q = text.Parameter({heads, queries, width});
  const Value k = text.Parameter({heads, keys, width});
  const Value v = text.Parameter({heads, keys, width});
  const Extents extents = {heads, queries, keys};
  const Value dot = text.Apply(
      "dot", extents, {q, k},
      "lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, "
      "rhs_contracting_dims={2}");
  const Value scores =
      text.Map("multiply",
               {dot, text.Fill(extents, absl::StrCat(1 / std::sqrt(width)))});
  const Value weights = Softmax(text, scores, {2});
  text.Apply("dot", {heads, queries, width}, {weights, v},
             "lhs_batch_dims={0}, rhs_batch_dims={0}, "
             "lhs_contracting_dims={2}, rhs_contracting_dims={1}");
  return {"",
          absl::StrFormat("attention_%s_%dx%dx%dx%d", type, heads, queries,
                          keys, width),
          text.Finish()};
}

// A convolution over one or two dimensions; `depthwise`: each channel by
// itself.
NamedKernel AnyConvolution(Rng& rng, bool depthwise) {
  const size_t rank = rng.Below(4) == 0 ? 1 : 2;
  const int64_t window = DrawOf<int64_t>(rng, {1, 3, 3, 3, 5, 7});
  const int64_t stride = DrawOf<int64_t>(rng, {1, 1, 2});
  const int64_t padding = rng.Below(4) == 0 ? 0 : window / 2;
  const bool last = rng.Below(5) < 3;  // channels are the last dimension
  const std::string type = DrawType(rng);
  const int64_t inputs = depthwise           ? DrawLength(rng, 16, 384)
                         : rng.Below(7) == 0 ? 3
                                             : DrawLength(rng, 4, 128);
  const int64_t outputs = depthwise ? inputs : DrawLength(rng, 4, 128);
  const int64_t batch = DrawLength(rng, 1, 4);
  const int64_t taps = rank == 1 ? window : window * window;
  const double products = DrawLog(
      rng, kFewProducts, depthwise ? kManyProducts / 10 : kManyProducts);
  const double sites =
      std::clamp(products / static_cast<double>(batch * taps * outputs *
                                                (depthwise ? 1 : inputs)),
                 static_cast<double>(8), 3e4);
  const double side = std::pow(sites, 1.0 / static_cast<double>(rank));
  Extents image;
  Extents result;
  for (size_t d = 0; d < rank; ++d) {
    const int64_t out =
        DrawLength(rng, std::max(2.0, side / 1.2), std::max(2.0, side * 1.2));
    image.push_back((out - 1) * stride + window - 2 * padding);
    if (image.back() < 1) image.back() = 1;
    result.push_back((image.back() + 2 * padding - window) / stride + 1);
  }
  const auto shape = [&](const Extents& spatial, int64_t channels) {
    Extents extents = {batch};
    if (!last) extents.push_back(channels);
    extents.insert(extents.end(), spatial.begin(), spatial.end());
    if (last) extents.push_back(channels);
    return extents;
  };
  const Extents sizes(rank, window);
  const int64_t group_inputs = depthwise ? 1 : inputs;
  Extents filters = sizes;
  if (last) {
    filters.insert(filters.end(), {group_inputs, outputs});
  } else {
    filters.insert(filters.begin(), {outputs, group_inputs});
  }
  const std::string spatial = rank == 1 ? "0" : "01";
  const std::string labels =
      last ? absl::StrCat("b", spatial, "f") : absl::StrCat("bf", spatial);
  const std::string pads = JoinExtents(Extents(rank, padding));
  std::string padding_text;
  for (size_t d = 0; d < rank; ++d) {
    absl::StrAppend(&padding_text, d == 0 ? "" : "x", padding, "_", padding);
  }
  KernelText text(type);
  const Value x = text.Parameter(shape(image, inputs));
  const Value w = text.Parameter(filters);
  text.Apply(
      "convolution", shape(result, outputs), {x, w},
      absl::StrFormat(
          "window={size=%s pad=%s stride=%s}, dim_labels=%s_%s->%s%s",
          JoinExtents(sizes), padding_text, JoinExtents(Extents(rank, stride)),
          labels, last ? spatial + "io" : "oi" + spatial, labels,
          depthwise ? absl::StrCat(", feature_group_count=", inputs) : ""));
  return {
      "",
      absl::StrFormat("%s_%s_%s_%s_w%ds%dp%d_%d",
                      depthwise ? "depthwise" : "conv", labels, type,
                      JoinExtents(x.extents), window, stride, padding, outputs),
      text.Finish()};
}

NamedKernel Convolution(Rng& rng) { return AnyConvolution(rng, false); }
NamedKernel Depthwise(Rng& rng) { return AnyConvolution(rng, true); }

constexpr KernelFamily kFamilies[] = {
    {"matmul", Matmul},          {"conv", Convolution},
    {"matmul_bias", MatmulBias}, {"batched_matmul", BatchedMatmul},
    {"attention", Attention},    {"matvec", Matvec},
    {"depthwise", Depthwise},    {"swiglu", GatedMatmul},
};

}  // namespace

ProductSize DrawProduct(Rng& rng, int64_t batch) {
  const double products =
      DrawLog(rng, kFewProducts, kManyProducts) / static_cast<double>(batch);
  // Logarithms of the ratios of k and n to m.
  double k = 0;
  double n = 0;
  switch (rng.Below(4)) {
    case 0:  // skinny
      k = DrawLog(rng, 32, 1024);
      n = DrawLog(rng, 32, 1024);
      break;
    case 1:  // a long sum
      k = DrawLog(rng, 16, 256);
      n = DrawLog(rng, 0.5, 2);
      break;
    case 2:  // flat
      k = DrawLog(rng, 1.0 / 256, 1.0 / 8);
      n = DrawLog(rng, 1.0 / 256, 1.0 / 8);
      break;
    default:
      k = DrawLog(rng, 0.3, 3);
      n = DrawLog(rng, 0.3, 3);
  }
  const double m = std::max(1.0, std::cbrt(products / (k * n)));
  const auto length = [&](double about) {
    return DrawLength(rng, std::max(1.0, about / 1.1),
                      std::max(1.0, about * 1.1));
  };
  ProductSize product{length(m), length(m * k), length(m * n)};
  if (rng.Below(5) == 0) std::swap(product.m, product.n);
  while (static_cast<double>(
             batch * std::max({product.m * product.k, product.k * product.n,
                               product.m * product.n})) > kManyElements) {
    product = {std::max<int64_t>(1, product.m * 3 / 4),
               std::max<int64_t>(1, product.k * 3 / 4),
               std::max<int64_t>(1, product.n * 3 / 4)};
  }
  return product;
}

absl::Span<const KernelFamily> ProductFamilies() { return kFamilies; }

}  // namespace hone::bench
