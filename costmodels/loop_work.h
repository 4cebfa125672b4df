#ifndef HONE_COSTMODELS_LOOP_WORK_H_
#define HONE_COSTMODELS_LOOP_WORK_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"

#include "loops/ir/program.h"
#include "loops/transforms/machine.h"

namespace hone::costmodels {

// What a scheduled kernel does on a machine, counted from its loops: nothing is
// executed. Counts are of one call of the kernel, where the calls before it
// left in the caches what fits. They are doubles, as extents may multiply
// beyond any integer.

// The data caches of a machine, from the nearest to the core.
inline constexpr size_t kCacheCount = 3;
using PerCache = std::array<double, kCacheCount>;

// Returns the sizes of the caches; that of the one before for one that is not
// there.
PerCache CacheBytes(const loops::Machine& machine);

// A loop, or the whole kernel.
struct LoopLevel {
  // The enclosing level, an index of LoopWork::levels; -1 for the kernel.
  int32_t parent = -1;
  // Null for the kernel.
  const loops::Loop* loop = nullptr;
  // Iterations each time, on the average over what bounds leave.
  double trips = 1;
  // The number of times that the loop is begun.
  double entries = 1;
  // The share of these in which its bound leaves out iterations. The others
  // need no masks: code generators make code of its own for them.
  double cut_share = 0;
  // Bytes of the cache lines that all iterations touch together, and that one
  // does, registers left out.
  double working_set = 0;
  double iteration_set = 0;
};

// How the lanes of a vector, or a scalar, are accessed.
enum class AccessForm {
  // The elements of a buffer that is kept in registers: no access at all.
  kRegister,
  kScalar,
  // The same element for all lanes.
  kBroadcast,
  // Adjacent elements.
  kContiguous,
  // Elements a step apart, or anywhere: one access for each lane. Register
  // buffers are then no registers, or lanes are inserted and extracted.
  kScattered,
  // A block that is contiguous along an unrolled loop around the vector loop:
  // whole vectors are loaded or stored, and transposed in registers.
  kTransposed,
};
inline constexpr size_t kAccessForms = 6;

// A load or a store.
struct AccessWork {
  loops::BufferId buffer = 0;
  bool is_store = false;
  // An index depends on data.
  bool data_dependent = false;
  // The buffer is kept in registers, but lanes are not adjacent there.
  bool register_scattered = false;
  // Stores of whole vectors that bypass the caches; the code generator makes
  // ordinary ones of all others.
  bool non_temporal = false;
  AccessForm form = AccessForm::kScalar;
  double element_bytes = 0;
  // Elements that are named, lanes included.
  double elements = 0;
  // Instructions: unrolled copies that name the same elements share one, and so
  // do the iterations of innermost loops that leave a load or a sum where it
  // is.
  double instructions = 0;
  // Bytes from one lane to the next.
  double lane_stride = 0;
  // Bytes of the distinct cache lines that it touches.
  double footprint = 0;
  // Bytes of lines that it brings into each cache. Stores that bypass the
  // caches bring in nothing, but all that they store goes to memory: it counts
  // as traffic of the last cache, even where everything fits.
  PerCache traffic = {};
  // The bytes from one iteration of the innermost loop that is neither a vector
  // nor unrolled to the next.
  double innermost_stride = 0;
  // The unrolled copies in that loop that are far apart: prefetching follows
  // each by itself.
  double streams = 1;
};

// Kinds of operations by what they cost.
enum class OperationKind {
  kFloat,    // add, multiply, compare, select of floats
  kInteger,  // the same of other types
  kConvert,
  kDivide,         // divisions and roots
  kTranscendental  // exponentials, logarithms, …: a chain of operations
};
inline constexpr size_t kOperationKinds = 5;

// A statement.
struct StatementWork {
  // The innermost loop around it, an index of LoopWork::levels.
  int32_t level = 0;
  // Times that it is executed, lanes included.
  double executions = 0;
  // The lanes of its vector loop; 1 without one.
  double lanes = 1;
  // The width in bytes of the elements that it computes with.
  double element_bytes = 0;
  // Copies in the code: the product of the unrolled extents around it.
  double copies = 1;
  // Operations of each execution, by kind; a multiply-add counts as one.
  std::array<double, kOperationKinds> operations = {};
  // Instructions of all executions, by kind; fewer than operations where loops
  // leave a value as it is.
  std::array<double, kOperationKinds> instructions = {};
  // Conditions on indices, each an operation of a mask.
  double conditions = 0;
  // It stores what it loads and computes nothing.
  bool is_copy = false;
  bool is_reduction = false;
  // An instruction sums products of adjacent narrow elements.
  bool is_dot = false;
  // Its results stay in registers while loops leave them where they are; else
  // they are loaded and stored at each step.
  bool is_kept = false;
  // Lanes are summed up in the end, one instruction's worth of them at a time.
  double lane_sums = 0;
  bool is_predicated = false;
  bool non_temporal = false;
  // The share of its vectors whose lanes are masked by a bound.
  double masked_share = 0;
  // It sums into lanes that are masked, or that are not adjacent: they are
  // loaded and stored at each step, as compilers keep no such lanes in
  // registers.
  bool stored_masked = false;
  // For reductions: the results that are summed up side by side between
  // iterations of the innermost sequential loop that sums, in vectors, and the
  // length of the chain of one of them. Each link waits for the one before it.
  double chains = 0;
  double chain_length = 0;
  // The accesses, indices of LoopWork::accesses: first … first + count - 1.
  size_t first_access = 0;
  size_t access_count = 0;
};

struct LoopWork {
  // The kernel, then its loops in the order of the program.
  std::vector<LoopLevel> levels;
  // In the order of the program.
  std::vector<StatementWork> statements;
  // In the order of loops::VisitAccesses for each statement.
  std::vector<AccessWork> accesses;
  // Iterations of loops that are neither vectors nor unrolled: branches.
  double branches = 0;
  // The number of times that a loop waits for a finished sum, of lanes or of
  // scalars, before it goes on to what reads it.
  double serial_links = 0;
  // Instructions in the code, about.
  double code_instructions = 0;
  // Vector registers that the largest set of register buffers declared by one
  // loop and those around it fills, or the sums of a loop side by side.
  double registers = 0;
  // Bytes of locals, by loops::Memory from kHeap on.
  std::array<double, 3> local_bytes = {};
  // The share of the iterations of parallel loops that one thread does.
  double thread_share = 1;
};

// Counts the work of a verified program.
LoopWork CountLoopWork(const loops::Program& program,
                       const loops::Machine& machine);

}  // namespace hone::costmodels

#endif  // HONE_COSTMODELS_LOOP_WORK_H_
