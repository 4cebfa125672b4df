#include "backends/cpu/compiler.h"

#include <memory>
#include <mutex>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Target/TargetOptions.h>
#include <llvm/TargetParser/Host.h>

#include "backends/cpu/entry_emitter.h"
#include "backends/cpu/in_place.h"
#include "backends/cpu/plan_emitter.h"
#include "backends/llvm/emitter.h"
#include "backends/llvm/optimize.h"
#include "base/status_macros.h"
#include "loops/analysis/verifier.h"

namespace hone::backends {
namespace {

// The offset of a loop in a code fetch line changes its time by up to a fifth.
// All loops are aligned to such lines, so that the time of a schedule does not
// depend on the code before it.
llvm::TargetOptions AlignedLoops() {
  llvm::TargetOptions options;
  options.LoopAlignment = 64;
  return options;
}

absl::StatusOr<std::unique_ptr<llvm::TargetMachine>> MakeTargetMachine(
    const CompileOptions& options) {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
  const std::string triple = llvm::sys::getProcessTriple();
  std::string error;
  const llvm::Target* target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (target == nullptr) return absl::InternalError(error);
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      triple, options.cpu, options.features, AlignedLoops(), llvm::Reloc::PIC_,
      llvm::CodeModel::Small, llvm::CodeGenOptLevel::Aggressive));
  if (machine == nullptr) {
    return absl::InternalError(absl::StrCat("no code generator for ", triple));
  }
  return machine;
}

EmitTarget MakeEmitTarget(const CompileOptions& options) {
  const int64_t vector_bytes = VectorBytes(options.features);
  return {.cpu = options.cpu,
          .features = options.features,
          .vector_bytes = vector_bytes,
          .has_fast_gather = vector_bytes == 64,
          .has_bf16_dot = HasBf16Dot(options.features),
          .has_integer_dot = HasIntegerDot(options.features),
          .has_avx512 = vector_bytes == 64,
          .has_compress = absl::StrContains(options.features, "+avx2") ||
                          vector_bytes == 64};
}

// The state of one compilation.
struct Compilation {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::TargetMachine> machine;
  std::unique_ptr<llvm::Module> module;
};

absl::StatusOr<std::unique_ptr<Compilation>> Begin(
    const std::string& name, const CompileOptions& options) {
  auto compilation = std::make_unique<Compilation>();
  HONE_ASSIGN_OR_RETURN(compilation->machine, MakeTargetMachine(options));
  compilation->module =
      std::make_unique<llvm::Module>(name, compilation->context);
  compilation->module->setTargetTriple(
      compilation->machine->getTargetTriple().str());
  compilation->module->setDataLayout(compilation->machine->createDataLayout());
  return compilation;
}

absl::Status Check(const llvm::Module& module) {
  std::string message;
  llvm::raw_string_ostream stream(message);
  if (!llvm::verifyModule(module, &stream)) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(
      "the emitter made an LLVM module that is not valid: ", stream.str()));
}

absl::StatusOr<std::string> Finish(Compilation& compilation) {
  HONE_RETURN_IF_ERROR(Check(*compilation.module));
  OptimizeModule(*compilation.module, *compilation.machine);
  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager passes;
  if (compilation.machine->addPassesToEmitFile(
          passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile,
          /*DisableVerify=*/true)) {
    return absl::InternalError("the code generator writes no objects");
  }
  passes.run(*compilation.module);
  return std::string(object.begin(), object.end());
}

// The name of the function that an entry calls.
std::string RunSymbol(const std::string& symbol) {
  return absl::StrCat(symbol, ".run");
}

EntryInterface InterfaceFrom(const std::string& name,
                             const CompileOptions& options) {
  return {
      .name = name, .features = options.features, .threads = options.threads};
}

// Returns the shapes of the outputs of a program, or of its arguments, in
// order.
std::vector<hlo::ShapePtr> Shapes(const loops::Program& program, bool outputs) {
  std::vector<hlo::ShapePtr> shapes;
  for (const loops::BufferPtr& buffer : program.buffers()) {
    const bool is_wanted = outputs ? buffer->IsOutput()
                                   : buffer->memory == loops::Memory::kArgument;
    if (!is_wanted) continue;
    const auto number = static_cast<size_t>(buffer->number);
    if (shapes.size() <= number) shapes.resize(number + 1);
    shapes[number] = hlo::Shape::Array(buffer->type, buffer->dimensions);
  }
  return shapes;
}

std::vector<hlo::ShapePtr> Shapes(const loops::PlanFunction& function,
                                  const std::vector<loops::SlotId>& slots) {
  std::vector<hlo::ShapePtr> shapes;
  shapes.reserve(slots.size());
  for (loops::SlotId slot : slots) {
    shapes.push_back(function.slots[static_cast<size_t>(slot)].shape);
  }
  return shapes;
}

absl::Status AddEntry(const std::string& symbol,
                      const EntryInterface& interface, llvm::Function& run) {
  run.setLinkage(llvm::GlobalValue::InternalLinkage);
  return EmitEntry(symbol, interface, run);
}

}  // namespace

absl::StatusOr<std::string> CompileProgram(const loops::Program& program,
                                           const std::string& symbol,
                                           const CompileOptions& options) {
  HONE_RETURN_IF_ERROR(loops::VerifyProgram(program));
  HONE_ASSIGN_OR_RETURN(const auto compilation, Begin(symbol, options));
  HONE_ASSIGN_OR_RETURN(
      llvm::Function* const run,
      EmitProgram(program, RunSymbol(symbol), MakeEmitTarget(options),
                  *compilation->module));
  EntryInterface interface = InterfaceFrom(program.name(), options);
  if (!options.aliases.empty()) {
    const InPlaceAnalysis analysis(program);
    for (const EntryAlias& alias : options.aliases) {
      if (analysis.MayRunInPlace(alias.argument, alias.result)) {
        interface.aliases.push_back(alias);
      }
    }
  }
  interface.arguments = Shapes(program, /*outputs=*/false);
  interface.results = Shapes(program, /*outputs=*/true);
  HONE_RETURN_IF_ERROR(AddEntry(symbol, interface, *run));
  return Finish(*compilation);
}

absl::StatusOr<std::string> CompilePlan(const loops::ModulePlan& plan,
                                        const std::string& symbol,
                                        const CompileOptions& options) {
  for (const loops::Program& kernel : plan.kernels) {
    HONE_RETURN_IF_ERROR(loops::VerifyProgram(kernel));
  }
  HONE_ASSIGN_OR_RETURN(const auto compilation, Begin(symbol, options));
  HONE_RETURN_IF_ERROR(EmitPlan(plan, RunSymbol(symbol),
                                MakeEmitTarget(options), *compilation->module));
  const loops::PlanFunction& entry =
      plan.functions[static_cast<size_t>(plan.entry)];
  EntryInterface interface = InterfaceFrom(plan.name, options);
  for (const loops::Donation& donation : plan.donations) {
    interface.aliases.push_back({donation.parameter, donation.result});
  }
  interface.arguments = Shapes(entry, entry.parameters);
  interface.results = Shapes(entry, entry.results);
  HONE_RETURN_IF_ERROR(AddEntry(
      symbol, interface, *compilation->module->getFunction(RunSymbol(symbol))));
  return Finish(*compilation);
}

absl::StatusOr<std::string> EmitLlvmText(const loops::Program& program,
                                         const std::string& symbol,
                                         bool optimized,
                                         const CompileOptions& options) {
  HONE_RETURN_IF_ERROR(loops::VerifyProgram(program));
  HONE_ASSIGN_OR_RETURN(const auto compilation, Begin(symbol, options));
  HONE_RETURN_IF_ERROR(EmitProgram(program, symbol, MakeEmitTarget(options),
                                   *compilation->module)
                           .status());
  HONE_RETURN_IF_ERROR(Check(*compilation->module));
  if (optimized) OptimizeModule(*compilation->module, *compilation->machine);
  std::string text;
  llvm::raw_string_ostream stream(text);
  compilation->module->print(stream, nullptr);
  return stream.str();
}

}  // namespace hone::backends
