#include <algorithm>

#include "backends/llvm/function_emitter.h"

namespace hone::backends {
namespace {

using loops::Buffer;
using loops::BufferId;
using loops::LoopMode;
using loops::Memory;
using loops::Node;

constexpr int64_t kAlignment = 64;
// The largest stack frame; threads have stacks of a few megabytes.
constexpr int64_t kMaxStackBytes = 256 << 10;

// Collects the locals of the loops in `nodes` that belong to the same function.
void CollectLocals(const std::vector<Node>& nodes,
                   std::vector<BufferId>& locals) {
  for (const Node& node : nodes) {
    const loops::Loop* loop = node.loop();
    if (loop == nullptr || loop->mode == LoopMode::kParallel) continue;
    locals.insert(locals.end(), loop->locals.begin(), loop->locals.end());
    CollectLocals(loop->body, locals);
  }
}

}  // namespace

llvm::AllocaInst* FunctionEmitter::EntryAlloca(llvm::Type* type,
                                               uint64_t align) {
  llvm::BasicBlock& entry = function_->getEntryBlock();
  llvm::IRBuilder<> builder(&entry, entry.begin());
  llvm::AllocaInst* memory = builder.CreateAlloca(type);
  memory->setAlignment(llvm::Align(align));
  return memory;
}

// Allocates everything once at the start of the function: locals are
// uninitialized at the start of an iteration, so they may hold old values.
void FunctionEmitter::AllocateLocals(const std::vector<BufferId>& root,
                                     const std::vector<Node>& body) {
  std::vector<BufferId> locals = root;
  CollectLocals(body, locals);
  std::sort(locals.begin(), locals.end());
  locals.erase(std::unique(locals.begin(), locals.end()), locals.end());
  int64_t stack_bytes = 0;
  int64_t heap_bytes = 0;
  std::vector<std::pair<BufferId, int64_t>> on_heap;
  for (BufferId id : locals) {
    const Buffer& buffer = context_.program.buffer(id);
    const int64_t bytes = buffer.allocated_bytes();
    if (buffer.memory != Memory::kHeap &&
        stack_bytes + bytes <= kMaxStackBytes) {
      stack_bytes += bytes;
      const int64_t elements = buffer.memory == Memory::kRegister
                                   ? RegisterElements(buffer)
                                   : buffer.allocated_elements();
      llvm::Type* type =
          llvm::ArrayType::get(StorageOf(id), static_cast<uint64_t>(elements));
      bases_[static_cast<size_t>(id)] = EntryAlloca(type, kAlignment);
      continue;
    }
    on_heap.emplace_back(id, heap_bytes);
    heap_bytes += (bytes + kAlignment - 1) / kAlignment * kAlignment;
  }
  if (on_heap.empty()) return;
  const llvm::FunctionCallee allocate = context_.module.getOrInsertFunction(
      "hone_kernel_allocate", b_.getPtrTy(), b_.getInt64Ty());
  heap_ = b_.CreateCall(allocate, {Int64(heap_bytes)});
  for (const auto& [id, offset] : on_heap) {
    bases_[static_cast<size_t>(id)] = b_.CreateConstInBoundsGEP1_64(
        b_.getInt8Ty(), heap_, static_cast<uint64_t>(offset));
  }
}

void FunctionEmitter::Finish() {
  if (heap_ != nullptr) {
    const llvm::FunctionCallee release = context_.module.getOrInsertFunction(
        "hone_kernel_free", b_.getVoidTy(), b_.getPtrTy());
    b_.CreateCall(release, {heap_});
  }
  // Non-temporal stores are not ordered with other stores.
  if (has_non_temporal_) {
    b_.CreateFence(llvm::AtomicOrdering::SequentiallyConsistent);
  }
  b_.CreateRetVoid();
}

}  // namespace hone::backends
