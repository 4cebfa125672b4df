#ifndef HONE_BACKENDS_TPU_SIM_MATRIX_WORK_H_
#define HONE_BACKENDS_TPU_SIM_MATRIX_WORK_H_

#include "backends/tpu_sim/instruction_work.h"

namespace hone::backends {

// Products on the systolic arrays: one operand's tiles of 128 × 128 are loaded
// as weights, the rows of the other stream through. README.md has the
// equations. A convolution is a product for each position of its window; one
// with a single input feature per group runs on the vector unit.
InstructionWork DotWork(const hlo::TiledKernel& kernel,
                        const hlo::IdMap<hlo::Region>& regions,
                        const hlo::Instruction& instruction, const Tpu& tpu);
InstructionWork ConvolutionWork(const hlo::TiledKernel& kernel,
                                const hlo::IdMap<hlo::Region>& regions,
                                const hlo::Instruction& instruction,
                                const Tpu& tpu);

}  // namespace hone::backends

#endif  // HONE_BACKENDS_TPU_SIM_MATRIX_WORK_H_
