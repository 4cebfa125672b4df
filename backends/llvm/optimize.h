#ifndef HONE_BACKENDS_LLVM_OPTIMIZE_H_
#define HONE_BACKENDS_LLVM_OPTIMIZE_H_

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace hone::backends {

// A short pipeline for what EmitProgram makes, which is vectorised and unrolled
// already: memory to values, common expressions, simplification, motion out of
// loops. Loops are neither vectorised nor unrolled.
void OptimizeModule(llvm::Module& module, llvm::TargetMachine& machine);

}  // namespace hone::backends

#endif  // HONE_BACKENDS_LLVM_OPTIMIZE_H_
