#include <limits>

#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>

#include "backends/llvm/arithmetic.h"
#include "backends/llvm/vector_math.h"
#include "base/check.h"

namespace hone::backends {
namespace {

using hlo::ElementKind;
using hlo::ElementType;
using hlo::Opcode;

// Returns the C library's function of an opcode; null for other opcodes.
const char* LibmName(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAcos:
      return "acos";
    case Opcode::kAcosh:
      return "acosh";
    case Opcode::kAsin:
      return "asin";
    case Opcode::kAsinh:
      return "asinh";
    case Opcode::kAtan:
      return "atan";
    case Opcode::kAtan2:
      return "atan2";
    case Opcode::kAtanh:
      return "atanh";
    case Opcode::kCbrt:
      return "cbrt";
    case Opcode::kCosh:
      return "cosh";
    case Opcode::kCosine:
      return "cos";
    case Opcode::kErf:
      return "erf";
    case Opcode::kExponential:
      return "exp";
    case Opcode::kExponentialMinusOne:
      return "expm1";
    case Opcode::kLog:
      return "log";
    case Opcode::kLogPlusOne:
      return "log1p";
    case Opcode::kPower:
      return "pow";
    case Opcode::kSine:
      return "sin";
    case Opcode::kSinh:
      return "sinh";
    case Opcode::kTan:
      return "tan";
    case Opcode::kTanh:
      return "tanh";
    default:
      return nullptr;
  }
}

// Emits the vector version of an f32 function; null if there is none.
llvm::Value* ApplyVectorMath(VectorMath math, Opcode opcode,
                             llvm::ArrayRef<llvm::Value*> v) {
  switch (opcode) {
    case Opcode::kCosine:
      return math.Cos(v[0]);
    case Opcode::kErf:
      return math.Erf(v[0]);
    case Opcode::kExponential:
      return math.Exp(v[0]);
    case Opcode::kExponentialMinusOne:
      return math.Expm1(v[0]);
    case Opcode::kLog:
      return math.Log(v[0]);
    case Opcode::kLogPlusOne:
      return math.Log1p(v[0]);
    case Opcode::kLogistic:
      return math.Logistic(v[0]);
    case Opcode::kPower:
      return math.Pow(v[0], v[1]);
    case Opcode::kSine:
      return math.Sin(v[0]);
    case Opcode::kTanh:
      return math.Tanh(v[0]);
    default:
      return nullptr;
  }
}

// Emits small constant integer powers by multiplication; null for others.
llvm::Value* SmallPower(llvm::IRBuilder<>& b, llvm::Value* base,
                        llvm::Value* exponent) {
  const auto* constant = llvm::dyn_cast<llvm::Constant>(exponent);
  if (constant != nullptr && exponent->getType()->isVectorTy()) {
    constant = constant->getSplatValue();
  }
  const auto* number = llvm::dyn_cast_or_null<llvm::ConstantFP>(constant);
  if (number == nullptr) return nullptr;
  if (number->isExactlyValue(1.0)) return base;
  llvm::Value* square = b.CreateFMul(base, base);
  if (number->isExactlyValue(2.0)) return square;
  if (number->isExactlyValue(3.0)) return b.CreateFMul(square, base);
  if (number->isExactlyValue(4.0)) return b.CreateFMul(square, square);
  return nullptr;
}

bool IsFloatArithmetic(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAbs:
    case Opcode::kAdd:
    case Opcode::kCeil:
    case Opcode::kDivide:
    case Opcode::kFloor:
    case Opcode::kImag:
    case Opcode::kIsFinite:
    case Opcode::kLogistic:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kMultiply:
    case Opcode::kNegate:
    case Opcode::kReal:
    case Opcode::kRemainder:
    case Opcode::kRoundNearestAfz:
    case Opcode::kRoundNearestEven:
    case Opcode::kRsqrt:
    case Opcode::kSign:
    case Opcode::kSqrt:
    case Opcode::kSubtract:
      return true;
    default:
      return LibmName(opcode) != nullptr;
  }
}

bool IsIntegerArithmetic(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAbs:
    case Opcode::kAdd:
    case Opcode::kAnd:
    case Opcode::kCountLeadingZeros:
    case Opcode::kDivide:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kMulhi:
    case Opcode::kMultiply:
    case Opcode::kNegate:
    case Opcode::kNot:
    case Opcode::kOr:
    case Opcode::kPopcnt:
    case Opcode::kPower:
    case Opcode::kRemainder:
    case Opcode::kShiftLeft:
    case Opcode::kShiftRightArithmetic:
    case Opcode::kShiftRightLogical:
    case Opcode::kSign:
    case Opcode::kSubtract:
    case Opcode::kXor:
      return true;
    default:
      return false;
  }
}

bool IsPredArithmetic(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAdd:
    case Opcode::kAnd:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kMultiply:
    case Opcode::kNot:
    case Opcode::kOr:
    case Opcode::kXor:
      return true;
    default:
      return false;
  }
}

// Returns true if arithmetic on the type is supported, and not only moves.
bool IsComputable(ElementType type) {
  switch (hlo::KindOf(type)) {
    case ElementKind::kPred:
      return true;
    case ElementKind::kSigned:
    case ElementKind::kUnsigned:
      return hlo::BitWidth(type) >= 8;
    case ElementKind::kFloat:
      return hlo::BitWidth(type) >= 16;
    default:
      return false;
  }
}

}  // namespace

bool HasArithmetic(const loops::Expression& expression) {
  const Opcode opcode = expression.opcode();
  const ElementType type = expression.operands().back()->type();
  switch (opcode) {
    case Opcode::kCopy:
    case Opcode::kSelect:
      return true;
    case Opcode::kClamp:
    case Opcode::kCompare:
      return IsComputable(type);
    case Opcode::kConvert:
      return type == expression.type() ||
             (IsComputable(type) && IsComputable(expression.type()));
    case Opcode::kBitcastConvert:
      return hlo::ByteWidth(type) == hlo::ByteWidth(expression.type());
    default:
      break;
  }
  if (!IsComputable(type)) return false;
  switch (hlo::KindOf(type)) {
    case ElementKind::kPred:
      return IsPredArithmetic(opcode);
    case ElementKind::kFloat:
      return IsFloatArithmetic(opcode);
    default:
      return IsIntegerArithmetic(opcode);
  }
}

// NaN if either is; -0 < +0.
llvm::Value* Arithmetic::Maximum(bool maximum, llvm::Value* a, llvm::Value* b) {
  return b_.CreateBinaryIntrinsic(
      maximum ? llvm::Intrinsic::maximum : llvm::Intrinsic::minimum, a, b);
}

llvm::Value* Arithmetic::ApplyFloat(Opcode opcode,
                                    llvm::ArrayRef<llvm::Value*> v) {
  llvm::Value* a = v[0];
  llvm::Type* type = a->getType();
  const auto number = [&](double value) {
    return llvm::ConstantFP::get(type, value);
  };
  switch (opcode) {
    case Opcode::kAbs:
      return b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, a);
    case Opcode::kAdd:
      return b_.CreateFAdd(a, v[1]);
    case Opcode::kCeil:
      return b_.CreateUnaryIntrinsic(llvm::Intrinsic::ceil, a);
    case Opcode::kDivide:
      return b_.CreateFDiv(a, v[1]);
    case Opcode::kFloor:
      return b_.CreateUnaryIntrinsic(llvm::Intrinsic::floor, a);
    case Opcode::kImag:
      return number(0.0);
    case Opcode::kIsFinite:
      return b_.CreateFCmpOLT(b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, a),
                              number(std::numeric_limits<double>::infinity()));
    case Opcode::kMaximum:
    case Opcode::kMinimum:
      return Maximum(opcode == Opcode::kMaximum, a, v[1]);
    case Opcode::kMultiply:
      return b_.CreateFMul(a, v[1]);
    case Opcode::kNegate:
      return b_.CreateFNeg(a);
    case Opcode::kReal:
      return a;
    case Opcode::kRemainder:
      return b_.CreateFRem(a, v[1]);
    case Opcode::kRoundNearestAfz:
      return b_.CreateUnaryIntrinsic(llvm::Intrinsic::round, a);
    case Opcode::kRoundNearestEven:
      return b_.CreateUnaryIntrinsic(llvm::Intrinsic::roundeven, a);
    case Opcode::kRsqrt:
      return b_.CreateFDiv(number(1.0),
                           b_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, a));
    case Opcode::kSign:
      // NaN and both zeros are their own sign.
      return b_.CreateSelect(
          b_.CreateFCmpOGT(a, number(0.0)), number(1.0),
          b_.CreateSelect(b_.CreateFCmpOLT(a, number(0.0)), number(-1.0), a));
    case Opcode::kSqrt:
      return b_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, a);
    case Opcode::kSubtract:
      return b_.CreateFSub(a, v[1]);
    default:
      break;
  }
  if (opcode == Opcode::kPower) {
    if (llvm::Value* value = SmallPower(b_, a, v[1])) return value;
  }
  if (type->getScalarType()->isFloatTy()) {
    const VectorMath math(b_, has_avx512_);
    if (llvm::Value* value = ApplyVectorMath(math, opcode, v)) return value;
  }
  if (opcode == Opcode::kLogistic) {
    llvm::Value* e = CallLibm(b_, "exp", {b_.CreateFNeg(a)});
    return b_.CreateFDiv(number(1.0), b_.CreateFAdd(e, number(1.0)));
  }
  const char* name = LibmName(opcode);
  HONE_CHECK(name != nullptr);
  return CallLibm(b_, name, v);
}

llvm::Value* Arithmetic::Erfc(llvm::Value* x) {
  return has_avx512_ ? VectorMath(b_, has_avx512_).Erfc(x) : nullptr;
}

}  // namespace hone::backends
