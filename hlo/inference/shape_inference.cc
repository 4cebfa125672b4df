#include "hlo/inference/shape_inference.h"

#include <limits>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_join.h"

#include "base/status_macros.h"
#include "hlo/inference/internal.h"

namespace hone::hlo {
namespace inference {

bool Compatible(const Shape& a, const Shape& b) {
  if (&a == &b) return true;
  const auto same_size = [](int64_t x, int64_t y) {
    return x == y || x == Shape::kUnbounded || y == Shape::kUnbounded;
  };
  if (a.element_type() != b.element_type() ||
      !absl::c_equal(a.dimensions(), b.dimensions(), same_size) ||
      a.tuple_elements().size() != b.tuple_elements().size()) {
    return false;
  }
  for (size_t i = 0; i < a.tuple_elements().size(); ++i) {
    if (!Compatible(*a.tuple_elements()[i], *b.tuple_elements()[i])) {
      return false;
    }
  }
  return true;
}

ShapePtr ArrayOf(const Context& context, ElementType type,
                 absl::Span<const int64_t> sizes) {
  const ShapePtr& given = context.given();
  if (given != nullptr && given->element_type() == type &&
      given->dimensions() == sizes) {
    return given;
  }
  return Shape::Array(type, sizes);
}

ShapePtr PreferGiven(const Context& context, const ShapePtr& shape) {
  const ShapePtr& given = context.given();
  return given != nullptr && Compatible(*given, *shape) ? given : shape;
}

ShapePtr TupleOrSingle(const Context& context, std::vector<ShapePtr> elements) {
  return PreferGiven(context, elements.size() == 1
                                  ? elements[0]
                                  : Shape::Tuple(std::move(elements)));
}

absl::Status ExpectOperandCount(const Context& context, size_t count) {
  if (context.operand_count() == count) return absl::OkStatus();
  return Invalid(context.operand_count(), " operands, expected ", count);
}

absl::Status ExpectAtLeastOperands(const Context& context, size_t count) {
  if (context.operand_count() >= count) return absl::OkStatus();
  return Invalid(context.operand_count(), " operands, expected at least ",
                 count);
}

absl::Status ExpectArray(const Context& context, size_t i) {
  if (context.operand(i).IsArray()) return absl::OkStatus();
  return Invalid("operand ", i, " is ", context.operand(i).ToString(),
                 ", expected an array");
}

absl::Status ExpectArrays(const Context& context) {
  for (size_t i = 0; i < context.operand_count(); ++i) {
    HONE_RETURN_IF_ERROR(ExpectArray(context, i));
  }
  return absl::OkStatus();
}

absl::Status ExpectType(const Context& context, size_t i, ElementType type) {
  if (context.operand(i).element_type() == type) return absl::OkStatus();
  return Invalid("operand ", i, " is ", context.operand(i).ToString(),
                 ", expected element type ", ElementTypeName(type));
}

absl::Status ExpectRank(const Context& context, size_t i, int64_t rank) {
  if (context.operand(i).IsArray() && context.operand(i).rank() == rank) {
    return absl::OkStatus();
  }
  return Invalid("operand ", i, " is ", context.operand(i).ToString(),
                 ", expected an array of rank ", rank);
}

absl::Status ExpectIndexScalar(const Context& context, size_t i) {
  const Shape& shape = context.operand(i);
  if (shape.IsScalar() && IsIntegral(shape.element_type())) {
    return absl::OkStatus();
  }
  return Invalid("index operand ", i, " is ", shape.ToString(),
                 ", expected an integral scalar");
}

absl::Status ExpectSameSizes(const Context& context, size_t a, size_t b) {
  if (context.operand(a).dimensions() == context.operand(b).dimensions()) {
    return absl::OkStatus();
  }
  return Invalid("operand ", b, " is ", context.operand(b).ToString(),
                 ", expected the dimensions of operand ", a, ", ",
                 context.operand(a).ToString());
}

absl::Status ExpectGivenArray(const Context& context) {
  if (context.given() == nullptr) {
    return Invalid("no shape, expected one: operands do not determine it");
  }
  if (context.given()->IsArray()) return absl::OkStatus();
  return Invalid("shape ", context.given()->ToString(), ", expected an array");
}

absl::Status ExpectDistinct(absl::string_view name,
                            absl::Span<const int64_t> dimensions,
                            int64_t rank) {
  // The count first: it bounds the quadratic search below.
  bool distinct = dimensions.size() <= Index(rank);
  for (size_t i = 0; distinct && i < dimensions.size(); ++i) {
    const int64_t d = dimensions[i];
    distinct = d >= 0 && d < rank &&
               !absl::c_linear_search(dimensions.subspan(0, i), d);
  }
  if (distinct) return absl::OkStatus();
  return Invalid(name, "={", absl::StrJoin(dimensions, ","),
                 "}, expected distinct dimensions below ", rank);
}

absl::Status ExpectCount(absl::string_view name, size_t actual, size_t count) {
  if (actual == count) return absl::OkStatus();
  return Invalid(name, " has ", actual, " entries, expected ", count);
}

absl::StatusOr<const Computation*> Callee(const Context& context, size_t i) {
  const ComputationIds& called = context.instruction.called();
  if (i >= called.size()) {
    return Invalid(called.size(), " called computations, expected at least ",
                   i + 1);
  }
  const ComputationId id = called[i];
  if (!context.module.Contains(id)) {
    return Invalid("called computation ", id,
                   " does not exist, expected one of the module");
  }
  const Computation& callee = context.module.computation(id);
  bool complete = callee.root() >= 0 && callee.root() < callee.slot_count() &&
                  callee[callee.root()].shape_ptr() != nullptr;
  for (InstructionId parameter : callee.parameters()) {
    complete = complete && parameter != kNoInstruction &&
               callee[parameter].shape_ptr() != nullptr;
  }
  if (!complete) {
    return Invalid("called computation ", callee.name(),
                   " is incomplete, expected a root and every parameter");
  }
  return &callee;
}

absl::Status ExpectParameters(absl::string_view role, const Computation& callee,
                              absl::Span<const ShapePtr> parameters) {
  const std::vector<InstructionId>& ids = callee.parameters();
  if (ids.size() != parameters.size()) {
    return Invalid(role, " ", callee.name(), " has ", ids.size(),
                   " parameters, expected ", parameters.size());
  }
  for (size_t i = 0; i < ids.size(); ++i) {
    const Shape& actual = callee[ids[i]].shape();
    if (!Compatible(actual, *parameters[i])) {
      return Invalid(role, " ", callee.name(), " has parameter ", i, " of ",
                     actual.ToString(), ", expected ",
                     parameters[i]->ToString());
    }
  }
  return absl::OkStatus();
}

namespace {

struct Range {
  size_t min;
  size_t max;
};
constexpr size_t kAny = std::numeric_limits<size_t>::max();

// The numbers of computations that an opcode may call.
Range CalleeCounts(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAllReduce:
    case Opcode::kAllReduceStart:
    case Opcode::kAsyncStart:
    case Opcode::kCall:
    case Opcode::kFusion:
    case Opcode::kMap:
    case Opcode::kReduce:
    case Opcode::kReduceScatter:
    case Opcode::kReduceWindow:
    case Opcode::kScatter:
    case Opcode::kSort:
      return {1, 1};
    case Opcode::kSelectAndScatter:
    case Opcode::kWhile:
      return {2, 2};
    case Opcode::kAsyncDone:
    case Opcode::kAsyncUpdate:
      return {0, 1};
    case Opcode::kConditional:
      return {1, kAny};
    default:
      return {0, kAny};
  }
}

absl::Status ExpectCallees(const Context& context) {
  const size_t actual = context.instruction.called().size();
  const Range range = CalleeCounts(context.opcode());
  if (actual >= range.min && actual <= range.max) return absl::OkStatus();
  return Invalid(actual, " called computations, expected ",
                 range.min < range.max && actual < range.min ? "at least " : "",
                 actual < range.min ? range.min : range.max);
}

// The smallest number of operands of opcodes of which the number varies.
size_t MinOperands(Opcode opcode) {
  switch (opcode) {
    case Opcode::kConcatenate:
    case Opcode::kConditional:
    case Opcode::kDynamicSlice:
    case Opcode::kMap:
    case Opcode::kSort:
      return 1;
    case Opcode::kConvolution:
    case Opcode::kDynamicUpdateSlice:
    case Opcode::kReduce:
    case Opcode::kReduceWindow:
      return 2;
    case Opcode::kScatter:
      return 3;
    default:
      return 0;
  }
}

absl::Status ExpectOperands(const Context& context) {
  const int arity = OpcodeArity(context.opcode());
  if (arity >= 0) {
    return ExpectOperandCount(context, static_cast<size_t>(arity));
  }
  return ExpectAtLeastOperands(context, MinOperands(context.opcode()));
}

bool HasUnboundedDimension(const Shape& shape) {
  return absl::c_linear_search(shape.dimensions(), Shape::kUnbounded);
}

// Opcodes whose result is operand 0's shape whatever the attributes say.
Result InferAsOperand(const Context& context) {
  return PreferGiven(context, context.operand_ptr(0));
}

Result Dispatch(const Context& context) {
  switch (context.opcode()) {
    case Opcode::kAbs:
    case Opcode::kAcos:
    case Opcode::kAcosh:
    case Opcode::kAsin:
    case Opcode::kAsinh:
    case Opcode::kAtan:
    case Opcode::kAtanh:
    case Opcode::kCbrt:
    case Opcode::kCeil:
    case Opcode::kCosh:
    case Opcode::kCosine:
    case Opcode::kCountLeadingZeros:
    case Opcode::kErf:
    case Opcode::kExponential:
    case Opcode::kExponentialMinusOne:
    case Opcode::kFloor:
    case Opcode::kImag:
    case Opcode::kIsFinite:
    case Opcode::kLog:
    case Opcode::kLogPlusOne:
    case Opcode::kLogistic:
    case Opcode::kNegate:
    case Opcode::kNot:
    case Opcode::kPopcnt:
    case Opcode::kReal:
    case Opcode::kReducePrecision:
    case Opcode::kRoundNearestAfz:
    case Opcode::kRoundNearestEven:
    case Opcode::kRsqrt:
    case Opcode::kSign:
    case Opcode::kSine:
    case Opcode::kSinh:
    case Opcode::kSqrt:
    case Opcode::kTan:
    case Opcode::kTanh:
      return InferUnary(context);
    case Opcode::kAdd:
    case Opcode::kAnd:
    case Opcode::kAtan2:
    case Opcode::kDivide:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kMulhi:
    case Opcode::kMultiply:
    case Opcode::kOr:
    case Opcode::kPower:
    case Opcode::kRemainder:
    case Opcode::kShiftLeft:
    case Opcode::kShiftRightArithmetic:
    case Opcode::kShiftRightLogical:
    case Opcode::kSubtract:
    case Opcode::kXor:
      return InferBinary(context);
    case Opcode::kCompare:
      return InferCompare(context);
    case Opcode::kSelect:
      return InferSelect(context);
    case Opcode::kClamp:
      return InferClamp(context);
    case Opcode::kComplex:
      return InferComplex(context);
    case Opcode::kConvert:
    case Opcode::kStochasticConvert:
      return InferConvert(context);
    case Opcode::kBitcastConvert:
      return InferBitcastConvert(context);
    case Opcode::kBroadcast:
      return InferBroadcast(context);
    case Opcode::kReshape:
      return InferReshape(context);
    case Opcode::kBitcast:
      return InferBitcast(context);
    case Opcode::kTranspose:
      return InferTranspose(context);
    case Opcode::kReverse:
      return InferReverse(context);
    case Opcode::kSlice:
      return InferSlice(context);
    case Opcode::kDynamicSlice:
      return InferDynamicSlice(context);
    case Opcode::kDynamicUpdateSlice:
      return InferDynamicUpdateSlice(context);
    case Opcode::kPad:
      return InferPad(context);
    case Opcode::kConcatenate:
      return InferConcatenate(context);
    case Opcode::kIota:
      return InferIota(context);
    case Opcode::kGetDimensionSize:
      return InferGetDimensionSize(context);
    case Opcode::kSetDimensionSize:
      return InferSetDimensionSize(context);
    case Opcode::kDot:
      return InferDot(context);
    case Opcode::kConvolution:
      return InferConvolution(context);
    case Opcode::kReduceWindow:
      return InferReduceWindow(context);
    case Opcode::kSelectAndScatter:
      return InferSelectAndScatter(context);
    case Opcode::kGather:
      return InferGather(context);
    case Opcode::kScatter:
      return InferScatter(context);
    case Opcode::kReduce:
      return InferReduce(context);
    case Opcode::kSort:
      return InferSort(context);
    case Opcode::kMap:
      return InferMap(context);
    case Opcode::kTuple:
      return InferTuple(context);
    case Opcode::kGetTupleElement:
      return InferGetTupleElement(context);
    case Opcode::kCall:
    case Opcode::kFusion:
      return InferCall(context);
    case Opcode::kWhile:
      return InferWhile(context);
    case Opcode::kConditional:
      return InferConditional(context);
    case Opcode::kBatchNormGrad:
    case Opcode::kBatchNormInference:
    case Opcode::kBatchNormTraining:
      return InferBatchNorm(context);
    case Opcode::kCholesky:
      return InferCholesky(context);
    case Opcode::kTriangularSolve:
      return InferTriangularSolve(context);
    case Opcode::kFft:
      return InferFft(context);
    case Opcode::kTopk:
      return InferTopK(context);
    case Opcode::kRngBitGenerator:
      return InferRngBitGenerator(context);
    case Opcode::kAddDependency:
    case Opcode::kCopy:
    case Opcode::kDomain:
    case Opcode::kOptBarrier:
      return InferAsOperand(context);
    case Opcode::kAfterAll:
      return PreferGiven(context, Shape::Token());
    case Opcode::kAllGather:
    case Opcode::kAllGatherStart:
    case Opcode::kAllReduce:
    case Opcode::kAllReduceStart:
    case Opcode::kCollectiveBroadcast:
    case Opcode::kCollectivePermute:
    case Opcode::kCollectivePermuteStart:
    case Opcode::kReduceScatter:
      return InferCollective(context);
    case Opcode::kAllGatherDone:
    case Opcode::kAllReduceDone:
    case Opcode::kCollectivePermuteDone:
    case Opcode::kCopyDone:
      return InferDone(context);
    case Opcode::kCopyStart:
      return InferStart(context);
    case Opcode::kAsyncDone:
    case Opcode::kAsyncStart:
    case Opcode::kAsyncUpdate:
      return InferAsyncCall(context);
    case Opcode::kInfeed:
    case Opcode::kOutfeed:
      return InferFeed(context);
    case Opcode::kRecv:
    case Opcode::kRecvDone:
    case Opcode::kSend:
    case Opcode::kSendDone:
      return InferTransfer(context);
    case Opcode::kRng:
      return InferRng(context);
    case Opcode::kPartitionId:
    case Opcode::kReplicaId:
      return ArrayOf(context, ElementType::kU32, {});
    default:
      // Parameters, constants, custom calls, and opcodes that we do not know.
      return ShapePtr(nullptr);
  }
}

}  // namespace
}  // namespace inference

absl::StatusOr<ShapePtr> InferShape(const Module& module,
                                    const Computation& computation,
                                    const Instruction& instruction) {
  const inference::Context context{module, computation, instruction};
  // Users of a verified module rely on these counts, unbounded or not.
  HONE_RETURN_IF_ERROR(inference::ExpectOperands(context));
  HONE_RETURN_IF_ERROR(inference::ExpectCallees(context));
  for (size_t i = 0; i < instruction.operand_count(); ++i) {
    if (context.operand_ptr(i) == nullptr) {
      return inference::Invalid("operand ", i,
                                " has no shape yet, expected one");
    }
  }
  // Unbounded sizes are known at run time only: there is nothing to check.
  bool unbounded = instruction.shape_ptr() != nullptr &&
                   inference::HasUnboundedDimension(instruction.shape());
  for (size_t i = 0; !unbounded && i < context.operand_count(); ++i) {
    unbounded = inference::HasUnboundedDimension(context.operand(i));
  }
  if (unbounded) return instruction.shape_ptr();
  return inference::Dispatch(context);
}

}  // namespace hone::hlo
