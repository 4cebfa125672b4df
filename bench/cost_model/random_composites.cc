// Products, convolutions, reductions and data movement together, as layers of
// models have them.

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

std::string NameOf(absl::string_view what, const std::string& type,
                   const ProductSize& p) {
  return absl::StrFormat("%s_%s_%dx%dx%d", what, type, p.m, p.k, p.n);
}

Value Relu(KernelText& text, const Value& x) {
  return text.Map("maximum", {x, text.Fill(x.extents, "0")});
}

Value AddVector(KernelText& text, const Value& x) {
  const Value vector = text.Parameter({x.extents.back()});
  const auto last = static_cast<int64_t>(x.extents.size()) - 1;
  return text.Map("add", {x, text.Broadcast(vector, x.extents, {last})});
}

// Two products with a function between them.
NamedKernel Mlp(Rng& rng) {
  const ProductSize p = DrawProduct(rng, 2);
  const std::string type = DrawType(rng);
  const std::string function =
      DrawOf<std::string>(rng, {"relu", "gelu", "silu"});
  KernelText text(type);
  const Value x = text.Parameter({p.m, p.k});
  const Value up = text.Parameter({p.k, p.n});
  const Value down = text.Parameter({p.n, p.k});
  const Value hidden = AddVector(text, Dot(text, x, up));
  const Value active = function == "relu"   ? Relu(text, hidden)
                       : function == "gelu" ? Gelu(text, hidden)
                                            : Silu(text, hidden);
  Dot(text, active, down);
  return {"", NameOf("mlp_" + function, type, p), text.Finish()};
}

// A product whose rows are probabilities, or their logarithms.
NamedKernel Classifier(Rng& rng) {
  const ProductSize p = DrawProduct(rng);
  const std::string type = DrawType(rng);
  const bool log = rng.Below(2) == 0;
  KernelText text(type);
  const Value x = text.Parameter({p.m, p.k});
  const Value w = text.Parameter({p.k, p.n});
  const Value scores = AddVector(text, Dot(text, x, w));
  if (log) {
    LogSoftmax(text, scores, {1});
  } else {
    Softmax(text, scores, {1});
  }
  return {"", NameOf(log ? "log_classifier" : "classifier", type, p),
          text.Finish()};
}

// A product of standardized rows.
NamedKernel NormProduct(Rng& rng) {
  const ProductSize p = DrawProduct(rng);
  const std::string type = DrawType(rng);
  KernelText text(type);
  const Value x = text.Parameter({p.m, p.k});
  const Value rows = ScaleAndShift(text, Standardize(text, x, {1}), 1);
  Dot(text, rows, text.Parameter({p.k, p.n}));
  return {"", NameOf("norm_product", type, p), text.Finish()};
}

// Means of values by the softmax of scores, for each of a batch.
NamedKernel WeightedMean(Rng& rng) {
  const int64_t batch = DrawLength(rng, 2, 24);
  const ProductSize p = DrawProduct(rng, batch);
  const std::string type = DrawType(rng);
  KernelText text(type);
  const Value scores = text.Parameter({batch, p.m, p.k});
  const Value values = text.Parameter({batch, p.k, p.n});
  text.Apply("dot", {batch, p.m, p.n}, {Softmax(text, scores, {2}), values},
             "lhs_batch_dims={0}, rhs_batch_dims={0}, "
             "lhs_contracting_dims={2}, rhs_contracting_dims={1}");
  return {"", absl::StrCat(NameOf("weighted_mean", type, p), "_of_", batch),
          text.Finish()};
}

// Squared distances between the rows of two matrices, or the least of each row.
NamedKernel Distances(Rng& rng) {
  const ProductSize p = DrawProduct(rng);
  const bool least = rng.Below(2) == 0;
  const std::string type = "f32";
  KernelText text(type);
  const Value x = text.Parameter({p.m, p.k});
  const Value y = text.Parameter({p.n, p.k});
  const Extents extents = {p.m, p.n};
  const Value dot =
      text.Apply("dot", extents, {x, y},
                 "lhs_contracting_dims={1}, rhs_contracting_dims={1}");
  const auto squares = [&](const Value& of, int64_t along) {
    const Value sum = text.Reduce("add", text.Map("multiply", {of, of}), {1});
    return text.Broadcast(sum, extents, {along});
  };
  const Value twice = text.Map("multiply", {dot, text.Fill(extents, "-2")});
  const Value sum =
      text.Map("add", {text.Map("add", {twice, squares(x, 0)}), squares(y, 1)});
  if (least) text.Reduce("minimum", sum, {1});
  return {"", NameOf(least ? "least_distance" : "distances", type, p),
          text.Finish()};
}

// The gates of a recurrent cell: a product, whose columns go through other
// functions, and the next state.
NamedKernel Cell(Rng& rng) {
  ProductSize p = DrawProduct(rng);
  p.n = std::max<int64_t>(p.n / 4, 1) * 4;
  const int64_t width = p.n / 4;
  const std::string type = DrawType(rng);
  KernelText text(type);
  const Value x = text.Parameter({p.m, p.k});
  const Value w = text.Parameter({p.k, p.n});
  const Value state = text.Parameter({p.m, width});
  const Value gates = AddVector(text, Dot(text, x, w));
  const auto gate = [&](int64_t i, absl::string_view function) {
    const Value columns =
        text.Apply("slice", {p.m, width}, {gates},
                   absl::StrFormat("slice={[0:%d], [%d:%d]}", p.m, i * width,
                                   (i + 1) * width));
    return text.Map(function, {columns});
  };
  const Value kept = text.Map("multiply", {gate(0, "logistic"), state});
  const Value added =
      text.Map("multiply", {gate(1, "logistic"), gate(2, "tanh")});
  const Value next = text.Map("add", {kept, added});
  const Value out =
      text.Map("multiply", {gate(3, "logistic"), text.Map("tanh", {next})});
  return {"", NameOf("cell", type, p), text.Finish({out, next})};
}

// A convolution of groups of channels, or of all, with what follows it.
NamedKernel ConvolutionLayer(Rng& rng) {
  const bool grouped = rng.Below(2) == 0;
  const bool last = rng.Below(5) < 3;  // channels are the last dimension
  const int64_t window = DrawOf<int64_t>(rng, {1, 3, 3, 5});
  const int64_t groups = grouped ? DrawOf<int64_t>(rng, {2, 4, 8}) : 1;
  const int64_t inputs = groups * DrawLength(rng, 4, grouped ? 24 : 96);
  const int64_t outputs = groups * DrawLength(rng, 4, grouped ? 24 : 96);
  const int64_t batch = DrawLength(rng, 1, 3);
  const std::string type = DrawType(rng);
  const double products = DrawLog(rng, 4e5, 3e7);
  const double sites =
      std::clamp(products / static_cast<double>(batch * window * window *
                                                outputs * (inputs / groups)),
                 16.0, 1e4);
  const int64_t side =
      DrawLength(rng, std::sqrt(sites), std::sqrt(sites) * 1.2);
  const auto shape = [&](int64_t channels) {
    return last ? Extents{batch, side, side, channels}
                : Extents{batch, channels, side, side};
  };
  const int64_t axis = last ? 3 : 1;
  KernelText text(type);
  const Value x = text.Parameter(shape(inputs));
  const Value w =
      text.Parameter(last ? Extents{window, window, inputs / groups, outputs}
                          : Extents{outputs, inputs / groups, window, window});
  const int64_t pad = window / 2;
  const Value y = text.Apply(
      "convolution", shape(outputs), {x, w},
      absl::StrFormat("window={size=%dx%d pad=%d_%dx%d_%d}, dim_labels=%s, "
                      "feature_group_count=%d",
                      window, window, pad, pad, pad, pad,
                      last ? "b01f_01io->b01f" : "bf01_oi01->bf01", groups));
  const Value scaled = ScaleAndShift(text, y, axis);
  const bool residual = rng.Below(2) == 0;
  Relu(text, residual
                 ? text.Map("add", {scaled, text.Parameter(shape(outputs))})
                 : scaled);
  return {
      "",
      absl::StrFormat("conv_layer_%s%s_%s_%s_w%d_g%d_%d",
                      last ? "nhwc" : "nchw", residual ? "_residual" : "", type,
                      JoinExtents(x.extents), window, groups, outputs),
      text.Finish()};
}

// Sums or maxima of neighbours along one axis, weighted by nothing.
NamedKernel Smoothing(Rng& rng) {
  const size_t rank = 1 + rng.Below(3);
  const Extents extents = DrawExtents(rng, rank, DrawLog(rng, 2e4, 1e6));
  const size_t axis = rng.Below(rank);
  const int64_t window =
      std::min(DrawOf<int64_t>(rng, {2, 3, 5, 9, 16}), extents[axis]);
  const std::string type = DrawType(rng);
  const bool sum = rng.Below(2) == 0;
  KernelText text(type);
  const Value x = text.Parameter(extents);
  std::string size, pad;
  for (size_t d = 0; d < rank; ++d) {
    absl::StrAppend(&size, d == 0 ? "" : "x", d == axis ? window : 1);
    absl::StrAppend(&pad, d == 0 ? "" : "x", d == axis ? (window - 1) / 2 : 0,
                    "_", d == axis ? window / 2 : 0);
  }
  const Value near =
      text.ReduceWindow(sum ? "add" : "maximum", x, extents,
                        absl::StrCat("size=", size, " pad=", pad));
  text.Map("subtract", {x, near});
  return {
      "",
      absl::StrCat(hone::bench::NameOf(sum ? "smooth_sum" : "smooth_max", type,
                                       extents, {static_cast<int64_t>(axis)}),
                   "_w", window),
      text.Finish()};
}

// Halves of the last dimension: one gates the other, or they are turned
// against each other by angles.
NamedKernel Halves(Rng& rng) {
  Extents extents = DrawExtents(rng, 2 + rng.Below(2), DrawLog(rng, 2e4, 1e6));
  extents.back() = std::max<int64_t>(extents.back() / 2, 1) * 2;
  Extents half = extents;
  half.back() /= 2;
  const auto last = static_cast<int64_t>(extents.size()) - 1;
  const std::string type = DrawType(rng);
  const bool gated = rng.Below(2) == 0;
  KernelText text(type);
  const Value x = text.Parameter(extents);
  const auto part = [&](int64_t i) {
    std::string slice;
    for (int64_t d = 0; d < last; ++d) {
      absl::StrAppend(&slice, "[0:", extents[static_cast<size_t>(d)], "], ");
    }
    absl::StrAppend(&slice, "[", i * half.back(), ":", (i + 1) * half.back(),
                    "]");
    return text.Apply("slice", half, {x}, "slice={" + slice + "}");
  };
  const Value a = part(0);
  const Value b = part(1);
  if (gated) {
    text.Map("multiply", {a, text.Map("logistic", {b})});
  } else {
    const auto angles = [&] {
      return text.Broadcast(text.Parameter({half.back()}), half, {last});
    };
    const Value cosine = angles();
    const Value sine = angles();
    const Value left = text.Map("subtract", {text.Map("multiply", {a, cosine}),
                                             text.Map("multiply", {b, sine})});
    const Value right = text.Map("add", {text.Map("multiply", {a, sine}),
                                         text.Map("multiply", {b, cosine})});
    text.Apply("concatenate", extents, {left, right},
               absl::StrCat("dimensions={", last, "}"));
  }
  return {"",
          hone::bench::NameOf(gated ? "gated_halves" : "turned_halves", type,
                              extents),
          text.Finish()};
}

// Several sums and maxima of one array.
NamedKernel Statistics(Rng& rng) {
  const Extents extents =
      DrawExtents(rng, 2 + rng.Below(2), DrawLog(rng, 2e4, 1e6));
  const Extents over = {static_cast<int64_t>(rng.Below(extents.size()))};
  const std::string type = DrawType(rng);
  KernelText text(type);
  const Value x = text.Parameter(extents);
  const Value sum = text.Reduce("add", x, over);
  const Value squares = text.Reduce("add", text.Map("multiply", {x, x}), over);
  const Value most = text.Reduce("maximum", text.Map("abs", {x}), over);
  return {"", hone::bench::NameOf("statistics", type, extents, over),
          text.Finish({sum, squares, most})};
}

// Standardizes groups of channels, which are the last dimension.
NamedKernel GroupNorm(Rng& rng) {
  const int64_t groups = DrawOf<int64_t>(rng, {4, 8, 32});
  const int64_t width = DrawLength(rng, 4, 16);
  const int64_t batch = DrawLength(rng, 1, 4);
  const int64_t sites = DrawLength(
      rng, 32,
      std::max(33.0, 8e5 / static_cast<double>(batch * groups * width)));
  const std::string type = DrawType(rng);
  KernelText text(type);
  const Extents flat = {batch, sites, groups * width};
  const Value x = text.Parameter(flat);
  const Value split = text.Apply("reshape", {batch, sites, groups, width}, {x});
  const Value back =
      text.Apply("reshape", flat, {Standardize(text, split, {1, 3})});
  ScaleAndShift(text, back, 2);
  return {
      "",
      absl::StrCat(hone::bench::NameOf("group_norm", type, flat), "_g", groups),
      text.Finish()};
}

// Rows of a table by their numbers, with positions added, standardized.
NamedKernel Embedding(Rng& rng) {
  const int64_t rows = DrawLength(rng, 64, 8192);
  const int64_t width = DrawLength(rng, 32, 768);
  const int64_t count =
      DrawLength(rng, 32, std::max(33.0, 6e5 / static_cast<double>(width)));
  const std::string type = DrawType(rng);
  KernelText text(type);
  const Value table = text.Parameter({rows, width});
  const Value numbers = text.Parameter({count}, "s32");
  const Value positions = text.Parameter({count, width});
  const Value found = text.Apply(
      "gather", {count, width}, {table, numbers},
      absl::StrCat("offset_dims={1}, collapsed_slice_dims={0}, "
                   "start_index_map={0}, index_vector_dim=1, slice_sizes={1,",
                   width, "}"));
  const Value sum = text.Map("add", {found, positions});
  ScaleAndShift(text, Standardize(text, sum, {1}), 1);
  return {"",
          absl::StrFormat("embedding_%s_%dx%d_by_%d", type, rows, width, count),
          text.Finish()};
}

constexpr KernelFamily kFamilies[] = {
    {"mlp", Mlp},
    {"conv_layer", ConvolutionLayer},
    {"classifier", Classifier},
    {"statistics", Statistics},
    {"weighted_mean", WeightedMean},
    {"smoothing", Smoothing},
    {"norm_product", NormProduct},
    {"halves", Halves},
    {"distances", Distances},
    {"group_norm", GroupNorm},
    {"cell", Cell},
    {"embedding", Embedding},
};

}  // namespace

absl::Span<const KernelFamily> CompositeFamilies() { return kFamilies; }

}  // namespace hone::bench
