#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "tests/support/random_graph.h"

namespace hone::testing {

Shape RandomGraph::TupleShape(absl::Span<const Value> values) {
  std::vector<hlo::ShapePtr> elements;
  for (const Value& v : values) {
    elements.push_back(std::make_shared<const Shape>(v.shape));
  }
  return *Shape::Tuple(elements);
}

std::string RandomGraph::Names(absl::Span<const Value> values) {
  return absl::StrJoin(values, ", ", [](std::string* out, const Value& v) {
    out->append(v.name);
  });
}

Value RandomGraph::MakeTuple(absl::Span<const Value> elements) {
  return Emit(TupleShape(elements),
              absl::StrCat("tuple(", Names(elements), ")"), 1, false);
}

Value RandomGraph::Element(const Value& tuple, int64_t index, double bound,
                           bool exact) {
  return Emit(
      *tuple.shape.tuple_element(index),
      absl::StrCat("get-tuple-element(", tuple.name, "), index=", index), bound,
      exact);
}

void RandomGraph::AddTuple() {
  std::vector<Value> elements;
  for (uint64_t k = 1 + Below(3); k > 0; --k) elements.push_back(PickArray());
  Value tuple = MakeTuple(elements);
  if (Chance(0.3)) {
    // Taken apart and put together again.
    std::vector<Value> parts;
    for (size_t i = 0; i < elements.size(); ++i) {
      parts.push_back(Element(tuple, static_cast<int64_t>(i), elements[i].bound,
                              elements[i].exact));
    }
    tuple = MakeTuple(parts);
  }
  const size_t index = Below(elements.size());
  Element(tuple, static_cast<int64_t>(index), elements[index].bound,
          elements[index].exact);
}

std::string RandomGraph::Body(absl::Span<const Value> parameters,
                              const Shape& result, double bound, int steps) {
  RandomGraph body(state_, depth_ + 1);
  for (const Value& v : parameters) body.Parameter(v.shape, v.bound);
  for (Value& v : body.values_) v.exact = false;
  body.Grow(steps);
  // Something new, where there is anything of the shape.
  Value root = body.Need(result);
  if (hlo::IsFloat(result.element_type())) {
    root = body.Tame(root, bound);
  }
  const std::string name = NewName("body");
  state_.computations.push_back(body.Finish(name, root));
  uses_every_parameter_ = true;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const std::string& parameter = body.values_[i].name;
    uses_every_parameter_ =
        uses_every_parameter_ &&
        (parameter == root.name || body.used_.contains(parameter));
  }
  return name;
}

void RandomGraph::AddCall() {
  if (depth_ >= kMaxDepth) return;
  std::vector<Value> arguments;
  for (uint64_t k = 1 + Below(2); k > 0; --k) {
    arguments.push_back(Tame(PickFloat(), 4));
  }
  const Shape result = arguments[0].shape;
  const std::string name =
      Body(arguments, result, 4, 2 + static_cast<int>(Below(4)));
  const bool fusion = Chance(0.2) && uses_every_parameter_;
  // Twice, now and then.
  for (int sites = Chance(0.3) ? 2 : 1; sites > 0; --sites) {
    Emit(result,
         fusion ? absl::StrCat("fusion(", Names(arguments),
                               "), kind=kLoop, calls=", name)
                : absl::StrCat("call(", Names(arguments), "), to_apply=", name),
         4, false);
    arguments[0] = Tame(Need(result), 4);
  }
}

void RandomGraph::AddMap() {
  // Compared in it, so rounding must not show.
  const Value a = Tame(NeedExact(PickFloat().shape), 4);
  const Value b = Tame(NeedExact(a.shape), 4);
  const std::string t(hlo::ElementTypeName(a.shape.element_type()));
  std::string work =
      absl::StrCat("  c = ", t, "[] constant(0.5)\n  d = ", t, "[] ",
                   OneOf({"multiply", "add", "maximum"}), "(a, c)\n");
  if (Chance(0.3)) {
    // One operation.
    absl::StrAppend(&work, "  ROOT r = ", t, "[] maximum(a, b)\n");
  } else if (Chance(0.3)) {
    const std::string branch = NewName("branch");
    state_.computations.push_back(
        absl::StrCat(branch, " {\n  x = ", t, "[] parameter(0)\n  ROOT y = ", t,
                     "[] ", OneOf({"negate", "abs"}), "(x)\n}\n"));
    absl::StrAppend(&work, "  p = pred[] compare(a, b), direction=GT\n",
                    "  ROOT r = ", t, "[] conditional(p, d, b), ",
                    "true_computation=", branch, ", false_computation=", branch,
                    "\n");
  } else {
    absl::StrAppend(&work, "  ROOT r = ", t, "[] ",
                    OneOf({"subtract", "add", "minimum"}), "(d, b)\n");
  }
  const std::string name = NewName("mapped");
  state_.computations.push_back(absl::StrCat(name, " {\n  a = ", t,
                                             "[] parameter(0)\n  b = ", t,
                                             "[] parameter(1)\n", work, "}\n"));
  DimensionVector dimensions;
  for (int64_t i = 0; i < a.shape.rank(); ++i) dimensions.push_back(i);
  Emit(a.shape,
       absl::StrCat("map(", a.name, ", ", b.name, "), dimensions={",
                    absl::StrJoin(dimensions, ","), "}, to_apply=", name),
       16, false);
}

void RandomGraph::AddWhile() {
  if (depth_ >= kMaxDepth) return;
  AddCountedLoop(static_cast<int64_t>(Below(4)));
}

// The carried tuple: the counter, a value that every step changes, one that
// none does, and perhaps one that nothing reads.
void RandomGraph::AddCountedLoop(int64_t trips) {
  const Value changing = Tame(PickFloat(), 2);
  const Value invariant = Tame(Need(changing.shape), 2);
  const int64_t start = static_cast<int64_t>(Below(2));
  std::vector<Value> carried = {
      ScalarConstant(ElementType::kS32, static_cast<double>(start)), changing,
      invariant};
  if (Chance(0.5)) carried.push_back(PickArray());
  const Shape shape = TupleShape(carried);

  RandomGraph body(state_, depth_ + 1);
  const Value state = body.Parameter(shape, 1);
  std::vector<Value> next;
  for (size_t i = 0; i < carried.size(); ++i) {
    // Rounding in the body reaches its own parameters.
    next.push_back(body.Element(state, static_cast<int64_t>(i),
                                i == 0 ? 8 : std::max(carried[i].bound, 2.0),
                                i == 0));
  }
  const Value one = body.ScalarConstant(ElementType::kS32, 1);
  next[0] = body.Binary("add", next[0], one, 8, true);
  body.Grow(1 + static_cast<int>(Below(4)));
  const Value sum = body.Binary(OneOf({"add", "multiply", "maximum"}), next[1],
                                body.Tame(body.Need(changing.shape), 2), 4);
  next[1] = body.Tame(sum, 2);
  const Value root = body.MakeTuple(next);
  const std::string body_name = NewName("while_body");
  state_.computations.push_back(body.Finish(body_name, root));

  const std::string condition = NewName("condition");
  state_.computations.push_back(absl::StrCat(
      condition, " {\n  t = ", shape.ToString(), " parameter(0)\n",
      "  i = s32[] get-tuple-element(t), index=0\n  n = s32[] constant(",
      start + trips, ")\n  ROOT r = pred[] compare(i, n), direction=LT\n}\n"));
  const Value initial = MakeTuple(carried);
  const Value result =
      Emit(shape,
           absl::StrCat("while(", initial.name, "), condition=", condition,
                        ", body=", body_name),
           1, false);
  Element(result, 1, 2, false);
  if (Chance(0.3)) Element(result, 0, 8, true);
  if (Chance(0.3)) Element(result, 2, 2, false);
}

void RandomGraph::AddConditional() {
  if (depth_ >= kMaxDepth) return;
  const Value argument = Tame(PickFloat(), 4);
  const bool by_pred = Chance(0.5);
  const ElementType type = by_pred ? ElementType::kPred : ElementType::kS32;
  const Value index = Chance(0.5)
                          ? ScalarConstant(type, static_cast<double>(Below(2)))
                          : Need(Shape(type, {}));
  const size_t branches = by_pred ? 2 : 1 + Below(3);
  std::vector<std::string> names;
  std::string text = absl::StrCat("conditional(", index.name);
  for (size_t i = 0; i < branches; ++i) {
    names.push_back(
        Body({argument}, argument.shape, 4, 1 + static_cast<int>(Below(3))));
    absl::StrAppend(&text, ", ", argument.name);
  }
  if (by_pred) {
    absl::StrAppend(&text, "), true_computation=", names[0],
                    ", false_computation=", names[1]);
  } else {
    absl::StrAppend(&text, "), branch_computations={",
                    absl::StrJoin(names, ", "), "}");
  }
  Emit(argument.shape, text, 4, false);
}

}  // namespace hone::testing
