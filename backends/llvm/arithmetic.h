#ifndef HONE_BACKENDS_LLVM_ARITHMETIC_H_
#define HONE_BACKENDS_LLVM_ARITHMETIC_H_

#include <cstdint>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/IR/IRBuilder.h>

#include "hlo/ir/element_type.h"
#include "hlo/ir/opcode.h"
#include "loops/ir/expression.h"

namespace hone::backends {

// Returns `element`, or a vector of it with as many lanes as `like`.
llvm::Type* TypeLike(llvm::Type* element, llvm::Type* like);
// Returns the number of lanes of a vector, 0 for a scalar.
int64_t LanesOf(const llvm::Value* value);

// Emits LLVM code for the operations of loop expressions, on scalars and, lane
// by lane, on vectors. Results are those of the HLO evaluator except for the
// rounding of elementary functions (vector_math.h).
//
// Values are computed in another type than they have in memory: pred is i1 (a
// byte in memory), f16 and bf16 are float and rounded after every operation.
// Other types of at most a byte can only be moved.
class Arithmetic {
 public:
  // `rounds_to_bf16`: the target has an instruction that rounds vectors of
  // float to bf16 (it takes denormal numbers for zero). `has_avx512`: that of
  // VectorMath.
  Arithmetic(llvm::IRBuilder<>& builder, bool rounds_to_bf16, bool has_avx512)
      : b_(builder), rounds_to_bf16_(rounds_to_bf16), has_avx512_(has_avx512) {}

  llvm::Type* StorageType(hlo::ElementType type) const;
  llvm::Type* ValueType(hlo::ElementType type) const;
  llvm::Value* FromStorage(hlo::ElementType type, llvm::Value* value);
  llvm::Value* ToStorage(hlo::ElementType type, llvm::Value* value);

  llvm::Value* Constant(const loops::Expression& constant);
  // All `operands` must have the same number of lanes.
  llvm::Value* Apply(const loops::Expression& expression,
                     llvm::ArrayRef<llvm::Value*> operands);

  // One step of a reduction.
  llvm::Value* Combine(hlo::Opcode opcode, hlo::ElementType type,
                       llvm::Value* a, llvm::Value* b);
  // The identity element of Combine.
  llvm::Constant* Identity(hlo::Opcode opcode, hlo::ElementType type);

  // Keys of floats of which the integer maximum, or minimum, is the key of the
  // same of the floats: a chain of reduction steps on keys has a fraction of
  // the latency, since NaN and the signs of zeros are cared for ahead of it.
  static bool HasKeys(hlo::Opcode opcode, hlo::ElementType type);
  llvm::Value* ToKey(hlo::Opcode opcode, llvm::Value* value);
  llvm::Value* FromKey(llvm::Value* key);
  llvm::Value* CombineKeys(hlo::Opcode opcode, llvm::Value* a, llvm::Value* b);
  llvm::Value* ReduceLanesOfKeys(hlo::Opcode opcode, llvm::Value* vector);

  // Combines all lanes of `vector` into a scalar.
  llvm::Value* ReduceLanes(hlo::Opcode opcode, hlo::ElementType type,
                           llvm::Value* vector);

  llvm::Value* Convert(hlo::ElementType from, hlo::ElementType to,
                       llvm::Value* value);

  // Emits erfc(x) in f32; returns null where nothing is faster than
  // loops::WriteErfc.
  llvm::Value* Erfc(llvm::Value* x);

 private:
  llvm::Value* ApplyPred(const loops::Expression& expression,
                         llvm::ArrayRef<llvm::Value*> operands);
  llvm::Value* ApplyInteger(hlo::Opcode opcode, bool is_signed,
                            llvm::ArrayRef<llvm::Value*> operands);
  llvm::Value* IntegerDivide(hlo::Opcode opcode, bool is_signed, llvm::Value* a,
                             llvm::Value* b);
  llvm::Value* IntegerPower(bool is_signed, llvm::Value* a, llvm::Value* b);
  llvm::Value* Shift(hlo::Opcode opcode, llvm::Value* a, llvm::Value* amount);
  llvm::Value* Mulhi(bool is_signed, llvm::Value* a, llvm::Value* b);

  llvm::Value* ApplyFloat(hlo::Opcode opcode,
                          llvm::ArrayRef<llvm::Value*> operands);
  // Rounds to the nearest value of a narrow float type, as float.
  llvm::Value* RoundTo(hlo::ElementType type, llvm::Value* value);
  // Returns vectors of f32 rounded by the instruction for it, as bits.
  llvm::Value* RoundedBits(llvm::Value* value, int64_t lanes);
  llvm::Value* Maximum(bool maximum, llvm::Value* a, llvm::Value* b);

  llvm::Value* Compare(hlo::ComparisonDirection direction, bool total_order,
                       hlo::ElementType type, llvm::Value* a, llvm::Value* b);
  llvm::Value* TotalOrderKey(llvm::Value* value);
  llvm::Value* ReduceLanesBy(
      llvm::Value* vector,
      llvm::function_ref<llvm::Value*(llvm::Value*, llvm::Value*)> combine);
  llvm::Value* ConvertSaturating(hlo::ElementType to, llvm::Value* value);
  llvm::Value* BitcastConvert(hlo::ElementType from, hlo::ElementType to,
                              llvm::Value* value);

  llvm::IRBuilder<>& b_;
  const bool rounds_to_bf16_;
  const bool has_avx512_;
};

// Returns true if Apply supports the operation on its types.
bool HasArithmetic(const loops::Expression& expression);

}  // namespace hone::backends

#endif  // HONE_BACKENDS_LLVM_ARITHMETIC_H_
