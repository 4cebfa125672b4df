#ifndef HONE_LOOPS_PROGRAM_H_
#define HONE_LOOPS_PROGRAM_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"

#include "hlo/ir/element_type.h"
#include "hlo/ir/literal.h"
#include "hlo/ir/opcode.h"
#include "hlo/ir/shape.h"
#include "loops/affine.h"
#include "loops/expression.h"

namespace hone::loops {

// Where the elements of a buffer lie.
enum class Memory : uint8_t {
  // Passed in by the caller, by number: arguments are read only, every element
  // of a result is written.
  kArgument,
  kResult,
  // Values known when the kernel is made.
  kConstant,
  // Local ones, without a value at first. kHeap is for any size, kStack for
  // what fits in a cache, kRegister for what fits in registers: every index of
  // it must be known once unrolled and vector scopes are.
  kHeap,
  kStack,
  kRegister,
};

struct Buffer {
  std::string name;
  hlo::ElementType type = hlo::ElementType::kF32;
  hlo::DimensionVector dimensions;
  // Elements from one index to the next, for each dimension; row-major without
  // padding for what a caller sees. May be padded or permuted for local ones.
  hlo::DimensionVector strides;
  Memory memory = Memory::kHeap;
  // kArgument, kResult: which.
  int32_t number = 0;
  // kConstant: the values.
  hlo::LiteralPtr literal;

  bool IsLocal() const {
    return memory == Memory::kHeap || memory == Memory::kStack ||
           memory == Memory::kRegister;
  }
  // Elements from the first to one past the last, gaps included.
  int64_t allocated_elements() const;
  int64_t allocated_bytes() const {
    return allocated_elements() * hlo::ByteWidth(type);
  }
  // Whether the strides are row-major without gaps.
  bool IsDense() const;
};
using BufferPtr = std::shared_ptr<const Buffer>;

// Row-major strides without gaps, in elements.
hlo::DimensionVector DenseStrides(absl::Span<const int64_t> dimensions);

struct Scope;
struct Statement;

// A node of the tree: a scope or a statement; immutable and shared.
class Node {
 public:
  Node(std::shared_ptr<const Scope> scope)  // NOLINT: a scope is a node
      : scope_(std::move(scope)) {}
  Node(std::shared_ptr<const Statement> statement)  // NOLINT: likewise
      : statement_(std::move(statement)) {}

  // Exactly one of these is not null.
  const Scope* scope() const { return scope_.get(); }
  const Statement* statement() const { return statement_.get(); }
  const std::shared_ptr<const Scope>& scope_ptr() const { return scope_; }
  const std::shared_ptr<const Statement>& statement_ptr() const {
    return statement_;
  }

  friend bool operator==(const Node&, const Node&) = default;

 private:
  std::shared_ptr<const Scope> scope_;
  std::shared_ptr<const Statement> statement_;
};

// How a scope's iterations run. Its meaning is that of kSequential in any case;
// the others are legal only where they keep it, up to the rounding of
// reductions.
enum class ScopeMode : uint8_t {
  kSequential,
  // Written out.
  kUnrolled,
  // One lane each. Contains statements only, and has no locals: those of lanes
  // are declared outside, with a place for each.
  kVector,
  // Shared out between threads. Not inside another parallel scope.
  kParallel,
};

// The furthest that a scope may prefetch, in iterations.
inline constexpr int32_t kMaxPrefetch = 4096;

// A one-dimensional iteration: its variable goes through 0 … extent-1, as far
// as it is less than `bound`.
struct Scope {
  VarId var = 0;
  int64_t extent = 0;
  // Affine in outer variables; for the last tile of a split that does not
  // divide.
  std::optional<Affine> bound;
  ScopeMode mode = ScopeMode::kSequential;
  // Of a sequential scope: each iteration asks the caches for what the loads in
  // it will touch so many iterations later. 0: it does not.
  int32_t prefetch = 0;
  // Local buffers that begin without a value in each iteration.
  std::vector<BufferId> locals;
  std::vector<Node> body;
};

// A leaf: target = value, or target = combine(target, value).
struct Statement {
  Access target;
  ExpressionPtr value;
  // The operation of a reduction: kAdd, kMultiply, kMinimum, kMaximum, kAnd,
  // kOr or kXor; it may be carried out in any order.
  std::optional<hlo::Opcode> combine;
  // Of type pred; where it is false nothing happens. Null: always.
  ExpressionPtr predicate;
  // The store goes past the caches.
  bool non_temporal = false;
};

// Children to go down from the root; empty is the root itself.
using Path = absl::InlinedVector<int32_t, 8>;

// A kernel: buffers and a tree of scopes with statements at its leaves, carried
// out in order. Copying is cheap: nodes and buffers are shared.
class Program {
 public:
  explicit Program(std::string name = "") : name_(std::move(name)) {}

  const std::string& name() const { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }

  const std::vector<BufferPtr>& buffers() const { return buffers_; }
  const Buffer& buffer(BufferId id) const {
    return *buffers_[static_cast<size_t>(id)];
  }
  // A local buffer must also be named in the locals of one scope, or of the
  // root. Unused ones stay as gaps that nothing mentions.
  BufferId AddBuffer(Buffer buffer);
  void SetBuffer(BufferId id, Buffer buffer);

  // A variable that no scope has.
  VarId NewVar() { return next_var_++; }
  VarId next_var() const { return next_var_; }

  // Local buffers of the whole kernel.
  const std::vector<BufferId>& locals() const { return locals_; }
  std::vector<BufferId>& mutable_locals() { return locals_; }
  const std::vector<Node>& body() const { return body_; }
  std::vector<Node>& mutable_body() { return body_; }

  // The node at `path`, which is not empty and exists.
  const Node& At(const Path& path) const;
  // Whether `path` leads to a node.
  bool Has(const Path& path) const;
  // The scopes on the way to `path`, outermost first, the node itself left out.
  std::vector<const Scope*> ScopesAbove(const Path& path) const;
  // Puts `nodes` (none or more) in place of the node at `path`, copying the
  // scopes above.
  void Replace(const Path& path, std::vector<Node> nodes);
  // With the children, locals and so on of `scope` in place of the scope's at
  // `path`.
  void ReplaceScope(const Path& path, Scope scope);

 private:
  std::string name_;
  std::vector<BufferPtr> buffers_;
  VarId next_var_ = 0;
  std::vector<BufferId> locals_;
  std::vector<Node> body_;
};

}  // namespace hone::loops

#endif  // HONE_LOOPS_PROGRAM_H_
