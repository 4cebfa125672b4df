#include "hlo/fusion/kernels.h"

#include <utility>

#include "base/status_macros.h"
#include "hlo/fusion/executed_regions.h"
#include "hlo/fusion/kernel_module.h"

namespace hone::hlo {
namespace {

absl::StatusOr<Module> KernelOf(const Module& module,
                                const Computation& computation,
                                InstructionId id) {
  if (computation[id].opcode() == Opcode::kFusion) {
    return MakeFusionKernel(module, computation, id);
  }
  ExtractedComputation extracted = ExtractInstructions(
      computation, {id},
      [&](InstructionId i) { return computation[i].shape_ptr(); },
      /*annotations=*/false);
  return MakeKernelModule(module, std::move(extracted.computation));
}

}  // namespace

absl::StatusOr<std::vector<Kernel>> KernelsOf(const Module& module) {
  std::vector<Kernel> kernels;
  for (const ExecutedRegion& region : ExecutedRegions(module)) {
    const Computation& computation = module.computation(region.computation);
    for (const InstructionId id : region.instructions) {
      if (!HasKernel(computation[id])) continue;
      HONE_ASSIGN_OR_RETURN(Module kernel, KernelOf(module, computation, id));
      kernels.push_back(
          {std::move(kernel), region.computation, id, region.executions});
    }
  }
  return kernels;
}

}  // namespace hone::hlo
