#include "backends/llvm/arithmetic.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>

#include "base/check.h"

namespace hone::backends {

using hlo::ElementKind;
using hlo::ElementType;
using hlo::Opcode;

namespace {

bool IsNarrowFloat(ElementType type) {
  return type == ElementType::kF16 || type == ElementType::kBf16;
}

// NaN if either is; -0 < +0. Not LLVM's own operation: on f16 converted to f32
// LLVM narrows it to f16, and loses NaN if there is no instruction for that.
llvm::Value* SelectMaximum(llvm::IRBuilder<>& b, bool maximum, llvm::Value* x,
                           llvm::Value* y) {
  llvm::Value* greater =
      maximum ? b.CreateFCmpOGT(x, y) : b.CreateFCmpOLT(x, y);
  llvm::Value* larger =
      b.CreateSelect(b.CreateOr(greater, b.CreateFCmpUNO(x, x)), x, y);
  llvm::Type* bits = TypeLike(b.getInt32Ty(), x->getType());
  llvm::Value* x_bits = b.CreateBitCast(x, bits);
  llvm::Value* y_bits = b.CreateBitCast(y, bits);
  llvm::Value* same =
      maximum ? b.CreateAnd(x_bits, y_bits) : b.CreateOr(x_bits, y_bits);
  return b.CreateSelect(b.CreateFCmpOEQ(x, y),
                        b.CreateBitCast(same, x->getType()), larger);
}

// Returns true if an operation on numbers of a type gives one of it.
bool IsExact(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAbs:
    case Opcode::kCeil:
    case Opcode::kFloor:
    case Opcode::kNegate:
    case Opcode::kReal:
    case Opcode::kRoundNearestAfz:
    case Opcode::kRoundNearestEven:
    case Opcode::kSign:
      return true;
    default:
      return false;
  }
}

}  // namespace

llvm::Type* TypeLike(llvm::Type* element, llvm::Type* like) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(like);
  if (vector == nullptr) return element;
  return llvm::FixedVectorType::get(element, vector->getNumElements());
}

int64_t LanesOf(const llvm::Value* value) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
  return vector == nullptr ? 0 : vector->getNumElements();
}

llvm::Type* Arithmetic::StorageType(ElementType type) const {
  switch (type) {
    case ElementType::kF16:
      return b_.getHalfTy();
    case ElementType::kF32:
      return b_.getFloatTy();
    case ElementType::kF64:
      return b_.getDoubleTy();
    default:
      return b_.getIntNTy(static_cast<unsigned>(hlo::ByteWidth(type)) * 8);
  }
}

llvm::Type* Arithmetic::ValueType(ElementType type) const {
  switch (type) {
    case ElementType::kPred:
      return b_.getInt1Ty();
    case ElementType::kF16:
    case ElementType::kBf16:
      return b_.getFloatTy();
    default:
      return StorageType(type);
  }
}

llvm::Value* Arithmetic::FromStorage(ElementType type, llvm::Value* value) {
  llvm::Type* target = TypeLike(ValueType(type), value->getType());
  switch (type) {
    case ElementType::kPred:
      return b_.CreateICmpNE(value,
                             llvm::Constant::getNullValue(value->getType()));
    case ElementType::kF16:
      return b_.CreateFPExt(value, target);
    case ElementType::kBf16: {
      llvm::Type* bits = TypeLike(b_.getInt32Ty(), value->getType());
      return b_.CreateBitCast(b_.CreateShl(b_.CreateZExt(value, bits), 16),
                              target);
    }
    default:
      return value;
  }
}

llvm::Value* Arithmetic::ToStorage(ElementType type, llvm::Value* value) {
  llvm::Type* target = TypeLike(StorageType(type), value->getType());
  switch (type) {
    case ElementType::kPred:
      return b_.CreateZExt(value, target);
    case ElementType::kF16:
      return b_.CreateFPTrunc(value, target);
    case ElementType::kBf16: {
      llvm::Type* bits = TypeLike(b_.getInt32Ty(), value->getType());
      return b_.CreateTrunc(b_.CreateLShr(b_.CreateBitCast(value, bits), 16),
                            target);
    }
    default:
      return value;
  }
}

llvm::Value* Arithmetic::Constant(const loops::Expression& constant) {
  llvm::Type* type = ValueType(constant.type());
  if (type->isFloatingPointTy()) {
    llvm::Value* value = llvm::ConstantFP::get(type, constant.number());
    return RoundTo(constant.type(), value);
  }
  return llvm::ConstantInt::get(type, static_cast<uint64_t>(constant.integer()),
                                true);
}

llvm::Value* Arithmetic::RoundedBits(llvm::Value* value, int64_t lanes) {
  // The instruction is for 8 or 16 lanes: the last ones may be of no use. It is
  // asked for by name: of a truncation LLVM takes a sign or an absolute value
  // out, and has no vectors for those of bfloat.
  const int64_t step = lanes <= 8 ? 8 : 16;
  const auto part = [&](llvm::Value* vector, int64_t begin, int64_t size,
                        int64_t to) {
    llvm::SmallVector<int> mask(static_cast<size_t>(to), -1);
    std::iota(mask.begin(), mask.begin() + size, static_cast<int>(begin));
    return b_.CreateShuffleVector(vector, mask);
  };
  llvm::SmallVector<llvm::Value*> parts;
  for (int64_t begin = 0; begin < lanes; begin += step) {
    const int64_t size = std::min(step, lanes - begin);
    llvm::Value* rounded = b_.CreateIntrinsic(
        step == 8 ? llvm::Intrinsic::x86_avx512bf16_cvtneps2bf16_256
                  : llvm::Intrinsic::x86_avx512bf16_cvtneps2bf16_512,
        {}, {part(value, begin, size, step)});
    parts.push_back(b_.CreateBitCast(
        rounded, TypeLike(b_.getInt16Ty(), rounded->getType())));
  }
  llvm::Value* all = llvm::concatenateVectors(b_, parts);
  return part(all, 0, lanes, lanes);
}

llvm::Value* Arithmetic::RoundTo(ElementType type, llvm::Value* value) {
  if (type == ElementType::kF16) {
    llvm::Type* half = TypeLike(b_.getHalfTy(), value->getType());
    return b_.CreateFPExt(b_.CreateFPTrunc(value, half), value->getType());
  }
  if (type != ElementType::kBf16) return value;
  // To nearest even in the upper half of the bits; a NaN is made quiet instead,
  // or the carry might make it infinite.
  llvm::Type* bits_type = TypeLike(b_.getInt32Ty(), value->getType());
  const int64_t lanes = LanesOf(value);
  if (rounds_to_bf16_ && lanes > 1) {
    return FromStorage(type, RoundedBits(value, lanes));
  }
  const auto number = [&](uint64_t n) {
    return llvm::ConstantInt::get(bits_type, n);
  };
  llvm::Value* bits = b_.CreateBitCast(value, bits_type);
  llvm::Value* odd = b_.CreateAnd(b_.CreateLShr(bits, 16), number(1));
  llvm::Value* rounded = b_.CreateAdd(b_.CreateAdd(bits, number(0x7fff)), odd);
  llvm::Value* is_nan = b_.CreateFCmpUNO(value, value);
  llvm::Value* chosen =
      b_.CreateSelect(is_nan, b_.CreateOr(bits, number(0x400000)), rounded);
  return b_.CreateBitCast(b_.CreateAnd(chosen, number(0xffff0000)),
                          value->getType());
}

llvm::Value* Arithmetic::Apply(const loops::Expression& expression,
                               llvm::ArrayRef<llvm::Value*> operands) {
  const Opcode opcode = expression.opcode();
  const ElementType type = expression.operands().back()->type();
  switch (opcode) {
    case Opcode::kCompare:
      return Compare(expression.direction(), expression.total_order(), type,
                     operands[0], operands[1]);
    case Opcode::kConvert:
      return Convert(type, expression.type(), operands[0]);
    case Opcode::kBitcastConvert:
      return BitcastConvert(type, expression.type(), operands[0]);
    case Opcode::kCopy:
      return operands[0];
    case Opcode::kSelect:
      return b_.CreateSelect(operands[0], operands[1], operands[2]);
    case Opcode::kMaximum:
    case Opcode::kMinimum:
      return Combine(opcode, type, operands[0], operands[1]);
    case Opcode::kClamp:
      return Combine(Opcode::kMinimum, type,
                     Combine(Opcode::kMaximum, type, operands[0], operands[1]),
                     operands[2]);
    default:
      break;
  }
  switch (hlo::KindOf(type)) {
    case ElementKind::kPred:
      return ApplyPred(expression, operands);
    case ElementKind::kFloat: {
      llvm::Value* value = ApplyFloat(opcode, operands);
      return expression.type() == ElementType::kPred || IsExact(opcode)
                 ? value
                 : RoundTo(expression.type(), value);
    }
    default:
      return ApplyInteger(opcode, hlo::IsSigned(type), operands);
  }
}

llvm::Value* Arithmetic::ApplyPred(const loops::Expression& expression,
                                   llvm::ArrayRef<llvm::Value*> operands) {
  if (expression.opcode() == Opcode::kNot) return b_.CreateNot(operands[0]);
  return Combine(expression.opcode(), ElementType::kPred, operands[0],
                 operands[1]);
}

llvm::Value* Arithmetic::Combine(Opcode opcode, ElementType type,
                                 llvm::Value* a, llvm::Value* b) {
  if (type == ElementType::kPred) {
    switch (opcode) {
      case Opcode::kAdd:
      case Opcode::kOr:
      case Opcode::kMaximum:
        return b_.CreateOr(a, b);
      case Opcode::kMultiply:
      case Opcode::kAnd:
      case Opcode::kMinimum:
        return b_.CreateAnd(a, b);
      default:
        HONE_CHECK(opcode == Opcode::kXor);
        return b_.CreateXor(a, b);
    }
  }
  const bool is_choice =
      opcode == Opcode::kMaximum || opcode == Opcode::kMinimum;
  if (IsNarrowFloat(type) && is_choice) {
    return SelectMaximum(b_, opcode == Opcode::kMaximum, a, b);
  }
  if (hlo::IsFloat(type)) return RoundTo(type, ApplyFloat(opcode, {a, b}));
  return ApplyInteger(opcode, hlo::IsSigned(type), {a, b});
}

llvm::Constant* Arithmetic::Identity(Opcode opcode, ElementType type) {
  llvm::Type* value_type = ValueType(type);
  if (value_type->isFloatingPointTy()) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    switch (opcode) {
      case Opcode::kAdd:
        // +0 would change a sum of negative zeros.
        return llvm::ConstantFP::get(value_type, -0.0);
      case Opcode::kMultiply:
        return llvm::ConstantFP::get(value_type, 1.0);
      case Opcode::kMinimum:
        return llvm::ConstantFP::get(value_type, kInfinity);
      default:
        HONE_CHECK(opcode == Opcode::kMaximum);
        return llvm::ConstantFP::get(value_type, -kInfinity);
    }
  }
  const unsigned bits = value_type->getIntegerBitWidth();
  const bool is_signed = hlo::IsSigned(type);
  const auto integer = [&](const llvm::APInt& value) {
    return llvm::ConstantInt::get(value_type, value);
  };
  switch (opcode) {
    case Opcode::kMultiply:
      return integer(llvm::APInt(bits, 1));
    case Opcode::kAnd:
      return integer(llvm::APInt::getAllOnes(bits));
    case Opcode::kMinimum:
      return integer(is_signed ? llvm::APInt::getSignedMaxValue(bits)
                               : llvm::APInt::getMaxValue(bits));
    case Opcode::kMaximum:
      return integer(is_signed ? llvm::APInt::getSignedMinValue(bits)
                               : llvm::APInt::getMinValue(bits));
    default:
      return integer(llvm::APInt(bits, 0));
  }
}

llvm::Value* Arithmetic::ReduceLanes(Opcode opcode, ElementType type,
                                     llvm::Value* vector) {
  if (HasKeys(opcode, type)) {
    return FromKey(ReduceLanesOfKeys(opcode, ToKey(opcode, vector)));
  }
  return ReduceLanesBy(vector, [&](llvm::Value* a, llvm::Value* b) {
    return Combine(opcode, type, a, b);
  });
}

llvm::Value* Arithmetic::ReduceLanesBy(
    llvm::Value* vector,
    llvm::function_ref<llvm::Value*(llvm::Value*, llvm::Value*)> combine) {
  const auto half = [&](llvm::Value* v, int64_t from, int64_t n) {
    std::vector<int> lanes(static_cast<size_t>(n));
    std::iota(lanes.begin(), lanes.end(), static_cast<int>(from));
    return b_.CreateShuffleVector(v, lanes);
  };
  // Combines equal halves; the remainder of an odd number is combined at the
  // end.
  llvm::Value* rest = nullptr;
  int64_t lanes = LanesOf(vector);
  while (lanes > 1) {
    if (lanes % 2 != 0) {
      llvm::Value* last =
          b_.CreateExtractElement(vector, static_cast<uint64_t>(lanes - 1));
      rest = rest == nullptr ? last : combine(rest, last);
    }
    lanes /= 2;
    vector = combine(half(vector, 0, lanes), half(vector, lanes, lanes));
  }
  llvm::Value* result = b_.CreateExtractElement(vector, uint64_t{0});
  return rest == nullptr ? result : combine(result, rest);
}

llvm::Value* Arithmetic::Compare(hlo::ComparisonDirection direction,
                                 bool total_order, ElementType type,
                                 llvm::Value* a, llvm::Value* b) {
  using Predicate = llvm::CmpInst::Predicate;
  using Direction = hlo::ComparisonDirection;
  const bool is_float = hlo::IsFloat(type);
  const bool is_signed = is_float || hlo::IsSigned(type);
  if (is_float && total_order) {
    a = TotalOrderKey(a);
    b = TotalOrderKey(b);
  }
  const auto compare = [&](Predicate of_float, Predicate of_signed,
                           Predicate of_unsigned) {
    if (is_float && !total_order) return b_.CreateFCmp(of_float, a, b);
    return b_.CreateICmp(is_signed ? of_signed : of_unsigned, a, b);
  };
  switch (direction) {
    case Direction::kEq:
      return compare(Predicate::FCMP_OEQ, Predicate::ICMP_EQ,
                     Predicate::ICMP_EQ);
    case Direction::kNe:
      return compare(Predicate::FCMP_UNE, Predicate::ICMP_NE,
                     Predicate::ICMP_NE);
    case Direction::kGe:
      return compare(Predicate::FCMP_OGE, Predicate::ICMP_SGE,
                     Predicate::ICMP_UGE);
    case Direction::kGt:
      return compare(Predicate::FCMP_OGT, Predicate::ICMP_SGT,
                     Predicate::ICMP_UGT);
    case Direction::kLe:
      return compare(Predicate::FCMP_OLE, Predicate::ICMP_SLE,
                     Predicate::ICMP_ULE);
    default:
      return compare(Predicate::FCMP_OLT, Predicate::ICMP_SLT,
                     Predicate::ICMP_ULT);
  }
}

llvm::Value* Arithmetic::Convert(ElementType from, ElementType to,
                                 llvm::Value* value) {
  llvm::Type* target = TypeLike(ValueType(to), value->getType());
  const bool from_float = hlo::IsFloat(from);
  if (from == to) return value;
  if (to == ElementType::kPred) {
    llvm::Constant* zero = llvm::Constant::getNullValue(value->getType());
    return from_float ? b_.CreateFCmpUNE(value, zero)
                      : b_.CreateICmpNE(value, zero);
  }
  if (hlo::IsFloat(to)) {
    // Narrow floats go through f32, as in the evaluator.
    if (from_float) return RoundTo(to, b_.CreateFPCast(value, target));
    return RoundTo(to, hlo::IsSigned(from) ? b_.CreateSIToFP(value, target)
                                           : b_.CreateUIToFP(value, target));
  }
  if (!from_float) {
    return b_.CreateIntCast(value, target, hlo::IsSigned(from));
  }
  return ConvertSaturating(to, value);
}

// NaN becomes 0. LLVM's own operation takes vectors apart.
llvm::Value* Arithmetic::ConvertSaturating(ElementType to, llvm::Value* value) {
  const bool is_signed = hlo::IsSigned(to);
  const auto bits = static_cast<unsigned>(hlo::BitWidth(to));
  const auto number = [&](double n) {
    return llvm::ConstantFP::get(value->getType(), n);
  };
  // Powers of two, and so exact.
  const double end =
      std::ldexp(1.0, static_cast<int>(is_signed ? bits - 1 : bits));
  llvm::Constant* const least = number(is_signed ? -end : 0);
  llvm::Value* const is_large = b_.CreateFCmpOGE(value, number(end));
  llvm::Value* inside =
      b_.CreateSelect(b_.CreateFCmpOGT(value, least), value, least);
  inside = b_.CreateSelect(is_large, least, inside);
  // Narrow integers all fit in an s32, which vectors are converted to at once.
  const bool is_narrow = bits < 32;
  llvm::Type* type =
      TypeLike(b_.getIntNTy(std::max(bits, 32u)), value->getType());
  llvm::Value* result = is_signed || is_narrow ? b_.CreateFPToSI(inside, type)
                                               : b_.CreateFPToUI(inside, type);
  const llvm::APInt most = is_signed ? llvm::APInt::getSignedMaxValue(bits)
                                     : llvm::APInt::getMaxValue(bits);
  result = b_.CreateSelect(
      is_large, llvm::ConstantInt::get(type, most.zext(std::max(bits, 32u))),
      result);
  result = b_.CreateSelect(b_.CreateFCmpUNO(value, value),
                           llvm::Constant::getNullValue(type), result);
  return b_.CreateTrunc(result, TypeLike(ValueType(to), value->getType()));
}

llvm::Value* Arithmetic::BitcastConvert(ElementType from, ElementType to,
                                        llvm::Value* value) {
  llvm::Value* bits = ToStorage(from, value);
  return FromStorage(
      to, b_.CreateBitCast(bits, TypeLike(StorageType(to), bits->getType())));
}

}  // namespace hone::backends
