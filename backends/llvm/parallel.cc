#include <algorithm>

#include "absl/container/btree_set.h"
#include <llvm/IR/Constants.h>

#include "backends/llvm/function_emitter.h"
#include "loops/ir/rewrite.h"

namespace hone::backends {

using loops::BufferId;
using loops::Loop;
using loops::VarId;

namespace {

// Returns the buffers that the loop accesses, ascending.
absl::btree_set<BufferId> AccessedIn(const Loop& loop) {
  absl::btree_set<BufferId> buffers;
  for (const loops::Node& node : loop.body) {
    loops::VisitStatements(node, [&](const loops::Statement& statement) {
      loops::VisitAccesses(statement, [&](const loops::Access& access, bool) {
        buffers.insert(access.buffer);
      });
    });
  }
  return buffers;
}

}  // namespace

// Outlines the body into a function. A frame passes what it uses: pointers to
// buffers and the variables of the loops around it. Other locals must not get
// into the frame: they would no longer become registers.
void FunctionEmitter::EmitParallel(const Loop& loop) {
  std::vector<std::pair<VarId, Variable>> variables;
  std::vector<BufferId> buffers;
  std::vector<llvm::Type*> types;
  for (BufferId buffer : AccessedIn(loop)) {
    llvm::Value* const base = bases_[static_cast<size_t>(buffer)];
    if (base == nullptr || llvm::isa<llvm::Constant>(base)) continue;
    buffers.push_back(buffer);
    types.push_back(b_.getPtrTy());
  }
  for (const auto& [id, variable] : variables_) {
    if (!llvm::isa<llvm::Constant>(variable.value)) {
      variables.emplace_back(id, variable);
      types.push_back(b_.getInt64Ty());
    }
  }
  std::sort(variables.begin(), variables.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  auto* frame_type = llvm::StructType::get(b_.getContext(), types);
  llvm::Function* body = EmitParallelBody(loop, variables, buffers, frame_type);

  llvm::Value* frame = EntryAlloca(frame_type, 16);
  unsigned field = 0;
  for (BufferId buffer : buffers) {
    b_.CreateStore(bases_[static_cast<size_t>(buffer)],
                   b_.CreateStructGEP(frame_type, frame, field++));
  }
  for (const auto& [id, variable] : variables) {
    b_.CreateStore(variable.value,
                   b_.CreateStructGEP(frame_type, frame, field++));
  }
  llvm::Value* count = Int64(loop.extent);
  if (!IsFull(loop)) {
    count = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin,
                                     EmitUniform(*loop.bound), count);
  }
  const llvm::FunctionCallee run = context_.module.getOrInsertFunction(
      "hone_kernel_parallel_for", b_.getVoidTy(), b_.getPtrTy(), b_.getPtrTy(),
      b_.getInt64Ty());
  b_.CreateCall(run, {body, frame, count});
}

llvm::Function* FunctionEmitter::EmitParallelBody(
    const Loop& loop, const std::vector<std::pair<VarId, Variable>>& variables,
    const std::vector<BufferId>& buffers, llvm::StructType* frame) {
  llvm::Function* function = MakeFunction(
      context_, {b_.getPtrTy(), b_.getInt64Ty(), b_.getInt64Ty()},
      context_.name + ".parallel" + std::to_string(context_.parallel_bodies++),
      llvm::GlobalValue::InternalLinkage);
  FunctionEmitter inner(context_, function);
  // Constants are not passed in the frame.
  for (size_t i = 0; i < bases_.size(); ++i) {
    const bool is_constant =
        bases_[i] != nullptr && llvm::isa<llvm::Constant>(bases_[i]);
    inner.bases_[i] = is_constant ? bases_[i] : nullptr;
  }
  inner.variables_ = variables_;
  inner.full_ = full_;
  inner.is_remainder_ = is_remainder_;
  unsigned field = 0;
  const auto load = [&](llvm::Type* type) {
    return inner.b_.CreateLoad(
        type, inner.b_.CreateStructGEP(frame, function->getArg(0), field++));
  };
  for (BufferId buffer : buffers) {
    inner.bases_[static_cast<size_t>(buffer)] = load(b_.getPtrTy());
  }
  for (const auto& [id, variable] : variables) {
    inner.variables_[id] = {load(b_.getInt64Ty()), variable.range};
  }
  inner.AllocateLocals(loop.locals, loop.body);
  inner.EmitIf(
      inner.b_.CreateICmpSLT(function->getArg(1), function->getArg(2)), [&] {
        inner.EmitCountedLoop(
            function->getArg(1), function->getArg(2),
            [&](llvm::Value* variable) {
              inner.variables_[loop.var] = {variable, {0, loop.extent - 1}};
              inner.EmitNodes(loop.body);
            });
      });
  inner.Finish();
  return function;
}

}  // namespace hone::backends
