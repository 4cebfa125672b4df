#include <algorithm>

#include <llvm/IR/Constants.h>

#include "backends/llvm/function_emitter.h"

namespace hone::backends {
namespace {

using loops::Affine;
using loops::Node;
using loops::Scope;
using loops::ScopeMode;

// Vector scopes that would take more than this are emitted as a loop over
// vectors of the machine's width.
constexpr int64_t kMaxVectorBytes = 512;

int64_t WidestBytes(const loops::Program& program, const Scope& scope) {
  int64_t bytes = 1;
  for (const Node& node : scope.body) {
    const loops::BufferId target = node.statement()->target.buffer;
    bytes = std::max(bytes, hlo::ByteWidth(program.buffer(target).type));
  }
  return bytes;
}

}  // namespace

int64_t FunctionEmitter::LanesAtOnce(const Scope& scope) const {
  const int64_t bytes = WidestBytes(context_.program, scope);
  if (scope.extent * bytes <= kMaxVectorBytes) return scope.extent;
  return context_.target.vector_bytes / bytes;
}

void FunctionEmitter::EmitNodes(const std::vector<Node>& nodes) {
  for (const Node& node : nodes) {
    if (node.statement() != nullptr) {
      EmitStatement(*node.statement());
    } else if (node.scope()->extent > 0) {
      EmitScope(*node.scope());
    }
  }
}

bool FunctionEmitter::IsBoundKnown(const Scope& scope) const {
  return std::all_of(
      scope.bound->terms().begin(), scope.bound->terms().end(),
      [&](const Affine::Term& term) { return variables_.contains(term.var); });
}

bool FunctionEmitter::IsFull(const Scope& scope) const {
  return !scope.bound.has_value() || full_.contains(&scope) ||
         (IsBoundKnown(scope) && RangeOf(*scope.bound).lo >= scope.extent);
}

bool FunctionEmitter::CollectBounds(const Scope& scope,
                                    std::vector<const Scope*>& bounded) const {
  const bool matters =
      scope.mode == ScopeMode::kVector || scope.mode == ScopeMode::kUnrolled;
  if (scope.bound.has_value() && matters && !full_.contains(&scope)) {
    if (!IsBoundKnown(scope)) return false;
    if (!IsFull(scope)) bounded.push_back(&scope);
  }
  return std::all_of(
      scope.body.begin(), scope.body.end(), [&](const Node& node) {
        return node.scope() == nullptr || CollectBounds(*node.scope(), bounded);
      });
}

void FunctionEmitter::EmitScope(const Scope& scope) {
  std::vector<const Scope*> bounded;
  if (is_remainder_ || scope.mode == ScopeMode::kParallel ||
      !CollectBounds(scope, bounded) || bounded.empty()) {
    EmitScopeBody(scope);
    return;
  }
  // Once as if there were no bounds, once with all of them.
  llvm::Value* is_full = b_.getTrue();
  for (const Scope* inner : bounded) {
    is_full = b_.CreateAnd(is_full, b_.CreateICmpSGE(EmitUniform(*inner->bound),
                                                     Int64(inner->extent)));
  }
  llvm::LLVMContext& llvm_context = b_.getContext();
  auto* full = llvm::BasicBlock::Create(llvm_context, "full", function_);
  auto* remainder =
      llvm::BasicBlock::Create(llvm_context, "remainder", function_);
  auto* done = llvm::BasicBlock::Create(llvm_context, "done", function_);
  b_.CreateCondBr(is_full, full, remainder);
  b_.SetInsertPoint(full);
  const auto full_before = full_;
  full_.insert(bounded.begin(), bounded.end());
  EmitScopeBody(scope);
  full_ = full_before;
  b_.CreateBr(done);
  b_.SetInsertPoint(remainder);
  is_remainder_ = true;
  EmitScopeBody(scope);
  is_remainder_ = false;
  b_.CreateBr(done);
  b_.SetInsertPoint(done);
}

void FunctionEmitter::EmitScopeBody(const Scope& scope) {
  std::vector<const loops::Statement*> begun;
  if (scope.mode != ScopeMode::kParallel) BeginAccumulations(scope, begun);
  switch (scope.mode) {
    case ScopeMode::kSequential:
      EmitSequential(scope);
      break;
    case ScopeMode::kUnrolled:
      EmitUnrolled(scope);
      break;
    case ScopeMode::kVector:
      EmitVector(scope);
      break;
    case ScopeMode::kParallel:
      EmitParallel(scope);
      break;
  }
  EndAccumulations(begun);
}

void FunctionEmitter::EmitLoop(llvm::Value* begin, llvm::Value* end,
                               const std::function<void(llvm::Value*)>& body) {
  llvm::BasicBlock* before = b_.GetInsertBlock();
  llvm::LLVMContext& llvm_context = b_.getContext();
  auto* loop = llvm::BasicBlock::Create(llvm_context, "loop", function_);
  auto* after = llvm::BasicBlock::Create(llvm_context, "after", function_);
  b_.CreateBr(loop);
  b_.SetInsertPoint(loop);
  llvm::PHINode* variable = b_.CreatePHI(b_.getInt64Ty(), 2);
  variable->addIncoming(begin, before);
  body(variable);
  llvm::Value* next = b_.CreateAdd(variable, Int64(1), "", true, true);
  variable->addIncoming(next, b_.GetInsertBlock());
  b_.CreateCondBr(b_.CreateICmpSLT(next, end), loop, after);
  b_.SetInsertPoint(after);
}

void FunctionEmitter::EmitSequential(const Scope& scope) {
  llvm::Value* end = Int64(scope.extent);
  const auto loop = [&] {
    EmitLoop(Int64(0), end, [&](llvm::Value* variable) {
      variables_[scope.var] = {variable, {0, scope.extent - 1}};
      if (scope.prefetch != 0) EmitPrefetch(scope);
      EmitNodes(scope.body);
    });
  };
  if (IsFull(scope)) {
    if (scope.extent == 1) {
      variables_[scope.var] = {Int64(0), {0, 0}};
      EmitNodes(scope.body);
    } else {
      loop();
    }
  } else {
    end = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin,
                                   EmitUniform(*scope.bound), end);
    EmitIf(b_.CreateICmpSGT(end, Int64(0)), loop);
  }
  variables_.erase(scope.var);
}

void FunctionEmitter::EmitUnrolled(const Scope& scope) {
  const bool is_full = IsFull(scope);
  llvm::Value* bound = is_full ? nullptr : EmitUniform(*scope.bound);
  for (int64_t i = 0; i < scope.extent; ++i) {
    llvm::Value* inside = is_full || RangeOf(*scope.bound).lo > i
                              ? nullptr
                              : b_.CreateICmpSGT(bound, Int64(i));
    EmitIf(inside, [&] {
      variables_[scope.var] = {Int64(i), {i, i}};
      EmitNodes(scope.body);
    });
  }
  variables_.erase(scope.var);
}

void FunctionEmitter::EmitVector(const Scope& scope) {
  const int64_t lanes = LanesAtOnce(scope);
  if (lanes == scope.extent) {
    EmitLanes(scope, Int64(0), {0, 0}, lanes);
    return;
  }
  const int64_t whole = scope.extent / lanes;
  EmitLoop(Int64(0), Int64(whole), [&](llvm::Value* i) {
    EmitLanes(scope, b_.CreateMul(i, Int64(lanes), "", true, true),
              {0, (whole - 1) * lanes}, lanes);
  });
  const int64_t rest = scope.extent % lanes;
  if (rest > 0) {
    EmitLanes(scope, Int64(whole * lanes), {whole * lanes, whole * lanes},
              rest);
  }
}

void FunctionEmitter::EmitLanes(const Scope& scope, llvm::Value* first,
                                loops::Interval range, int64_t lanes) {
  variables_[scope.var] = {first, range};
  lanes_ = lanes;
  lane_var_ = scope.var;
  if (!IsFull(scope)) {
    llvm::Value* left = b_.CreateSub(EmitUniform(*scope.bound), first);
    left = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, left, Int64(lanes));
    left = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, left, Int64(0));
    mask_ = b_.CreateICmpULT(LaneNumbers(b_.getInt32Ty(), 1),
                             Splat(b_.CreateTrunc(left, b_.getInt32Ty())));
  }
  EmitNodes(scope.body);
  mask_ = nullptr;
  lanes_ = 0;
  lane_var_ = -1;
  variables_.erase(scope.var);
}

}  // namespace hone::backends
