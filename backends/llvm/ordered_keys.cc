#include <llvm/ADT/APInt.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>

#include "backends/llvm/arithmetic.h"

// Floats as signed integers of the same order. The mapping is its own inverse.

namespace hone::backends {
namespace {

// Flips the bits of negative numbers below the sign.
llvm::Value* FlipNegative(llvm::IRBuilder<>& b, llvm::Value* number) {
  const unsigned bits = number->getType()->getScalarSizeInBits();
  llvm::Constant* below_sign = llvm::ConstantInt::get(
      number->getType(), llvm::APInt::getSignedMaxValue(bits));
  llvm::Value* sign = b.CreateAShr(number, bits - 1);
  return b.CreateXor(number, b.CreateAnd(sign, below_sign));
}

}  // namespace

llvm::Value* Arithmetic::TotalOrderKey(llvm::Value* value) {
  const unsigned bits = value->getType()->getScalarSizeInBits();
  return FlipNegative(b_, b_.CreateBitCast(value, TypeLike(b_.getIntNTy(bits),
                                                           value->getType())));
}

bool Arithmetic::HasKeys(hlo::Opcode opcode, hlo::ElementType type) {
  return hlo::IsFloat(type) &&
         (opcode == hlo::Opcode::kMaximum || opcode == hlo::Opcode::kMinimum);
}

llvm::Value* Arithmetic::ToKey(hlo::Opcode opcode, llvm::Value* value) {
  // The key of NaN is beyond that of infinity on the side that wins.
  llvm::Constant* nan = llvm::ConstantFP::getQNaN(
      value->getType(), /*Negative=*/opcode == hlo::Opcode::kMinimum);
  return b_.CreateSelect(b_.CreateFCmpUNO(value, value), TotalOrderKey(nan),
                         TotalOrderKey(value));
}

llvm::Value* Arithmetic::FromKey(llvm::Value* key) {
  llvm::Type* type = key->getType()->getScalarSizeInBits() == 64
                         ? b_.getDoubleTy()
                         : b_.getFloatTy();
  return b_.CreateBitCast(FlipNegative(b_, key),
                          TypeLike(type, key->getType()));
}

llvm::Value* Arithmetic::CombineKeys(hlo::Opcode opcode, llvm::Value* a,
                                     llvm::Value* b) {
  return b_.CreateBinaryIntrinsic(opcode == hlo::Opcode::kMaximum
                                      ? llvm::Intrinsic::smax
                                      : llvm::Intrinsic::smin,
                                  a, b);
}

llvm::Value* Arithmetic::ReduceLanesOfKeys(hlo::Opcode opcode,
                                           llvm::Value* vector) {
  return ReduceLanesBy(vector, [&](llvm::Value* a, llvm::Value* b) {
    return CombineKeys(opcode, a, b);
  });
}

}  // namespace hone::backends
