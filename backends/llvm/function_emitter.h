#ifndef HONE_BACKENDS_LLVM_FUNCTION_EMITTER_H_
#define HONE_BACKENDS_LLVM_FUNCTION_EMITTER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/types/span.h"
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include "backends/llvm/arithmetic.h"
#include "backends/llvm/emitter.h"
#include "loops/interval.h"
#include "loops/program.h"

namespace hone::backends {

// What the functions of one program share.
struct ProgramContext {
  const loops::Program& program;
  const EmitTarget& target;
  llvm::Module& module;
  std::string name;
  // For accesses of each buffer: that they are of this buffer, and of no other.
  std::vector<llvm::MDNode*> alias_scopes = {};
  std::vector<llvm::MDNode*> no_alias = {};
  // The values of constant buffers; null for others.
  std::vector<llvm::GlobalVariable*> constants = {};
  int parallel_bodies = 0;
};

// A function of `context`'s target with nothing in it.
llvm::Function* MakeFunction(ProgramContext& context,
                             llvm::ArrayRef<llvm::Type*> parameters,
                             const std::string& name,
                             llvm::GlobalValue::LinkageTypes linkage);

// Emits one function: the program's, or the body of a parallel scope.
class FunctionEmitter {
 public:
  // The value of an iteration variable and what is known of it.
  struct Variable {
    llvm::Value* value = nullptr;  // i64; of the first lane in a vector scope
    loops::Interval range;
  };

  FunctionEmitter(ProgramContext& context, llvm::Function* function);

  // The whole program, with pointers to arguments and results in arrays.
  void EmitEntry(llvm::Value* arguments, llvm::Value* results);

 private:
  // The place of an element: `pointer` for the first lane, `stride` elements
  // further for each next, plus `offsets` (elements) where they depend on the
  // lane in another way.
  struct Address {
    llvm::Value* pointer = nullptr;
    int64_t stride = 0;
    llvm::Value* offsets = nullptr;
    // Whether every lane is in bounds whatever mask there is.
    bool always_valid = false;
    bool IsUniform() const { return stride == 0 && offsets == nullptr; }
  };
  // Lane-wise partial results of a reduction.
  struct Accumulation {
    const loops::Statement* statement = nullptr;
    int64_t lanes = 0;
    // Unrolled scopes between the loop that begins it and the statement; the
    // target uses some of them.
    struct Dimension {
      const loops::Scope* scope = nullptr;
      bool is_in_target = false;
    };
    std::vector<Dimension> dimensions;
    // Partial results per element of the target.
    int64_t copies = 1;
    // copies for each element, in row-major order of the dimensions in target.
    std::vector<llvm::AllocaInst*> parts;
  };
  using Memo = absl::flat_hash_map<const loops::Expression*, llvm::Value*>;

  // scopes.cc
  void EmitNodes(const std::vector<loops::Node>& nodes);
  void EmitScope(const loops::Scope& scope);
  void EmitScopeBody(const loops::Scope& scope);
  void EmitSequential(const loops::Scope& scope);
  void EmitUnrolled(const loops::Scope& scope);
  void EmitVector(const loops::Scope& scope);
  // Lanes of a vector scope that run at once.
  int64_t LanesAtOnce(const loops::Scope& scope) const;
  void EmitLanes(const loops::Scope& scope, llvm::Value* first,
                 loops::Interval range, int64_t lanes);
  void EmitParallel(const loops::Scope& scope);
  // for (v = begin; v < end; ++v) body(v); with at least one iteration.
  void EmitLoop(llvm::Value* begin, llvm::Value* end,
                const std::function<void(llvm::Value*)>& body);
  // Whether the variables of its bound have values.
  bool IsBoundKnown(const loops::Scope& scope) const;
  // Whether its bound is known to leave all iterations.
  bool IsFull(const loops::Scope& scope) const;
  // Bounds of vector and unrolled scopes at and below `scope` that are not
  // known to be full; false where one depends on a variable below it.
  bool CollectBounds(const loops::Scope& scope,
                     std::vector<const loops::Scope*>& bounded) const;

  // prefetch.cc
  // Asks for what the loads in an iteration of `scope`, whose variable has its
  // value, will touch scope.prefetch iterations later.
  void EmitPrefetch(const loops::Scope& scope);
  // A cache line: so many bytes from `rest` elements into the buffer on.
  struct Line {
    loops::BufferId buffer = 0;
    loops::Affine rest;
    int64_t bytes = 0;
    friend bool operator==(const Line&, const Line&) = default;
  };
  void CollectLines(const loops::Scope& moving,
                    const std::vector<loops::Node>& body,
                    std::vector<Line>& lines);
  void CollectLines(const loops::Scope& moving, const loops::Access& load,
                    std::vector<Line>& lines);

  // parallel.cc
  llvm::Function* EmitParallelBody(
      const loops::Scope& scope,
      const std::vector<std::pair<loops::VarId, Variable>>& variables,
      const std::vector<loops::BufferId>& buffers, llvm::StructType* frame);

  // locals.cc
  void AllocateLocals(const std::vector<loops::BufferId>& root,
                      const std::vector<loops::Node>& body);
  void Finish();
  llvm::AllocaInst* EntryAlloca(llvm::Type* type, uint64_t align);

  // reductions.cc
  void BeginAccumulations(const loops::Scope& scope,
                          std::vector<const loops::Statement*>& begun);
  void EndAccumulations(const std::vector<const loops::Statement*>& begun);
  void EndAccumulation(const Accumulation& accumulation);
  llvm::AllocaInst* CurrentPart(const Accumulation& accumulation) const;

  // statements.cc
  void EmitStatement(const loops::Statement& statement);
  void EmitScalarStatement(const loops::Statement& statement);
  void EmitVectorStatement(const loops::Statement& statement);
  void EmitUniformCombine(const loops::Statement& statement,
                          const Address& address, llvm::Value* value);
  void EmitLaneByLane(const loops::Statement& statement, const Address& address,
                      llvm::Value* value);
  // Emits `body` for when `condition` (null: always) holds.
  void EmitIf(llvm::Value* condition, const std::function<void()>& body);
  llvm::Value* AnyLane(llvm::Value* mask);

  // expressions.cc
  llvm::Value* EmitExpression(const loops::ExpressionPtr& expression);
  llvm::Value* EmitNewExpression(const loops::Expression& expression);
  llvm::Value* EmitIndex(const loops::Expression& expression);
  llvm::Value* EmitWhere(const loops::Expression& expression);
  llvm::Value* EmitUniformWhere(const loops::Expression& expression,
                                llvm::Value* condition);
  llvm::Value* EmitMaskedWhere(const loops::Expression& expression,
                               llvm::Value* condition);
  // Null where the range always holds.
  llvm::Value* EmitRange(const loops::Range& range);
  llvm::Value* Splat(llvm::Value* value);
  // 0, step, 2 · step, … in the lanes.
  llvm::Constant* LaneNumbers(llvm::Type* type, int64_t step);
  // The value of a branch: `emit` in then and in otherwise, joined.
  llvm::Value* EmitChoice(llvm::Value* condition,
                          const std::function<llvm::Value*()>& then,
                          const std::function<llvm::Value*()>& otherwise);
  llvm::Value* AndMask(llvm::Value* a, llvm::Value* b);

  // memory.cc
  // The part of `affine` that is the same in every lane, as i64: what only the
  // running program knows (null: nothing), and a number.
  struct UniformParts {
    llvm::Value* value = nullptr;
    int64_t number = 0;
  };
  UniformParts SplitUniform(const loops::Affine& affine);
  llvm::Value* EmitUniform(const loops::Affine& affine);
  loops::Interval RangeOf(const loops::Affine& affine) const;
  Address EmitAddress(const loops::Access& access);
  llvm::Value* EmitLoad(loops::BufferId buffer, const Address& address);
  void EmitStore(loops::BufferId buffer, const Address& address,
                 llvm::Value* value, bool non_temporal);
  llvm::Value* EmitScalarLoad(loops::BufferId buffer, llvm::Value* pointer);
  void EmitScalarStore(loops::BufferId buffer, llvm::Value* pointer,
                       llvm::Value* value);
  llvm::Value* LanePointer(loops::BufferId buffer, const Address& address,
                           int64_t lane);
  llvm::Value* EmitStridedLoad(loops::BufferId buffer, const Address& address);
  void StoreNonTemporal(loops::BufferId buffer, llvm::Value* pointer,
                        llvm::Value* value);
  llvm::Value* LanePointers(loops::BufferId buffer, const Address& address);
  template <typename Instruction>
  Instruction* Annotate(loops::BufferId buffer, Instruction* access);
  llvm::Type* StorageOf(loops::BufferId buffer);
  llvm::Value* Int64(int64_t value) { return b_.getInt64(uint64_t(value)); }

  ProgramContext& context_;
  llvm::Function* function_;
  llvm::IRBuilder<> b_;
  Arithmetic arithmetic_;

  std::vector<llvm::Value*> bases_;  // by buffer
  absl::flat_hash_map<loops::VarId, Variable> variables_;
  absl::flat_hash_map<const loops::Statement*, Accumulation> accumulations_;
  // Bounded scopes known to be full here; whether the other case is emitted.
  absl::flat_hash_set<const loops::Scope*> full_;
  bool is_remainder_ = false;
  llvm::Value* heap_ = nullptr;
  bool has_non_temporal_ = false;

  // Inside a vector scope.
  int64_t lanes_ = 0;
  loops::VarId lane_var_ = -1;
  // Lanes that take part; null for all.
  llvm::Value* mask_ = nullptr;
  // Values of expressions of the statement that is being emitted, by nesting of
  // conditions.
  std::vector<Memo> memo_;
};

}  // namespace hone::backends

#endif  // HONE_BACKENDS_LLVM_FUNCTION_EMITTER_H_
