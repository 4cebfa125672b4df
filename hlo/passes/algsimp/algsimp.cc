#include <algorithm>

#include "hlo/passes/algsimp/rules.h"
#include "hlo/passes/registry.h"
#include "hlo/rewrite/driver.h"

namespace hone::hlo {
namespace {

using Rule = bool (*)(Rewriter&, InstructionId);

// The rules of an opcode; null if it has none of its own.
Rule RuleFor(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAbs:
      return algsimp::SimplifyAbs;
    case Opcode::kAdd:
      return algsimp::SimplifyAdd;
    case Opcode::kAnd:
      return algsimp::SimplifyAnd;
    case Opcode::kBitcast:
      return algsimp::SimplifyBitcast;
    case Opcode::kBitcastConvert:
      return algsimp::SimplifyBitcastConvert;
    case Opcode::kBroadcast:
      return algsimp::SimplifyBroadcast;
    case Opcode::kClamp:
      return algsimp::SimplifyClamp;
    case Opcode::kCompare:
      return algsimp::SimplifyCompare;
    case Opcode::kComplex:
      return algsimp::SimplifyComplex;
    case Opcode::kConcatenate:
      return algsimp::SimplifyConcatenate;
    case Opcode::kConvert:
      return algsimp::SimplifyConvert;
    case Opcode::kConvolution:
      return algsimp::SimplifyConvolution;
    case Opcode::kDivide:
      return algsimp::SimplifyDivide;
    case Opcode::kDot:
      return algsimp::SimplifyDot;
    case Opcode::kDynamicSlice:
      return algsimp::SimplifyDynamicSlice;
    case Opcode::kDynamicUpdateSlice:
      return algsimp::SimplifyDynamicUpdateSlice;
    case Opcode::kCeil:
    case Opcode::kFloor:
    case Opcode::kRoundNearestAfz:
    case Opcode::kRoundNearestEven:
    case Opcode::kSign:
      return algsimp::SimplifyIdempotent;
    case Opcode::kGetTupleElement:
      return algsimp::SimplifyGetTupleElement;
    case Opcode::kImag:
    case Opcode::kReal:
      return algsimp::SimplifyComplexPart;
    case Opcode::kIota:
      return algsimp::SimplifyIota;
    case Opcode::kMaximum:
      return algsimp::SimplifyMaximum;
    case Opcode::kMinimum:
      return algsimp::SimplifyMinimum;
    case Opcode::kMultiply:
      return algsimp::SimplifyMultiply;
    case Opcode::kNegate:
      return algsimp::SimplifyNegate;
    case Opcode::kNot:
      return algsimp::SimplifyNot;
    case Opcode::kOr:
      return algsimp::SimplifyOr;
    case Opcode::kPad:
      return algsimp::SimplifyPad;
    case Opcode::kPower:
      return algsimp::SimplifyPower;
    case Opcode::kReduce:
      return algsimp::SimplifyReduce;
    case Opcode::kReduceWindow:
      return algsimp::SimplifyReduceWindow;
    case Opcode::kRemainder:
      return algsimp::SimplifyRemainder;
    case Opcode::kReshape:
      return algsimp::SimplifyReshape;
    case Opcode::kReverse:
      return algsimp::SimplifyReverse;
    case Opcode::kSelect:
      return algsimp::SimplifySelect;
    case Opcode::kShiftLeft:
    case Opcode::kShiftRightArithmetic:
    case Opcode::kShiftRightLogical:
      return algsimp::SimplifyShift;
    case Opcode::kSlice:
      return algsimp::SimplifySlice;
    case Opcode::kSort:
      return algsimp::SimplifySort;
    case Opcode::kSubtract:
      return algsimp::SimplifySubtract;
    case Opcode::kTranspose:
      return algsimp::SimplifyTranspose;
    case Opcode::kTuple:
      return algsimp::SimplifyTuple;
    case Opcode::kXor:
      return algsimp::SimplifyXor;
    default:
      return nullptr;
  }
}

bool Simplify(Rewriter& r, InstructionId id) {
  const Opcode opcode = r[id].opcode();
  const Rule rule = RuleFor(opcode);
  const bool elementwise = IsElementwise(opcode) && !IsOpaque(opcode);
  if ((rule == nullptr && !elementwise) || !r.MayReplace(id)) return false;
  if (rule != nullptr && rule(r, id)) return true;
  return elementwise && algsimp::SimplifyElementwise(r, id);
}

// The algebraic simplifier: local rewrites, listed in front of their functions
// in algsimp/*.cc, applied to a fixed point in every computation.
//
// Legality: each rule says when it holds. Floating-point values may change by
// rounding and by the sign of zero, never into or out of NaN and infinity for
// arguments of moderate size. Constants whose value the text left out stay
// unread. Instructions with a dynamic dimension, a control dependency or an
// attribute that we do not know are left as they are, and so are scheduled
// modules, whose order would have to be kept. Meant for modules without
// assigned layouts: results of rules have the default one, except where a user
// would see it.
class AlgebraicSimplifier final : public Pass {
 public:
  absl::string_view name() const override { return "algsimp"; }

  absl::StatusOr<bool> Run(Module& module,
                           const RewriteOptions& options) const override {
    return RewriteModule(
        module,
        {.name = "algsimp", .visit = Visit::kFixedPoint, .checks_itself = true},
        options, Simplify);
  }
};

}  // namespace

std::unique_ptr<Pass> MakeAlgsimp() {
  return std::make_unique<AlgebraicSimplifier>();
}

}  // namespace hone::hlo
