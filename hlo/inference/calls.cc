#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"

#include "base/status_macros.h"
#include "hlo/inference/internal.h"

namespace hone::hlo::inference {
namespace {

const ShapePtr& RootShape(const Computation& computation) {
  return computation[computation.root()].shape_ptr();
}

absl::Status ExpectResult(absl::string_view role, const Computation& callee,
                          const Shape& expected) {
  if (Compatible(*RootShape(callee), expected)) return absl::OkStatus();
  return Invalid(role, " ", callee.name(), " returns ",
                 RootShape(callee)->ToString(), ", expected ",
                 expected.ToString());
}

const ShapePtr& PredScalar() {
  static const auto* const shape =
      new ShapePtr(Shape::Scalar(ElementType::kPred));
  return *shape;
}

std::vector<ShapePtr> OperandShapes(const Context& context) {
  std::vector<ShapePtr> shapes;
  shapes.reserve(context.operand_count());
  for (size_t i = 0; i < context.operand_count(); ++i) {
    shapes.push_back(context.operand_ptr(i));
  }
  return shapes;
}

}  // namespace

absl::Status ExpectReducer(const Context& context, size_t i,
                           absl::Span<const ElementType> types) {
  HONE_ASSIGN_OR_RETURN(const Computation* reducer, Callee(context, i));
  // The common case without allocation.
  const auto is_scalar = [](const Shape& shape, ElementType type) {
    return shape.IsScalar() && shape.element_type() == type;
  };
  const size_t n = types.size();
  const std::vector<InstructionId>& parameters = reducer->parameters();
  if (parameters.size() != 2 * n) {
    return Invalid("to_apply ", reducer->name(), " has ", parameters.size(),
                   " parameters, expected ", 2 * n);
  }
  for (size_t p = 0; p < 2 * n; ++p) {
    const Shape& shape = (*reducer)[parameters[p]].shape();
    if (!is_scalar(shape, types[p % n])) {
      return Invalid("to_apply ", reducer->name(), " has parameter ", p, " of ",
                     shape.ToString(), ", expected ",
                     ElementTypeName(types[p % n]), "[]");
    }
  }
  const Shape& result = *RootShape(*reducer);
  if (n == 1) {
    if (is_scalar(result, types[0])) return absl::OkStatus();
    return Invalid("to_apply ", reducer->name(), " returns ", result.ToString(),
                   ", expected ", ElementTypeName(types[0]), "[]");
  }
  bool fits = result.tuple_elements().size() == n;
  for (size_t p = 0; fits && p < n; ++p) {
    fits = is_scalar(*result.tuple_elements()[p], types[p]);
  }
  if (fits) return absl::OkStatus();
  return Invalid("to_apply ", reducer->name(), " returns ", result.ToString(),
                 ", expected a tuple of ", n,
                 " scalars of its parameters' types");
}

Result InferReduce(const Context& context) {
  HONE_RETURN_IF_ERROR(ExpectArrays(context));
  const size_t n = context.operand_count() / 2;
  HONE_RETURN_IF_ERROR(ExpectOperandCount(context, 2 * n));
  absl::InlinedVector<ElementType, 4> types;
  for (size_t i = 0; i < n; ++i) {
    const ElementType type = context.operand(i).element_type();
    types.push_back(type);
    HONE_RETURN_IF_ERROR(ExpectSameSizes(context, 0, i));
    HONE_RETURN_IF_ERROR(ExpectRank(context, n + i, 0));
    HONE_RETURN_IF_ERROR(ExpectType(context, n + i, type));
  }
  const Shape& first = context.operand(0);
  HONE_RETURN_IF_ERROR(
      ExpectDistinct("dimensions", context.dimensions(), first.rank()));
  HONE_RETURN_IF_ERROR(ExpectReducer(context, 0, types));
  DimensionVector sizes;
  for (int64_t d = 0; d < first.rank(); ++d) {
    if (!absl::c_linear_search(context.dimensions(), d)) {
      sizes.push_back(first.dimension(d));
    }
  }
  if (n == 1) return ArrayOf(context, types[0], sizes);
  std::vector<ShapePtr> results;
  for (ElementType type : types) results.push_back(Shape::Array(type, sizes));
  return TupleOrSingle(context, std::move(results));
}

Result InferSort(const Context& context) {
  HONE_RETURN_IF_ERROR(ExpectArrays(context));
  HONE_RETURN_IF_ERROR(
      ExpectCount("dimensions", context.dimensions().size(), 1));
  HONE_RETURN_IF_ERROR(ExpectDistinct("dimensions", context.dimensions(),
                                      context.operand(0).rank()));
  std::vector<ShapePtr> parameters;
  for (size_t i = 0; i < context.operand_count(); ++i) {
    HONE_RETURN_IF_ERROR(ExpectSameSizes(context, 0, i));
    const ShapePtr scalar = Shape::Scalar(context.operand(i).element_type());
    parameters.push_back(scalar);
    parameters.push_back(scalar);
  }
  HONE_ASSIGN_OR_RETURN(const Computation* comparator, Callee(context, 0));
  HONE_RETURN_IF_ERROR(ExpectParameters("to_apply", *comparator, parameters));
  HONE_RETURN_IF_ERROR(ExpectResult("to_apply", *comparator, *PredScalar()));
  return TupleOrSingle(context, OperandShapes(context));
}

Result InferMap(const Context& context) {
  HONE_RETURN_IF_ERROR(ExpectArrays(context));
  const Shape& first = context.operand(0);
  HONE_RETURN_IF_ERROR(ExpectCount("dimensions", context.dimensions().size(),
                                   Index(first.rank())));
  for (int64_t d = 0; d < first.rank(); ++d) {
    if (context.dimensions()[Index(d)] != d) {
      return Invalid("dimensions of map not in order, expected 0 to ",
                     first.rank() - 1);
    }
  }
  std::vector<ShapePtr> parameters;
  for (size_t i = 0; i < context.operand_count(); ++i) {
    HONE_RETURN_IF_ERROR(ExpectSameSizes(context, 0, i));
    parameters.push_back(Shape::Scalar(context.operand(i).element_type()));
  }
  HONE_ASSIGN_OR_RETURN(const Computation* callee, Callee(context, 0));
  HONE_RETURN_IF_ERROR(ExpectParameters("to_apply", *callee, parameters));
  const Shape& result = *RootShape(*callee);
  if (!result.IsScalar()) {
    return Invalid("to_apply ", callee->name(), " returns ", result.ToString(),
                   ", expected a scalar");
  }
  return ArrayOf(context, result.element_type(), first.dimensions());
}

namespace {

// The levels of tuples in `shape`, of which no part has more than
// kMaxTupleLevels. `known` has the levels of the tuples that were met.
int TupleLevels(const Shape& shape,
                absl::flat_hash_map<const Shape*, int>& known) {
  if (!shape.IsTuple()) return 0;
  const auto it = known.find(&shape);
  if (it != known.end()) return it->second;
  int levels = 0;
  for (const ShapePtr& element : shape.tuple_elements()) {
    levels = std::max(levels, TupleLevels(*element, known));
  }
  known.emplace(&shape, levels + 1);
  return levels + 1;
}

}  // namespace

Result InferTuple(const Context& context) {
  const ShapePtr& given = context.given();
  bool fits = given != nullptr && given->IsTuple() &&
              given->tuple_elements().size() == context.operand_count();
  for (size_t i = 0; fits && i < context.operand_count(); ++i) {
    fits = Compatible(*given->tuple_elements()[i], context.operand(i));
  }
  if (fits) return given;
  absl::flat_hash_map<const Shape*, int> known;
  for (size_t i = 0; i < context.operand_count(); ++i) {
    if (TupleLevels(context.operand(i), known) >= kMaxTupleLevels) {
      return Invalid("tuple nested too deeply, expected at most ",
                     kMaxTupleLevels, " levels");
    }
  }
  return Shape::Tuple(OperandShapes(context));
}

Result InferGetTupleElement(const Context& context) {
  const Shape& operand = context.operand(0);
  const int64_t index = context.instruction.index();
  const int64_t size = static_cast<int64_t>(operand.tuple_elements().size());
  if (!operand.IsTuple()) {
    return Invalid("operand 0 is ", operand.ToString(), ", expected a tuple");
  }
  if (index < 0 || index >= size) {
    return Invalid("index ", index, " into a tuple of ", size,
                   " elements, expected one of them");
  }
  return PreferGiven(context, operand.tuple_element(index));
}

Result InferCall(const Context& context) {
  HONE_ASSIGN_OR_RETURN(const Computation* callee, Callee(context, 0));
  HONE_RETURN_IF_ERROR(
      ExpectParameters("callee", *callee, OperandShapes(context)));
  return PreferGiven(context, RootShape(*callee));
}

Result InferWhile(const Context& context) {
  HONE_ASSIGN_OR_RETURN(const Computation* condition, Callee(context, 0));
  HONE_ASSIGN_OR_RETURN(const Computation* body, Callee(context, 1));
  const ShapePtr& state = context.operand_ptr(0);
  HONE_RETURN_IF_ERROR(ExpectParameters("condition", *condition, {state}));
  HONE_RETURN_IF_ERROR(ExpectResult("condition", *condition, *PredScalar()));
  HONE_RETURN_IF_ERROR(ExpectParameters("body", *body, {state}));
  HONE_RETURN_IF_ERROR(ExpectResult("body", *body, *state));
  return PreferGiven(context, state);
}

Result InferConditional(const Context& context) {
  const size_t branches = context.instruction.called().size();
  HONE_RETURN_IF_ERROR(ExpectOperandCount(context, branches + 1));
  const Shape& selector = context.operand(0);
  const bool is_pred = selector.IsScalar() && branches == 2 &&
                       selector.element_type() == ElementType::kPred;
  const bool is_index = selector.IsScalar() && branches >= 1 &&
                        selector.element_type() == ElementType::kS32;
  if (!is_pred && !is_index) {
    return Invalid("operand 0 is ", selector.ToString(), " for ", branches,
                   " branches, expected s32[], or pred[] for two");
  }
  for (size_t i = 0; i < branches; ++i) {
    HONE_ASSIGN_OR_RETURN(const Computation* branch, Callee(context, i));
    HONE_RETURN_IF_ERROR(
        ExpectParameters("branch", *branch, {context.operand_ptr(i + 1)}));
    if (i > 0) {
      HONE_ASSIGN_OR_RETURN(const Computation* first, Callee(context, 0));
      HONE_RETURN_IF_ERROR(ExpectResult("branch", *branch, *RootShape(*first)));
    }
  }
  HONE_ASSIGN_OR_RETURN(const Computation* first, Callee(context, 0));
  return PreferGiven(context, RootShape(*first));
}

}  // namespace hone::hlo::inference
