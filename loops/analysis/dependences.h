#ifndef HONE_LOOPS_ANALYSIS_DEPENDENCES_H_
#define HONE_LOOPS_ANALYSIS_DEPENDENCES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"

#include "loops/ir/program.h"

namespace hone::loops {

// One access by one statement.
struct AccessSite {
  // The path of the statement.
  Path path;
  Access access;
  bool is_write = false;
  // The operation of a write that combines. Two writes that combine with the
  // same operation may be reordered, up to rounding.
  std::optional<hlo::Opcode> combine;
  // The ranges of the kWhere expressions around a load.
  std::vector<Range> ranges;
};

// Returns every access at or below `path` (empty: of the whole program), in
// program order. A combining statement has one site for its read and write.
std::vector<AccessSite> CollectAccesses(const Program& program,
                                        const Path& path);

// The number of loops around both.
size_t CommonLoops(const AccessSite& a, const AccessSite& b);

// Returns true if the order of the two never matters, even if they touch the
// same element: two reads, or two writes that combine with the same operation.
bool Commute(const AccessSite& a, const AccessSite& b);

// The relation between the iterations of a common loop in a query: the source's
// iteration is earlier than the target's, the same, later, or any.
enum class Direction : uint8_t { kEarlier, kSame, kLater, kAny };

// Returns true if source and target may touch the same element in iterations
// related by `directions`, which has one entry per common loop, outermost
// first. Exact for affine accesses: an integer search (integer_system.h) takes
// bounds, ranges and strides into account. A data-dependent index may have any
// value in its dimension. Returns true if the search would take too long. The
// elements of a local buffer are distinct in each iteration of the loop that
// declares it.
bool MayConflict(const Program& program, const AccessSite& source,
                 const AccessSite& target,
                 absl::Span<const Direction> directions);

struct CarryOptions {
  // Ignores pairs of writes that combine with the same operation: reductions
  // may be evaluated in any order.
  bool reorder_reductions = true;
};

// Returns true if the loop at `path` carries a dependence: two accesses in it,
// at least one of them a write, may touch the same element in different
// iterations of the loop, but in the same iterations of the loops around it. If
// it carries none with reorder_reductions off, its iterations may run in any
// order and concurrently.
bool CarriesDependence(const Program& program, const Path& path,
                       const CarryOptions& options = {});

}  // namespace hone::loops

#endif  // HONE_LOOPS_ANALYSIS_DEPENDENCES_H_
