#ifndef HONE_BACKENDS_LLVM_OPTIMIZE_H_
#define HONE_BACKENDS_LLVM_OPTIMIZE_H_

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace hone::backends {

// Runs a short pipeline on the output of EmitProgram, which is vectorized and
// unrolled already: memory to registers, common subexpressions, simplification,
// loop-invariant code motion. Neither vectorizes nor unrolls loops.
void OptimizeModule(llvm::Module& module, llvm::TargetMachine& machine);

}  // namespace hone::backends

#endif  // HONE_BACKENDS_LLVM_OPTIMIZE_H_
