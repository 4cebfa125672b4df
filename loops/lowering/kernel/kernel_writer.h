#ifndef HONE_LOOPS_LOWERING_KERNEL_KERNEL_WRITER_H_
#define HONE_LOOPS_LOWERING_KERNEL_KERNEL_WRITER_H_

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "loops/ir/program.h"
#include "loops/lowering/graph/fusion.h"
#include "loops/lowering/graph/value_graph.h"
#include "loops/lowering/kernel/buffer_names.h"
#include "loops/lowering/kernel/nest.h"

namespace hone::loops {

// Writes a kernel for some instructions of a computation. Subclasses decide
// which buffers hold the arrays of the computation.
class KernelWriter {
 public:
  KernelWriter(const ValueGraph& graph, Fusion& fusion, Program& program)
      : graph_(graph), fusion_(fusion), program_(program) {}
  virtual ~KernelWriter() = default;

  // Returns the buffer that holds `value`, which must be the source of its own
  // bytes (ValueGraph::Source). May first write the instruction that computes
  // it, before the current one. Errors: as LowerToProgram.
  virtual absl::StatusOr<BufferId> BufferToRead(ValueId value) = 0;
  // Returns the buffer that the instruction of `value` writes it to.
  virtual BufferId BufferToWrite(ValueId value) = 0;
  // Returns true if that buffer holds the operand that the instruction of
  // `value` updates, so that the operand need not be copied.
  virtual bool UpdatesInPlace(ValueId /*value*/) const { return false; }

  const ValueGraph& graph() const { return graph_; }
  Fusion& fusion() { return fusion_; }
  Program& program() { return program_; }
  BufferNames& names() { return names_; }

  // Returns the access to the element at `indices` of `buffer`, viewed as an
  // array of `dimensions`.
  Access AccessOf(const Nest& nest, BufferId buffer,
                  absl::Span<const int64_t> dimensions,
                  const Indices& indices) const;
  // Returns the access to an element of the value that is being written.
  Access Target(const Nest& nest, ValueId value, const Indices& indices);
  ExpressionPtr Load(Access access) const;

  // Returns one element of a value, loaded or computed in place (read.cc).
  absl::StatusOr<ExpressionPtr> Read(Nest& nest, ValueId value,
                                     const Indices& indices);
  // Returns one element of a value, computed from its operands even if it is
  // stored. Not for values that need loops of their own.
  absl::StatusOr<ExpressionPtr> Compute(Nest& nest, ValueId value,
                                        const Indices& indices);

  // Writes the loops that compute all arrays of an instruction.
  absl::Status Write(hlo::InstructionId id);
  // Writes the loops that copy `value` to `buffer`.
  absl::Status WriteCopy(ValueId value, BufferId buffer);

 private:
  absl::Status WriteNest(absl::FunctionRef<absl::Status(Nest&)> fill);

  const ValueGraph& graph_;
  Fusion& fusion_;
  Program& program_;
  BufferNames names_;
};

}  // namespace hone::loops

#endif  // HONE_LOOPS_LOWERING_KERNEL_KERNEL_WRITER_H_
