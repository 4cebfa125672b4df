#ifndef HONE_HLO_EVALUATOR_ELEMENTWISE_PROGRAM_H_
#define HONE_HLO_EVALUATOR_ELEMENTWISE_PROGRAM_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"

#include "hlo/evaluator/elementwise/elementwise.h"
#include "hlo/ir/instruction.h"
#include "hlo/ir/literal.h"

namespace hone::hlo::evaluator {

// A straight-line program over registers that each hold a block of elements:
// elementwise instructions compiled once and run over many elements. The same
// program serves a chain of large arrays and a region applied to scalars.
// Threads: Run is thread-safe given one Workspace per thread.
class ElementwiseProgram {
 public:
  using Register = int;
  // Elements of a block; few enough for a program's registers to stay cached.
  static constexpr int64_t kBlock = 1024;

  Register AddInput(ElementType type);
  // A scalar that every element sees.
  Register AddConstant(const Literal& scalar);
  // Returns nullopt when the instruction is not elementwise or has no kernel;
  // the program must then be given up.
  std::optional<Register> AddInstruction(const Instruction& instruction,
                                         absl::Span<const Register> operands);
  // The same values in a register of their own.
  Register AddCopy(Register value);
  // Outputs are written when they are computed; a program with several that may
  // overwrite its inputs must copy them last (AddCopy).
  void AddOutput(Register value);

  ElementType type(Register r) const {
    return registers_[static_cast<size_t>(r)].type;
  }
  size_t output_count() const { return outputs_.size(); }

  struct Input {
    const std::byte* data = nullptr;
    // One element stands for all.
    bool is_splat = false;
  };

  // Register storage for runs over up to `max_elements` at a time.
  class Workspace {
   public:
    explicit Workspace(const ElementwiseProgram& program,
                       int64_t max_elements = kBlock);

   private:
    friend class ElementwiseProgram;
    int64_t block_;
    std::vector<std::byte> storage_;
    std::vector<std::byte*> registers_;
  };

  // Computes elements [begin, end) of the outputs from the same elements of the
  // inputs; pointers are to element 0. An output may be an input's buffer.
  void Run(absl::Span<const Input> inputs, absl::Span<std::byte* const> outputs,
           int64_t begin, int64_t end, Workspace& workspace) const;

 private:
  struct RegisterInfo {
    ElementType type;
    int input = -1;         // index of the input it is
    int constant = -1;      // index into constants_
    Register widened = -1;  // the same values in the compute type
  };
  struct Operation {
    ElementwiseFn fn;
    Register operands[3];
    Register result;
  };

  Register AddRegister(ElementType type);
  // The register's values in `to`, which is a type to compute in, or back.
  std::optional<Register> Converted(Register r, ElementType to);

  std::vector<RegisterInfo> registers_;
  std::vector<Operation> operations_;
  std::vector<Literal> constants_;
  std::vector<Register> inputs_;
  std::vector<Register> outputs_;
};

}  // namespace hone::hlo::evaluator

#endif  // HONE_HLO_EVALUATOR_ELEMENTWISE_PROGRAM_H_
