#ifndef HONE_HLO_FUSION_FUSION_SPACE_H_
#define HONE_HLO_FUSION_FUSION_SPACE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"

#include "hlo/ir/module.h"

namespace hone::hlo {

// What the kernels of an instruction may be.
enum class FusionRole : uint8_t {
  kSource,       // no kernel: a value that kernels read
  kAlone,        // a kernel by itself
  kRootOnly,     // reads fused instructions, is fused into none
  kElementwise,  // each element of the result from the same of each operand
  kMovement,     // another way to index, or a reduction that is not significant
  kHero,         // what the kernel is about: dot, convolution, significant
                 // reduction, reduce-window
};

// A value of a program: an instruction that some kernel computes or reads.
struct FusionNode {
  ComputationId computation = kNoComputation;
  InstructionId instruction = kNoInstruction;
  FusionRole role = FusionRole::kSource;
  // True for nodes that some kernel of another node may compute.
  bool may_fuse = false;
  // False for nodes that are no root of a kernel with other nodes.
  bool may_end = true;
  // True for nodes that cost nothing to compute again: broadcasts of a constant
  // and iota.
  bool is_cheap = false;
  // True if the result may lie in memory with its two minor dimensions swapped:
  // it is a row-major matrix, or several, which only kernels of this space
  // write and read.
  bool may_swap = false;
  double executions = 0;  // ExecutedRegions
};

// The index of a node. Operands come before their users, except that sources
// come last.
using FusionIndex = int32_t;

// A fusion decision: a value for each node. [nodes]
//
// kFused: the node is computed within the kernels of all its users and by none
// of its own. Every other node that is no source is the root of a kernel, which
// computes it and, again in each kernel, the fused nodes that it reads directly
// or through others. So a fused node with several users may be computed several
// times, and no decision makes a cycle.
using FusionBits = std::vector<uint8_t>;
inline constexpr uint8_t kOwnKernel = 0;
inline constexpr uint8_t kFused = 1;
// Not decided yet, where decisions are checked in part (KernelRules).
inline constexpr uint8_t kUndecided = 2;

// How the results of roots lie in memory: 0 as the module says (row-major where
// it says nothing), 1 with the two minor dimensions swapped, for nodes that
// may_swap. Of fused nodes it means nothing. [nodes]
using LayoutBits = std::vector<uint8_t>;

// The instructions of a program that can be fused, each region (ExecutedRegion)
// for itself, and how they depend on each other.
//
// What crosses a region or is seen outside is not fused: parameters, roots,
// tuples and their elements, control flow, side effects, random generators,
// custom calls, collectives, ends of control dependencies, arrays of dynamic
// size, instructions with attributes that Hone does not know. So are all of a
// scheduled module. Which of the others may be is the matter of KernelRules.
// Threads: immutable, so thread-safe.
class FusionSpace {
 public:
  // A reduction is significant that reads so many bytes for each that it
  // writes.
  static constexpr double kSignificantReduction = 16;

  // `module` must verify; it is kept.
  explicit FusionSpace(Module module);

  const Module& module() const { return module_; }
  size_t size() const { return nodes_.size(); }
  const FusionNode& node(FusionIndex i) const {
    return nodes_[static_cast<size_t>(i)];
  }
  const Instruction& instruction(FusionIndex i) const {
    return module_.computation(node(i).computation)[node(i).instruction];
  }
  // "NAME", or "OPCODE" of one without a name.
  std::string NameOf(FusionIndex i) const;

  // The nodes that `i` reads and those that read it, each once.
  absl::Span<const FusionIndex> producers(FusionIndex i) const {
    return Slice(producers_, producers_begin_, i);
  }
  absl::Span<const FusionIndex> consumers(FusionIndex i) const {
    return Slice(consumers_, consumers_begin_, i);
  }

  // The nodes that may_fuse, users before what they read; and those that
  // may_swap, ascending. What can be decided.
  const std::vector<FusionIndex>& fusible() const { return fusible_; }
  const std::vector<FusionIndex>& swappable() const { return swappable_; }

  // No node fused, no layout swapped.
  FusionBits Unfused() const { return FusionBits(size(), kOwnKernel); }
  LayoutBits RowMajor() const { return LayoutBits(size(), 0); }

  // The shape of a node in memory under a choice of layouts.
  ShapePtr ShapeInMemory(FusionIndex i,
                         absl::Span<const uint8_t> layouts) const;
  // The node of an instruction; -1 if it has none.
  FusionIndex IndexOf(ComputationId computation, InstructionId id) const;

 private:
  absl::Span<const FusionIndex> Slice(const std::vector<FusionIndex>& values,
                                      const std::vector<size_t>& begin,
                                      FusionIndex i) const {
    const auto at = static_cast<size_t>(i);
    return absl::MakeConstSpan(values).subspan(begin[at],
                                               begin[at + 1] - begin[at]);
  }
  void AddNodes();
  void AddEdges();
  void FindChoices();

  Module module_;
  std::vector<FusionNode> nodes_;
  // By computation and instruction.
  std::vector<std::vector<FusionIndex>> index_of_;
  std::vector<FusionIndex> producers_;
  std::vector<size_t> producers_begin_;  // [nodes + 1]
  std::vector<FusionIndex> consumers_;
  std::vector<size_t> consumers_begin_;  // [nodes + 1]
  std::vector<FusionIndex> fusible_;
  std::vector<FusionIndex> swappable_;
};

}  // namespace hone::hlo

#endif  // HONE_HLO_FUSION_FUSION_SPACE_H_
