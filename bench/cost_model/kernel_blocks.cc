#include "bench/cost_model/kernel_blocks.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace hone::bench {

using Value = KernelText::Value;

namespace {

// The sum over dimensions, along which it is broadcast back.
Value Sum(KernelText& text, const Value& x, const Extents& over) {
  return text.BroadcastBack(text.Reduce("add", x, over), x.extents, over);
}

// x less its maximum over dimensions.
Value Centered(KernelText& text, const Value& x, const Extents& over) {
  return text.Map("subtract",
                  {x, text.BroadcastBack(text.Reduce("maximum", x, over),
                                         x.extents, over)});
}

}  // namespace

Value Silu(KernelText& text, const Value& x) {
  return text.Map("multiply", {x, text.Map("logistic", {x})});
}

Value Gelu(KernelText& text, const Value& x) {
  const auto fill = [&](absl::string_view value) {
    return text.Fill(x.extents, value);
  };
  const Value cube = text.Map("multiply", {x, text.Map("multiply", {x, x})});
  const Value inner =
      text.Map("add", {x, text.Map("multiply", {cube, fill("0.044715")})});
  const Value tanh =
      text.Map("tanh", {text.Map("multiply", {inner, fill("0.797884583")})});
  return text.Map("multiply", {text.Map("multiply", {x, fill("0.5")}),
                               text.Map("add", {tanh, fill("1")})});
}

Value Dot(KernelText& text, const Value& x, const Value& w) {
  return text.Apply("dot", {x.extents[0], w.extents[1]}, {x, w},
                    "lhs_contracting_dims={1}, rhs_contracting_dims={0}");
}

Value Softmax(KernelText& text, const Value& x, const Extents& over) {
  const Value exp = text.Map("exponential", {Centered(text, x, over)});
  return text.Map("divide", {exp, Sum(text, exp, over)});
}

Value LogSoftmax(KernelText& text, const Value& x, const Extents& over) {
  const Value centered = Centered(text, x, over);
  const Value exp = text.Map("exponential", {centered});
  return text.Map("subtract",
                  {centered, text.Map("log", {Sum(text, exp, over)})});
}

int64_t Product(const Extents& extents, const Extents& over) {
  int64_t product = 1;
  for (const int64_t d : over) product *= extents[static_cast<size_t>(d)];
  return product;
}

Value Mean(KernelText& text, const Value& x, const Extents& over) {
  return text.Map(
      "multiply",
      {Sum(text, x, over),
       text.Fill(x.extents, absl::StrCat(1.0 / static_cast<double>(Product(
                                                   x.extents, over))))});
}

std::string NameOf(absl::string_view what, const std::string& type,
                   const Extents& extents, const Extents& over) {
  return absl::StrCat(what, "_", type, "_", JoinExtents(extents),
                      over.empty() ? "" : "_over_", absl::StrJoin(over, "_"));
}

Value ScaleAndShift(KernelText& text, const Value& x, int64_t axis) {
  const Extents along = {x.extents[static_cast<size_t>(axis)]};
  const Value scale = text.Parameter(along);
  const Value shift = text.Parameter(along);
  const Value scaled =
      text.Map("multiply", {x, text.Broadcast(scale, x.extents, {axis})});
  return text.Map("add", {scaled, text.Broadcast(shift, x.extents, {axis})});
}

Value Standardize(KernelText& text, const Value& x, const Extents& over) {
  const Value centered = text.Map("subtract", {x, Mean(text, x, over)});
  const Value variance =
      Mean(text, text.Map("multiply", {centered, centered}), over);
  const Value inverse = text.Map(
      "rsqrt", {text.Map("add", {variance, text.Fill(x.extents, "1e-5")})});
  return text.Map("multiply", {centered, inverse});
}

}  // namespace hone::bench
