// reshape-decomposer: makes every reshape a mere new view of the same memory.
//
//   reshape(f32[2,3]{0,1} x) into f32[6]{0}
//     →  reshape(f32[2,3]{1,0} copy(x))
//   reshape(f32[6]{0} x) into f32[2,3]{0,1}
//     →  copy(f32[2,3]{1,0} reshape(x))
//
// and a copy on both sides where neither layout is the default one; copies
// change the layout. For code generators that cannot permute while they
// reshape. Legal always, and exact; it finds nothing to do before layouts are
// assigned. Not for tiled layouts and dynamic shapes. Upstream renames the
// reshapes that are left to bitcast, and looks for layouts of which one copy is
// enough.

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <set>
#include <vector>

#include "hlo/passes/registry.h"
#include "hlo/passes/rule_pass.h"
#include "hlo/rewrite/layouts.h"
#include "hlo/rewrite/makers.h"

namespace hone::hlo {
namespace {

// A dimension of an array: positions in row-major order and in memory.
struct Extent {
  int64_t size = 0;
  int64_t order_stride = 0;
  int64_t memory_stride = 0;
};

std::vector<Extent> Extents(const Shape& shape) {
  std::vector<Extent> extents(static_cast<size_t>(shape.rank()));
  int64_t stride = 1;
  for (size_t d = extents.size(); d-- > 0;) {
    extents[d].size = shape.dimensions()[d];
    extents[d].order_stride = extents[d].memory_stride = stride;
    stride *= extents[d].size;
  }
  if (shape.layout() == nullptr) return extents;
  stride = 1;
  for (int64_t d : shape.layout()->minor_to_major) {
    Extent& extent = extents[static_cast<size_t>(d)];
    extent.memory_stride = stride;
    stride *= extent.size;
  }
  return extents;
}

// The distance in memory to the element that is `order` steps further in
// row-major order.
int64_t MemoryStep(const std::vector<Extent>& extents, int64_t order) {
  for (const Extent& extent : extents) {
    if (extent.size > 1 && order >= extent.order_stride) {
      return order / extent.order_stride * extent.memory_stride;
    }
  }
  return 0;
}

// Returns true if the k-th element in row-major order is at the same place in
// memory, for every k; false in doubt, where sizes do not divide each other.
bool IsView(const Shape& from, const Shape& to) {
  if (from.layout() == nullptr && to.layout() == nullptr) return true;
  const std::vector<Extent> a = Extents(from);
  const std::vector<Extent> b = Extents(to);
  // The digits of k in a number system that both arrays share.
  std::set<int64_t> strides = {from.num_elements()};
  for (const std::vector<Extent>* extents : {&a, &b}) {
    for (const Extent& extent : *extents) strides.insert(extent.order_stride);
  }
  int64_t previous = 1;
  for (int64_t stride : strides) {
    if (stride % previous != 0) return false;
    previous = stride;
  }
  return std::all_of(strides.begin(), std::prev(strides.end()),
                     [&](int64_t stride) {
                       return MemoryStep(a, stride) == MemoryStep(b, stride);
                     });
}

bool DecomposeReshape(Rewriter& r, InstructionId id) {
  const InstructionId operand = r.operand(id, 0);
  const Shape& from = r.shape(operand);
  const Shape& to = r.shape(id);
  if (!MayReplaceInLayout(r, id) || !IsPlainArray(from) || !IsPlainArray(to) ||
      to.num_elements() == 0 || IsView(from, to)) {
    return false;
  }
  InstructionId value = operand;
  if (from.layout() != nullptr) {
    value = MakeCopyInto(r, value, WithLayout(from, nullptr));
  }
  value =
      r.Add(Instruction(Opcode::kReshape, WithLayout(to, nullptr), {value}));
  if (to.layout() != nullptr) value = MakeCopyInto(r, value, r[id].shape_ptr());
  return r.Replace(id, value);
}

}  // namespace

std::unique_ptr<Pass> MakeReshapeDecomposer() {
  return MakeRulePass({.name = "reshape-decomposer",
                       .opcodes = {Opcode::kReshape},
                       .checks_itself = true},
                      DecomposeReshape);
}

}  // namespace hone::hlo
