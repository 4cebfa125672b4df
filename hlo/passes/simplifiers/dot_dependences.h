#ifndef HONE_HLO_PASSES_SIMPLIFIERS_DOT_DEPENDENCES_H_
#define HONE_HLO_PASSES_SIMPLIFIERS_DOT_DEPENDENCES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"

#include "hlo/ir/computation.h"

namespace hone::hlo {

// Some dots of a list, a bit each.
using DotSet = std::vector<uint64_t>;

// Returns true if a dot is in both sets.
bool Intersect(const DotSet& a, const DotSet& b);
// Adds the dots of `other` to `set`.
void Unite(DotSet& set, const DotSet& other);

// Tells which of a list of dots need the results of which others. Takes time
// and memory for each instruction between the first and the last of them times
// their number, in words.
class DotDependences {
 public:
  // `order` is a topological order of the computation.
  DotDependences(const Computation& computation,
                 absl::Span<const InstructionId> order,
                 absl::Span<const InstructionId> dots);

  // The set of dot number `dot`.
  DotSet Only(size_t dot) const;
  // The dots whose results a dot needs, and itself.
  const DotSet& NeededBy(size_t dot) const { return needed_[dot]; }
  // Takes note that the dots of `group` became one, which needs `needed`.
  void Join(const DotSet& group, const DotSet& needed);

 private:
  const size_t words_;
  std::vector<DotSet> needed_;
};

}  // namespace hone::hlo

#endif  // HONE_HLO_PASSES_SIMPLIFIERS_DOT_DEPENDENCES_H_
