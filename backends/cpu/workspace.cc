#include "backends/cpu/workspace.h"

#include <algorithm>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include <llvm/IR/CFG.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

#include "base/status_macros.h"

namespace hone::backends {
namespace {

constexpr int64_t kAlignment = 64;

int64_t Aligned(int64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

const llvm::CallInst* CallOf(const llvm::Value* value, llvm::StringRef name) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(value);
  if (call == nullptr || call->getCalledFunction() == nullptr ||
      call->getCalledFunction()->getName() != name) {
    return nullptr;
  }
  return call;
}

// Returns the size of an allocation; nullopt if it is not a constant.
std::optional<int64_t> AllocatedBytes(const llvm::CallInst& allocation) {
  const auto* bytes =
      llvm::dyn_cast<llvm::ConstantInt>(allocation.getArgOperand(0));
  if (bytes == nullptr) return std::nullopt;
  return Aligned(bytes->getSExtValue());
}

class Analysis {
 public:
  absl::StatusOr<Workspace> Of(const llvm::Function& function) {
    if (const auto known = known_.find(&function); known != known_.end()) {
      return known->second;
    }
    Workspace workspace;
    // The bytes that are allocated where a block begins.
    absl::flat_hash_map<const llvm::BasicBlock*, int64_t> at_begin;
    std::vector<const llvm::BasicBlock*> pending;
    if (!function.isDeclaration()) {
      at_begin[&function.getEntryBlock()] = 0;
      pending.push_back(&function.getEntryBlock());
    }
    // Every block is visited once for each of its predecessors, or a loop
    // allocates more each time.
    size_t visits = 0;
    while (!pending.empty()) {
      const llvm::BasicBlock* block = pending.back();
      pending.pop_back();
      if (++visits > 64 * function.size()) {
        return absl::InternalError(
            absl::StrCat("a loop of ", function.getName().str(),
                         " allocates memory and does not free it"));
      }
      HONE_ASSIGN_OR_RETURN(const int64_t at_end,
                            Visit(*block, at_begin.at(block), workspace));
      for (const llvm::BasicBlock* next : llvm::successors(block)) {
        const auto [entry, is_new] = at_begin.try_emplace(next, at_end);
        if (!is_new && entry->second >= at_end) continue;
        entry->second = at_end;
        pending.push_back(next);
      }
    }
    known_[&function] = workspace;
    return workspace;
  }

 private:
  // Returns the bytes that are allocated at the end of `block`.
  absl::StatusOr<int64_t> Visit(const llvm::BasicBlock& block, int64_t bytes,
                                Workspace& workspace) {
    for (const llvm::Instruction& instruction : block) {
      const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      if (call == nullptr || call->getCalledFunction() == nullptr) continue;
      Workspace callee;
      if (CallOf(call, "hone_kernel_allocate") != nullptr) {
        const std::optional<int64_t> allocated = AllocatedBytes(*call);
        if (!allocated.has_value()) {
          return absl::InternalError(
              absl::StrCat(block.getParent()->getName().str(),
                           " allocates memory of a size that is no constant"));
        }
        bytes += *allocated;
      } else if (CallOf(call, "hone_kernel_free") != nullptr) {
        const auto* allocation =
            CallOf(call->getArgOperand(0), "hone_kernel_allocate");
        if (allocation != nullptr) bytes -= *AllocatedBytes(*allocation);
      } else if (CallOf(call, "hone_kernel_parallel_for") != nullptr) {
        const auto* body = llvm::cast<llvm::Function>(call->getArgOperand(0));
        HONE_ASSIGN_OR_RETURN(callee, Of(*body));
        // Parallel loops inside a body run on its thread.
        callee = {.thread_bytes = callee.shared_bytes + callee.thread_bytes};
      } else {
        HONE_ASSIGN_OR_RETURN(callee, Of(*call->getCalledFunction()));
      }
      workspace.shared_bytes =
          std::max(workspace.shared_bytes, bytes + callee.shared_bytes);
      workspace.thread_bytes =
          std::max(workspace.thread_bytes, callee.thread_bytes);
    }
    return bytes;
  }

  absl::flat_hash_map<const llvm::Function*, Workspace> known_;
};

}  // namespace

absl::StatusOr<Workspace> WorkspaceOf(const llvm::Function& function) {
  return Analysis().Of(function);
}

}  // namespace hone::backends
