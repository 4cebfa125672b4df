#ifndef HONE_BACKENDS_TPU_SIM_INSTRUCTION_WORK_H_
#define HONE_BACKENDS_TPU_SIM_INSTRUCTION_WORK_H_

#include "backends/tpu_sim/unit_work.h"
#include "hlo/ir/id_map.h"
#include "hlo/tiles/operand_regions.h"
#include "hlo/tiles/tiled_kernel.h"

namespace hone::backends {

// The work of one instruction for a tile, without loads of operands and stores
// of results where it is part of a loop over registers (hlo::IsInLoop).
struct InstructionWork {
  UnitWork work;
  // Cycles in which nothing can be issued, once.
  double stall = 0;
};

// The registers of an instruction's region, unpacked to 32 bits; those of all
// its bytes if it is not an array.
double Registers(const hlo::Instruction& instruction,
                 const hlo::Region& region);
// The same as it lies in VMEM.
double StoredRegisters(const hlo::Instruction& instruction,
                       const hlo::Region& region);

// Returns the work of an instruction for the regions of a tile. README.md has
// the equations.
InstructionWork WorkOf(const hlo::TiledKernel& kernel,
                       const hlo::IdMap<hlo::Region>& regions,
                       const hlo::Instruction& instruction, const Tpu& tpu);

}  // namespace hone::backends

#endif  // HONE_BACKENDS_TPU_SIM_INSTRUCTION_WORK_H_
