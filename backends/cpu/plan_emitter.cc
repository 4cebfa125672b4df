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

// The largest number of steps of one LLVM function: the time that LLVM takes
// grows faster than the size of a function.
constexpr size_t kMaxSteps = 64;
// A module with a smaller arena has it on the stack.
constexpr int64_t kMaxStackBytes = 4096;

// The numbers of the slots of a function that its caller passes.
struct Interfaces {
  explicit Interfaces(const PlanFunction& plan) {
    for (size_t i = 0; i < plan.parameters.size(); ++i) {
      parameters.emplace(plan.parameters[i], i);
    }
    for (size_t i = 0; i < plan.results.size(); ++i) {
      results.emplace(plan.results[i], i);
    }
  }

  absl::flat_hash_map<SlotId, size_t> parameters;
  absl::flat_hash_map<SlotId, size_t> results;
};

// Emits some steps of a plan's function as the body of `function`, which has
// the parameters arguments, results (arrays of pointers) and arena.
class StepEmitter {
 public:
  StepEmitter(PlanContext& context, const PlanFunction& plan,
              const Interfaces& interfaces, llvm::Function* function)
      : context_(context),
        plan_(plan),
        interfaces_(interfaces),
        function_(function),
        b_(llvm::BasicBlock::Create(function->getContext(), "entry",
                                    function)) {}

  void Emit(absl::Span<const loops::PlanStep> steps) {
    for (const loops::PlanStep& step : steps) {
      std::visit([this](const auto& s) { EmitStep(s); }, step);
    }
    b_.CreateRetVoid();
  }

 private:
  const Slot& SlotOf(SlotId id) const {
    return plan_.slots[static_cast<size_t>(id)];
  }
  // Returns the address of a slot, which the entry block computes.
  llvm::Value* Pointer(SlotId id) {
    llvm::Value*& pointer = pointers_[id];
    if (pointer == nullptr) {
      llvm::BasicBlock& entry = function_->getEntryBlock();
      llvm::IRBuilder<> builder(&entry, entry.begin());
      pointer = Place(id, builder);
    }
    return pointer;
  }
  llvm::Value* Place(SlotId id, llvm::IRBuilder<>& builder);

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
    pointers.reserve(slots.size());
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
  void EmitStep(const loops::KernelStep& step);
  void EmitStep(const loops::LibraryStep& step);
  void EmitStep(const loops::CopyStep& step);
  void EmitStep(const loops::WhileStep& step);
  void EmitStep(const loops::ConditionalStep& step);

  PlanContext& context_;
  const PlanFunction& plan_;
  const Interfaces& interfaces_;
  llvm::Function* function_;
  llvm::IRBuilder<> b_;
  absl::flat_hash_map<SlotId, llvm::Value*> pointers_;
};

llvm::Value* StepEmitter::ConstantOf(const hlo::LiteralPtr& literal) {
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

llvm::Value* StepEmitter::Place(SlotId id, llvm::IRBuilder<>& builder) {
  const Slot& slot = SlotOf(id);
  if (slot.literal != nullptr) return ConstantOf(slot.literal);
  if (slot.arena_offset >= 0) {
    return builder.CreateConstInBoundsGEP1_64(
        builder.getInt8Ty(), function_->getArg(2),
        static_cast<uint64_t>(slot.arena_offset));
  }
  const auto load = [&](unsigned array, size_t number) {
    return builder.CreateLoad(
        builder.getPtrTy(),
        builder.CreateConstInBoundsGEP1_64(builder.getPtrTy(),
                                           function_->getArg(array), number));
  };
  if (const auto at = interfaces_.parameters.find(id);
      at != interfaces_.parameters.end()) {
    return load(0, at->second);
  }
  return load(1, interfaces_.results.at(id));
}

void StepEmitter::EmitStep(const loops::KernelStep& step) {
  std::vector<llvm::Value*> pointers;
  pointers.reserve(step.arguments.size() + step.results.size());
  for (SlotId slot : step.arguments) pointers.push_back(Pointer(slot));
  for (SlotId slot : step.results) pointers.push_back(Pointer(slot));
  b_.CreateCall(context_.kernels[static_cast<size_t>(step.kernel)], pointers);
}

void StepEmitter::EmitStep(const loops::LibraryStep& step) {
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

void StepEmitter::EmitStep(const loops::CopyStep& step) {
  Copy(Pointer(step.to), Pointer(step.from), SlotOf(step.to));
}

// The body writes to a second set of arrays, and the two are swapped: the state
// is copied at most once, after an odd number of iterations.
void StepEmitter::EmitStep(const loops::WhileStep& step) {
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

void StepEmitter::EmitStep(const loops::ConditionalStep& step) {
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

llvm::Function* AddFunction(llvm::Module& module, const EmitTarget& target,
                            size_t pointers, const std::string& name,
                            llvm::GlobalValue::LinkageTypes linkage) {
  llvm::Type* pointer = llvm::PointerType::get(module.getContext(), 0);
  llvm::Function* function = llvm::Function::Create(
      llvm::FunctionType::get(llvm::Type::getVoidTy(module.getContext()),
                              std::vector<llvm::Type*>(pointers, pointer),
                              false),
      linkage, name, module);
  function->addFnAttr("target-cpu", target.cpu);
  function->addFnAttr("target-features", target.features);
  function->setDoesNotThrow();
  return function;
}

// Emits a function of the plan, in parts if it has many steps.
void EmitFunction(PlanContext& context, const EmitTarget& target,
                  const PlanFunction& plan, llvm::Function* function) {
  const Interfaces interfaces(plan);
  const absl::Span<const loops::PlanStep> steps = plan.steps;
  if (steps.size() <= kMaxSteps) {
    StepEmitter(context, plan, interfaces, function).Emit(steps);
    return;
  }
  llvm::IRBuilder<> b(
      llvm::BasicBlock::Create(function->getContext(), "entry", function));
  for (size_t begin = 0; begin < steps.size(); begin += kMaxSteps) {
    llvm::Function* part = AddFunction(
        context.module, target, 3,
        absl::StrCat(function->getName().str(), ".part", begin / kMaxSteps),
        llvm::GlobalValue::InternalLinkage);
    StepEmitter(context, plan, interfaces, part)
        .Emit(steps.subspan(begin, kMaxSteps));
    b.CreateCall(
        part, {function->getArg(0), function->getArg(1), function->getArg(2)});
  }
  b.CreateRetVoid();
}

// Emits the function that callers see: it calls that of the plan's entry with
// an arena, and with arguments that agree with the donations.
class EntryEmitter {
 public:
  EntryEmitter(const ModulePlan& plan, llvm::Module& module,
               llvm::Function* function)
      : plan_(plan),
        entry_(plan.functions[static_cast<size_t>(plan.entry)]),
        module_(module),
        function_(function),
        b_(llvm::BasicBlock::Create(function->getContext(), "entry",
                                    function)) {}

  void Emit(llvm::Function* entry) {
    // Copies of donated arguments follow the arena.
    int64_t bytes = Aligned(entry_.arena_bytes);
    std::vector<int64_t> copies;
    for (const loops::Donation& donation : plan_.donations) {
      copies.push_back(bytes);
      if (!donation.in_place) bytes += Aligned(BytesOf(donation));
    }
    const bool is_on_stack = bytes <= kMaxStackBytes;
    llvm::Value* const size = b_.getInt64(static_cast<uint64_t>(bytes));
    llvm::Value* arena;
    if (is_on_stack) {
      llvm::AllocaInst* memory = b_.CreateAlloca(b_.getInt8Ty(), size);
      memory->setAlignment(llvm::Align(kAlignment));
      arena = memory;
    } else {
      arena = b_.CreateCall(
          module_.getOrInsertFunction("hone_kernel_allocate", b_.getPtrTy(),
                                      b_.getInt64Ty()),
          {size});
    }
    b_.CreateCall(entry,
                  {Arguments(arena, copies), function_->getArg(1), arena});
    if (!is_on_stack) {
      b_.CreateCall(module_.getOrInsertFunction("hone_kernel_free",
                                                b_.getVoidTy(), b_.getPtrTy()),
                    {arena});
    }
    b_.CreateRetVoid();
  }

 private:
  static int64_t Aligned(int64_t bytes) {
    const auto alignment = static_cast<int64_t>(kAlignment);
    return (bytes + alignment - 1) / alignment * alignment;
  }
  int64_t BytesOf(const loops::Donation& donation) const {
    const SlotId slot =
        entry_.parameters[static_cast<size_t>(donation.parameter)];
    return entry_.slots[static_cast<size_t>(slot)].shape->byte_size();
  }
  llvm::Value* ElementOf(llvm::Value* array, size_t i) {
    return b_.CreateConstInBoundsGEP1_64(b_.getPtrTy(), array, i);
  }

  // Returns the array of pointers to the arguments of the plan's entry.
  llvm::Value* Arguments(llvm::Value* arena,
                         const std::vector<int64_t>& copies) {
    llvm::Value* given = function_->getArg(0);
    if (plan_.donations.empty()) return given;
    const size_t count = entry_.parameters.size();
    llvm::Value* passed =
        b_.CreateAlloca(llvm::ArrayType::get(b_.getPtrTy(), count));
    b_.CreateMemCpy(passed, llvm::MaybeAlign(8), given, llvm::MaybeAlign(8),
                    8 * count);
    for (size_t i = 0; i < plan_.donations.size(); ++i) {
      const loops::Donation& donation = plan_.donations[i];
      const auto number = static_cast<size_t>(donation.parameter);
      llvm::Value* argument =
          b_.CreateLoad(b_.getPtrTy(), ElementOf(given, number));
      llvm::Value* result = b_.CreateLoad(
          b_.getPtrTy(), ElementOf(function_->getArg(1),
                                   static_cast<size_t>(donation.result)));
      llvm::Value* copy =
          donation.in_place
              ? result
              : b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), arena,
                                              static_cast<uint64_t>(copies[i]));
      llvm::Value* is_one = b_.CreateICmpEQ(argument, result);
      auto* copying =
          llvm::BasicBlock::Create(b_.getContext(), "copy", function_);
      auto* done = llvm::BasicBlock::Create(b_.getContext(), "done", function_);
      b_.CreateCondBr(is_one, donation.in_place ? done : copying,
                      donation.in_place ? copying : done);
      b_.SetInsertPoint(copying);
      b_.CreateMemCpy(copy, llvm::MaybeAlign(), argument, llvm::MaybeAlign(),
                      static_cast<uint64_t>(BytesOf(donation)));
      b_.CreateStore(copy, ElementOf(passed, number));
      b_.CreateBr(done);
      b_.SetInsertPoint(done);
    }
    return passed;
  }

  const ModulePlan& plan_;
  const PlanFunction& entry_;
  llvm::Module& module_;
  llvm::Function* function_;
  llvm::IRBuilder<> b_;
};

}  // namespace

absl::Status EmitPlan(const ModulePlan& plan, const std::string& symbol,
                      const EmitTarget& target, llvm::Module& module) {
  PlanContext context = {.plan = plan, .module = module};
  for (size_t i = 0; i < plan.kernels.size(); ++i) {
    HONE_ASSIGN_OR_RETURN(
        llvm::Function* const kernel,
        EmitProgram(plan.kernels[i],
                    absl::StrCat(symbol, ".", plan.kernels[i].name()), target,
                    module, Interface::kPointers));
    kernel->setLinkage(llvm::GlobalValue::InternalLinkage);
    context.kernels.push_back(kernel);
  }
  for (size_t i = 0; i < plan.functions.size(); ++i) {
    context.functions.push_back(
        AddFunction(module, target, 3, absl::StrCat(symbol, ".function", i),
                    llvm::GlobalValue::InternalLinkage));
  }
  for (size_t i = 0; i < plan.functions.size(); ++i) {
    EmitFunction(context, target, plan.functions[i], context.functions[i]);
  }
  EntryEmitter(plan, module,
               AddFunction(module, target, 2, symbol,
                           llvm::GlobalValue::ExternalLinkage))
      .Emit(context.functions[static_cast<size_t>(plan.entry)]);
  return absl::OkStatus();
}

}  // namespace hone::backends
