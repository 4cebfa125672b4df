#ifndef HONE_HLO_REWRITE_MATCHERS_H_
#define HONE_HLO_REWRITE_MATCHERS_H_

#include <cstddef>
#include <tuple>
#include <utility>

#include "hlo/ir/computation.h"
#include "hlo/rewrite/values.h"

// Patterns of instructions, in the manner of XLA's pattern matcher:
//
//   InstructionId x, c;
//   if (r.Match(id, m::Add(m::Op(&x), m::Constant(&c)))) …
//   if (r.Match(id, m::MultiplyAnyOrder(m::Op(&x), m::Uniform(1)))) …
//
// A pattern of an opcode takes a pattern per operand, or none, which accepts
// any operands; the address of an InstructionId in front of them captures the
// instruction itself. Captures of a pattern that does not match hold anything.
namespace hone::hlo::m {

// Any instruction.
class Op {
 public:
  explicit Op(InstructionId* capture = nullptr) : capture_(capture) {}
  bool Matches(const Computation&, InstructionId id) const {
    if (capture_ != nullptr) *capture_ = id;
    return true;
  }

 private:
  InstructionId* capture_;
};

// The instruction `id` and no other, to find it as operand once more.
class Same {
 public:
  explicit Same(InstructionId id) : id_(id) {}
  bool Matches(const Computation&, InstructionId id) const { return id == id_; }

 private:
  InstructionId id_;
};

// A constant array whose value is known (ConstantLiteral).
class Constant {
 public:
  explicit Constant(InstructionId* capture = nullptr) : capture_(capture) {}
  bool Matches(const Computation& computation, InstructionId id) const {
    if (ConstantLiteral(computation, id) == nullptr) return false;
    if (capture_ != nullptr) *capture_ = id;
    return true;
  }

 private:
  InstructionId* capture_;
};

// An instruction whose elements all have one known value (UniformLiteral):
// `value` if one is given, else any, and its literal is captured.
class Uniform {
 public:
  explicit Uniform(const Literal** capture) : capture_(capture) {}
  explicit Uniform(double value) : value_(value) {}
  // So that 0 is no null pointer.
  explicit Uniform(int value) : value_(value) {}
  bool Matches(const Computation& computation, InstructionId id) const {
    if (capture_ == nullptr) return IsUniform(computation, id, value_);
    *capture_ = UniformLiteral(computation, id);
    return *capture_ != nullptr;
  }

 private:
  const Literal** capture_ = nullptr;
  double value_ = 0;
};

// An opcode with a pattern per operand, in order or, for two, in either.
template <Opcode kOpcode, bool kAnyOrder, typename... Operands>
class Instr {
 public:
  explicit Instr(InstructionId* capture, Operands... operands)
      : capture_(capture), operands_(std::move(operands)...) {}

  bool Matches(const Computation& computation, InstructionId id) const {
    const Instruction& instruction = computation[id];
    if (instruction.opcode() != kOpcode) return false;
    if constexpr (sizeof...(Operands) > 0) {
      if (instruction.operand_count() != sizeof...(Operands)) return false;
      if (!MatchesInOrder(computation, instruction,
                          std::index_sequence_for<Operands...>())) {
        if constexpr (kAnyOrder) {
          static_assert(sizeof...(Operands) == 2);
          if (!std::get<0>(operands_).Matches(computation,
                                              instruction.operand(1)) ||
              !std::get<1>(operands_).Matches(computation,
                                              instruction.operand(0))) {
            return false;
          }
        } else {
          return false;
        }
      }
    }
    if (capture_ != nullptr) *capture_ = id;
    return true;
  }

 private:
  template <size_t... kIndex>
  bool MatchesInOrder(const Computation& computation,
                      const Instruction& instruction,
                      std::index_sequence<kIndex...>) const {
    return (std::get<kIndex>(operands_).Matches(computation,
                                                instruction.operand(kIndex)) &&
            ...);
  }

  InstructionId* capture_;
  std::tuple<Operands...> operands_;
};

#define HONE_MATCHER(name, opcode, any_order)               \
  template <typename... Operands>                           \
  auto name(Operands... operands) {                         \
    return Instr<Opcode::opcode, any_order, Operands...>(   \
        nullptr, std::move(operands)...);                   \
  }                                                         \
  template <typename... Operands>                           \
  auto name(InstructionId* capture, Operands... operands) { \
    return Instr<Opcode::opcode, any_order, Operands...>(   \
        capture, std::move(operands)...);                   \
  }

HONE_MATCHER(Abs, kAbs, false)
HONE_MATCHER(Add, kAdd, false)
HONE_MATCHER(AddAnyOrder, kAdd, true)
HONE_MATCHER(And, kAnd, false)
HONE_MATCHER(Bitcast, kBitcast, false)
HONE_MATCHER(BitcastConvert, kBitcastConvert, false)
HONE_MATCHER(Broadcast, kBroadcast, false)
HONE_MATCHER(Clamp, kClamp, false)
HONE_MATCHER(Compare, kCompare, false)
HONE_MATCHER(Complex, kComplex, false)
HONE_MATCHER(Concatenate, kConcatenate, false)
HONE_MATCHER(Convert, kConvert, false)
HONE_MATCHER(Convolution, kConvolution, false)
HONE_MATCHER(Copy, kCopy, false)
HONE_MATCHER(Divide, kDivide, false)
HONE_MATCHER(Dot, kDot, false)
HONE_MATCHER(DynamicSlice, kDynamicSlice, false)
HONE_MATCHER(DynamicUpdateSlice, kDynamicUpdateSlice, false)
HONE_MATCHER(Exponential, kExponential, false)
HONE_MATCHER(Gather, kGather, false)
HONE_MATCHER(GetTupleElement, kGetTupleElement, false)
HONE_MATCHER(Imag, kImag, false)
HONE_MATCHER(Iota, kIota, false)
HONE_MATCHER(Log, kLog, false)
HONE_MATCHER(Logistic, kLogistic, false)
HONE_MATCHER(Maximum, kMaximum, false)
HONE_MATCHER(MaximumAnyOrder, kMaximum, true)
HONE_MATCHER(Minimum, kMinimum, false)
HONE_MATCHER(MinimumAnyOrder, kMinimum, true)
HONE_MATCHER(Multiply, kMultiply, false)
HONE_MATCHER(MultiplyAnyOrder, kMultiply, true)
HONE_MATCHER(Negate, kNegate, false)
HONE_MATCHER(Not, kNot, false)
HONE_MATCHER(OptBarrier, kOptBarrier, false)
HONE_MATCHER(Or, kOr, false)
HONE_MATCHER(Pad, kPad, false)
HONE_MATCHER(Parameter, kParameter, false)
HONE_MATCHER(Power, kPower, false)
HONE_MATCHER(Real, kReal, false)
HONE_MATCHER(Reduce, kReduce, false)
HONE_MATCHER(Reshape, kReshape, false)
HONE_MATCHER(Reverse, kReverse, false)
HONE_MATCHER(Rsqrt, kRsqrt, false)
HONE_MATCHER(Scatter, kScatter, false)
HONE_MATCHER(Select, kSelect, false)
HONE_MATCHER(Slice, kSlice, false)
HONE_MATCHER(Sort, kSort, false)
HONE_MATCHER(Sqrt, kSqrt, false)
HONE_MATCHER(Subtract, kSubtract, false)
HONE_MATCHER(Transpose, kTranspose, false)
HONE_MATCHER(Tuple, kTuple, false)
HONE_MATCHER(While, kWhile, false)
HONE_MATCHER(Xor, kXor, false)
#undef HONE_MATCHER

}  // namespace hone::hlo::m

#endif  // HONE_HLO_REWRITE_MATCHERS_H_
