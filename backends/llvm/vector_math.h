#ifndef HONE_BACKENDS_LLVM_VECTOR_MATH_H_
#define HONE_BACKENDS_LLVM_VECTOR_MATH_H_

#include <llvm/ADT/ArrayRef.h>
#include <llvm/IR/IRBuilder.h>

namespace hone::backends {

// Elementary functions of f32, scalars or vectors of any width, written out as
// LLVM code without branches: argument reduction, then a polynomial fitted to
// the reduced range (weighted minimax). A scalar and a lane get the same bits.
//
// Infinities, NaN and denormal arguments and results are as in C's library;
// signs of zeros too. Largest errors over a dense sample of all floats on a
// machine with fused multiply-add, in units in the last place: Exp 1.1, Expm1
// 1.6, Log 0.8, Log1p 1.5, Tanh 2.5, Logistic 2.3, Erf 3, Sin and Cos 1.6, Pow
// 0.51.
class VectorMath {
 public:
  explicit VectorMath(llvm::IRBuilder<>& builder) : b_(builder) {}

  llvm::Value* Exp(llvm::Value* x);
  llvm::Value* Expm1(llvm::Value* x);
  llvm::Value* Log(llvm::Value* x);
  llvm::Value* Log1p(llvm::Value* x);
  llvm::Value* Tanh(llvm::Value* x);
  llvm::Value* Logistic(llvm::Value* x);
  llvm::Value* Erf(llvm::Value* x);
  // Reduced in f64: arguments of more than 2^30 lose accuracy with their
  // distance from it, and those of 2^50 have none.
  llvm::Value* Sin(llvm::Value* x);
  llvm::Value* Cos(llvm::Value* x);
  // In f64.
  llvm::Value* Pow(llvm::Value* x, llvm::Value* y);

 private:
  // exp(x) = (1 + r + r²·tail) · 2^n, n a whole number; for |x| up to 2^20.
  struct Reduced {
    llvm::Value* n;  // i32
    llvm::Value* r;
    llvm::Value* tail;
  };
  Reduced ReduceExponential(llvm::Value* x);
  // expm1(x) / 2, for -18 … 89.
  llvm::Value* HalfExpm1(llvm::Value* x);
  llvm::Value* SinCos(llvm::Value* x, int quadrant);

  llvm::Constant* Number(llvm::Value* like, double value);
  llvm::Constant* Integer(llvm::Value* like, int64_t value);
  llvm::Value* MultiplyAdd(llvm::Value* a, llvm::Value* b, llvm::Value* c);
  // c[0] + c[1]·x + c[2]·x² + …, by Horner's rule.
  llvm::Value* Polynomial(llvm::Value* x, llvm::ArrayRef<double> c);
  llvm::Value* Abs(llvm::Value* x);
  llvm::Value* CopySign(llvm::Value* magnitude, llvm::Value* sign);
  llvm::Value* Bits(llvm::Value* x);
  llvm::Value* FromBits(llvm::Value* bits, llvm::Value* like);
  // 2^n for exponents of normal numbers.
  llvm::Value* PowerOfTwo(llvm::Value* n, llvm::Value* like);
  llvm::Value* AtMost(llvm::Value* x, double hi);
  // x where it is in lo … hi or NaN, else the nearer end.
  llvm::Value* Limit(llvm::Value* x, double lo, double hi);

  llvm::IRBuilder<>& b_;
};

// The C library's function on f32 (name + "f") or f64, lane by lane.
llvm::Value* CallLibm(llvm::IRBuilder<>& builder, llvm::StringRef name,
                      llvm::ArrayRef<llvm::Value*> operands);

}  // namespace hone::backends

#endif  // HONE_BACKENDS_LLVM_VECTOR_MATH_H_
