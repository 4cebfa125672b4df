#include "backends/cpu/measure/measured_subject.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

#include "backends/cpu/compiler.h"
#include "backends/plan_script.h"
#include "base/status_macros.h"
#include "hlo/inference/verifier.h"
#include "hlo/text/parser.h"
#include "loops/lowering/lowering.h"
#include "loops/text/text.h"
#include "loops/transforms/script.h"

namespace hone::backends {
namespace {

void FlattenShape(const hlo::ShapePtr& shape,
                  std::vector<hlo::ShapePtr>& leaves) {
  if (!shape->IsTuple()) {
    leaves.push_back(shape);
    return;
  }
  for (const hlo::ShapePtr& element : shape->tuple_elements()) {
    FlattenShape(element, leaves);
  }
}

std::vector<hlo::ShapePtr> ResultShapes(const hlo::Module& module) {
  const hlo::Computation& entry = module.entry_computation();
  std::vector<hlo::ShapePtr> leaves;
  FlattenShape(entry[entry.root()].shape_ptr(), leaves);
  return leaves;
}

absl::StatusOr<hlo::Module> ReadHlo(const std::string& text) {
  HONE_ASSIGN_OR_RETURN(hlo::Module module, hlo::ParseHloText(text));
  HONE_RETURN_IF_ERROR(hlo::VerifyModule(module));
  return module;
}

class ProgramCode final : public MeasuredSubject::Code {
 public:
  explicit ProgramCode(loops::Program program) : program_(std::move(program)) {}
  absl::StatusOr<std::string> Compile(
      const std::string& symbol) const override {
    return CompileProgram(program_, symbol);
  }

 private:
  const loops::Program program_;
};

class PlanCode final : public MeasuredSubject::Code {
 public:
  explicit PlanCode(loops::ModulePlan plan) : plan_(std::move(plan)) {}
  absl::StatusOr<std::string> Compile(
      const std::string& symbol) const override {
    return CompilePlan(plan_, symbol);
  }

 private:
  const loops::ModulePlan plan_;
};

// One kernel, of HLO or a loop program.
class KernelSubject final : public MeasuredSubject {
 public:
  KernelSubject(hlo::Module module, bool has_reference,
                std::vector<hlo::ShapePtr> result_shapes,
                std::vector<size_t> updated_results, loops::Program program)
      : module_(std::move(module)),
        has_reference_(has_reference),
        result_shapes_(std::move(result_shapes)),
        updated_results_(std::move(updated_results)),
        program_(std::move(program)) {}

  const hlo::Module& module() const override { return module_; }
  bool has_reference() const override { return has_reference_; }
  std::vector<hlo::ShapePtr> result_shapes() const override {
    return result_shapes_;
  }
  std::vector<size_t> updated_results() const override {
    return updated_results_;
  }
  absl::StatusOr<std::unique_ptr<Code>> Schedule(
      const std::string& script) const override {
    HONE_ASSIGN_OR_RETURN(const std::vector<loops::Step> steps,
                          loops::ParseScript(script));
    HONE_ASSIGN_OR_RETURN(loops::Program scheduled,
                          loops::ApplyScript(program_, steps));
    return std::make_unique<ProgramCode>(std::move(scheduled));
  }

 private:
  const hlo::Module module_;
  const bool has_reference_;
  const std::vector<hlo::ShapePtr> result_shapes_;
  const std::vector<size_t> updated_results_;
  const loops::Program program_;
};

class ModuleSubject final : public MeasuredSubject {
 public:
  ModuleSubject(hlo::Module module, loops::ModulePlan plan)
      : module_(std::move(module)), plan_(std::move(plan)) {}

  const hlo::Module& module() const override { return module_; }
  bool has_reference() const override { return true; }
  // Extreme values make of many layers nothing that can be compared.
  std::vector<hlo::ArgumentKind> argument_kinds() const override {
    return {hlo::ArgumentKind::kRandom, hlo::ArgumentKind::kRandom};
  }
  std::vector<hlo::ShapePtr> result_shapes() const override {
    return ResultShapes(module_);
  }
  absl::StatusOr<std::unique_ptr<Code>> Schedule(
      const std::string& script) const override {
    loops::ModulePlan plan = plan_;
    HONE_RETURN_IF_ERROR(ApplyPlanScript(script, plan));
    return std::make_unique<PlanCode>(std::move(plan));
  }

 private:
  const hlo::Module module_;
  const loops::ModulePlan plan_;
};

// What calls pass to a program, by number.
struct Interface {
  std::vector<hlo::ShapePtr> arguments;
  std::vector<hlo::ShapePtr> results;
  std::vector<size_t> updated_results;
};

Interface InterfaceOf(const loops::Program& program) {
  std::vector<const loops::Buffer*> buffers;
  for (const loops::BufferPtr& buffer : program.buffers()) {
    if (buffer->IsOutput() || buffer->memory == loops::Memory::kArgument) {
      buffers.push_back(buffer.get());
    }
  }
  std::sort(buffers.begin(), buffers.end(),
            [](const auto* a, const auto* b) { return a->number < b->number; });
  Interface interface;
  for (const loops::Buffer* buffer : buffers) {
    if (buffer->memory == loops::Memory::kInOut) {
      interface.updated_results.push_back(interface.results.size());
    }
    (buffer->IsOutput() ? interface.results : interface.arguments)
        .push_back(hlo::Shape::Array(buffer->type, buffer->dimensions));
  }
  return interface;
}

// Returns a module with parameters of these shapes that computes nothing.
absl::StatusOr<hlo::Module> ModuleOfParameters(
    absl::Span<const hlo::ShapePtr> shapes) {
  std::string text = "HloModule arguments\n\nENTRY main {\n";
  for (size_t i = 0; i < shapes.size(); ++i) {
    absl::StrAppend(&text, "  p", i, " = ", shapes[i]->ToString(),
                    " parameter(", i, ")\n");
  }
  absl::StrAppend(&text, "  ROOT nothing = () tuple()\n}\n");
  return ReadHlo(text);
}

}  // namespace

absl::StatusOr<std::unique_ptr<MeasuredSubject>> MeasuredSubject::Create(
    const std::string& text, KernelForm form) {
  if (form == KernelForm::kProgram) {
    HONE_ASSIGN_OR_RETURN(loops::Program program, loops::ParseProgram(text));
    Interface interface = InterfaceOf(program);
    std::vector<hlo::ShapePtr> parameters = std::move(interface.arguments);
    for (size_t i : interface.updated_results) {
      parameters.push_back(interface.results[i]);
    }
    HONE_ASSIGN_OR_RETURN(hlo::Module module, ModuleOfParameters(parameters));
    return std::make_unique<KernelSubject>(
        std::move(module), /*has_reference=*/false,
        std::move(interface.results), std::move(interface.updated_results),
        std::move(program));
  }
  HONE_ASSIGN_OR_RETURN(hlo::Module module, ReadHlo(text));
  if (form == KernelForm::kModule) {
    HONE_ASSIGN_OR_RETURN(loops::ModulePlan plan, LowerToCanonicalPlan(module));
    return std::make_unique<ModuleSubject>(std::move(module), std::move(plan));
  }
  HONE_ASSIGN_OR_RETURN(loops::Program program, loops::LowerToProgram(module));
  std::vector<hlo::ShapePtr> results = ResultShapes(module);
  return std::make_unique<KernelSubject>(
      std::move(module), /*has_reference=*/true, std::move(results),
      /*updated_results=*/std::vector<size_t>(), std::move(program));
}

}  // namespace hone::backends
