// Reductions, normalizations, elementwise operations, scans and data movement.

#include <algorithm>
#include <numeric>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

#include "bench/cost_model/kernel_blocks.h"
#include "bench/cost_model/kernel_text.h"
#include "bench/cost_model/random_kernels.h"

namespace hone::bench {
namespace {

using Value = KernelText::Value;

constexpr double kFewElements = 2e4;
constexpr double kManyElements = 1e6;

Extents AnyExtents(Rng& rng, size_t least_rank, size_t most_rank,
                   double most = kManyElements) {
  return DrawExtents(rng, least_rank + rng.Below(most_rank - least_rank + 1),
                     DrawLog(rng, kFewElements, most));
}

// Some dimensions: the last, which lies along memory, more often than others.
Extents DrawOver(Rng& rng, size_t rank) {
  const auto last = static_cast<int64_t>(rank) - 1;
  if (rng.Below(2) == 0) return {last};
  Extents over;
  while (over.empty()) {
    for (int64_t d = 0; d <= last; ++d) {
      if (rng.Below(2) == 0) over.push_back(d);
    }
  }
  return over;
}

NamedKernel SoftmaxKernel(Rng& rng) {
  const Extents extents = AnyExtents(rng, 1, 4);
  const Extents over = {static_cast<int64_t>(
      rng.Below(3) > 0 ? extents.size() - 1 : rng.Below(extents.size()))};
  const std::string type = DrawType(rng);
  const std::string form =
      DrawOf<std::string>(rng, {"softmax", "softmax", "log_softmax"});
  KernelText text(type);
  const Value x = text.Parameter(extents);
  if (form == "softmax") {
    Softmax(text, x, over);
  } else {
    LogSoftmax(text, x, over);
  }
  return {"", NameOf(form, type, extents, over), text.Finish()};
}

NamedKernel Logsumexp(Rng& rng) {
  const Extents extents = AnyExtents(rng, 1, 3);
  const Extents over = {static_cast<int64_t>(extents.size()) - 1};
  const std::string type = DrawType(rng);
  KernelText text(type);
  const Value x = text.Parameter(extents);
  const Value most = text.Reduce("maximum", x, over);
  const Value exp = text.Map(
      "exponential",
      {text.Map("subtract", {x, text.BroadcastBack(most, extents, over)})});
  text.Map("add", {most, text.Map("log", {text.Reduce("add", exp, over)})});
  return {"", NameOf("logsumexp", type, extents, over), text.Finish()};
}

NamedKernel LayerNorm(Rng& rng) {
  const Extents extents = AnyExtents(rng, 2, 3);
  const auto last = static_cast<int64_t>(extents.size()) - 1;
  const std::string type = DrawType(rng);
  KernelText text(type);
  ScaleAndShift(text, Standardize(text, text.Parameter(extents), {last}), last);
  return {"", NameOf("layer_norm", type, extents), text.Finish()};
}

NamedKernel RmsNorm(Rng& rng) {
  const Extents extents = AnyExtents(rng, 2, 3);
  const auto last = static_cast<int64_t>(extents.size()) - 1;
  const std::string type = DrawType(rng);
  KernelText text(type);
  const Value x = text.Parameter(extents);
  const Value scale = text.Parameter({extents.back()});
  const Value square = Mean(text, text.Map("multiply", {x, x}), {last});
  const Value inverse = text.Map(
      "rsqrt", {text.Map("add", {square, text.Fill(extents, "1e-5")})});
  text.Map("multiply", {text.Map("multiply", {x, inverse}),
                        text.Broadcast(scale, extents, {last})});
  return {"", NameOf("rms_norm", type, extents), text.Finish()};
}

NamedKernel BatchNorm(Rng& rng) {
  const Extents extents = AnyExtents(rng, 3, 4);
  const int64_t axis =
      rng.Below(2) == 0 ? 1 : static_cast<int64_t>(extents.size()) - 1;
  Extents over(extents.size());
  std::iota(over.begin(), over.end(), 0);
  over.erase(over.begin() + axis);
  const std::string type = DrawType(rng);
  KernelText text(type);
  ScaleAndShift(text, Standardize(text, text.Parameter(extents), over), axis);
  return {"", NameOf("batch_norm", type, extents, over), text.Finish()};
}

NamedKernel Reduction(Rng& rng) {
  const Extents extents = AnyExtents(rng, 1, 4, 2 * kManyElements);
  const Extents over = DrawOver(rng, extents.size());
  const std::string type = DrawType(rng);
  const std::string form =
      DrawOf<std::string>(rng, {"sum", "max", "mean", "norm", "sum"});
  KernelText text(type);
  const Value x = text.Parameter(extents);
  if (form == "sum") text.Reduce("add", x, over);
  if (form == "max") text.Reduce("maximum", x, over);
  if (form == "mean") {
    const Value sum = text.Reduce("add", x, over);
    text.Map("divide", {sum, text.Fill(sum.extents,
                                       absl::StrCat(Product(extents, over)))});
  }
  if (form == "norm") {
    text.Map("sqrt", {text.Reduce("add", text.Map("multiply", {x, x}), over)});
  }
  return {"", NameOf(form, type, extents, over), text.Finish()};
}

NamedKernel Elementwise(Rng& rng) {
  const Extents extents = AnyExtents(rng, 1, 4);
  const std::string type = DrawType(rng);
  KernelText text(type);
  Value x = text.Parameter(extents);
  std::string name = "chain";
  const uint64_t steps = 1 + rng.Below(6);
  for (uint64_t i = 0; i < steps; ++i) {
    if (rng.Below(2) == 0) {
      const std::string function = DrawOf<std::string>(
          rng, {"tanh", "logistic", "abs", "sine", "erf", "exponential",
                "negate", "sqrt", "log-plus-one"});
      absl::StrAppend(&name, "_", function);
      // Within what the type can tell apart.
      if (function == "exponential") {
        x = text.Map("negate", {text.Map("abs", {x})});
      } else if (function == "sqrt" || function == "log-plus-one") {
        x = text.Map("abs", {x});
      }
      x = text.Map(function, {x});
      continue;
    }
    const std::string function =
        DrawOf<std::string>(rng, {"add", "multiply", "subtract", "maximum"});
    absl::StrAppend(&name, "_", function);
    const auto last = static_cast<int64_t>(extents.size()) - 1;
    switch (rng.Below(4)) {
      case 0:
        absl::StrAppend(&name, "r");
        x = text.Map(function,
                     {x, text.Broadcast(text.Parameter({extents.back()}),
                                        extents, {last})});
        break;
      case 1:
        absl::StrAppend(&name, "c");
        x = text.Map(function,
                     {x, text.Broadcast(text.Parameter({extents.front()}),
                                        extents, {0})});
        break;
      default:
        x = text.Map(function, {x, text.Parameter(extents)});
    }
  }
  return {"", NameOf(name, type, extents), text.Finish()};
}

// A step of Adam: three results of four arrays.
NamedKernel Adam(Rng& rng) {
  const Extents extents = AnyExtents(rng, 1, 2, kManyElements / 2);
  KernelText text("f32");
  const Value w = text.Parameter(extents);
  const Value g = text.Parameter(extents);
  const Value m = text.Parameter(extents);
  const Value v = text.Parameter(extents);
  const auto blend = [&](const Value& a, const Value& b, double share) {
    return text.Map(
        "add",
        {text.Map("multiply", {a, text.Fill(extents, absl::StrCat(share))}),
         text.Map("multiply",
                  {b, text.Fill(extents, absl::StrCat(1 - share))})});
  };
  const Value moment = blend(m, g, 0.9);
  const Value square = blend(v, text.Map("multiply", {g, g}), 0.999);
  const Value root = text.Map("sqrt", {text.Map("abs", {square})});
  const Value step = text.Map(
      "divide", {moment, text.Map("add", {root, text.Fill(extents, "1e-8")})});
  const Value next =
      text.Map("subtract",
               {w, text.Map("multiply", {step, text.Fill(extents, "0.001")})});
  return {"", NameOf("adam", "f32", extents),
          text.Finish({next, moment, square})};
}

NamedKernel Transpose(Rng& rng) {
  const size_t rank = 2 + rng.Below(3);
  const Extents extents =
      DrawExtents(rng, rank, DrawLog(rng, kFewElements, kManyElements));
  Extents order(rank);
  std::iota(order.begin(), order.end(), 0);
  const Extents same = order;
  while (order == same) std::shuffle(order.begin(), order.end(), rng);
  const std::string type = DrawType(rng);
  Extents result;
  for (const int64_t d : order) {
    result.push_back(extents[static_cast<size_t>(d)]);
  }
  KernelText text(type);
  text.Apply("transpose", result, {text.Parameter(extents)},
             absl::StrCat("dimensions={", absl::StrJoin(order, ","), "}"));
  return {"",
          absl::StrCat("transpose_", type, "_", JoinExtents(extents), "_to_",
                       absl::StrJoin(order, "")),
          text.Finish()};
}

// "1x1x7" with `value` at one place.
std::string AlongOne(size_t rank, size_t axis, absl::string_view value,
                     absl::string_view others) {
  std::string text;
  for (size_t d = 0; d < rank; ++d) {
    absl::StrAppend(&text, d == 0 ? "" : "x", d == axis ? value : others);
  }
  return text;
}

NamedKernel Scan(Rng& rng) {
  const Extents extents = AnyExtents(rng, 1, 3, kManyElements / 2);
  const size_t rank = extents.size();
  const size_t axis = rng.Below(2) == 0 ? rank - 1 : rng.Below(rank);
  const std::string type = DrawType(rng);
  const bool sum = rng.Below(3) > 0;
  KernelText text(type);
  const int64_t n = extents[axis];
  text.ReduceWindow(
      sum ? "add" : "maximum", text.Parameter(extents), extents,
      absl::StrCat("size=", AlongOne(rank, axis, absl::StrCat(n), "1"), " pad=",
                   AlongOne(rank, axis, absl::StrCat(n - 1, "_0"), "0_0")));
  return {"",
          NameOf(sum ? "cumsum" : "cummax", type, extents,
                 {static_cast<int64_t>(axis)}),
          text.Finish()};
}

NamedKernel Pool(Rng& rng) {
  const int64_t window = DrawOf<int64_t>(rng, {2, 3, 3});
  const int64_t stride = DrawOf<int64_t>(rng, {1, 2, 2});
  const bool last = rng.Below(2) == 0;
  Extents extents =
      DrawExtents(rng, 4, DrawLog(rng, kFewElements, kManyElements));
  Extents result = extents;
  std::string size;
  std::string step;
  for (size_t d = 0; d < 4; ++d) {
    const bool spatial = last ? d == 1 || d == 2 : d > 1;
    if (spatial) {
      extents[d] = std::max(extents[d], window);
      result[d] = (extents[d] - window) / stride + 1;
    }
    absl::StrAppend(&size, d == 0 ? "" : "x", spatial ? window : 1);
    absl::StrAppend(&step, d == 0 ? "" : "x", spatial ? stride : 1);
  }
  const std::string type = DrawType(rng);
  const bool sum = rng.Below(2) == 0;
  KernelText text(type);
  text.ReduceWindow(sum ? "add" : "maximum", text.Parameter(extents), result,
                    absl::StrCat("size=", size, " stride=", step));
  return {"",
          absl::StrFormat("%s_pool_%s_%s_%s_w%ds%d", sum ? "sum" : "max",
                          last ? "nhwc" : "nchw", type, JoinExtents(extents),
                          window, stride),
          text.Finish()};
}

NamedKernel Gather(Rng& rng) {
  const int64_t rows = DrawLength(rng, 64, 16384);
  int64_t width = DrawLength(rng, 8, 512);
  while (rows * width > 4 * 1000 * 1000)
    width = std::max<int64_t>(1, width / 2);
  const auto count = static_cast<int64_t>(std::max(
      16.0,
      DrawLog(rng, kFewElements, kManyElements) / static_cast<double>(width)));
  const std::string type = DrawType(rng);
  KernelText text(type);
  const Value table = text.Parameter({rows, width});
  const Value numbers = text.Parameter({count}, "s32");
  text.Apply("gather", {count, width}, {table, numbers},
             absl::StrCat("offset_dims={1}, collapsed_slice_dims={0}, "
                          "start_index_map={0}, index_vector_dim=1, "
                          "slice_sizes={1,",
                          width, "}"));
  return {"",
          absl::StrFormat("gather_%s_%dx%d_by_%d", type, rows, width, count),
          text.Finish()};
}

// Arrays put together, padded, reversed or sliced with a step.
NamedKernel Movement(Rng& rng) {
  const Extents extents = AnyExtents(rng, 1, 3);
  const size_t rank = extents.size();
  const size_t axis = rng.Below(rank);
  const std::string type = DrawType(rng);
  const std::string form =
      DrawOf<std::string>(rng, {"concatenate", "pad", "reverse", "slice"});
  KernelText text(type);
  const Value x = text.Parameter(extents);
  Extents result = extents;
  if (form == "concatenate") {
    const Value y = text.Parameter(extents);
    result[axis] *= 2;
    text.Apply(form, result, {x, y}, absl::StrCat("dimensions={", axis, "}"));
  } else if (form == "pad") {
    const int64_t amount = std::max<int64_t>(1, extents[axis] / 3);
    result[axis] += 2 * amount;
    text.Apply(
        form, result, {x, text.Constant("0")},
        absl::StrCat(
            "padding=",
            AlongOne(rank, axis, absl::StrCat(amount, "_", amount), "0_0")));
  } else if (form == "reverse") {
    text.Apply(form, result, {x}, absl::StrCat("dimensions={", axis, "}"));
  } else {
    result[axis] = (extents[axis] + 1) / 2;
    text.Apply(
        form, result, {x},
        absl::StrCat("slice={",
                     absl::StrJoin(extents, ", ",
                                   [&, d = size_t{0}](std::string* out,
                                                      int64_t n) mutable {
                                     absl::StrAppend(out, "[0:", n,
                                                     d++ == axis ? ":2]" : "]");
                                   }),
                     "}"));
  }
  return {"", NameOf(form, type, extents, {static_cast<int64_t>(axis)}),
          text.Finish()};
}

constexpr KernelFamily kFamilies[] = {
    {"softmax", SoftmaxKernel},
    {"elementwise", Elementwise},
    {"reduction", Reduction},
    {"layer_norm", LayerNorm},
    {"transpose", Transpose},
    {"batch_norm", BatchNorm},
    {"scan", Scan},
    {"rms_norm", RmsNorm},
    {"pool", Pool},
    {"logsumexp", Logsumexp},
    {"gather", Gather},
    {"movement", Movement},
    {"adam", Adam},
};

}  // namespace

absl::Span<const KernelFamily> MapFamilies() { return kFamilies; }

}  // namespace hone::bench
