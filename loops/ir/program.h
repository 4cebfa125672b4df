#ifndef HONE_LOOPS_IR_PROGRAM_H_
#define HONE_LOOPS_IR_PROGRAM_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"

#include "hlo/ir/element_type.h"
#include "hlo/ir/literal.h"
#include "hlo/ir/opcode.h"
#include "hlo/ir/shape.h"
#include "loops/ir/affine.h"
#include "loops/ir/expression.h"
#include "loops/ir/path.h"

namespace hone::loops {

// The kind of memory that holds the elements of a buffer.
enum class Memory : uint8_t {
  // Passed in by the caller, by number. Arguments are read-only; every element
  // of a result must be written. An in-out array has values at first, and keeps
  // those that are not overwritten; it is numbered among the results.
  kArgument,
  kResult,
  kInOut,
  // Values known at compile time.
  kConstant,
  // Locals, uninitialized at first. kHeap is for any size, kStack for data that
  // fits in a cache, kRegister for data that fits in registers: every index of
  // a register buffer must be constant once unrolled and vector loops are
  // expanded.
  kHeap,
  kStack,
  kRegister,
};

struct Buffer {
  std::string name;
  hlo::ElementType type = hlo::ElementType::kF32;
  hlo::DimensionVector dimensions;
  // Elements from one index to the next, for each dimension. Row-major without
  // padding for arguments and results; may be padded or permuted for locals.
  hlo::DimensionVector strides;
  Memory memory = Memory::kHeap;
  // kArgument, kResult, kInOut: the number of the argument or result.
  int32_t number = 0;
  // kConstant: the values.
  hlo::LiteralPtr literal;

  bool IsLocal() const {
    return memory == Memory::kHeap || memory == Memory::kStack ||
           memory == Memory::kRegister;
  }
  // Returns true if the caller finds values in the buffer.
  bool IsOutput() const {
    return memory == Memory::kResult || memory == Memory::kInOut;
  }
  // Elements from the first to one past the last, gaps included.
  int64_t allocated_elements() const;
  int64_t allocated_bytes() const {
    return allocated_elements() * hlo::ByteWidth(type);
  }
  // Returns true if the strides are row-major without gaps.
  bool IsDense() const;
};
using BufferPtr = std::shared_ptr<const Buffer>;

// Row-major strides without gaps, in elements.
hlo::DimensionVector DenseStrides(absl::Span<const int64_t> dimensions);

struct Loop;
struct Statement;

// A node of the tree: a loop or a statement; immutable and shared.
class Node {
 public:
  Node(std::shared_ptr<const Loop> loop)  // NOLINT: a loop is a node
      : loop_(std::move(loop)) {}
  Node(std::shared_ptr<const Statement> statement)  // NOLINT: likewise
      : statement_(std::move(statement)) {}

  // Exactly one of these is not null.
  const Loop* loop() const { return loop_.get(); }
  const Statement* statement() const { return statement_.get(); }
  const std::shared_ptr<const Loop>& loop_ptr() const { return loop_; }
  const std::shared_ptr<const Statement>& statement_ptr() const {
    return statement_;
  }

  friend bool operator==(const Node&, const Node&) = default;

 private:
  std::shared_ptr<const Loop> loop_;
  std::shared_ptr<const Statement> statement_;
};

// The execution mode of a loop's iterations. A mode never changes the meaning
// of a program: modes other than kSequential are legal only if they give the
// result of kSequential, up to the rounding of reductions.
enum class LoopMode : uint8_t {
  kSequential,
  // Fully unrolled.
  kUnrolled,
  // One vector lane per iteration. The body has statements only, and no locals:
  // a local of the lanes is declared outside, with an element per lane.
  kVector,
  // Divided among threads. Not inside another parallel loop.
  kParallel,
};

// The largest prefetch distance of a loop, in iterations.
inline constexpr int32_t kMaxPrefetch = 4096;

// A loop: its variable takes the values 0 … extent-1, and stops before `bound`
// if there is one.
struct Loop {
  VarId var = 0;
  int64_t extent = 0;
  // Affine in outer variables; for the last tile of a split whose factor does
  // not divide the extent.
  std::optional<Affine> bound;
  LoopMode mode = LoopMode::kSequential;
  // The prefetch distance of a sequential loop: each iteration prefetches what
  // its loads will touch this many iterations later. 0: no prefetch.
  int32_t prefetch = 0;
  // Local buffers, uninitialized at the beginning of each iteration.
  std::vector<BufferId> locals;
  std::vector<Node> body;
};

// A leaf: target = value, or target = combine(target, value).
struct Statement {
  Access target;
  ExpressionPtr value;
  // The operation of a reduction: kAdd, kMultiply, kMinimum, kMaximum, kAnd,
  // kOr or kXor. Reductions may be evaluated in any order.
  std::optional<hlo::Opcode> combine;
  // A condition of type pred: if it is false the statement does nothing. Null:
  // always true.
  ExpressionPtr predicate;
  // The store bypasses the caches.
  bool non_temporal = false;
};

// A kernel: buffers and a tree of loops with statements at its leaves, executed
// in order. Copying is cheap: nodes and buffers are shared.
class Program {
 public:
  explicit Program(std::string name = "") : name_(std::move(name)) {}

  const std::string& name() const { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }

  const std::vector<BufferPtr>& buffers() const { return buffers_; }
  const Buffer& buffer(BufferId id) const {
    return *buffers_[static_cast<size_t>(id)];
  }
  // Adds a buffer. A local buffer must also be listed in the locals of one loop
  // or of the root. Unused buffers remain, unreferenced.
  BufferId AddBuffer(Buffer buffer);
  void SetBuffer(BufferId id, Buffer buffer);

  // A fresh loop variable.
  VarId NewVar() { return next_var_++; }
  VarId next_var() const { return next_var_; }

  // Local buffers of the whole kernel.
  const std::vector<BufferId>& locals() const { return locals_; }
  std::vector<BufferId>& mutable_locals() { return locals_; }
  const std::vector<Node>& body() const { return body_; }
  std::vector<Node>& mutable_body() { return body_; }

  // The node at `path`, which must not be empty and must exist.
  const Node& At(const Path& path) const;
  // Returns true if there is a node at `path`.
  bool Has(const Path& path) const;
  // The loops around the node at `path`, outermost first.
  std::vector<const Loop*> LoopsAbove(const Path& path) const;
  // Replaces the node at `path` with `nodes` (none or more); copies the loops
  // above it.
  void Replace(const Path& path, std::vector<Node> nodes);
  // Replaces the loop at `path` with `loop`.
  void ReplaceLoop(const Path& path, Loop loop);

 private:
  std::string name_;
  std::vector<BufferPtr> buffers_;
  VarId next_var_ = 0;
  std::vector<BufferId> locals_;
  std::vector<Node> body_;
};

}  // namespace hone::loops

#endif  // HONE_LOOPS_IR_PROGRAM_H_
