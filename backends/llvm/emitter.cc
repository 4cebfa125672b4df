#include "backends/llvm/emitter.h"

#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include <llvm/IR/Constants.h>
#include <llvm/IR/MDBuilder.h>

#include "backends/llvm/function_emitter.h"
#include "base/status_macros.h"
#include "hlo/ir/opcode.h"

namespace hone::backends {
namespace {

using loops::Access;
using loops::Buffer;
using loops::BufferId;
using loops::Expression;
using loops::ExpressionPtr;
using loops::Memory;
using loops::Node;
using loops::Program;

absl::Status CheckExpression(const Expression& expression);

absl::Status CheckAccess(const Access& access) {
  for (const loops::Index& index : access.indices) {
    if (index.offset != nullptr) {
      HONE_RETURN_IF_ERROR(CheckExpression(*index.offset));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckExpression(const Expression& expression) {
  if (hlo::IsComplex(expression.type())) {
    return absl::UnimplementedError(
        absl::StrCat("no code for values of type ",
                     hlo::ElementTypeName(expression.type())));
  }
  for (const ExpressionPtr& operand : expression.operands()) {
    HONE_RETURN_IF_ERROR(CheckExpression(*operand));
  }
  if (expression.kind() == Expression::Kind::kLoad) {
    return CheckAccess(expression.access());
  }
  if (expression.kind() == Expression::Kind::kApply &&
      !HasArithmetic(expression)) {
    return absl::UnimplementedError(absl::StrCat(
        "no code for ", hlo::OpcodeName(expression.opcode()), " of ",
        hlo::ElementTypeName(expression.operands().back()->type())));
  }
  return absl::OkStatus();
}

absl::Status CheckNodes(const std::vector<Node>& nodes) {
  for (const Node& node : nodes) {
    if (node.loop() != nullptr) {
      HONE_RETURN_IF_ERROR(CheckNodes(node.loop()->body));
      continue;
    }
    const loops::Statement& statement = *node.statement();
    HONE_RETURN_IF_ERROR(CheckAccess(statement.target));
    HONE_RETURN_IF_ERROR(CheckExpression(*statement.value));
    if (statement.predicate != nullptr) {
      HONE_RETURN_IF_ERROR(CheckExpression(*statement.predicate));
    }
  }
  return absl::OkStatus();
}

// Returns the number of arguments, or of results and in-out arrays.
unsigned CountBuffers(const Program& program, bool outputs) {
  unsigned count = 0;
  for (const loops::BufferPtr& buffer : program.buffers()) {
    const bool counts =
        outputs ? buffer->IsOutput() : buffer->memory == Memory::kArgument;
    count += counts ? 1 : 0;
  }
  return count;
}

// Gives every buffer an alias scope of its own.
void MakeAliasScopes(ProgramContext& context) {
  llvm::LLVMContext& llvm_context = context.module.getContext();
  llvm::MDBuilder builder(llvm_context);
  llvm::MDNode* domain = builder.createAnonymousAliasScopeDomain(context.name);
  std::vector<llvm::Metadata*> scopes;
  for (const loops::BufferPtr& buffer : context.program.buffers()) {
    scopes.push_back(builder.createAnonymousAliasScope(domain, buffer->name));
  }
  for (size_t i = 0; i < scopes.size(); ++i) {
    std::vector<llvm::Metadata*> others = scopes;
    others.erase(others.begin() + static_cast<int64_t>(i));
    context.alias_scopes.push_back(
        llvm::MDNode::get(llvm_context, {scopes[i]}));
    context.no_alias.push_back(llvm::MDNode::get(llvm_context, others));
  }
}

void MakeConstants(ProgramContext& context) {
  for (const loops::BufferPtr& buffer : context.program.buffers()) {
    context.constants.push_back(nullptr);
    if (buffer->memory != Memory::kConstant) continue;
    const llvm::StringRef bytes(
        reinterpret_cast<const char*>(buffer->literal->data()),
        static_cast<size_t>(buffer->literal->byte_size()));
    llvm::Constant* values = llvm::ConstantDataArray::getString(
        context.module.getContext(), bytes, /*AddNull=*/false);
    auto* global = new llvm::GlobalVariable(
        context.module, values->getType(), /*isConstant=*/true,
        llvm::GlobalValue::PrivateLinkage, values, buffer->name);
    global->setAlignment(llvm::Align(64));
    context.constants.back() = global;
  }
}

}  // namespace

llvm::Function* MakeFunction(ProgramContext& context,
                             llvm::ArrayRef<llvm::Type*> parameters,
                             const std::string& name,
                             llvm::GlobalValue::LinkageTypes linkage) {
  llvm::Type* none = llvm::Type::getVoidTy(context.module.getContext());
  llvm::Function* function =
      llvm::Function::Create(llvm::FunctionType::get(none, parameters, false),
                             linkage, name, context.module);
  function->addFnAttr("target-cpu", context.target.cpu);
  function->addFnAttr("target-features", context.target.features);
  function->addFnAttr("prefer-vector-width",
                      std::to_string(context.target.vector_bytes * 8));
  function->addFnAttr("no-trapping-math", "true");
  function->setDoesNotThrow();
  for (llvm::Argument& argument : function->args()) {
    if (argument.getType()->isPointerTy()) {
      argument.addAttr(llvm::Attribute::NoAlias);
    }
  }
  return function;
}

FunctionEmitter::FunctionEmitter(ProgramContext& context,
                                 llvm::Function* function)
    : context_(context),
      function_(function),
      b_(llvm::BasicBlock::Create(function->getContext(), "entry", function)),
      arithmetic_(b_, context.target.has_bf16_dot, context.target.has_avx512),
      bases_(context.program.buffers().size()) {
  // Allows contraction of a multiplication and an addition into one
  // instruction.
  llvm::FastMathFlags flags;
  flags.setAllowContract(true);
  b_.setFastMathFlags(flags);
  memo_.emplace_back();
}

llvm::Value* FunctionEmitter::PassedAddress(const Buffer& buffer,
                                            Interface interface) {
  const auto number = static_cast<unsigned>(buffer.number);
  if (interface == Interface::kPointerArrays) {
    llvm::Value* array = function_->getArg(buffer.IsOutput() ? 1 : 0);
    return b_.CreateLoad(b_.getPtrTy(), b_.CreateConstInBoundsGEP1_64(
                                            b_.getPtrTy(), array, number));
  }
  const unsigned arguments = CountBuffers(context_.program, /*outputs=*/false);
  return function_->getArg(buffer.IsOutput() ? arguments + number : number);
}

void FunctionEmitter::EmitEntry(Interface interface) {
  const Program& program = context_.program;
  for (size_t i = 0; i < bases_.size(); ++i) {
    const Buffer& buffer = program.buffer(static_cast<BufferId>(i));
    if (buffer.memory == Memory::kConstant) {
      bases_[i] = context_.constants[i];
    } else if (!buffer.IsLocal()) {
      bases_[i] = PassedAddress(buffer, interface);
    }
  }
  AllocateLocals(program.locals(), program.body());
  EmitNodes(program.body());
  Finish();
}

absl::StatusOr<llvm::Function*> EmitProgram(const Program& program,
                                            const std::string& name,
                                            const EmitTarget& target,
                                            llvm::Module& module,
                                            Interface interface) {
  HONE_RETURN_IF_ERROR(CheckNodes(program.body()));
  ProgramContext context = {
      .program = program, .target = target, .module = module, .name = name};
  MakeAliasScopes(context);
  MakeConstants(context);
  llvm::Type* pointer = llvm::PointerType::get(module.getContext(), 0);
  const unsigned parameters = interface == Interface::kPointerArrays
                                  ? 2
                                  : CountBuffers(program, /*outputs=*/false) +
                                        CountBuffers(program, /*outputs=*/true);
  llvm::Function* function =
      MakeFunction(context, std::vector<llvm::Type*>(parameters, pointer), name,
                   llvm::GlobalValue::ExternalLinkage);
  FunctionEmitter(context, function).EmitEntry(interface);
  return function;
}

}  // namespace hone::backends
