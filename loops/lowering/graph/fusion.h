#ifndef HONE_LOOPS_LOWERING_GRAPH_FUSION_H_
#define HONE_LOOPS_LOWERING_GRAPH_FUSION_H_

#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"

#include "loops/lowering/graph/value_graph.h"

namespace hone::loops {

// Returns the literal of a constant whose elements are all equal; null for
// every other value.
const hlo::Literal* UniformConstant(const ValueGraph& graph, ValueId id);

// Decides which values get a buffer, and which are computed where they are
// used.
//
// Stored: parameters, constants, reductions, dots, convolutions and everything
// else that needs loops of its own. An elementwise or data movement value is
// computed in place if a single reader reads each element once; also if it has
// several readers, or its elements are read repeatedly, provided that this
// repeats little work and few loads. The operands of dots and convolutions,
// which are read many times, may only be re-indexed in place. If a dot is only
// read by a transpose, the transpose is stored instead and the loops of the dot
// write it directly. Expressions are limited in size.
class Fusion {
 public:
  // `must_store`: values that must be in memory, such as results.
  Fusion(const ValueGraph& graph, absl::Span<const ValueId> must_store);

  bool IsStored(ValueId id) const {
    return info_[static_cast<size_t>(id)].stored;
  }
  // Returns true if `id` is a dot read only by a transpose that is stored in
  // its place.
  bool IsWrittenTransposed(ValueId id) const {
    return info_[static_cast<size_t>(id)].written_transposed;
  }
  // Returns true if `id` is such a transpose.
  bool IsTransposedDot(ValueId id) const;
  // Marks a value as stored.
  void Store(ValueId id);

 private:
  struct Info {
    bool stored = false;
    // The number of expression nodes, and their approximate cost in additions.
    int64_t size = 1;
    int64_t work = 0;
    // The stored arrays that are read, except small ones; at most kMaxSources
    // are distinguished.
    absl::InlinedVector<ValueId, 4> sources;
    // The number of operands that are this value.
    int32_t uses = 0;
    // True if a reader reads elements more than once.
    bool repeated = false;
    // See IsWrittenTransposed.
    bool written_transposed = false;
  };

  Info& info(ValueId id) { return info_[static_cast<size_t>(id)]; }
  void CountUses();
  void WriteDotsTransposed();
  void StoreContractionOperand(ValueId id);
  void StoreThrough(ValueId id);
  void LimitOperandSizes(hlo::InstructionId id);
  void Decide(ValueId id);
  void Summarize(ValueId id);

  const ValueGraph& graph_;
  std::vector<Info> info_;
};

}  // namespace hone::loops

#endif  // HONE_LOOPS_LOWERING_GRAPH_FUSION_H_
