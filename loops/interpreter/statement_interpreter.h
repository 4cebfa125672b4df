#ifndef HONE_LOOPS_INTERPRETER_STATEMENT_INTERPRETER_H_
#define HONE_LOOPS_INTERPRETER_STATEMENT_INTERPRETER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"

#include "hlo/evaluator/elementwise/elementwise.h"
#include "loops/ir/program.h"

namespace hone::loops {

// The elements of a buffer during interpretation.
struct Storage {
  const Buffer* buffer = nullptr;
  std::byte* data = nullptr;
  // For each allocated element, the lifetime of the buffer in which it was last
  // written: the element is initialized if that is the current one. Empty for
  // buffers whose elements are all initialized.
  std::vector<uint32_t> written;
  uint32_t life = 1;
  // For each allocated element, the stamps of the iterations that last wrote
  // and read it. Empty for buffers that iterations of parallel loops do not
  // share.
  std::vector<uint64_t> writers;
  std::vector<uint64_t> readers;
  // The memory that `data` points to, unless someone else owns it.
  std::vector<std::byte> own;
};

// The parallel loop that runs, if any, with the stamps of its iterations, which
// no other loop has.
struct ParallelStamps {
  uint64_t first = 0;
  // Stands for several iterations: one past the last.
  uint64_t several = 0;
  // The iteration that runs; 0 outside of parallel loops.
  uint64_t now = 0;
};

// An affine expression over the values of the loops around a statement.
struct SlotAffine {
  SlotAffine() = default;
  // `vars`: the variables of the loops around the statement, by depth.
  SlotAffine(const Affine& affine, absl::Span<const VarId> vars);

  int64_t Evaluate(const int64_t* values) const {
    int64_t value = constant;
    for (const auto& [slot, coefficient] : terms) {
      value += coefficient * values[slot];
    }
    return value;
  }

  int64_t constant = 0;
  absl::InlinedVector<std::pair<int32_t, int64_t>, 3> terms;
};

// A statement compiled for interpretation: variables resolved to depths, and
// operations to functions of the HLO evaluator.
class StatementInterpreter {
 public:
  // The program must have no structure defect. `storages`, by BufferId, and
  // `stamps` must outlive the interpreter and not move.
  StatementInterpreter(const Statement& statement, const Path& path,
                       absl::Span<const VarId> vars,
                       std::vector<Storage>& storages,
                       const ParallelStamps& stamps);

  // Executes the statement with these values of the loops around it. On failure
  // sets error() and returns false.
  bool Run(const int64_t* values);
  // Executes it for values of the innermost loop in `values`. As vectors do,
  // all lanes read before any of them writes, unless it is a reduction.
  bool RunLanes(int64_t* values, absl::Span<const int64_t> lanes);
  const std::string& error() const { return error_; }

 private:
  // Index into steps_.
  using StepId = int32_t;

  struct SlotIndex {
    SlotAffine affine;
    StepId offset = -1;
    hlo::ElementType offset_type = hlo::ElementType::kInvalid;
    int64_t size = 0;
    int64_t stride = 0;
  };
  struct SlotAccess {
    Storage* storage = nullptr;
    int64_t width = 0;  // bytes of an element
    absl::InlinedVector<SlotIndex, 4> indices;
  };
  struct SlotRange {
    SlotAffine value;
    int64_t lo = 0;
    int64_t hi = 0;
  };
  enum class Kind : uint8_t { kConstant, kLoad, kIndex, kCall, kWhere };
  // One operation of the compiled statement.
  struct Step {
    Kind kind = Kind::kConstant;
    hlo::evaluator::ElementwiseFn fn = nullptr;  // kCall
    std::vector<StepId> operands;                // kCall, kWhere
    SlotAccess access;                           // kLoad
    SlotAffine index;                            // kIndex
    std::vector<SlotRange> ranges;               // kWhere
    // The value, unless it is stored elsewhere.
    alignas(16) std::byte value[16] = {};
  };

  StepId Add(Step step);
  StepId Compile(const Expression& e);
  StepId CompileApply(const Expression& e);
  SlotAccess Compile(const Access& access);
  // Converts a value by way of the types that the evaluator computes in.
  StepId Convert(StepId value, hlo::ElementType from, hlo::ElementType to);

  // A value to be stored.
  struct Write {
    int64_t element = -1;
    const std::byte* value = nullptr;  // null: the predicate is false
  };
  // Returns false on an error.
  bool Prepare(const int64_t* values, Write& write);
  bool Store(const Write& write);
  // Notes that the iteration that runs reads or writes an element. Returns
  // false if another one of the parallel loop does so, and one of the two
  // writes.
  bool NoteRead(Storage& storage, int64_t element);
  bool NoteWrite(Storage& storage, int64_t element);
  bool FailShared(const Storage& storage, int64_t element, uint64_t other);
  // Returns the address of the value; null on an error.
  const std::byte* Evaluate(StepId id);
  // Returns the number of the allocated element; -1 on an error.
  int64_t Locate(const SlotAccess& access);
  void Fail(const std::string& message);

  const Path path_;
  const std::vector<VarId> vars_;
  const bool combines_;
  std::vector<Storage>& storages_;
  const ParallelStamps& stamps_;
  std::vector<Step> steps_;
  StepId predicate_ = -1;
  StepId value_ = -1;
  SlotAccess target_;
  const int64_t* values_ = nullptr;
  std::string error_;
};

}  // namespace hone::loops

#endif  // HONE_LOOPS_INTERPRETER_STATEMENT_INTERPRETER_H_
