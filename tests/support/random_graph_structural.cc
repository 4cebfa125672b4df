// Instructions with a meaning only outside the module, or only at run time: the
// evaluator refuses such modules, and rewrites are judged by their structure.

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "tests/support/random_graph.h"

namespace hone::testing {

namespace {

ElementType NumberOf(const Value& v) { return v.shape.element_type(); }

}  // namespace

void RandomGraph::AddDynamicShape() {
  // Dimension 0 is dynamic.
  const auto is_dynamic = [](const Value& v) {
    return v.shape.is_dynamic() && hlo::IsFloat(NumberOf(v));
  };
  std::optional<Value> old = PickSpecial(is_dynamic);
  if (!old.has_value() || Chance(0.3)) {
    const Value v =
        Tame(PickRank(1 + static_cast<int64_t>(Below(2)), false), 4);
    Shape shape(NumberOf(v), v.shape.dimensions());
    shape.set_dynamic_dimension(0);
    if (depth_ == 0 && Chance(0.3)) {
      Parameter(shape, 0.35);
      return;
    }
    Value size = Need(Shape(ElementType::kS32, {}));
    const Value low = ScalarConstant(ElementType::kS32, 0);
    const Value high = ScalarConstant(
        ElementType::kS32, static_cast<double>(v.shape.dimension(0)));
    size = Emit(
        size.shape,
        absl::StrCat("clamp(", low.name, ", ", size.name, ", ", high.name, ")"),
        6, true);
    Emit(shape,
         absl::StrCat("set-dimension-size(", v.name, ", ", size.name,
                      "), dimensions={0}"),
         v.bound, v.exact);
    return;
  }
  const Value& v = *old;
  switch (Below(8)) {
    case 0:
      Unary(OneOf({"negate", "abs", "tanh", "copy"}), v, v.bound, v.exact);
      return;
    case 1:
      Binary(OneOf({"add", "maximum"}), v, v, 2 * v.bound);
      return;
    case 2:
      Emit(Shape(ElementType::kS32, {}),
           absl::StrCat("get-dimension-size(", v.name, "), dimensions={0}"), 6,
           true);
      return;
    case 3: {
      const Value zero = ScalarConstant(NumberOf(v), 0);
      Emit(Shape(NumberOf(v),
                 absl::MakeConstSpan(v.shape.dimensions()).subspan(1)),
           absl::StrCat(
               "reduce(", v.name, ", ", zero.name,
               "), dimensions={0}, to_apply=", Region("add", NumberOf(v))),
           6 * v.bound, false);
      return;
    }
    case 4: {
      const Value tuple = MakeTuple({v, v});
      Element(tuple, Chance(0.5) ? 0 : 1, v.bound, v.exact);
      return;
    }
    case 5: {
      // Static again.
      const Value size = ScalarConstant(
          ElementType::kS32, static_cast<double>(v.shape.dimension(0)));
      Emit(Shape(NumberOf(v), v.shape.dimensions()),
           absl::StrCat("set-dimension-size(", v.name, ", ", size.name,
                        "), dimensions={0}"),
           v.bound, v.exact);
      return;
    }
    case 6: {
      if (v.shape.rank() != 2) return;
      Shape turned(NumberOf(v), {v.shape.dimension(1), v.shape.dimension(0)});
      turned.set_dynamic_dimension(1);
      Emit(turned, absl::StrCat("transpose(", v.name, "), dimensions={1,0}"),
           v.bound, v.exact);
      // Nothing here expects it there.
      special_.pop_back();
      return;
    }
    default: {
      // One of two.
      const Value pred = Need(Shape(ElementType::kPred, {}));
      std::vector<std::string> names;
      for (absl::string_view opcode : {"negate", "abs"}) {
        names.push_back(NewName("dynamic_branch"));
        state_.computations.push_back(
            absl::StrCat(names.back(), " {\n  x = ", v.shape.ToString(),
                         " parameter(0)\n  ROOT y = ", v.shape.ToString(), " ",
                         opcode, "(x)\n}\n"));
      }
      Emit(v.shape,
           absl::StrCat("conditional(", pred.name, ", ", v.name, ", ", v.name,
                        "), true_computation=", names[0],
                        ", false_computation=", names[1]),
           v.bound, false);
    }
  }
}

void RandomGraph::AddEffect() {
  const Value v = PickArray();
  const std::string target = absl::StrCat(
      ", custom_call_target=\"", OneOf({"hone_first", "hone_second"}), "\"");
  switch (Below(5)) {
    case 0:
      // Without effects, perhaps unused.
      Emit(v.shape, absl::StrCat("custom-call(", v.name, ")", target), v.bound,
           false);
      return;
    case 1:
    case 2:
      Emit(v.shape,
           absl::StrCat("custom-call(", v.name, ")", target,
                        ", custom_call_has_side_effect=true"),
           v.bound, false);
      return;
    case 3: {
      // The same twice: it happens twice.
      for (int i = 0; i < 2; ++i) {
        Emit(Shape(ElementType::kS32, {}),
             absl::StrCat("custom-call()", target,
                          ", custom_call_has_side_effect=true"),
             1, false);
      }
      return;
    }
    default: {
      const Value first =
          Emit(v.shape,
               absl::StrCat("custom-call(", v.name, ")", target,
                            ", custom_call_has_side_effect=true"),
               v.bound, false);
      Emit(v.shape,
           absl::StrCat("custom-call(", v.name, ")", target,
                        ", custom_call_has_side_effect=true, "
                        "control-predecessors={",
                        first.name, "}"),
           v.bound, false);
      expressions_.pop_back();
    }
  }
}

void RandomGraph::AddFeed() {
  const Shape token = *Shape::Token();
  const Value start = Emit(token, "after-all()", 1, true);
  if (Chance(0.5)) {
    const Shape shape(ElementType::kF32, AnyDimensions(2));
    const Shape both = *Shape::Tuple({std::make_shared<const Shape>(shape),
                                      std::make_shared<const Shape>(token)});
    const Value fed =
        Emit(both, absl::StrCat("infeed(", start.name, ")"), 1, false);
    const Value data = Element(fed, 0, 1, false);
    if (Chance(0.5)) {
      const Value next = Element(fed, 1, 1, false);
      Emit(token,
           absl::StrCat("outfeed(", data.name, ", ", next.name,
                        "), outfeed_shape=", shape.ToString(true)),
           1, false);
    }
    return;
  }
  const Value v = PickArray();
  const Value out =
      Emit(token,
           absl::StrCat("outfeed(", v.name, ", ", start.name,
                        "), outfeed_shape=", v.shape.ToString(true)),
           1, false);
  if (Chance(0.3)) {
    Emit(v.shape, absl::StrCat("add-dependency(", v.name, ", ", out.name, ")"),
         v.bound, v.exact);
  }
}

void RandomGraph::AddCollective() {
  if (Chance(0.2)) {
    Emit(Shape(ElementType::kU32, {}),
         OneOf({"partition-id()", "replica-id()"}), 1, true);
    return;
  }
  const Value v = Tame(PickRank(1 + static_cast<int64_t>(Below(2)), false), 4);
  const ElementType type = NumberOf(v);
  const int64_t n = v.shape.dimension(0);
  const int channel = state_.next_channel++;
  const std::string groups =
      absl::StrCat(", channel_id=", channel,
                   ", replica_groups={{0,1}}, use_global_device_ids=true");
  DimensionVector sizes(v.shape.dimensions());
  switch (Below(5)) {
    case 0:
      Emit(v.shape,
           absl::StrCat("all-reduce(", v.name, ")", groups,
                        ", to_apply=", Region("add", type)),
           2 * v.bound, false);
      break;
    case 1:
      sizes[0] = 2 * n;
      Emit(Shape(type, sizes),
           absl::StrCat("all-gather(", v.name, ")", groups, ", dimensions={0}"),
           v.bound, v.exact);
      break;
    case 2:
      if (n % 2 != 0) return;
      sizes[0] = n / 2;
      Emit(Shape(type, sizes),
           absl::StrCat("reduce-scatter(", v.name, ")", groups,
                        ", dimensions={0}, to_apply=", Region("add", type)),
           2 * v.bound, false);
      break;
    case 3:
      if (n % 2 != 0) return;
      Emit(v.shape,
           absl::StrCat("all-to-all(", v.name, "), channel_id=", channel,
                        ", replica_groups={{0,1}}, dimensions={0}"),
           v.bound, v.exact);
      break;
    default:
      Emit(v.shape,
           absl::StrCat("collective-permute(", v.name, "), channel_id=",
                        channel, ", source_target_pairs={{0,1},{1,0}}"),
           v.bound, v.exact);
  }
  // A channel belongs to one instruction.
  expressions_.pop_back();
}

void RandomGraph::AddRandomNumbers() {
  switch (Below(3)) {
    case 0: {
      const Value low = ScalarConstant(ElementType::kF32, 0);
      const Value high = ScalarConstant(ElementType::kF32, 1);
      Emit(Shape(ElementType::kF32, AnyDimensions(2)),
           absl::StrCat("rng(", low.name, ", ", high.name, "), distribution=",
                        OneOf({"rng_uniform", "rng_normal"})),
           8, false);
      return;
    }
    case 1:
      Emit(Shape(ElementType::kU64, {2}), "rng-get-and-update-state(), delta=1",
           1, false);
      return;
    default: {
      const Value key = NeedExact(Shape(ElementType::kU64, {3}));
      const Shape bits(Chance(0.5) ? ElementType::kU32 : ElementType::kU64,
                       {OneOf(state_.sizes)});
      const Shape both =
          *Shape::Tuple({std::make_shared<const Shape>(key.shape),
                         std::make_shared<const Shape>(bits)});
      const Value result = Emit(both,
                                absl::StrCat("rng-bit-generator(", key.name,
                                             "), algorithm=rng_philox"),
                                1, true);
      Element(result, 1, 1, true);
    }
  }
}

}  // namespace hone::testing
