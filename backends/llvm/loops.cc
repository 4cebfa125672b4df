#include <algorithm>

#include <llvm/IR/Constants.h>

#include "backends/llvm/function_emitter.h"

namespace hone::backends {
namespace {

using loops::Affine;
using loops::Loop;
using loops::LoopMode;
using loops::Node;

// Vector loops wider than this are emitted as a loop over
// vectors of the machine's width.
constexpr int64_t kMaxVectorBytes = 512;

int64_t WidestBytes(const loops::Program& program, const Loop& loop) {
  int64_t bytes = 1;
  for (const Node& node : loop.body) {
    const loops::BufferId target = node.statement()->target.buffer;
    bytes = std::max(bytes, hlo::ByteWidth(program.buffer(target).type));
  }
  return bytes;
}

}  // namespace

int64_t FunctionEmitter::LanesAtOnce(const Loop& loop) const {
  const int64_t bytes = WidestBytes(context_.program, loop);
  if (loop.extent * bytes <= kMaxVectorBytes) return loop.extent;
  return context_.target.vector_bytes / bytes;
}

void FunctionEmitter::EmitNodes(const std::vector<Node>& nodes) {
  for (const Node& node : nodes) {
    if (node.statement() != nullptr) {
      EmitStatement(*node.statement());
    } else if (node.loop()->extent > 0) {
      EmitLoop(*node.loop());
    }
  }
}

bool FunctionEmitter::IsBoundKnown(const Loop& loop) const {
  return std::all_of(
      loop.bound->terms().begin(), loop.bound->terms().end(),
      [&](const Affine::Term& term) { return variables_.contains(term.var); });
}

bool FunctionEmitter::IsFull(const Loop& loop) const {
  return !loop.bound.has_value() || full_.contains(&loop) ||
         (IsBoundKnown(loop) && RangeOf(*loop.bound).lo >= loop.extent);
}

bool FunctionEmitter::CollectBounds(const Loop& loop,
                                    std::vector<const Loop*>& bounded) const {
  const bool matters =
      loop.mode == LoopMode::kVector || loop.mode == LoopMode::kUnrolled;
  if (loop.bound.has_value() && matters && !full_.contains(&loop)) {
    if (!IsBoundKnown(loop)) return false;
    if (!IsFull(loop)) bounded.push_back(&loop);
  }
  return std::all_of(loop.body.begin(), loop.body.end(), [&](const Node& node) {
    return node.loop() == nullptr || CollectBounds(*node.loop(), bounded);
  });
}

void FunctionEmitter::EmitLoop(const Loop& loop) {
  if (EmitConditionalLoop(loop)) return;
  std::vector<const Loop*> bounded;
  if (is_remainder_ || loop.mode == LoopMode::kParallel ||
      !CollectBounds(loop, bounded) || bounded.empty()) {
    EmitLoopBody(loop);
    return;
  }
  // Emits the loop twice: assuming full tiles, and with all bounds.
  llvm::Value* is_full = b_.getTrue();
  for (const Loop* inner : bounded) {
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
  EmitLoopBody(loop);
  full_ = full_before;
  b_.CreateBr(done);
  b_.SetInsertPoint(remainder);
  is_remainder_ = true;
  EmitLoopBody(loop);
  is_remainder_ = false;
  b_.CreateBr(done);
  b_.SetInsertPoint(done);
}

void FunctionEmitter::EmitLoopBody(const Loop& loop) {
  std::vector<const loops::Statement*> begun;
  if (loop.mode != LoopMode::kParallel) BeginAccumulations(loop, begun);
  switch (loop.mode) {
    case LoopMode::kSequential:
      if (!EmitCompaction(loop)) EmitSequential(loop);
      break;
    case LoopMode::kUnrolled:
      EmitUnrolled(loop);
      break;
    case LoopMode::kVector:
      EmitVector(loop);
      break;
    case LoopMode::kParallel:
      EmitParallel(loop);
      break;
  }
  EndAccumulations(begun);
}

void FunctionEmitter::EmitCountedLoop(
    llvm::Value* begin, llvm::Value* end,
    const std::function<void(llvm::Value*)>& body) {
  llvm::BasicBlock* before = b_.GetInsertBlock();
  llvm::LLVMContext& llvm_context = b_.getContext();
  auto* body_block = llvm::BasicBlock::Create(llvm_context, "loop", function_);
  auto* after = llvm::BasicBlock::Create(llvm_context, "after", function_);
  b_.CreateBr(body_block);
  b_.SetInsertPoint(body_block);
  llvm::PHINode* variable = b_.CreatePHI(b_.getInt64Ty(), 2);
  variable->addIncoming(begin, before);
  body(variable);
  llvm::Value* next = b_.CreateAdd(variable, Int64(1), "", true, true);
  variable->addIncoming(next, b_.GetInsertBlock());
  b_.CreateCondBr(b_.CreateICmpSLT(next, end), body_block, after);
  b_.SetInsertPoint(after);
}

void FunctionEmitter::EmitSequential(const Loop& loop) {
  llvm::Value* end = Int64(loop.extent);
  const auto emit = [&] {
    EmitCountedLoop(Int64(0), end, [&](llvm::Value* variable) {
      variables_[loop.var] = {variable, {0, loop.extent - 1}};
      if (loop.prefetch != 0) EmitPrefetch(loop);
      EmitNodes(loop.body);
    });
  };
  if (IsFull(loop)) {
    if (loop.extent == 1) {
      variables_[loop.var] = {Int64(0), {0, 0}};
      EmitNodes(loop.body);
    } else {
      emit();
    }
  } else {
    end = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin,
                                   EmitUniform(*loop.bound), end);
    EmitIf(b_.CreateICmpSGT(end, Int64(0)), emit);
  }
  variables_.erase(loop.var);
}

void FunctionEmitter::EmitUnrolled(const Loop& loop) {
  const bool is_full = IsFull(loop);
  llvm::Value* bound = is_full ? nullptr : EmitUniform(*loop.bound);
  TransposeLoads(loop);
  DeferStores(loop);
  for (int64_t i = 0; i < loop.extent; ++i) {
    llvm::Value* inside = is_full || RangeOf(*loop.bound).lo > i
                              ? nullptr
                              : b_.CreateICmpSGT(bound, Int64(i));
    EmitIf(inside, [&] {
      variables_[loop.var] = {Int64(i), {i, i}};
      EmitNodes(loop.body);
    });
  }
  variables_.erase(loop.var);
  transposed_.clear();
  transposed_words_.clear();
  StoreDeferred(loop);
}

void FunctionEmitter::EmitVector(const Loop& loop) {
  const int64_t lanes = LanesAtOnce(loop);
  if (lanes == loop.extent) {
    EmitLanes(loop, Int64(0), {0, 0}, lanes);
    return;
  }
  const int64_t whole = loop.extent / lanes;
  EmitCountedLoop(Int64(0), Int64(whole), [&](llvm::Value* i) {
    EmitLanes(loop, b_.CreateMul(i, Int64(lanes), "", true, true),
              {0, (whole - 1) * lanes}, lanes);
  });
  const int64_t rest = loop.extent % lanes;
  if (rest > 0) {
    EmitLanes(loop, Int64(whole * lanes), {whole * lanes, whole * lanes}, rest);
  }
}

void FunctionEmitter::EmitLanes(const Loop& loop, llvm::Value* first,
                                loops::Interval range, int64_t lanes) {
  variables_[loop.var] = {first, range};
  lanes_ = lanes;
  lane_var_ = loop.var;
  if (!IsFull(loop)) {
    llvm::Value* left = b_.CreateSub(EmitUniform(*loop.bound), first);
    const auto* const known = llvm::dyn_cast<llvm::ConstantInt>(left);
    if (known != nullptr) {
      mask_ = FirstLanes(std::clamp<int64_t>(known->getSExtValue(), 0, lanes));
    }
  }
  if (!IsFull(loop) && mask_ == nullptr) {
    llvm::Value* left = b_.CreateSub(EmitUniform(*loop.bound), first);
    left = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, left, Int64(lanes));
    left = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, left, Int64(0));
    mask_ = b_.CreateICmpULT(LaneNumbers(b_.getInt32Ty(), 1),
                             Splat(b_.CreateTrunc(left, b_.getInt32Ty())));
  }
  EmitLaneStatements(loop.body);
  mask_ = nullptr;
  lanes_ = 0;
  lane_var_ = -1;
  variables_.erase(loop.var);
}

}  // namespace hone::backends
