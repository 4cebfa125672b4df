#include "backends/cpu/native_module.h"

#include <string>
#include <utility>

#include "backends/cpu/compiler.h"
#include "backends/cpu/host.h"
#include "backends/cpu/kernel_runtime.h"
#include "backends/cpu/loaded_object.h"
#include "base/status_macros.h"
#include "loops/lowering/lowering.h"
#include "loops/schedules/default_schedule.h"
#include "loops/text/canonical.h"
#include "loops/transforms/script.h"

namespace hone::backends {
namespace {

constexpr char kSymbol[] = "module";

// Creates a value of this shape; collects the addresses of its arrays.
hlo::Literal Allocate(const hlo::ShapePtr& shape,
                      std::vector<void*>& pointers) {
  if (!shape->IsTuple()) {
    hlo::Literal literal(shape);
    pointers.push_back(literal.MutableData());
    return literal;
  }
  std::vector<hlo::Literal> elements;
  for (const hlo::ShapePtr& element : shape->tuple_elements()) {
    elements.push_back(Allocate(element, pointers));
  }
  return hlo::Literal::Tuple(std::move(elements));
}

class JitModule final : public NativeModule {
 public:
  JitModule(std::unique_ptr<LoadedObject> object, EntryFunction entry,
            hlo::ShapePtr result_shape)
      : object_(std::move(object)),
        entry_(entry),
        result_shape_(std::move(result_shape)) {}

  absl::StatusOr<hlo::Literal> Run(
      absl::Span<const hlo::Literal> arguments) const override {
    std::vector<const void*> from;
    for (const hlo::Literal& argument : arguments) {
      // The data is shared, so that it outlives these.
      for (const hlo::Literal& leaf : hlo::Leaves(argument)) {
        from.push_back(leaf.data());
      }
    }
    std::vector<void*> to;
    hlo::Literal result = Allocate(result_shape_, to);
    if (entry_(nullptr, from.data(), to.data()) != HONE_OK) {
      return absl::InternalError(hone_kernel_error_message());
    }
    return result;
  }

 private:
  const std::unique_ptr<LoadedObject> object_;
  const EntryFunction entry_;
  const hlo::ShapePtr result_shape_;
};

// Returns the kernel with the schedule that `tuned` has for it, if it applies.
std::optional<loops::Program> Tuned(const loops::Program& kernel,
                                    const ScheduleSource& tuned) {
  if (!tuned) return std::nullopt;
  const auto canonical = loops::CanonicalProgram(kernel);
  if (!canonical.ok()) return std::nullopt;
  const auto script = tuned(*canonical);
  if (!script) return std::nullopt;
  absl::StatusOr<loops::Program> scheduled =
      loops::ApplyScript(*canonical, *script);
  if (!scheduled.ok()) return std::nullopt;
  scheduled->set_name(kernel.name());
  return *std::move(scheduled);
}

}  // namespace

absl::StatusOr<loops::ModulePlan> LowerAndSchedule(
    const hlo::Module& module, int32_t threads, const ScheduleSource& tuned) {
  HONE_ASSIGN_OR_RETURN(loops::ModulePlan plan, loops::LowerToPlan(module));
  loops::Machine machine = DetectHost().machine;
  machine.threads = threads;
  for (loops::Program& kernel : plan.kernels) {
    if (auto scheduled = Tuned(kernel, tuned)) {
      kernel = *std::move(scheduled);
      continue;
    }
    HONE_ASSIGN_OR_RETURN(
        kernel,
        loops::ApplyScript(kernel, loops::DefaultSchedule(kernel, machine)));
  }
  return plan;
}

absl::StatusOr<std::unique_ptr<NativeModule>> NativeModule::Create(
    const hlo::Module& module, int32_t threads, const ScheduleSource& tuned) {
  HONE_ASSIGN_OR_RETURN(const loops::ModulePlan plan,
                        LowerAndSchedule(module, threads, tuned));
  hone_kernel_set_threads(threads);
  HONE_ASSIGN_OR_RETURN(const std::string object,
                        CompilePlan(plan, kSymbol, {.threads = threads}));
  HONE_ASSIGN_OR_RETURN(auto loaded, LoadedObject::Create(object));
  HONE_ASSIGN_OR_RETURN(const EntryFunction entry, loaded->Entry(kSymbol));
  const hlo::Computation& computation = module.entry_computation();
  return std::make_unique<JitModule>(
      std::move(loaded), entry, computation[computation.root()].shape_ptr());
}

}  // namespace hone::backends
