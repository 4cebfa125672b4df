#include "backends/llvm/vector_math.h"

#include <limits>
#include <numeric>

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>

#include "backends/llvm/arithmetic.h"

namespace hone::backends {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
// Added to and subtracted from a float (double) of less than 2^22 (2^51), it
// leaves the nearest integer, which is also in the low bits of the sum.
constexpr double kRoundFloat = 0x1.8p23;
constexpr double kRoundDouble = 0x1.8p52;
// log 2 as a number with zeros at the end and the rest.
constexpr double kLog2High = 0x1.62e4p-1;
constexpr double kLog2Low = 0x1.7f7d1cp-20;

}  // namespace

llvm::Constant* VectorMath::Number(llvm::Value* like, double value) {
  return llvm::ConstantFP::get(like->getType(), value);
}

llvm::Constant* VectorMath::Integer(llvm::Value* like, int64_t value) {
  return llvm::ConstantInt::get(like->getType(), static_cast<uint64_t>(value),
                                true);
}

llvm::Value* VectorMath::MultiplyAdd(llvm::Value* a, llvm::Value* b,
                                     llvm::Value* c) {
  return b_.CreateIntrinsic(llvm::Intrinsic::fmuladd, {a->getType()},
                            {a, b, c});
}

llvm::Value* VectorMath::Polynomial(llvm::Value* x, llvm::ArrayRef<double> c) {
  llvm::Value* sum = Number(x, c.back());
  for (size_t i = c.size() - 1; i-- > 0;) {
    sum = MultiplyAdd(sum, x, Number(x, c[i]));
  }
  return sum;
}

llvm::Value* VectorMath::Abs(llvm::Value* x) {
  return b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
}

llvm::Value* VectorMath::CopySign(llvm::Value* magnitude, llvm::Value* sign) {
  return b_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, magnitude, sign);
}

llvm::Value* VectorMath::Bits(llvm::Value* x) {
  const unsigned bits = x->getType()->getScalarSizeInBits();
  return b_.CreateBitCast(x, TypeLike(b_.getIntNTy(bits), x->getType()));
}

llvm::Value* VectorMath::FromBits(llvm::Value* bits, llvm::Value* like) {
  return b_.CreateBitCast(bits, like->getType());
}

llvm::Value* VectorMath::PowerOfTwo(llvm::Value* n, llvm::Value* like) {
  const bool is_double = like->getType()->getScalarSizeInBits() == 64;
  llvm::Value* biased = b_.CreateAdd(n, Integer(n, is_double ? 1023 : 127));
  return FromBits(b_.CreateShl(biased, is_double ? 52 : 23), like);
}

llvm::Value* VectorMath::AtMost(llvm::Value* x, double hi) {
  // This order of operands preserves NaN in a single instruction.
  llvm::Value* high = Number(x, hi);
  return b_.CreateSelect(b_.CreateFCmpOLT(high, x), high, x);
}

llvm::Value* VectorMath::Limit(llvm::Value* x, double lo, double hi) {
  llvm::Value* low = Number(x, lo);
  return AtMost(b_.CreateSelect(b_.CreateFCmpOGT(low, x), low, x), hi);
}

VectorMath::Reduced VectorMath::ReduceExponential(llvm::Value* x) {
  llvm::Constant* round = Number(x, kRoundFloat);
  llvm::Value* sum = MultiplyAdd(x, Number(x, 1.44269504), round);
  llvm::Value* whole = b_.CreateFSub(sum, round);
  llvm::Value* r = MultiplyAdd(whole, Number(x, -kLog2High), x);
  r = MultiplyAdd(whole, Number(x, -kLog2Low), r);
  llvm::Value* tail = Polynomial(
      r, {0.5, 0.166665167, 0.0416662022, 0.0083690891, 0.00139508268});
  llvm::Value* n = b_.CreateSub(Bits(sum), Bits(round));
  return {n, whole, r, tail};
}

llvm::Value* VectorMath::Scaled(llvm::Value* x, const Reduced& e) {
  constexpr int64_t kLanes = 16;
  const int64_t lanes = LanesOf(x);
  if (!has_avx512_ || lanes == 0 || lanes % kLanes != 0) {
    // In two steps, as 2^n itself may be out of range.
    llvm::Value* half = b_.CreateAShr(e.n, 1);
    llvm::Value* y = b_.CreateFMul(x, PowerOfTwo(half, x));
    return b_.CreateFMul(y, PowerOfTwo(b_.CreateSub(e.n, half), x));
  }
  // All lanes, in the current rounding mode.
  constexpr uint16_t kAllLanes = 0xffff;
  constexpr uint32_t kCurrentRounding = 4;
  llvm::SmallVector<llvm::Value*> parts;
  for (int64_t begin = 0; begin < lanes; begin += kLanes) {
    const auto part = [&](llvm::Value* vector) {
      llvm::SmallVector<int> mask(kLanes);
      std::iota(mask.begin(), mask.end(), static_cast<int>(begin));
      return b_.CreateShuffleVector(vector, mask);
    };
    llvm::Value* scaled = part(x);
    parts.push_back(b_.CreateIntrinsic(
        llvm::Intrinsic::x86_avx512_mask_scalef_ps_512, {},
        {scaled, part(e.whole), scaled, b_.getInt16(kAllLanes),
         b_.getInt32(kCurrentRounding)}));
  }
  return llvm::concatenateVectors(b_, parts);
}

llvm::Value* VectorMath::Exp(llvm::Value* x) {
  const Reduced e = ReduceExponential(Limit(x, -104.0, 89.0));
  llvm::Value* y = MultiplyAdd(b_.CreateFMul(e.r, e.r), e.tail, e.r);
  return Scaled(b_.CreateFAdd(y, Number(x, 1.0)), e);
}

llvm::Value* VectorMath::HalfExpm1(llvm::Value* x) {
  // expm1(r) · s + (s - 1/2) with s = 2^(n-1).
  const Reduced e = ReduceExponential(x);
  llvm::Value* y = MultiplyAdd(b_.CreateFMul(e.r, e.r), e.tail, e.r);
  llvm::Value* scale = PowerOfTwo(b_.CreateSub(e.n, Integer(e.n, 1)), x);
  return MultiplyAdd(y, scale, b_.CreateFSub(scale, Number(x, 0.5)));
}

llvm::Value* VectorMath::Expm1(llvm::Value* x) {
  llvm::Value* y =
      b_.CreateFMul(HalfExpm1(Limit(x, -18.0, 89.0)), Number(x, 2.0));
  return b_.CreateSelect(b_.CreateFCmpOEQ(x, Number(x, 0.0)), x, y);
}

llvm::Value* VectorMath::Log(llvm::Value* x) {
  // Denormals are made normal first.
  llvm::Value* tiny = b_.CreateFCmpOLT(x, Number(x, 0x1p-126));
  llvm::Value* scaled =
      b_.CreateSelect(tiny, b_.CreateFMul(x, Number(x, 0x1p23)), x);
  // x = m · 2^e with sqrt(1/2) ≤ m < sqrt(2).
  llvm::Value* bits = Bits(scaled);
  llvm::Value* above = b_.CreateSub(bits, Integer(bits, 0x3f3504f3));
  llvm::Value* exponent = b_.CreateAShr(above, 23);
  llvm::Value* m = FromBits(b_.CreateSub(bits, b_.CreateShl(exponent, 23)), x);
  llvm::Value* e = b_.CreateSIToFP(exponent, x->getType());
  e = b_.CreateSelect(tiny, b_.CreateFSub(e, Number(x, 23.0)), e);

  // log(1 + f) = f - f²/2 + f³·P(f)
  llvm::Value* f = b_.CreateFSub(m, Number(x, 1.0));
  llvm::Value* square = b_.CreateFMul(f, f);
  llvm::Value* p = Polynomial(
      f, {0.333333135, -0.250000089, 0.200021431, -0.166680425, 0.142190486,
          -0.124043494, 0.118908852, -0.11684946, 0.067519486});
  llvm::Value* y = b_.CreateFMul(b_.CreateFMul(square, f), p);
  y = MultiplyAdd(e, Number(x, kLog2Low), y);
  y = MultiplyAdd(square, Number(x, -0.5), y);
  y = b_.CreateFAdd(f, y);
  y = MultiplyAdd(e, Number(x, kLog2High), y);

  y = b_.CreateSelect(b_.CreateFCmpOEQ(x, Number(x, kInfinity)), x, y);
  y = b_.CreateSelect(b_.CreateFCmpUGE(x, Number(x, 0.0)), y, Number(x, kNan));
  y = b_.CreateSelect(b_.CreateFCmpUNO(x, x), x, y);
  return b_.CreateSelect(b_.CreateFCmpOEQ(x, Number(x, 0.0)),
                         Number(x, -kInfinity), y);
}

llvm::Value* VectorMath::Log1p(llvm::Value* x) {
  // Adds the rounding error of 1 + x back, to first order.
  llvm::Constant* one = Number(x, 1.0);
  llvm::Value* u = b_.CreateFAdd(x, one);
  llvm::Value* lost = b_.CreateFSub(x, b_.CreateFSub(u, one));
  llvm::Value* log = Log(u);
  llvm::Value* y = b_.CreateFAdd(log, b_.CreateFDiv(lost, u));
  // At both ends of the range the correction is not a number.
  llvm::Value* end = b_.CreateOr(b_.CreateFCmpOEQ(u, Number(x, kInfinity)),
                                 b_.CreateFCmpOEQ(u, Number(x, 0.0)));
  y = b_.CreateSelect(end, log, y);
  return b_.CreateSelect(b_.CreateFCmpOEQ(x, Number(x, 0.0)), x, y);
}

llvm::Value* VectorMath::Tanh(llvm::Value* x) {
  // h / (h + 1) with h = expm1(2x) / 2; it is 1 from 9.02 on.
  llvm::Value* h = HalfExpm1(Limit(b_.CreateFAdd(x, x), -18.04, 18.04));
  llvm::Value* y = b_.CreateFDiv(h, b_.CreateFAdd(h, Number(x, 1.0)));
  return CopySign(y, x);
}

llvm::Value* VectorMath::Logistic(llvm::Value* x) {
  llvm::Constant* one = Number(x, 1.0);
  return b_.CreateFDiv(one, b_.CreateFAdd(Exp(b_.CreateFNeg(x)), one));
}

llvm::Value* VectorMath::Sin(llvm::Value* x) { return SinCos(x, 0); }
llvm::Value* VectorMath::Cos(llvm::Value* x) { return SinCos(x, 1); }

// sin(x + quadrant · π/2)
llvm::Value* VectorMath::SinCos(llvm::Value* x, int quadrant) {
  llvm::Type* doubles = TypeLike(b_.getDoubleTy(), x->getType());
  llvm::Value* wide = b_.CreateFPExt(x, doubles);
  llvm::Constant* round = Number(wide, kRoundDouble);
  // As an fma: with the product rounded first, large arguments would be lost.
  const auto fma = [&](llvm::Value* a, double b, llvm::Value* c) {
    return b_.CreateIntrinsic(llvm::Intrinsic::fma, {doubles},
                              {a, Number(wide, b), c});
  };
  llvm::Value* sum = fma(wide, 0x1.45f306dc9c883p-1, round);
  llvm::Value* n = b_.CreateFSub(sum, round);
  llvm::Value* r = fma(n, -0x1.921fb54442d18p0, wide);
  r = fma(n, -0x1.1a62633145c07p-54, r);
  r = b_.CreateFPTrunc(r, x->getType());
  llvm::Type* integers = TypeLike(b_.getInt32Ty(), x->getType());
  llvm::Value* turn = b_.CreateTrunc(Bits(sum), integers);
  turn = b_.CreateAdd(turn, Integer(turn, quadrant));

  llvm::Value* square = b_.CreateFMul(r, r);
  llvm::Value* s = Polynomial(
      square, {-0.166666672, 0.00833332911, -0.000198393303, 2.71827389e-06});
  s = MultiplyAdd(b_.CreateFMul(s, square), r, r);
  llvm::Value* c =
      Polynomial(square, {0.0416666456, -0.00138873642, 2.44380826e-05});
  c = MultiplyAdd(b_.CreateFMul(c, square), square,
                  MultiplyAdd(square, Number(x, -0.5), Number(x, 1.0)));
  llvm::Value* zero = Integer(turn, 0);
  llvm::Value* is_cosine =
      b_.CreateICmpNE(b_.CreateAnd(turn, Integer(turn, 1)), zero);
  llvm::Value* is_negative =
      b_.CreateICmpNE(b_.CreateAnd(turn, Integer(turn, 2)), zero);
  llvm::Value* y = b_.CreateSelect(is_cosine, c, s);
  y = b_.CreateSelect(is_negative, b_.CreateFNeg(y), y);
  llvm::Value* finite = b_.CreateFCmpOLT(Abs(x), Number(x, kInfinity));
  y = b_.CreateSelect(finite, y, Number(x, kNan));
  if (quadrant != 0) return y;
  return b_.CreateSelect(b_.CreateFCmpOEQ(x, Number(x, 0.0)), x, y);
}

llvm::Value* VectorMath::Pow(llvm::Value* x, llvm::Value* y) {
  llvm::Type* doubles = TypeLike(b_.getDoubleTy(), x->getType());
  llvm::Value* base = Abs(b_.CreateFPExt(x, doubles));
  llvm::Value* power = b_.CreateFPExt(y, doubles);
  const auto number = [&](double value) { return Number(base, value); };

  // log2(m · 2^e) = e + z·P(z²), z = (m - 1) / (m + 1)
  llvm::Value* bits = Bits(base);
  llvm::Value* above = b_.CreateSub(bits, Integer(bits, 0x3fe6a09e667f3bcd));
  llvm::Value* e = b_.CreateAShr(above, 52);
  llvm::Value* m = FromBits(b_.CreateSub(bits, b_.CreateShl(e, 52)), base);
  llvm::Value* z = b_.CreateFDiv(b_.CreateFSub(m, number(1.0)),
                                 b_.CreateFAdd(m, number(1.0)));
  llvm::Value* p = Polynomial(
      b_.CreateFMul(z, z),
      {2.8853900817778491, 0.96179669411491164, 0.57707794189782957,
       0.41220930067676748, 0.3199036708976023, 0.28292974238896595});
  llvm::Type* integers = TypeLike(b_.getInt32Ty(), x->getType());
  llvm::Value* log =
      MultiplyAdd(p, z, b_.CreateSIToFP(b_.CreateTrunc(e, integers), doubles));
  log = b_.CreateSelect(b_.CreateFCmpOEQ(base, number(0.0)), number(-kInfinity),
                        log);
  log = b_.CreateSelect(b_.CreateFCmpOEQ(base, number(kInfinity)),
                        number(kInfinity), log);

  // Far outside the range of f32, and inside that of f64.
  llvm::Value* product = Limit(b_.CreateFMul(power, log), -400.0, 400.0);
  llvm::Value* sum = b_.CreateFAdd(product, number(kRoundDouble));
  llvm::Value* n = b_.CreateSub(Bits(sum), Bits(number(kRoundDouble)));
  llvm::Value* r =
      b_.CreateFSub(product, b_.CreateFSub(sum, number(kRoundDouble)));
  llvm::Value* q = Polynomial(
      r, {1.0, 0.69314718053498936, 0.24022651216702837, 0.055504109762471054,
          0.0096180251887763649, 0.0013333422518900097, 0.00015469864434958339,
          1.5316494322885749e-05});
  llvm::Value* result =
      b_.CreateFPTrunc(b_.CreateFMul(q, PowerOfTwo(n, base)), x->getType());

  // Negative bases: odd powers are negative, fractional ones not a number.
  const auto is_whole = [&](llvm::Value* v) {
    return b_.CreateFCmpOEQ(b_.CreateUnaryIntrinsic(llvm::Intrinsic::floor, v),
                            v);
  };
  llvm::Value* whole = is_whole(y);
  llvm::Value* odd = b_.CreateAnd(
      whole, b_.CreateNot(is_whole(b_.CreateFMul(y, Number(y, 0.5)))));
  result = b_.CreateSelect(odd, CopySign(result, x), result);
  llvm::Value* fractional =
      b_.CreateAnd(b_.CreateAnd(b_.CreateFCmpOLT(x, Number(x, 0.0)),
                                b_.CreateFCmpOGT(x, Number(x, -kInfinity))),
                   b_.CreateNot(whole));
  llvm::Value* not_a_number = b_.CreateOr(b_.CreateFCmpUNO(x, y), fractional);
  result = b_.CreateSelect(not_a_number, Number(x, kNan), result);
  // One, regardless of the other operand.
  llvm::Value* one =
      b_.CreateOr(b_.CreateOr(b_.CreateFCmpOEQ(y, Number(y, 0.0)),
                              b_.CreateFCmpOEQ(x, Number(x, 1.0))),
                  b_.CreateAnd(b_.CreateFCmpOEQ(x, Number(x, -1.0)),
                               b_.CreateFCmpOEQ(Abs(y), Number(y, kInfinity))));
  return b_.CreateSelect(one, Number(x, 1.0), result);
}

llvm::Value* CallLibm(llvm::IRBuilder<>& builder, llvm::StringRef name,
                      llvm::ArrayRef<llvm::Value*> operands) {
  llvm::Type* type = operands[0]->getType();
  llvm::Type* element = type->getScalarType();
  llvm::SmallVector<llvm::Type*, 2> parameters(operands.size(), element);
  llvm::Module* module = builder.GetInsertBlock()->getModule();
  const std::string symbol = name.str() + (element->isFloatTy() ? "f" : "");
  llvm::FunctionCallee callee = module->getOrInsertFunction(
      symbol, llvm::FunctionType::get(element, parameters, false));
  auto* function = llvm::cast<llvm::Function>(callee.getCallee());
  function->setDoesNotThrow();
  function->setDoesNotAccessMemory();
  function->setWillReturn();
  const int64_t lanes = LanesOf(operands[0]);
  if (lanes == 0) return builder.CreateCall(callee, operands);
  llvm::Value* result = llvm::PoisonValue::get(type);
  for (int64_t i = 0; i < lanes; ++i) {
    llvm::SmallVector<llvm::Value*, 2> scalars;
    for (llvm::Value* operand : operands) {
      scalars.push_back(
          builder.CreateExtractElement(operand, static_cast<uint64_t>(i)));
    }
    result = builder.CreateInsertElement(
        result, builder.CreateCall(callee, scalars), static_cast<uint64_t>(i));
  }
  return result;
}

}  // namespace hone::backends
