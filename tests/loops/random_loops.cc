#include "tests/loops/random_loops.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "base/rng.h"

namespace hone::testing {
namespace {

constexpr int kSize = 6;
constexpr char kArray[] = "s32[6]";

class Generator {
 public:
  explicit Generator(uint64_t seed) : rng_(seed) {}

  std::string Generate() {
    Scope scope;
    const int parameters = 1 + Below(3);
    for (int i = 0; i < parameters; ++i) {
      scope.arrays.push_back(
          Add(scope, kArray, absl::StrCat("parameter(", i, ")")));
    }
    scope.scalars.push_back(Constant(scope, Below(kSize)));
    AddOperations(scope, Below(3), /*depth=*/0);
    AddLoop(scope, /*depth=*/2);
    AddOperations(scope, Below(3), /*depth=*/1);
    std::vector<std::string> results;
    const int count = 1 + Below(4);
    for (int i = 0; i < count; ++i) results.push_back(AnyArray(scope));
    return absl::StrCat("HloModule m\n", computations_, "ENTRY entry {\n",
                        scope.text, "  ROOT root = ", TupleType(results.size()),
                        " tuple(", absl::StrJoin(results, ", "), ")\n}\n");
  }

 private:
  // A computation under construction.
  struct Scope {
    std::string text;
    std::vector<std::string> arrays;
    std::vector<std::string> scalars;  // s32[]
  };

  int Below(int bound) {
    return static_cast<int>(rng_.Below(static_cast<uint64_t>(bound)));
  }
  bool Chance(double probability) { return rng_.Uniform() < probability; }

  static std::string TupleType(size_t arrays, const char* first = "") {
    return absl::StrCat(
        "(", first,
        absl::StrJoin(std::vector<std::string>(arrays, kArray), ", "), ")");
  }

  std::string Add(Scope& scope, absl::string_view type,
                  absl::string_view operation) {
    const std::string name = absl::StrCat("v", next_++);
    absl::StrAppend(&scope.text, "  ", name, " = ", type, " ", operation, "\n");
    return name;
  }
  std::string Constant(Scope& scope, int value) {
    return Add(scope, "s32[]", absl::StrCat("constant(", value, ")"));
  }

  // Mostly recent ones.
  std::string AnyArray(const Scope& scope) {
    const int count = static_cast<int>(scope.arrays.size());
    const int back = Chance(0.5) ? Below(std::min(count, 2)) : Below(count);
    return scope.arrays[static_cast<size_t>(count - 1 - back)];
  }
  std::string AnyScalar(const Scope& scope) {
    return scope.scalars[static_cast<size_t>(
        Below(static_cast<int>(scope.scalars.size())))];
  }

  // Some elements of an array, at a place that depends on data.
  std::string Slice(Scope& scope, int size) {
    return Add(
        scope, absl::StrCat("s32[", size, "]"),
        absl::StrCat("dynamic-slice(", AnyArray(scope), ", ", AnyScalar(scope),
                     "), dynamic_slice_sizes={", size, "}"));
  }

  std::string Update(Scope& scope, int size) {
    const std::string type = absl::StrCat("s32[", size, "]");
    std::string update = Slice(scope, size);
    if (Chance(0.5)) {
      const std::string all =
          Add(scope, type,
              absl::StrCat("broadcast(", AnyScalar(scope), "), dimensions={}"));
      update = Add(scope, type, absl::StrCat("add(", update, ", ", all, ")"));
    }
    if (Chance(0.3)) {
      update =
          Add(scope, type,
              absl::StrCat("subtract(", Slice(scope, size), ", ", update, ")"));
    }
    if (Chance(0.2)) {
      update = Add(scope, type,
                   absl::StrCat("reverse(", update, "), dimensions={0}"));
    }
    return update;
  }

  void AddUpdateSlice(Scope& scope) {
    const int size = Chance(0.1) ? kSize : 1 + Below(3);
    const std::string update = Update(scope, size);
    scope.arrays.push_back(
        Add(scope, kArray,
            absl::StrCat("dynamic-update-slice(", AnyArray(scope), ", ", update,
                         ", ", AnyScalar(scope), ")")));
  }

  void AddScatter(Scope& scope) {
    const std::string indices = Slice(scope, 2);
    const std::string updates = Update(scope, 2);
    const bool two = Chance(0.3);
    const std::string attributes = absl::StrCat(
        "update_window_dims={}, inserted_window_dims={0}, "
        "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=",
        two ? "both" : (Chance(0.5) ? "plus" : "set"));
    if (!two) {
      scope.arrays.push_back(
          Add(scope, kArray,
              absl::StrCat("scatter(", AnyArray(scope), ", ", indices, ", ",
                           updates, "), ", attributes)));
      return;
    }
    const std::string more = Update(scope, 2);
    const std::string pair = Add(
        scope, TupleType(2),
        absl::StrCat("scatter(", AnyArray(scope), ", ", AnyArray(scope), ", ",
                     indices, ", ", updates, ", ", more, "), ", attributes));
    for (int i = 0; i < 2; ++i) {
      scope.arrays.push_back(
          Add(scope, kArray,
              absl::StrCat("get-tuple-element(", pair, "), index=", i)));
    }
  }

  void AddElementwise(Scope& scope) {
    const std::string a = AnyArray(scope);
    const std::string b = AnyArray(scope);
    scope.arrays.push_back(Add(
        scope, kArray,
        absl::StrCat(Chance(0.5) ? "add" : "subtract", "(", a, ", ", b, ")")));
  }

  void AddScalar(Scope& scope) {
    const std::string element = Slice(scope, 1);
    scope.scalars.push_back(
        Add(scope, "s32[]", absl::StrCat("reshape(", element, ")")));
  }

  void AddReshapes(Scope& scope) {
    const std::string matrix =
        Add(scope, "s32[2,3]", absl::StrCat("reshape(", AnyArray(scope), ")"));
    const std::string row =
        Add(scope, "s32[1,3]", absl::StrCat("reshape(", Update(scope, 3), ")"));
    const std::string zero = Constant(scope, 0);
    const std::string updated =
        Add(scope, "s32[2,3]",
            absl::StrCat("dynamic-update-slice(", matrix, ", ", row, ", ",
                         AnyScalar(scope), ", ", zero, ")"));
    scope.arrays.push_back(
        Add(scope, kArray, absl::StrCat("reshape(", updated, ")")));
  }

  std::vector<std::string> SomeArrays(const Scope& scope, int count) {
    std::vector<std::string> arrays;
    for (int i = 0; i < count; ++i) arrays.push_back(AnyArray(scope));
    return arrays;
  }

  // Adds a computation and returns its name.
  std::string AddComputation(absl::string_view text) {
    const std::string name = absl::StrCat("f", next_++);
    absl::StrAppend(&computations_, name, " {\n", text, "}\n");
    return name;
  }

  void AddElements(Scope& scope, const std::string& tuple, int first,
                   int count) {
    for (int i = 0; i < count; ++i) {
      scope.arrays.push_back(Add(
          scope, kArray,
          absl::StrCat("get-tuple-element(", tuple, "), index=", first + i)));
    }
  }

  // A loop over the counter and some arrays.
  void AddLoop(Scope& scope, int depth) {
    const int count = 1 + Below(4);
    const std::string type = TupleType(static_cast<size_t>(count), "s32[], ");
    Scope body;
    const std::string state = Add(body, type, "parameter(0)");
    const std::string counter = Add(
        body, "s32[]", absl::StrCat("get-tuple-element(", state, "), index=0"));
    body.scalars.push_back(counter);
    AddElements(body, state, 1, count);
    const std::vector<std::string> before = body.arrays;
    AddOperations(body, 1 + Below(5), depth - 1);
    const std::string one = Constant(body, 1);
    std::vector<std::string> results = {
        Add(body, "s32[]", absl::StrCat("add(", counter, ", ", one, ")"))};
    for (int i = 0; i < count; ++i) {
      results.push_back(Chance(0.2) ? before[static_cast<size_t>(i)]
                                    : AnyArray(body));
    }
    absl::StrAppend(&body.text, "  ROOT r", next_++, " = ", type, " tuple(",
                    absl::StrJoin(results, ", "), ")\n");
    Scope condition;
    const std::string its_state = Add(condition, type, "parameter(0)");
    const std::string its_counter =
        Add(condition, "s32[]",
            absl::StrCat("get-tuple-element(", its_state, "), index=0"));
    const std::string trips = Constant(condition, Below(5));
    absl::StrAppend(&condition.text, "  ROOT r", next_++, " = pred[] compare(",
                    its_counter, ", ", trips, "), direction=LT\n");

    const std::string body_name = AddComputation(body.text);
    const std::string condition_name = AddComputation(condition.text);
    std::vector<std::string> initial = SomeArrays(scope, count);
    initial.insert(initial.begin(), Constant(scope, 0));
    const std::string init = Add(
        scope, type, absl::StrCat("tuple(", absl::StrJoin(initial, ", "), ")"));
    const std::string loop =
        Add(scope, type,
            absl::StrCat("while(", init, "), condition=", condition_name,
                         ", body=", body_name));
    AddElements(scope, loop, 1, count);
  }

  void AddConditional(Scope& scope, int depth) {
    const int count = 1 + Below(3);
    const int results = 1 + Below(2);
    const std::string argument = TupleType(static_cast<size_t>(count));
    const std::string type = TupleType(static_cast<size_t>(results));
    std::string names[2];
    for (std::string& name : names) {
      Scope branch;
      AddElements(branch, Add(branch, argument, "parameter(0)"), 0, count);
      branch.scalars.push_back(Constant(branch, Below(kSize)));
      AddOperations(branch, Below(3), depth - 1);
      absl::StrAppend(&branch.text, "  ROOT r", next_++, " = ", type, " tuple(",
                      absl::StrJoin(SomeArrays(branch, results), ", "), ")\n");
      name = AddComputation(branch.text);
    }
    std::string arguments[2];
    for (std::string& tuple : arguments) {
      tuple =
          Add(scope, argument,
              absl::StrCat("tuple(",
                           absl::StrJoin(SomeArrays(scope, count), ", "), ")"));
    }
    const std::string two = Constant(scope, 2);
    const std::string choice = Add(scope, "pred[]",
                                   absl::StrCat("compare(", AnyScalar(scope),
                                                ", ", two, "), direction=LT"));
    const std::string chosen =
        Add(scope, type,
            absl::StrCat("conditional(", choice, ", ", arguments[0], ", ",
                         arguments[1], "), true_computation=", names[0],
                         ", false_computation=", names[1]));
    AddElements(scope, chosen, 0, results);
  }

  // `depth`: the loops and conditionals that may be nested in each other.
  void AddOperations(Scope& scope, int count, int depth) {
    for (int i = 0; i < count; ++i) {
      switch (Below(depth > 0 ? 10 : 8)) {
        case 0:
          AddElementwise(scope);
          break;
        case 1:
          AddScalar(scope);
          break;
        case 2:
          AddReshapes(scope);
          break;
        case 3:
        case 4:
          AddScatter(scope);
          break;
        case 8:
          AddLoop(scope, depth);
          break;
        case 9:
          AddConditional(scope, depth);
          break;
        default:
          AddUpdateSlice(scope);
      }
    }
  }

  Rng rng_;
  int next_ = 0;
  std::string computations_ = R"(plus {
  old = s32[] parameter(0)
  new = s32[] parameter(1)
  ROOT sum = s32[] add(old, new)
}
set {
  old.1 = s32[] parameter(0)
  ROOT new.1 = s32[] parameter(1)
}
both {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  c = s32[] parameter(2)
  d = s32[] parameter(3)
  e = s32[] add(b, c)
  f = s32[] subtract(a, d)
  ROOT t = (s32[], s32[]) tuple(e, f)
}
)";
};

}  // namespace

std::string RandomLoopsText(uint64_t seed) {
  return Generator(seed).Generate();
}

}  // namespace hone::testing
