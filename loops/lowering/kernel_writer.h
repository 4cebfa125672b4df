#ifndef HONE_LOOPS_LOWERING_KERNEL_WRITER_H_
#define HONE_LOOPS_LOWERING_KERNEL_WRITER_H_

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "loops/lowering/buffer_names.h"
#include "loops/lowering/fusion.h"
#include "loops/lowering/nest.h"
#include "loops/lowering/value_graph.h"
#include "loops/program.h"

namespace hone::loops {

// Where the arrays of a computation lie while a kernel for some of them is
// written.
class KernelWriter {
 public:
  KernelWriter(const ValueGraph& graph, Fusion& fusion, Program& program)
      : graph_(graph), fusion_(fusion), program_(program) {}
  virtual ~KernelWriter() = default;

  // The buffer of the program that holds `value`, which is the source of its
  // own bytes (ValueGraph::Source). May first have to write the instruction
  // that makes it, in front of the current one.
  // Errors: as LowerToProgram.
  virtual absl::StatusOr<BufferId> BufferToRead(ValueId value) = 0;
  // Likewise, for the instruction that makes `value`.
  virtual BufferId BufferToWrite(ValueId value) = 0;

  const ValueGraph& graph() const { return graph_; }
  Fusion& fusion() { return fusion_; }
  Program& program() { return program_; }
  BufferNames& names() { return names_; }

  // The element of `buffer`, of dimensions `dimensions` if its own are others,
  // at `indices`.
  Access AccessOf(const Nest& nest, BufferId buffer,
                  absl::Span<const int64_t> dimensions,
                  const Indices& indices) const;
  // An element of what is being written.
  Access Target(const Nest& nest, ValueId value, const Indices& indices);
  ExpressionPtr Load(Access access) const;

  // One element of a value, from memory or computed in place (read.cc).
  absl::StatusOr<ExpressionPtr> Read(Nest& nest, ValueId value,
                                     const Indices& indices);
  // Likewise, computed from its operands even if it is stored. Not for values
  // that loops write.
  absl::StatusOr<ExpressionPtr> Compute(Nest& nest, ValueId value,
                                        const Indices& indices);

  // Loops that write all arrays of an instruction (write.cc).
  absl::Status Write(hlo::InstructionId id);
  // Loops that write `value` to `buffer`.
  absl::Status WriteCopy(ValueId value, BufferId buffer);

 private:
  absl::Status WriteNest(absl::FunctionRef<absl::Status(Nest&)> fill);

  const ValueGraph& graph_;
  Fusion& fusion_;
  Program& program_;
  BufferNames names_;
};

}  // namespace hone::loops

#endif  // HONE_LOOPS_LOWERING_KERNEL_WRITER_H_
