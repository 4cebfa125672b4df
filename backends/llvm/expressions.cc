#include <algorithm>
#include <limits>

#include <llvm/IR/Constants.h>

#include "backends/llvm/erfc_match.h"
#include "backends/llvm/function_emitter.h"

namespace hone::backends {
namespace {

using loops::Expression;
using loops::ExpressionPtr;

bool HasLoad(const Expression& expression) {
  return expression.kind() == Expression::Kind::kLoad ||
         std::any_of(expression.operands().begin(), expression.operands().end(),
                     [](const ExpressionPtr& e) { return HasLoad(*e); });
}

bool FitsInt32(int64_t value) {
  return value >= std::numeric_limits<int32_t>::min() &&
         value <= std::numeric_limits<int32_t>::max();
}

}  // namespace

llvm::Value* FunctionEmitter::Splat(llvm::Value* value) {
  if (lanes_ == 0 || LanesOf(value) != 0) return value;
  return b_.CreateVectorSplat(static_cast<unsigned>(lanes_), value);
}

llvm::Constant* FunctionEmitter::LaneNumbers(llvm::Type* type, int64_t step) {
  std::vector<llvm::Constant*> numbers;
  numbers.reserve(static_cast<size_t>(lanes_));
  for (int64_t i = 0; i < lanes_; ++i) {
    numbers.push_back(
        llvm::ConstantInt::get(type, static_cast<uint64_t>(i * step), true));
  }
  return llvm::ConstantVector::get(numbers);
}

llvm::Value* FunctionEmitter::AndMask(llvm::Value* a, llvm::Value* b) {
  if (a == nullptr) return b;
  return b == nullptr ? a : b_.CreateAnd(a, b);
}

llvm::Value* FunctionEmitter::AnyLane(llvm::Value* mask) {
  llvm::Type* bits = b_.getIntNTy(static_cast<unsigned>(lanes_));
  return b_.CreateICmpNE(b_.CreateBitCast(mask, bits),
                         llvm::ConstantInt::get(bits, 0));
}

llvm::Value* FunctionEmitter::EmitChoice(
    llvm::Value* condition, const std::function<llvm::Value*()>& then,
    const std::function<llvm::Value*()>& otherwise) {
  llvm::LLVMContext& llvm_context = b_.getContext();
  auto* then_block = llvm::BasicBlock::Create(llvm_context, "then", function_);
  auto* else_block = llvm::BasicBlock::Create(llvm_context, "else", function_);
  auto* done = llvm::BasicBlock::Create(llvm_context, "done", function_);
  b_.CreateCondBr(condition, then_block, else_block);
  // Values computed in one branch are not available in the other.
  memo_.emplace_back();
  b_.SetInsertPoint(then_block);
  llvm::Value* a = then();
  then_block = b_.GetInsertBlock();
  memo_.back().clear();
  b_.SetInsertPoint(else_block);
  llvm::Value* b = otherwise();
  else_block = b_.GetInsertBlock();
  memo_.pop_back();
  const bool is_vector = LanesOf(a) != 0 || LanesOf(b) != 0;
  if (is_vector) b = Splat(b);
  b_.CreateBr(done);
  b_.SetInsertPoint(then_block);
  if (is_vector) a = Splat(a);
  b_.CreateBr(done);
  b_.SetInsertPoint(done);
  llvm::PHINode* joined = b_.CreatePHI(a->getType(), 2);
  joined->addIncoming(a, then_block);
  joined->addIncoming(b, else_block);
  return joined;
}

llvm::Value* FunctionEmitter::EmitExpression(const ExpressionPtr& expression) {
  for (const Memo& memo : memo_) {
    const auto known = memo.find(expression.get());
    if (known != memo.end()) return known->second;
  }
  const size_t level = memo_.size() - 1;
  llvm::Value* value = EmitNewExpression(*expression);
  memo_[level][expression.get()] = value;
  return value;
}

llvm::Value* FunctionEmitter::EmitNewExpression(const Expression& expression) {
  switch (expression.kind()) {
    case Expression::Kind::kConstant:
      return arithmetic_.Constant(expression);
    case Expression::Kind::kLoad:
      if (const auto block = transposed_.find(&expression);
          block != transposed_.end()) {
        const loops::Interval row = variables_.at(block->second.var).range;
        return block->second.values[static_cast<size_t>(row.lo)];
      }
      return EmitLoad(expression.access().buffer,
                      EmitAddress(expression.access()));
    case Expression::Kind::kIndex:
      return EmitIndex(expression);
    case Expression::Kind::kWhere:
      return EmitWhere(expression);
    case Expression::Kind::kApply:
      break;
  }
  if (const ExpressionPtr x = ArgumentOfErfc(expression); x != nullptr) {
    if (llvm::Value* erfc = arithmetic_.Erfc(EmitExpression(x))) return erfc;
  }
  std::vector<llvm::Value*> operands;
  bool is_vector = false;
  for (const ExpressionPtr& operand : expression.operands()) {
    operands.push_back(EmitExpression(operand));
    is_vector |= LanesOf(operands.back()) != 0;
  }
  if (is_vector) {
    for (llvm::Value*& operand : operands) operand = Splat(operand);
  }
  return arithmetic_.Apply(expression, operands);
}

llvm::Value* FunctionEmitter::EmitIndex(const Expression& expression) {
  const hlo::ElementType type = expression.type();
  const loops::Interval range = RangeOf(expression.index());
  // Narrow vectors are faster to count and to convert.
  const bool narrow = (FitsInt32(range.lo) && FitsInt32(range.hi)) ||
                      (hlo::IsIntegral(type) && hlo::BitWidth(type) <= 32);
  const hlo::ElementType integer =
      narrow ? hlo::ElementType::kS32 : hlo::ElementType::kS64;
  llvm::Type* integer_type = arithmetic_.ValueType(integer);
  llvm::Value* value =
      b_.CreateTrunc(EmitUniform(expression.index()), integer_type);
  const int64_t step =
      lanes_ == 0 ? 0 : expression.index().coefficient(lane_var_);
  if (step != 0) {
    value = b_.CreateAdd(Splat(value), LaneNumbers(integer_type, step));
  }
  return arithmetic_.Convert(integer, type, value);
}

llvm::Value* FunctionEmitter::EmitRange(const loops::Range& range) {
  if (range.hi <= range.lo) return b_.getFalse();
  const loops::Interval known = RangeOf(range.value);
  if (known.lo >= range.lo && known.hi < range.hi) return nullptr;
  if (known.hi < range.lo || known.lo >= range.hi) return b_.getFalse();
  // lo ≤ value < hi in one comparison of value - lo without signs.
  llvm::Value* value = b_.CreateSub(EmitUniform(range.value), Int64(range.lo));
  llvm::Type* type = b_.getInt64Ty();
  const int64_t step = lanes_ == 0 ? 0 : range.value.coefficient(lane_var_);
  if (step != 0) {
    if (FitsInt32(known.lo - range.lo) && FitsInt32(known.hi - range.lo) &&
        FitsInt32(range.hi - range.lo)) {
      type = b_.getInt32Ty();
    }
    value = b_.CreateAdd(Splat(b_.CreateTrunc(value, type)),
                         LaneNumbers(type, step));
  }
  return b_.CreateICmpULT(
      value, llvm::ConstantInt::get(
                 value->getType(), static_cast<uint64_t>(range.hi - range.lo)));
}

llvm::Value* FunctionEmitter::EmitWhere(const Expression& expression) {
  llvm::Value* uniform = nullptr;
  llvm::Value* of_lanes = nullptr;
  for (const loops::Range& range : expression.ranges()) {
    llvm::Value* inside = EmitRange(range);
    if (inside == nullptr) continue;
    llvm::Value*& condition = LanesOf(inside) == 0 ? uniform : of_lanes;
    condition = AndMask(condition, inside);
  }
  const auto inside = [&] {
    return of_lanes == nullptr ? EmitExpression(expression.operands()[0])
                               : EmitMaskedWhere(expression, of_lanes);
  };
  const auto outside = [&] { return EmitExpression(expression.operands()[1]); };
  if (uniform == nullptr) return inside();
  if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(uniform)) {
    return known->isZero() ? outside() : inside();
  }
  if (HasLoad(expression)) return EmitChoice(uniform, inside, outside);
  llvm::Value* a = inside();
  llvm::Value* b = outside();
  if (LanesOf(a) != 0 || LanesOf(b) != 0) {
    a = Splat(a);
    b = Splat(b);
  }
  return b_.CreateSelect(uniform, a, b);
}

llvm::Value* FunctionEmitter::EmitMaskedWhere(const Expression& expression,
                                              llvm::Value* condition) {
  llvm::Value* outer = mask_;
  llvm::Value* values[2];
  for (size_t i = 0; i < 2; ++i) {
    mask_ = AndMask(outer, i == 0 ? condition : b_.CreateNot(condition));
    memo_.emplace_back();
    values[i] = Splat(EmitExpression(expression.operands()[i]));
    memo_.pop_back();
  }
  mask_ = outer;
  return b_.CreateSelect(condition, values[0], values[1]);
}

}  // namespace hone::backends
