#ifndef HONE_BACKENDS_LLVM_VECTOR_MATH_H_
#define HONE_BACKENDS_LLVM_VECTOR_MATH_H_

#include <array>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/IR/IRBuilder.h>

namespace hone::backends {

// Emits elementary functions of f32, on scalars or vectors of any width, as
// branch-free LLVM code: argument reduction, then a polynomial fitted to the
// reduced range (weighted minimax). Scalars and lanes get identical bits.
//
// Infinities, NaN, denormals and signs of zeros are handled as in the C
// library. Largest errors over a dense sample of all floats on a machine with
// fused multiply-add, in units in the last place: Exp 1.1, Expm1 1.6, Log 0.8,
// Log1p 1.5, Tanh 2.5, Logistic 2.3, Erf 3 (2.1 with AVX-512), Erfc 6.6, Sin
// and Cos 1.6, Pow 0.51.
class VectorMath {
 public:
  // `has_avx512`: the target has the instructions that multiply vectors of 16
  // floats by powers of two, and that choose among 16 floats in a register.
  VectorMath(llvm::IRBuilder<>& builder, bool has_avx512)
      : b_(builder), has_avx512_(has_avx512) {}

  llvm::Value* Exp(llvm::Value* x);
  llvm::Value* Expm1(llvm::Value* x);
  llvm::Value* Log(llvm::Value* x);
  llvm::Value* Log1p(llvm::Value* x);
  llvm::Value* Tanh(llvm::Value* x);
  llvm::Value* Logistic(llvm::Value* x);
  llvm::Value* Erf(llvm::Value* x);
  // Only for targets with AVX-512.
  llvm::Value* Erfc(llvm::Value* x);
  // Argument reduction in f64: accuracy falls for arguments above 2^30, and
  // there is none left at 2^50.
  llvm::Value* Sin(llvm::Value* x);
  llvm::Value* Cos(llvm::Value* x);
  // Computed in f64.
  llvm::Value* Pow(llvm::Value* x, llvm::Value* y);

 private:
  using Table = std::array<float, 16>;

  // exp(x) = (1 + r + r²·tail) · 2^n with integer n, for |x| up to 2^20.
  struct Reduced {
    llvm::Value* n;      // i32
    llvm::Value* whole;  // n as a float
    llvm::Value* r;
    llvm::Value* tail;
  };
  Reduced ReduceExponential(llvm::Value* x);
  // expm1(x) / 2, for -18 … 89.
  llvm::Value* HalfExpm1(llvm::Value* x);
  // For targets without AVX-512.
  llvm::Value* ErfByExponential(llvm::Value* x);
  llvm::Value* SinCos(llvm::Value* x, int quadrant);

  // Applies an instruction on vectors of 16 lanes to scalars, or to vectors of
  // any width.
  llvm::Value* ApplyTo16Lanes(
      llvm::Value* value,
      llvm::function_ref<llvm::Value*(llvm::Value*)> instruction);
  // Returns table[index mod 16].
  llvm::Value* LookUp(const Table& table, llvm::Value* index);
  // A function near a center: value + slope · distance.
  struct Piece {
    llvm::Value* value;
    llvm::Value* slope;
    llvm::Value* distance;
  };
  // Returns the piece of the center nearest to `x` ≥ 0. The coefficients,
  // constant ones first, are those of a polynomial of the distance.
  Piece NearestPiece(llvm::Value* x, double centers_per_unit,
                     const Table& centers, llvm::ArrayRef<Table> coefficients);

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
  // x · 2^n for 1 ≤ x < 2, rounded once where it is denormal.
  llvm::Value* Scaled(llvm::Value* x, const Reduced& e);
  llvm::Value* AtMost(llvm::Value* x, double hi);
  // Clamps x to lo … hi; NaN stays.
  llvm::Value* Limit(llvm::Value* x, double lo, double hi);

  llvm::IRBuilder<>& b_;
  const bool has_avx512_;
};

// Calls the C library's function on f32 (name + "f") or f64, lane by lane.
llvm::Value* CallLibm(llvm::IRBuilder<>& builder, llvm::StringRef name,
                      llvm::ArrayRef<llvm::Value*> operands);

}  // namespace hone::backends

#endif  // HONE_BACKENDS_LLVM_VECTOR_MATH_H_
