// algsimp: the algebraic simplifier. Local rewrites, listed at the head of each
// file of this folder, applied to a fixed point in every computation:
//
//   x + 0                    →  x
//   transpose(transpose(x))  →  transpose(x), and many others
//
// Legality: each rule says when it holds; what it does not say is exact.
// Constants whose value the text left out stay unread. A rule that makes one
// operation of two keeps both where the one that goes has a sharding or other
// annotation.
//
// Numeric class: exact at least; some rules reassociate, and two of upstream's
// change range, reduce(reduce(x)) of floats and x + scatter(0, i, u), which ask
// for it.
//
// Stronger than upstream's: elementwise operations move in front of broadcasts
// of every shape, and signs move towards the root until they cancel. It lacks
// some of upstream's rules, such as division by a constant as multiplication.
//
// Meant for modules without assigned layouts: results of rules have the default
// one, except where a user would see it. Not for the end of a pipeline that
// chose a form which a rule undoes, as a transposed dot.

#include <array>
#include <memory>

#include "hlo/passes/algsimp/rules.h"
#include "hlo/passes/registry.h"
#include "hlo/passes/rule_pass.h"

namespace hone::hlo {
namespace algsimp {
namespace {

struct OpcodeRule {
  Opcode opcode;
  bool (*simplify)(Rewriter& r, InstructionId id);
};

constexpr OpcodeRule kRules[] = {
    {Opcode::kAbs, SimplifyAbs},
    {Opcode::kAdd, SimplifyAdd},
    {Opcode::kAnd, SimplifyAnd},
    {Opcode::kBitcast, SimplifyBitcast},
    {Opcode::kBitcastConvert, SimplifyBitcastConvert},
    {Opcode::kBroadcast, SimplifyBroadcast},
    {Opcode::kCeil, SimplifyIdempotent},
    {Opcode::kClamp, SimplifyClamp},
    {Opcode::kCompare, SimplifyCompare},
    {Opcode::kComplex, SimplifyComplex},
    {Opcode::kConcatenate, SimplifyConcatenate},
    {Opcode::kConvert, SimplifyConvert},
    {Opcode::kConvolution, SimplifyConvolution},
    {Opcode::kDivide, SimplifyDivide},
    {Opcode::kDot, SimplifyDot},
    {Opcode::kDynamicSlice, SimplifyDynamicSlice},
    {Opcode::kDynamicUpdateSlice, SimplifyDynamicUpdateSlice},
    {Opcode::kFloor, SimplifyIdempotent},
    {Opcode::kGetTupleElement, SimplifyGetTupleElement},
    {Opcode::kImag, SimplifyComplexPart},
    {Opcode::kIota, SimplifyIota},
    {Opcode::kMaximum, SimplifyExtremum},
    {Opcode::kMinimum, SimplifyExtremum},
    {Opcode::kMultiply, SimplifyMultiply},
    {Opcode::kNegate, SimplifyNegate},
    {Opcode::kNot, SimplifyNot},
    {Opcode::kOr, SimplifyOr},
    {Opcode::kPad, SimplifyPad},
    {Opcode::kPower, SimplifyPower},
    {Opcode::kReal, SimplifyComplexPart},
    {Opcode::kReduce, SimplifyReduce},
    {Opcode::kReduceWindow, SimplifyReduceWindow},
    {Opcode::kRemainder, SimplifyRemainder},
    {Opcode::kReshape, SimplifyReshape},
    {Opcode::kReverse, SimplifyReverse},
    {Opcode::kRoundNearestAfz, SimplifyIdempotent},
    {Opcode::kRoundNearestEven, SimplifyIdempotent},
    {Opcode::kSelect, SimplifySelect},
    {Opcode::kShiftLeft, SimplifyShift},
    {Opcode::kShiftRightArithmetic, SimplifyShift},
    {Opcode::kShiftRightLogical, SimplifyShift},
    {Opcode::kSign, SimplifyIdempotent},
    {Opcode::kSlice, SimplifySlice},
    {Opcode::kSort, SimplifySort},
    {Opcode::kSubtract, SimplifySubtract},
    {Opcode::kTranspose, SimplifyTranspose},
    {Opcode::kTuple, SimplifyTuple},
    {Opcode::kXor, SimplifyXor},
};

bool IsPureElementwise(Opcode opcode) {
  return IsElementwise(opcode) && !IsOpaque(opcode);
}

// The rules by opcode, and which opcodes have any.
struct Table {
  Table() {
    for (const OpcodeRule& rule : kRules) {
      by_opcode[static_cast<size_t>(rule.opcode)] = rule.simplify;
    }
    for (size_t i = 0; i < by_opcode.size(); ++i) {
      const Opcode opcode = static_cast<Opcode>(i);
      if (by_opcode[i] != nullptr || IsPureElementwise(opcode)) {
        opcodes.Insert(opcode);
      }
    }
  }

  std::array<decltype(OpcodeRule::simplify), kOpcodeCount> by_opcode = {};
  OpcodeSet opcodes;
};

const Table& Rules() {
  static const Table table;
  return table;
}

bool Simplify(Rewriter& r, InstructionId id) {
  const Opcode opcode = r[id].opcode();
  const auto rule = Rules().by_opcode[static_cast<size_t>(opcode)];
  return (rule != nullptr && rule(r, id)) ||
         (IsPureElementwise(opcode) && SimplifyElementwise(r, id));
}

}  // namespace
}  // namespace algsimp

std::unique_ptr<Pass> MakeAlgsimp() {
  return MakeRulePass({.name = "algsimp",
                       .opcodes = algsimp::Rules().opcodes,
                       .visit = Visit::kFixedPoint},
                      algsimp::Simplify);
}

}  // namespace hone::hlo
