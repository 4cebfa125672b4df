// Loops and conditionals in every form that rewrites tell apart.

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "tests/support/random_graph.h"

namespace hone::testing {
namespace {

// The counter of a loop, which goes on while `counter direction limit`.
struct Counting {
  int64_t start = 0;
  int64_t step = 1;
  int64_t limit = 0;
  absl::string_view direction = "LT";
};

constexpr Counting kCountings[] = {
    {0, 1, 0, "LT"},  // no trip
    {3, 1, 2, "LT"},  // none either
    {0, 1, 1, "LT"},  // one
    {0, 1, 3, "LT"},  {1, 2, 6, "LT"},  {0, 3, 7, "LE"},
    {5, -1, 0, "GT"}, {6, -2, 1, "GE"}, {0, 1, 3, "NE"},
    {4, -2, 0, "NE"}, {2, 1, 2, "EQ"},  // one, by an unusual comparison
};

}  // namespace

// The carried tuple has, in any order: the counter, a value that changes, one
// that does not, and perhaps a limit of run time, two that are swapped, one
// that nothing reads.
void RandomGraph::AddLoop() {
  if (depth_ >= kMaxDepth) return;
  Counting counting = kCountings[Below(std::size(kCountings))];
  ElementType type = ElementType::kS32;
  if (Chance(0.3)) type = Chance(0.5) ? ElementType::kS64 : ElementType::kS8;
  if (counting.step > 0 && Chance(0.2)) type = ElementType::kU32;
  const bool run_time_limit = counting.direction == "LT" && Chance(0.4);
  const bool until_small = Chance(0.15);

  const Value changing = Tame(PickFloat(), 2);
  const Value invariant = Tame(Need(changing.shape), 2);
  struct Part {
    char kind;  // c(ounter), v(alue), i(nvariant), l(imit), s(wapped), d(ead)
    Value value;
  };
  std::vector<Part> parts = {
      {'c', ScalarConstant(type, static_cast<double>(counting.start))},
      {'v', changing},
      {'i', invariant}};
  if (run_time_limit) {
    // Whatever the argument is, few trips.
    const Value any = Need(Shape(type, {}));
    const Value low = ScalarConstant(type, 0);
    const Value high = ScalarConstant(type, 4);
    parts.push_back({'l', Emit(any.shape,
                               absl::StrCat("clamp(", low.name, ", ", any.name,
                                            ", ", high.name, ")"),
                               4, true)});
  }
  if (Chance(0.3)) {
    parts.push_back({'s', Tame(PickFloat(), 2)});
    parts.push_back({'s', Tame(Need(parts.back().value.shape), 2)});
  }
  if (Chance(0.4)) parts.push_back({'d', PickArray()});
  for (size_t i = parts.size(); i > 1; --i) {
    // The swapped ones stay neighbors.
    if (parts[i - 1].kind != 's' && parts[i - 2].kind != 's' && Chance(0.5)) {
      std::swap(parts[i - 1], parts[i - 2]);
    }
  }
  std::vector<Value> carried;
  for (const Part& part : parts) carried.push_back(part.value);
  const Shape shape = TupleShape(carried);

  // Body.
  RandomGraph body(state_, depth_ + 1);
  const Value state = body.Parameter(shape, 1);
  std::vector<Value> next;
  size_t counter = 0;
  size_t value = 0;
  std::string limit;
  for (size_t i = 0; i < parts.size(); ++i) {
    const char kind = parts[i].kind;
    const double bound =
        kind == 'c' || kind == 'l' ? 8 : std::max(carried[i].bound, 2.0);
    next.push_back(body.Element(state, static_cast<int64_t>(i), bound,
                                kind == 'c' || kind == 'l'));
    if (kind == 'c') counter = i;
    if (kind == 'v') value = i;
    if (kind == 'l') limit = absl::StrCat(i);
  }
  // Before or after the work that may use it.
  const auto count = [&] {
    const Value step =
        body.ScalarConstant(type, static_cast<double>(counting.step));
    next[counter] = body.Binary("add", next[counter], step, 8, true);
  };
  const bool count_first = Chance(0.5);
  if (count_first) count();
  body.Grow(1 + static_cast<int>(Below(3)));
  if (Chance(0.25)) body.AddLoop();
  const Value work = body.Tame(body.Need(changing.shape), 2);
  const Value sum =
      body.Binary(OneOf({"add", "multiply", "maximum"}), next[value], work, 4);
  if (until_small) {
    next[value] =
        body.Binary("multiply", next[value], body.Uniform(next[value], 0.5), 2);
  } else {
    next[value] = body.Tame(sum, 2);
  }
  if (!count_first) count();
  for (size_t i = 0; i + 1 < parts.size(); ++i) {
    if (parts[i].kind != 's' || parts[i + 1].kind != 's') continue;
    std::swap(next[i], next[i + 1]);
    break;
  }
  const std::string body_name = NewName("while_body");
  state_.computations.push_back(body.Finish(body_name, body.MakeTuple(next)));

  // Condition.
  RandomGraph condition(state_, depth_ + 1);
  const Value seen = condition.Parameter(shape, 1);
  Value limit_value;
  if (limit.empty()) {
    limit_value =
        condition.ScalarConstant(type, static_cast<double>(counting.limit));
  } else {
    int64_t at = 0;
    while (parts[static_cast<size_t>(at)].kind != 'l') ++at;
    limit_value = condition.Element(seen, at, 8, true);
  }
  const Value now =
      condition.Element(seen, static_cast<int64_t>(counter), 8, true);
  Value go_on;
  const Shape pred(ElementType::kPred, {});
  if (Chance(0.2) && counting.direction == "LT") {
    go_on = condition.Emit(pred,
                           absl::StrCat("compare(", limit_value.name, ", ",
                                        now.name, "), direction=GT"),
                           1, true);
  } else {
    go_on = condition.Emit(
        pred,
        absl::StrCat("compare(", now.name, ", ", limit_value.name,
                     "), direction=", counting.direction),
        1, true);
  }
  if (until_small && changing.shape.IsScalar()) {
    // Floats decide as well: only parameters and constants are exact enough.
    const Value x =
        condition.Element(seen, static_cast<int64_t>(value), 2, true);
    const Value zero = condition.ScalarConstant(x.shape.element_type(), 0);
    const Value positive = condition.Emit(
        pred,
        absl::StrCat("compare(", x.name, ", ", zero.name, "), direction=NE"), 1,
        true);
    go_on = condition.Binary("and", go_on, positive, 1, true);
  }
  const std::string condition_name = NewName("condition");
  state_.computations.push_back(condition.Finish(condition_name, go_on));

  const Value initial = MakeTuple(carried);
  const Value result =
      Emit(shape,
           absl::StrCat("while(", initial.name, "), condition=", condition_name,
                        ", body=", body_name),
           1, false);
  if (Chance(0.15)) return;  // a dead loop
  for (size_t i = 0; i < parts.size(); ++i) {
    const char kind = parts[i].kind;
    if (kind == 'v' ? Chance(0.9) : Chance(0.3)) {
      Element(result, static_cast<int64_t>(i),
              kind == 'c' || kind == 'l' ? 8 : std::max(carried[i].bound, 2.0),
              kind == 'c' || kind == 'l');
    }
  }
}

std::string RandomGraph::TupleBody(absl::Span<const Value> elements,
                                   absl::Span<const Value> results, int steps) {
  RandomGraph body(state_, depth_ + 1);
  const Value state = body.Parameter(TupleShape(elements), 1);
  for (size_t i = 0; i < elements.size(); ++i) {
    if (Chance(0.8)) {
      body.Element(state, static_cast<int64_t>(i), elements[i].bound, false);
    }
  }
  body.Grow(steps);
  std::vector<Value> roots;
  for (const Value& result : results) {
    Value root = body.Need(result.shape);
    if (hlo::IsFloat(result.shape.element_type())) root = body.Tame(root, 4);
    roots.push_back(root);
  }
  const std::string name = NewName("branch");
  state_.computations.push_back(body.Finish(name, body.MakeTuple(roots)));
  return name;
}

void RandomGraph::AddTupleConditional() {
  if (depth_ >= kMaxDepth) return;
  std::vector<Value> results;
  for (uint64_t k = 1 + Below(3); k > 0; --k) {
    results.push_back(Chance(0.7) ? PickFloat() : PickInteger());
  }
  const bool by_pred = Chance(0.4);
  const ElementType type = by_pred ? ElementType::kPred : ElementType::kS32;
  Value index = Need(Shape(type, {}));
  if (Chance(0.4)) {
    // Out of range too: then the last branch runs.
    index = ScalarConstant(
        type, static_cast<double>(Below(by_pred ? 2 : 6)) - (by_pred ? 0 : 1));
  }
  const size_t branches = by_pred ? 2 : 1 + Below(4);
  std::string text = absl::StrCat("conditional(", index.name);
  std::vector<std::string> names;
  std::vector<Value> arguments;
  for (size_t i = 0; i < branches; ++i) {
    if (i == 0 || Chance(0.7)) {
      arguments.clear();
      for (uint64_t k = 1 + Below(3); k > 0; --k) {
        arguments.push_back(Chance(0.7) ? Tame(PickFloat(), 4) : PickInteger());
      }
      names.push_back(
          TupleBody(arguments, results, static_cast<int>(Below(4))));
    } else {
      names.push_back(names.back());  // the same branch once more
    }
    absl::StrAppend(&text, ", ", MakeTuple(arguments).name);
  }
  if (by_pred) {
    absl::StrAppend(&text, "), true_computation=", names[0],
                    ", false_computation=", names[1]);
  } else {
    absl::StrAppend(&text, "), branch_computations={",
                    absl::StrJoin(names, ", "), "}");
  }
  const Value result = Emit(TupleShape(results), text, 4, false);
  for (size_t i = 0; i < results.size(); ++i) {
    if (Chance(0.7)) Element(result, static_cast<int64_t>(i), 4, false);
  }
}

}  // namespace hone::testing
