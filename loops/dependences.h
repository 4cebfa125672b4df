#ifndef HONE_LOOPS_DEPENDENCES_H_
#define HONE_LOOPS_DEPENDENCES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"

#include "loops/program.h"

namespace hone::loops {

// One access of one statement.
struct AccessSite {
  Path path;  // of the statement
  Access access;
  bool is_write = false;
  // A write that combines; two such with one operation may change places, up to
  // rounding.
  std::optional<hlo::Opcode> combine;
  // Ranges of the wheres around a load.
  std::vector<Range> ranges;
};

// Every access at or below `path` (empty: of the whole program), in program
// order; a combining statement has one site for its read and write together.
std::vector<AccessSite> CollectAccesses(const Program& program,
                                        const Path& path);

// How many scopes are above both.
size_t CommonScopes(const AccessSite& a, const AccessSite& b);

// Whether the order of the two does not matter even where they touch the same
// element: two reads, or two combining writes with one operation.
bool MayChangePlaces(const AccessSite& a, const AccessSite& b);

// How iterations of a common scope are related in a question: the source's
// iteration is earlier, the same, later, or any.
enum class Direction : uint8_t { kEarlier, kSame, kLater, kAny };

// Whether source and target may touch the same element in iterations related
// as `directions` says, one for each scope that is above both, outermost first.
// Exact for affine accesses: bounds, ranges and strides are taken into account
// by search over the integers (integer_system.h). A data-dependent index may be
// any in its dimension. Where the search would take too long the answer is yes.
// A local buffer's elements are other ones in each iteration of the scope that
// declares it.
bool MayConflict(const Program& program, const AccessSite& source,
                 const AccessSite& target,
                 absl::Span<const Direction> directions);

struct CarryOptions {
  // Pairs of combining writes with one operation do not count: reductions may
  // be carried out in any order.
  bool reorder_reductions = true;
};

// Whether the scope at `path` carries a dependence: two accesses in it, at
// least one of them a write, may touch one element in different iterations of
// the scope (and the same ones of those above). If it does not, its iterations
// can run in any order and at once; with reorder_reductions off.
bool CarriesDependence(const Program& program, const Path& path,
                       const CarryOptions& options = {});

}  // namespace hone::loops

#endif  // HONE_LOOPS_DEPENDENCES_H_
