#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>

#include "backends/llvm/arithmetic.h"
#include "base/check.h"

namespace hone::backends {

using hlo::Opcode;

llvm::Value* Arithmetic::ApplyInteger(Opcode opcode, bool is_signed,
                                      llvm::ArrayRef<llvm::Value*> operands) {
  llvm::Value* a = operands[0];
  llvm::Type* type = a->getType();
  llvm::Constant* zero = llvm::Constant::getNullValue(type);
  if (operands.size() == 1) {
    switch (opcode) {
      case Opcode::kAbs:
        if (!is_signed) return a;
        return b_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, a, b_.getFalse());
      case Opcode::kNegate:
        return b_.CreateNeg(a);
      case Opcode::kNot:
        return b_.CreateNot(a);
      case Opcode::kPopcnt:
        return b_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, a);
      case Opcode::kCountLeadingZeros:
        return b_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, a,
                                        b_.getFalse());
      default: {
        HONE_CHECK(opcode == Opcode::kSign);
        llvm::Value* positive = b_.CreateZExt(
            is_signed ? b_.CreateICmpSGT(a, zero) : b_.CreateICmpNE(a, zero),
            type);
        if (!is_signed) return positive;
        return b_.CreateSub(positive,
                            b_.CreateZExt(b_.CreateICmpSLT(a, zero), type));
      }
    }
  }
  llvm::Value* b = operands[1];
  switch (opcode) {
    case Opcode::kAdd:
      return b_.CreateAdd(a, b);
    case Opcode::kSubtract:
      return b_.CreateSub(a, b);
    case Opcode::kMultiply:
      return b_.CreateMul(a, b);
    case Opcode::kAnd:
      return b_.CreateAnd(a, b);
    case Opcode::kOr:
      return b_.CreateOr(a, b);
    case Opcode::kXor:
      return b_.CreateXor(a, b);
    case Opcode::kMinimum:
      return b_.CreateBinaryIntrinsic(
          is_signed ? llvm::Intrinsic::smin : llvm::Intrinsic::umin, a, b);
    case Opcode::kMaximum:
      return b_.CreateBinaryIntrinsic(
          is_signed ? llvm::Intrinsic::smax : llvm::Intrinsic::umax, a, b);
    case Opcode::kDivide:
    case Opcode::kRemainder:
      return IntegerDivide(opcode, is_signed, a, b);
    case Opcode::kPower:
      return IntegerPower(is_signed, a, b);
    case Opcode::kMulhi:
      return Mulhi(is_signed, a, b);
    default:
      return Shift(opcode, a, b);
  }
}

// x / 0 is all ones and x mod 0 is x; the smallest number / -1 is itself.
llvm::Value* Arithmetic::IntegerDivide(Opcode opcode, bool is_signed,
                                       llvm::Value* a, llvm::Value* b) {
  llvm::Type* type = a->getType();
  llvm::Constant* zero = llvm::Constant::getNullValue(type);
  llvm::Constant* ones = llvm::Constant::getAllOnesValue(type);
  llvm::Value* by_zero = b_.CreateICmpEQ(b, zero);
  llvm::Value* by_minus_one =
      is_signed ? b_.CreateICmpEQ(b, ones)
                : llvm::Constant::getNullValue(by_zero->getType());
  // Replaces operands that would trap.
  llvm::Value* divisor = b_.CreateSelect(b_.CreateOr(by_zero, by_minus_one),
                                         llvm::ConstantInt::get(type, 1), b);
  if (opcode == Opcode::kDivide) {
    llvm::Value* quotient =
        is_signed ? b_.CreateSDiv(a, divisor) : b_.CreateUDiv(a, divisor);
    quotient = b_.CreateSelect(by_minus_one, b_.CreateNeg(a), quotient);
    return b_.CreateSelect(by_zero, ones, quotient);
  }
  llvm::Value* remainder =
      is_signed ? b_.CreateSRem(a, divisor) : b_.CreateURem(a, divisor);
  return b_.CreateSelect(by_zero, a, remainder);
}

// Emits unrolled squaring. A negative exponent gives the truncated quotient of
// 1 and the power; 0 for base 0.
llvm::Value* Arithmetic::IntegerPower(bool is_signed, llvm::Value* a,
                                      llvm::Value* b) {
  llvm::Type* type = a->getType();
  llvm::Constant* zero = llvm::Constant::getNullValue(type);
  llvm::Constant* one = llvm::ConstantInt::get(type, 1);
  llvm::Constant* ones = llvm::Constant::getAllOnesValue(type);
  llvm::Value* result = one;
  llvm::Value* base = a;
  for (unsigned bit = 0; bit < type->getScalarSizeInBits(); ++bit) {
    llvm::Value* set =
        b_.CreateICmpNE(b_.CreateAnd(b_.CreateLShr(b, bit), one), zero);
    result = b_.CreateSelect(set, b_.CreateMul(result, base), result);
    base = b_.CreateMul(base, base);
  }
  if (!is_signed) return result;
  llvm::Value* odd = b_.CreateICmpNE(b_.CreateAnd(b, one), zero);
  llvm::Value* of_minus_one = b_.CreateSelect(odd, ones, one);
  llvm::Value* inverse = b_.CreateSelect(
      b_.CreateICmpEQ(a, one), one,
      b_.CreateSelect(b_.CreateICmpEQ(a, ones), of_minus_one, zero));
  return b_.CreateSelect(b_.CreateICmpSLT(b, zero), inverse, result);
}

// Amounts of the width or more, negative ones among them, shift everything out.
llvm::Value* Arithmetic::Shift(Opcode opcode, llvm::Value* a,
                               llvm::Value* amount) {
  llvm::Type* type = a->getType();
  const unsigned bits = type->getScalarSizeInBits();
  llvm::Value* inside =
      b_.CreateICmpULT(amount, llvm::ConstantInt::get(type, bits));
  llvm::Constant* zero = llvm::Constant::getNullValue(type);
  if (opcode == Opcode::kShiftRightArithmetic) {
    llvm::Constant* last = llvm::ConstantInt::get(type, bits - 1);
    return b_.CreateAShr(a, b_.CreateSelect(inside, amount, last));
  }
  HONE_CHECK(opcode == Opcode::kShiftLeft ||
             opcode == Opcode::kShiftRightLogical);
  llvm::Value* by = b_.CreateSelect(inside, amount, zero);
  llvm::Value* shifted =
      opcode == Opcode::kShiftLeft ? b_.CreateShl(a, by) : b_.CreateLShr(a, by);
  return b_.CreateSelect(inside, shifted, zero);
}

llvm::Value* Arithmetic::Mulhi(bool is_signed, llvm::Value* a, llvm::Value* b) {
  llvm::Type* type = a->getType();
  const unsigned bits = type->getScalarSizeInBits();
  llvm::Type* wide = TypeLike(b_.getIntNTy(2 * bits), type);
  llvm::Value* product = b_.CreateMul(b_.CreateIntCast(a, wide, is_signed),
                                      b_.CreateIntCast(b, wide, is_signed));
  return b_.CreateTrunc(b_.CreateLShr(product, bits), type);
}

}  // namespace hone::backends
