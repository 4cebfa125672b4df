#ifndef HONE_TESTS_SUPPORT_RANDOM_GRAPH_H_
#define HONE_TESTS_SUPPORT_RANDOM_GRAPH_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "base/rng.h"
#include "hlo/ir/shape.h"
#include "tests/support/random_module.h"

namespace hone::testing {

using hlo::DimensionVector;
using hlo::ElementType;
using hlo::Shape;

// An instruction of the graph under construction.
struct Value {
  std::string name;
  Shape shape;
  // Floats: no element is larger in magnitude on random arguments.
  double bound = 1;
  // True if a legal rewrite leaves every bit: integers, and floats that were
  // not rounded.
  bool exact = true;
};

// The state that the computations of one random module share.
struct RandomModuleState {
  RandomModuleState(uint64_t seed, const RandomModuleOptions& module_options)
      : options(module_options), rng(seed) {}

  const RandomModuleOptions options;
  Rng rng;
  // Sizes of dimensions, few, so that shapes meet.
  std::vector<int64_t> sizes;
  std::vector<std::string> computations;
  int next_name = 0;
  int next_channel = 1;
};

// One computation under construction. The Add… functions append an instruction
// or a few that belong together, chosen at random among the values so far;
// where the values fit none, they make what they need or add nothing.
class RandomGraph {
 public:
  // `depth`: computations around this one; 0 is the entry, which may have new
  // parameters at any time.
  RandomGraph(RandomModuleState& state, int depth)
      : state_(state), depth_(depth) {}

  // Appends about `steps` groups of instructions.
  void Grow(int steps);

  // random_graph.cc: choosing and making values.
  Value Parameter(const Shape& shape, double bound);
  Value Emit(Shape shape, absl::string_view expression, double bound,
             bool exact);
  Value ScalarConstant(ElementType type, double value);
  // A value of that shape: an old one, or made from old ones.
  Value Need(const Shape& shape);
  // A float array that is exact.
  Value NeedExact(const Shape& shape);
  // Any earlier array that satisfies the condition, recent ones more likely.
  std::optional<Value> Pick(const std::function<bool(const Value&)>& condition);
  Value PickFloat();
  Value PickArray();
  // v, or a function of it whose magnitude is at most `bound`.
  Value Tame(const Value& v, double bound);
  // A function of v that is at least 1/4.
  Value Positive(const Value& v);
  Value Broadcast(const Value& v, const Shape& shape,
                  absl::Span<const int64_t> dimensions);

  // random_graph_elementwise.cc
  void AddUnary();
  void AddGuardedUnary();
  void AddJumpingUnary();
  void AddIntegerUnary();
  void AddBinary();
  void AddGuardedBinary();
  void AddIntegerBinary();
  void AddLogic();
  void AddCompare();
  void AddSelect();
  void AddClamp();
  void AddConvert();
  void AddComplex();
  void AddBitcastConvert();
  // Operations with a neutral operand, pairs of inverses, and the like.
  void AddNeutral();
  // An earlier instruction once more.
  void AddDuplicate();

  // random_graph_movement.cc
  void AddBroadcast();
  void AddReshape();
  void AddTranspose();
  void AddSlice();
  void AddPad();
  void AddConcatenate();
  void AddReverse();
  void AddIota();
  void AddDynamicSlice();
  void AddDynamicUpdateSlice();
  void AddGather();
  void AddScatter();
  void AddNeutralMovement();
  // Elementwise work on operands that were moved alike.
  void AddMovedElementwise();
  // A reduction or elementwise work on something moved, next to each other.
  void AddMovedReduce();

  // random_graph_numeric.cc
  void AddReduce();
  void AddArgMax();
  void AddReduceWindow();
  void AddSelectAndScatter();
  void AddSort();
  void AddTopK();
  void AddDot();
  // A dot of transposed matrices.
  void AddTransposedDot();
  void AddConvolution();
  void AddBatchNorm();
  void AddLinearAlgebra();
  void AddFft();
  void AddRandomBits();

  // random_graph_control.cc
  void AddTuple();
  void AddCall();
  void AddMap();
  void AddWhile();
  void AddConditional();

  // random_graph_types.cc: arrays of other element types.
  void AddComplexNumbers();
  void AddNarrowFloats();
  void AddSubByteIntegers();
  void AddWideIntegers();

  // random_graph_loops.cc
  void AddLoop();
  void AddTupleConditional();

  // random_graph_extremes.cc: what rewrites like to take for granted.
  void AddInit();
  void AddUnstableSort();
  void AddVariadicScatter();
  void AddMagnitudes();
  void AddLayout();
  void AddBarrier();

  // random_graph_structural.cc: what the evaluator refuses.
  void AddDynamicShape();
  void AddEffect();
  void AddFeed();
  void AddCollective();
  void AddRandomNumbers();

  // random_graph_idioms.cc: patterns that rewrites look for.
  void AddArithmeticIdiom();
  void AddLogicIdiom();
  void AddIndexingIdiom();
  void AddReductionIdiom();
  void AddContractionIdiom();
  void AddMovementIdiom();

  // "NAME { instructions }" with this root, for the entry with ENTRY in front.
  std::string Finish(absl::string_view name, const Value& root) const;
  // A tuple of values that nothing uses, and some others; or one of them.
  Value ChooseRoot();

 private:
  // Bodies within bodies at most.
  static constexpr int kMaxDepth = 2;

  uint64_t Below(uint64_t bound) { return state_.rng.Below(bound); }
  bool Chance(double probability) { return state_.rng.Uniform() < probability; }
  template <typename T>
  const T& OneOf(const std::vector<T>& choices) {
    return choices[Below(choices.size())];
  }
  absl::string_view OneOf(std::initializer_list<absl::string_view> choices) {
    return choices.begin()[Below(choices.size())];
  }

  std::string NewName(absl::string_view prefix);
  ElementType AnyFloat();
  ElementType AnyInteger();
  // Returns true if converting v to `type` would hold its rounding to the
  // tolerance of a more precise type.
  static bool WouldShowRounding(const Value& v, ElementType type);
  DimensionVector AnyDimensions(int64_t max_rank);
  DimensionVector AnyPermutation(int64_t rank);
  Value PickInteger();
  Value PickPred();
  Value PickRank(int64_t rank, bool exact);
  // 0, 1 and the like.
  Value AnyScalarConstant(ElementType type);
  Value ArrayConstant(const Shape& shape);
  Value Unary(absl::string_view opcode, const Value& v, double bound,
              bool exact = false);
  Value Binary(absl::string_view opcode, const Value& a, const Value& b,
               double bound, bool exact = false);
  // v with 0 in place of infinities and NaN.
  Value Finite(const Value& v);
  // v, no element larger in magnitude whatever the arguments are.
  Value Clamped(const Value& v, double bound);
  // That number in the shape of `like`.
  Value Uniform(const Value& like, double value);
  Value Element(const Value& tuple, int64_t index, double bound, bool exact);
  // The name of a region (a, b) -> opcode(a, b), an old or a new one.
  std::string Region(absl::string_view opcode, ElementType type);
  std::string CompareRegion(absl::string_view direction,
                            absl::Span<const ElementType> types);
  // A computation of the given parameters that returns a value of shape
  // `result` of magnitude at most `bound`; its name.
  std::string Body(absl::Span<const Value> parameters, const Shape& result,
                   double bound, int steps);
  // window={…} of small windows over `input`; `output` gets the dimensions of
  // the result.
  std::string WindowText(const DimensionVector& input, DimensionVector& output,
                         bool dilation);
  void AddCountedLoop(int64_t trips);

  // Arrays that only the functions of their feature may use.
  static bool IsSpecial(const Shape& shape);
  std::optional<Value> PickSpecial(
      const std::function<bool(const Value&)>& condition);
  // v moved in some way that every element type allows.
  Value Moved(const Value& v);
  // An array of that type: an old one, a parameter, or a constant.
  Value SpecialArray(ElementType type, double bound, bool exact);
  Value ComplexArray(ElementType type);
  void AddComplexArithmetic(const Value& z);
  // A constant of any type that is given as text, in the shape of `like`.
  Value Repeated(const Value& like, ElementType type, absl::string_view text);
  // "v1, v2": operands.
  static std::string Names(absl::Span<const Value> values);
  static Shape TupleShape(absl::Span<const Value> values);
  // A tuple of arrays, and the function (tuple) -> tuple of `result` shapes.
  Value MakeTuple(absl::Span<const Value> elements);
  std::string TupleBody(absl::Span<const Value> elements,
                        absl::Span<const Value> results, int steps);
  // Attributes that the options ask for, for an instruction of this shape.
  std::string Decoration(const Shape& shape, absl::string_view expression);
  std::string ShardingText(const Shape& shape);
  std::string OriginText(const Shape& shape);

  RandomModuleState& state_;
  const int depth_;
  int parameters_ = 0;
  std::vector<std::string> lines_;
  // Arrays that later instructions may use.
  std::vector<Value> values_;
  // Likewise, those for which IsSpecial holds.
  std::vector<Value> special_;
  // The instructions that control dependencies may name.
  std::vector<std::string> instructions_;
  // True if the last Body uses each of its parameters, as a fusion's must.
  bool uses_every_parameter_ = false;
  std::set<std::string> used_;
  // Expressions and values of instructions that may be repeated.
  std::vector<std::pair<std::string, Value>> expressions_;
};

}  // namespace hone::testing

#endif  // HONE_TESTS_SUPPORT_RANDOM_GRAPH_H_
