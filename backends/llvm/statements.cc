#include <utility>
#include <vector>

#include <llvm/IR/Constants.h>

#include "backends/llvm/function_emitter.h"

namespace hone::backends {

using loops::BufferId;
using loops::Expression;
using loops::Statement;

void FunctionEmitter::EmitIf(llvm::Value* condition,
                             const std::function<void()>& body) {
  const auto* known = llvm::dyn_cast_or_null<llvm::ConstantInt>(condition);
  if (known != nullptr && known->isZero()) return;
  if (condition == nullptr || known != nullptr) {
    body();
    return;
  }
  llvm::LLVMContext& llvm_context = b_.getContext();
  auto* then = llvm::BasicBlock::Create(llvm_context, "if", function_);
  auto* done = llvm::BasicBlock::Create(llvm_context, "done", function_);
  b_.CreateCondBr(condition, then, done);
  b_.SetInsertPoint(then);
  memo_.emplace_back();
  body();
  memo_.pop_back();
  b_.CreateBr(done);
  b_.SetInsertPoint(done);
}

// Emits a sum of what is zero out of ranges, such as the products of a
// convolution of an image with holes, as one that is skipped there, so that
// products and additions can be fused. Returns false for anything else, and if
// the lanes of a vector differ.
bool FunctionEmitter::EmitRangedSum(const Statement& statement) {
  const Expression& value = *statement.value;
  if (statement.combine != hlo::Opcode::kAdd || lanes_ == 0 ||
      statement.predicate != nullptr ||
      value.kind() != Expression::Kind::kWhere ||
      value.operands()[1]->kind() != Expression::Kind::kConstant ||
      !hlo::IsFloat(value.type()) || value.operands()[1]->number() != 0 ||
      accumulations_.contains(&statement) ||
      (deferred_.has_value() && deferred_->statement == &statement)) {
    return false;
  }
  for (const loops::Range& range : value.ranges()) {
    if (range.value.Uses(lane_var_)) return false;
  }
  Statement sum = statement;
  sum.value = value.operands()[0];
  const std::vector<Memo> outer_memo = std::exchange(memo_, {Memo()});
  llvm::Value* inside = nullptr;
  for (const loops::Range& range : value.ranges()) {
    inside = AndMask(inside, EmitRange(range));
  }
  EmitIf(inside, [&] { EmitStatement(sum); });
  memo_ = outer_memo;
  return true;
}

void FunctionEmitter::EmitStatement(const Statement& statement) {
  if (EmitRangedSum(statement)) return;
  const std::vector<Memo> outer_memo = std::exchange(memo_, {Memo()});
  llvm::Value* predicate = statement.predicate == nullptr || is_condition_met_
                               ? nullptr
                               : EmitExpression(statement.predicate);
  llvm::Value* outer = mask_;
  if (predicate != nullptr && LanesOf(predicate) != 0) {
    mask_ = AndMask(mask_, predicate);
    memo_.emplace_back();
    predicate = nullptr;
  }
  EmitIf(predicate, [&] {
    if (lanes_ == 0) {
      EmitScalarStatement(statement);
    } else {
      EmitVectorStatement(statement);
    }
  });
  mask_ = outer;
  memo_ = outer_memo;
}

void FunctionEmitter::EmitScalarStatement(const Statement& statement) {
  const BufferId buffer = statement.target.buffer;
  llvm::Value* value = EmitExpression(statement.value);
  const Address address = EmitAddress(statement.target);
  if (statement.combine.has_value()) {
    value = arithmetic_.Combine(*statement.combine,
                                context_.program.buffer(buffer).type,
                                EmitLoad(buffer, address), value);
  }
  EmitStore(buffer, address, value, false);
}

void FunctionEmitter::EmitVectorStatement(const Statement& statement) {
  if (EmitDotProducts(statement)) return;
  const BufferId buffer = statement.target.buffer;
  const hlo::ElementType type = context_.program.buffer(buffer).type;
  llvm::Value* value = Splat(EmitExpression(statement.value));

  if (deferred_.has_value() && deferred_->statement == &statement) {
    DeferStore(value);
    return;
  }
  const auto accumulation = accumulations_.find(&statement);
  if (accumulation != accumulations_.end() &&
      accumulation->second.lanes == lanes_) {
    Accumulate(accumulation->second, value);
    return;
  }

  const Address address = EmitAddress(statement.target);
  if (address.IsUniform() && statement.combine.has_value()) {
    EmitUniformCombine(statement, address, value);
    return;
  }
  const bool is_contiguous = address.stride == 1 || address.stride == -1;
  if (!is_contiguous) {
    EmitLaneByLane(statement, address, value);
    return;
  }
  if (statement.combine.has_value()) {
    value = arithmetic_.Combine(*statement.combine, type,
                                EmitLoad(buffer, address), value);
  }
  EmitStore(buffer, address, value, statement.non_temporal);
}

// All lanes write one element.
void FunctionEmitter::EmitUniformCombine(const Statement& statement,
                                         const Address& address,
                                         llvm::Value* value) {
  const BufferId buffer = statement.target.buffer;
  const hlo::ElementType type = context_.program.buffer(buffer).type;
  if (mask_ != nullptr) {
    value = b_.CreateSelect(
        mask_, value, Splat(arithmetic_.Identity(*statement.combine, type)));
  }
  value = arithmetic_.ReduceLanes(*statement.combine, type, value);
  const bool guarded = mask_ != nullptr && !address.always_valid;
  EmitIf(guarded ? AnyLane(mask_) : nullptr, [&] {
    llvm::Value* old = EmitScalarLoad(buffer, address.pointer);
    EmitScalarStore(buffer, address.pointer,
                    arithmetic_.Combine(*statement.combine, type, old, value));
  });
}

// Lane by lane, since lanes may write the same element.
void FunctionEmitter::EmitLaneByLane(const Statement& statement,
                                     const Address& address,
                                     llvm::Value* value) {
  const BufferId buffer = statement.target.buffer;
  const hlo::ElementType type = context_.program.buffer(buffer).type;
  for (int64_t lane = 0; lane < lanes_; ++lane) {
    const auto number = static_cast<uint64_t>(lane);
    llvm::Value* takes_part =
        mask_ == nullptr ? nullptr : b_.CreateExtractElement(mask_, number);
    EmitIf(takes_part, [&] {
      llvm::Value* pointer = LanePointer(buffer, address, lane);
      llvm::Value* element = b_.CreateExtractElement(value, number);
      if (statement.combine.has_value()) {
        element = arithmetic_.Combine(*statement.combine, type,
                                      EmitScalarLoad(buffer, pointer), element);
      }
      EmitScalarStore(buffer, pointer, element);
    });
  }
}

}  // namespace hone::backends
