#include "backends/cpu/plan_emitter.h"

#include <algorithm>
#include <variant>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include "base/status_macros.h"

namespace hone::backends {
namespace {

using loops::ModulePlan;
using loops::PlanFunction;
using loops::Slot;
using loops::SlotId;

constexpr uint64_t kAlignment = 64;

// State shared by the functions of one plan.
struct PlanContext {
  const ModulePlan& plan;
  llvm::Module& module;
  std::vector<llvm::Function*> kernels = {};
  std::vector<llvm::Function*> functions = {};
  absl::flat_hash_map<const hlo::Literal*, llvm::GlobalVariable*> constants =
      {};
};

class PlanFunctionEmitter {
 public:
  // `function` has the parameters arguments, results and, unless it is the
  // entry, which allocates its arena, the arena.
  PlanFunctionEmitter(PlanContext& context, const PlanFunction& plan,
                      llvm::Function* function)
      : context_(context),
        plan_(plan),
        function_(function),
        is_entry_(function->arg_size() == 2),
        b_(llvm::BasicBlock::Create(function->getContext(), "entry",
                                    function)) {}

  void Emit() {
    if (!is_entry_) {
      arena_ = function_->getArg(2);
    } else if (plan_.arena_bytes > 0) {
      arena_ = Allocate(plan_.arena_bytes);
    }
    PlaceSlots();
    for (const loops::PlanStep& step : plan_.steps) {
      std::visit([this](const auto& s) { EmitStep(s); }, step);
    }
    if (is_entry_) Release(arena_);
    b_.CreateRetVoid();
  }

 private:
  llvm::Value* Int64(int64_t value) {
    return b_.getInt64(static_cast<uint64_t>(value));
  }
  const Slot& SlotOf(SlotId id) const {
    return plan_.slots[static_cast<size_t>(id)];
  }
  llvm::Value* Pointer(SlotId id) const {
    return pointers_[static_cast<size_t>(id)];
  }

  llvm::Value* Allocate(int64_t bytes) {
    const llvm::FunctionCallee allocate = context_.module.getOrInsertFunction(
        "hone_kernel_allocate", b_.getPtrTy(), b_.getInt64Ty());
    return b_.CreateCall(allocate, {Int64(bytes)});
  }
  void Release(llvm::Value* memory) {
    if (memory == nullptr) return;
    const llvm::FunctionCallee release = context_.module.getOrInsertFunction(
        "hone_kernel_free", b_.getVoidTy(), b_.getPtrTy());
    b_.CreateCall(release, {memory});
  }
  llvm::Value* Offset(llvm::Value* pointer, int64_t bytes) {
    return b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), pointer,
                                         static_cast<uint64_t>(bytes));
  }
  llvm::Value* ElementOf(llvm::Value* array, size_t i) {
    return b_.CreateConstInBoundsGEP1_64(b_.getPtrTy(), array, i);
  }

  // An array of pointers in the entry block, so that loops do not grow the
  // stack.
  llvm::Value* PointerArray(size_t size) {
    llvm::BasicBlock& entry = function_->getEntryBlock();
    llvm::IRBuilder<> builder(&entry, entry.begin());
    return builder.CreateAlloca(
        llvm::ArrayType::get(b_.getPtrTy(), std::max<size_t>(size, 1)));
  }
  llvm::Value* FilledArray(absl::Span<llvm::Value* const> pointers) {
    llvm::Value* array = PointerArray(pointers.size());
    for (size_t i = 0; i < pointers.size(); ++i) {
      b_.CreateStore(pointers[i], ElementOf(array, i));
    }
    return array;
  }
  llvm::Value* SlotArray(absl::Span<const SlotId> slots) {
    std::vector<llvm::Value*> pointers;
    for (SlotId slot : slots) pointers.push_back(Pointer(slot));
    return FilledArray(pointers);
  }

  void Copy(llvm::Value* to, llvm::Value* from, const Slot& slot) {
    b_.CreateMemCpy(to, llvm::MaybeAlign(), from, llvm::MaybeAlign(),
                    static_cast<uint64_t>(slot.shape->byte_size()));
  }

  llvm::BasicBlock* NewBlock(const char* name) {
    return llvm::BasicBlock::Create(b_.getContext(), name, function_);
  }

  // The memory of callees; any pointer if they need none.
  llvm::Value* ScratchOf(SlotId id) {
    return id < 0 ? function_->getArg(0) : Pointer(id);
  }

  llvm::Value* ConstantOf(const hlo::LiteralPtr& literal);
  void PlaceSlots();
  void EmitStep(const loops::KernelStep& step);
  void EmitStep(const loops::LibraryStep& step);
  void EmitStep(const loops::CopyStep& step);
  void EmitStep(const loops::WhileStep& step);
  void EmitStep(const loops::ConditionalStep& step);

  PlanContext& context_;
  const PlanFunction& plan_;
  llvm::Function* function_;
  const bool is_entry_;
  llvm::IRBuilder<> b_;
  llvm::Value* arena_ = nullptr;
  std::vector<llvm::Value*> pointers_;  // by slot
};

llvm::Value* PlanFunctionEmitter::ConstantOf(const hlo::LiteralPtr& literal) {
  llvm::GlobalVariable*& global = context_.constants[literal.get()];
  if (global != nullptr) return global;
  llvm::Constant* values = llvm::ConstantDataArray::getString(
      b_.getContext(),
      llvm::StringRef(reinterpret_cast<const char*>(literal->data()),
                      static_cast<size_t>(literal->byte_size())),
      /*AddNull=*/false);
  global = new llvm::GlobalVariable(
      context_.module, values->getType(), /*isConstant=*/true,
      llvm::GlobalValue::PrivateLinkage, values, "constant");
  global->setAlignment(llvm::Align(kAlignment));
  return global;
}

void PlanFunctionEmitter::PlaceSlots() {
  pointers_.assign(plan_.slots.size(), nullptr);
  for (size_t i = 0; i < plan_.slots.size(); ++i) {
    const Slot& slot = plan_.slots[i];
    if (slot.literal != nullptr) {
      pointers_[i] = ConstantOf(slot.literal);
    } else if (slot.arena_offset >= 0 && arena_ != nullptr) {
      pointers_[i] = Offset(arena_, slot.arena_offset);
    }
  }
  const auto load = [&](const std::vector<SlotId>& slots, llvm::Value* array) {
    for (size_t i = 0; i < slots.size(); ++i) {
      pointers_[static_cast<size_t>(slots[i])] =
          b_.CreateLoad(b_.getPtrTy(), ElementOf(array, i));
    }
  };
  load(plan_.parameters, function_->getArg(0));
  load(plan_.results, function_->getArg(1));
  // Empty slots may have any address.
  for (llvm::Value*& pointer : pointers_) {
    if (pointer == nullptr) pointer = function_->getArg(0);
  }
}

void PlanFunctionEmitter::EmitStep(const loops::KernelStep& step) {
  llvm::Value* arguments = SlotArray(step.arguments);
  llvm::Value* results = SlotArray(step.results);
  b_.CreateCall(context_.kernels[static_cast<size_t>(step.kernel)],
                {arguments, results});
}

void PlanFunctionEmitter::EmitStep(const loops::LibraryStep& step) {
  llvm::Constant* values = llvm::ConstantDataArray::get(
      b_.getContext(), llvm::ArrayRef<int64_t>(step.attributes));
  auto* attributes = new llvm::GlobalVariable(
      context_.module, values->getType(), /*isConstant=*/true,
      llvm::GlobalValue::PrivateLinkage, values, "attributes");
  llvm::Type* pointer = b_.getPtrTy();
  const llvm::FunctionCallee function = context_.module.getOrInsertFunction(
      step.function, b_.getVoidTy(), pointer, pointer, pointer);
  b_.CreateCall(function, {attributes, SlotArray(step.arguments),
                           SlotArray(step.results)});
}

void PlanFunctionEmitter::EmitStep(const loops::CopyStep& step) {
  Copy(Pointer(step.to), Pointer(step.from), SlotOf(step.to));
}

// The body writes to a second set of arrays, and the two are swapped: the state
// is copied at most once, after an odd number of iterations.
void PlanFunctionEmitter::EmitStep(const loops::WhileStep& step) {
  llvm::Value* own = SlotArray(step.state);
  llvm::Value* other = SlotArray(step.next);
  llvm::Value* scratch = ScratchOf(step.scratch);
  llvm::Value* verdict = PointerArray(1);
  llvm::Value* verdict_array = FilledArray({verdict});

  llvm::BasicBlock* before = b_.GetInsertBlock();
  llvm::BasicBlock* head = NewBlock("while");
  llvm::BasicBlock* body = NewBlock("body");
  llvm::BasicBlock* after = NewBlock("after");
  llvm::BasicBlock* copy = NewBlock("copy");
  llvm::BasicBlock* done = NewBlock("done");
  b_.CreateBr(head);
  b_.SetInsertPoint(head);
  llvm::PHINode* current = b_.CreatePHI(b_.getPtrTy(), 2);
  llvm::PHINode* next = b_.CreatePHI(b_.getPtrTy(), 2);
  b_.CreateCall(context_.functions[static_cast<size_t>(step.condition)],
                {current, verdict_array, scratch});
  llvm::Value* goes_on =
      b_.CreateICmpNE(b_.CreateLoad(b_.getInt8Ty(), verdict), b_.getInt8(0));
  b_.CreateCondBr(goes_on, body, after);
  b_.SetInsertPoint(body);
  b_.CreateCall(context_.functions[static_cast<size_t>(step.body)],
                {current, next, scratch});
  b_.CreateBr(head);
  current->addIncoming(own, before);
  current->addIncoming(next, body);
  next->addIncoming(other, before);
  next->addIncoming(current, body);
  b_.SetInsertPoint(after);
  b_.CreateCondBr(b_.CreateICmpEQ(current, own), done, copy);
  b_.SetInsertPoint(copy);
  for (size_t i = 0; i < step.state.size(); ++i) {
    if (step.next[i] == step.state[i]) continue;
    Copy(Pointer(step.state[i]), Pointer(step.next[i]), SlotOf(step.state[i]));
  }
  b_.CreateBr(done);
  b_.SetInsertPoint(done);
}

void PlanFunctionEmitter::EmitStep(const loops::ConditionalStep& step) {
  const bool is_pred =
      SlotOf(step.selector).shape->element_type() == hlo::ElementType::kPred;
  llvm::Type* type = is_pred ? b_.getInt8Ty() : b_.getInt32Ty();
  llvm::Value* selector =
      b_.CreateAlignedLoad(type, Pointer(step.selector), llvm::Align(1));
  if (is_pred) {
    selector = b_.CreateZExt(b_.CreateICmpEQ(selector, b_.getInt8(0)),
                             b_.getInt32Ty());
  }
  const std::vector<SlotId>& to = step.results;
  llvm::Value* results = SlotArray(to);
  llvm::Value* scratch = ScratchOf(step.scratch);
  llvm::BasicBlock* done = NewBlock("done");
  std::vector<llvm::BasicBlock*> blocks;
  blocks.reserve(step.branches.size());
  for (size_t i = 0; i < step.branches.size(); ++i) {
    blocks.push_back(NewBlock("branch"));
  }
  // Out of range values select the last branch.
  llvm::SwitchInst* choice = b_.CreateSwitch(selector, blocks.back());
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (i + 1 < blocks.size()) {
      choice->addCase(b_.getInt32(static_cast<uint32_t>(i)), blocks[i]);
    }
    b_.SetInsertPoint(blocks[i]);
    b_.CreateCall(context_.functions[static_cast<size_t>(step.branches[i])],
                  {SlotArray(step.arguments[i]), results, scratch});
    b_.CreateBr(done);
  }
  b_.SetInsertPoint(done);
}

}  // namespace

absl::Status EmitPlan(const ModulePlan& plan, const std::string& symbol,
                      const EmitTarget& target, llvm::Module& module) {
  PlanContext context = {.plan = plan, .module = module};
  for (size_t i = 0; i < plan.kernels.size(); ++i) {
    HONE_ASSIGN_OR_RETURN(
        llvm::Function* const kernel,
        EmitProgram(plan.kernels[i],
                    absl::StrCat(symbol, ".", plan.kernels[i].name()), target,
                    module));
    kernel->setLinkage(llvm::GlobalValue::InternalLinkage);
    context.kernels.push_back(kernel);
  }
  llvm::Type* pointer = llvm::PointerType::get(module.getContext(), 0);
  llvm::Type* none = llvm::Type::getVoidTy(module.getContext());
  auto* entry_type = llvm::FunctionType::get(none, {pointer, pointer}, false);
  auto* type =
      llvm::FunctionType::get(none, {pointer, pointer, pointer}, false);
  for (size_t i = 0; i < plan.functions.size(); ++i) {
    const bool is_entry = static_cast<int32_t>(i) == plan.entry;
    llvm::Function* function = llvm::Function::Create(
        is_entry ? entry_type : type,
        is_entry ? llvm::GlobalValue::ExternalLinkage
                 : llvm::GlobalValue::InternalLinkage,
        is_entry ? symbol : absl::StrCat(symbol, ".function", i), module);
    function->addFnAttr("target-cpu", target.cpu);
    function->addFnAttr("target-features", target.features);
    function->setDoesNotThrow();
    context.functions.push_back(function);
  }
  for (size_t i = 0; i < plan.functions.size(); ++i) {
    PlanFunctionEmitter(context, plan.functions[i], context.functions[i])
        .Emit();
  }
  return absl::OkStatus();
}

}  // namespace hone::backends
