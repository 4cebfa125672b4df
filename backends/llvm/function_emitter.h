#ifndef HONE_BACKENDS_LLVM_FUNCTION_EMITTER_H_
#define HONE_BACKENDS_LLVM_FUNCTION_EMITTER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include "backends/llvm/arithmetic.h"
#include "backends/llvm/emitter.h"
#include "loops/analysis/interval.h"
#include "loops/ir/dot_products.h"
#include "loops/ir/program.h"

namespace hone::backends {

// State shared by the functions of one program.
struct ProgramContext {
  const loops::Program& program;
  const EmitTarget& target;
  llvm::Module& module;
  std::string name;
  // Alias metadata of the accesses of each buffer: the scope of the buffer
  // itself, and the scopes of all others.
  std::vector<llvm::MDNode*> alias_scopes = {};
  std::vector<llvm::MDNode*> no_alias = {};
  // The values of constant buffers; null for others.
  std::vector<llvm::GlobalVariable*> constants = {};
  int parallel_bodies = 0;
};

// Creates an empty function for the target of `context`.
llvm::Function* MakeFunction(ProgramContext& context,
                             llvm::ArrayRef<llvm::Type*> parameters,
                             const std::string& name,
                             llvm::GlobalValue::LinkageTypes linkage);

// Returns true if no loop variable has a part in the value of `expression`.
bool IsLoopInvariant(const loops::Expression& expression);

// Emits one function: the program's, or the body of a parallel loop.
class FunctionEmitter {
 public:
  // The value of a loop variable and its known range.
  struct Variable {
    llvm::Value* value = nullptr;  // i64; that of lane 0 in a vector loop
    loops::Interval range;
  };

  FunctionEmitter(ProgramContext& context, llvm::Function* function);

  // Emits the whole program into a function with that interface.
  void EmitEntry(Interface interface);

 private:
  // Returns the address of an array that the caller passes.
  llvm::Value* PassedAddress(const loops::Buffer& buffer, Interface interface);

  // The address of an element: `pointer` for lane 0, `stride` elements further
  // for each next lane, plus per-lane `offsets` (elements) if it is not a
  // constant stride.
  struct Address {
    llvm::Value* pointer = nullptr;
    int64_t stride = 0;
    llvm::Value* offsets = nullptr;
    // True if every lane is in bounds, regardless of the mask.
    bool always_valid = false;
    bool IsUniform() const { return stride == 0 && offsets == nullptr; }
  };
  // Per-lane partial results of a reduction.
  struct Accumulation {
    const loops::Statement* statement = nullptr;
    int64_t lanes = 0;
    // Unrolled loops between the loop that begins it and the statement; the
    // target uses some of them.
    struct Dimension {
      const loops::Loop* loop = nullptr;
      bool is_in_target = false;
    };
    std::vector<Dimension> dimensions;
    // The number of partial results per element of the target.
    int64_t copies = 1;
    // The parts are keys of the values (Arithmetic::ToKey).
    bool has_keys = false;
    // `copies` per element, in row-major order of the dimensions in the target.
    std::vector<llvm::AllocaInst*> parts;
  };
  using Memo = absl::flat_hash_map<const loops::Expression*, llvm::Value*>;

  // loops.cc
  void EmitNodes(const std::vector<loops::Node>& nodes);
  void EmitLoop(const loops::Loop& loop);
  void EmitLoopBody(const loops::Loop& loop);
  void EmitSequential(const loops::Loop& loop);
  void EmitUnrolled(const loops::Loop& loop);
  void EmitVector(const loops::Loop& loop);
  // Returns the number of lanes of a vector loop that run at once.
  int64_t LanesAtOnce(const loops::Loop& loop) const;
  void EmitLanes(const loops::Loop& loop, llvm::Value* first,
                 loops::Interval range, int64_t lanes);
  void EmitParallel(const loops::Loop& loop);
  // Emits for (v = begin; v < end; ++v) body(v), with at least one iteration.
  void EmitCountedLoop(llvm::Value* begin, llvm::Value* end,
                       const std::function<void(llvm::Value*)>& body);
  // Returns true if the variables of the bound have values.
  bool IsBoundKnown(const loops::Loop& loop) const;
  // Returns true if the bound is known not to cut off any iteration.
  bool IsFull(const loops::Loop& loop) const;
  // Collects the bounded vector and unrolled loops at and below `loop` that are
  // not known to be full; returns false if a bound depends on a variable below
  // `loop`.
  bool CollectBounds(const loops::Loop& loop,
                     std::vector<const loops::Loop*>& bounded) const;

  // prefetch.cc
  // Prefetches what the loads in the current iteration of `loop` will touch
  // loop.prefetch iterations later.
  void EmitPrefetch(const loops::Loop& loop);
  // A cache line: `bytes` bytes from element `rest` of the buffer on.
  struct Line {
    loops::BufferId buffer = 0;
    loops::Affine rest;
    int64_t bytes = 0;
    friend bool operator==(const Line&, const Line&) = default;
  };
  void CollectLines(const loops::Loop& moving,
                    const std::vector<loops::Node>& body,
                    std::vector<Line>& lines);
  void CollectLines(const loops::Loop& moving, const loops::Access& load,
                    std::vector<Line>& lines);

  // parallel.cc
  llvm::Function* EmitParallelBody(
      const loops::Loop& loop,
      const std::vector<std::pair<loops::VarId, Variable>>& variables,
      const std::vector<loops::BufferId>& buffers, llvm::StructType* frame);

  // locals.cc
  void AllocateLocals(const std::vector<loops::BufferId>& root,
                      const std::vector<loops::Node>& body);
  void Finish();
  llvm::AllocaInst* EntryAlloca(llvm::Type* type, uint64_t align);

  // reductions.cc
  void BeginAccumulations(const loops::Loop& loop,
                          std::vector<const loops::Statement*>& begun);
  void EndAccumulations(const std::vector<const loops::Statement*>& begun);
  void EndAccumulation(const Accumulation& accumulation);
  llvm::Value* CombineParts(const Accumulation& accumulation, llvm::Value* a,
                            llvm::Value* b);
  // Combines the lanes' `value` into their part.
  void Accumulate(const Accumulation& accumulation, llvm::Value* value);
  llvm::AllocaInst* CurrentPart(const Accumulation& accumulation) const;

  // dot_products.cc
  // Emits a statement of a vector loop as an instruction that sums products;
  // returns false if
  // it is none.
  bool EmitDotProducts(const loops::Statement& statement);
  bool EmitDotAccumulation(const loops::Statement& statement,
                           const loops::DotProducts& dot);
  // `side`: the index of the factor.
  llvm::Value* EmitDotFactor(const loops::DotProducts& dot, size_t side);
  llvm::Value* EmitMaskedDotFactor(loops::BufferId buffer,
                                   const Address& address, int64_t count);
  llvm::Value* EmitDotInstruction(const loops::DotProducts& dot,
                                  llvm::Value* sum, llvm::Value* a,
                                  llvm::Value* b);

  // interleaved_stores.cc
  // Emits the body of a vector loop.
  void EmitLaneStatements(const std::vector<loops::Node>& nodes);
  size_t CountAdjacentStores(const std::vector<loops::Node>& nodes,
                             size_t first) const;
  size_t CountWordCopies(const std::vector<loops::Node>& nodes,
                         size_t first) const;
  bool EmitWordCopies(const std::vector<loops::Node>& nodes, size_t first,
                      size_t count);
  void EmitInterleavedStores(const std::vector<loops::Node>& nodes,
                             size_t first, size_t count);

  // statements.cc
  void EmitStatement(const loops::Statement& statement);
  bool EmitRangedSum(const loops::Statement& statement);
  void EmitScalarStatement(const loops::Statement& statement);
  void EmitVectorStatement(const loops::Statement& statement);
  void EmitUniformCombine(const loops::Statement& statement,
                          const Address& address, llvm::Value* value);
  void EmitLaneByLane(const loops::Statement& statement, const Address& address,
                      llvm::Value* value);
  // Emits `body` under `condition` (null: unconditionally).
  void EmitIf(llvm::Value* condition, const std::function<void()>& body);
  llvm::Value* AnyLane(llvm::Value* mask);

  // compaction.cc
  // Emits a loop that lists what fulfils a condition; returns false for others.
  bool EmitCompaction(const loops::Loop& loop);
  // Emits such a loop for a target with instructions for it.
  void EmitVectorsOfList(const loops::Loop& loop,
                         const loops::Statement& store);
  // Emits `store` for a vector of iterations, and advances `next`.
  void EmitListed(const loops::Statement& store, llvm::AllocaInst* next);
  llvm::Value* Compress(llvm::Value* value, llvm::Value* taken);

  // conditions.cc
  // Returns the condition that all statements in the loop have and that no
  // iteration changes; null if there is none.
  loops::ExpressionPtr ConditionOf(const loops::Loop& loop) const;
  // Emits a loop with such a condition as one that is skipped where it is
  // false; returns false for others.
  bool EmitConditionalLoop(const loops::Loop& loop);

  // expressions.cc
  llvm::Value* EmitExpression(const loops::ExpressionPtr& expression);
  llvm::Value* EmitNewExpression(const loops::Expression& expression);
  llvm::Value* EmitIndex(const loops::Expression& expression);
  llvm::Value* EmitWhere(const loops::Expression& expression);
  llvm::Value* EmitMaskedWhere(const loops::Expression& expression,
                               llvm::Value* condition);
  // Returns null if the range always holds.
  llvm::Value* EmitRange(const loops::Range& range);
  llvm::Value* Splat(llvm::Value* value);
  // Returns the vector 0, step, 2 · step, …
  llvm::Constant* LaneNumbers(llvm::Type* type, int64_t step);
  // Emits a branch, and returns the value of `then` or `otherwise`.
  llvm::Value* EmitChoice(llvm::Value* condition,
                          const std::function<llvm::Value*()>& then,
                          const std::function<llvm::Value*()>& otherwise);
  llvm::Value* AndMask(llvm::Value* a, llvm::Value* b);

  // memory.cc
  // The part of an affine expression that is equal in all lanes, as i64: a
  // run-time value (null: none) plus a constant.
  struct UniformParts {
    llvm::Value* value = nullptr;
    int64_t number = 0;
  };
  UniformParts SplitUniform(const loops::Affine& affine);
  llvm::Value* EmitUniform(const loops::Affine& affine);
  loops::Interval RangeOf(const loops::Affine& affine) const;
  // Returns true if the element is inside the buffer in all lanes, masked ones
  // too.
  bool IsInside(const loops::Access& access) const;
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
  // A mask of the first `count` lanes.
  llvm::Constant* FirstLanes(int64_t count);
  // Returns how many lanes a mask of first lanes has; 0 if that is not known.
  int64_t FirstLanesOf(const llvm::Value* mask);
  // Loads everything between the first and the last element of the first
  // `active` lanes; the others are zero.
  llvm::Value* EmitSpreadLoad(loops::BufferId buffer, const Address& address,
                              int64_t active);
  void StoreNonTemporal(loops::BufferId buffer, llvm::Value* pointer,
                        llvm::Value* value);
  llvm::Value* LanePointers(loops::BufferId buffer, const Address& address);
  template <typename Instruction>
  Instruction* Annotate(loops::BufferId buffer, Instruction* access) {
    access->setMetadata(llvm::LLVMContext::MD_alias_scope,
                        context_.alias_scopes[static_cast<size_t>(buffer)]);
    access->setMetadata(llvm::LLVMContext::MD_noalias,
                        context_.no_alias[static_cast<size_t>(buffer)]);
    return access;
  }
  llvm::Type* StorageOf(loops::BufferId buffer);
  // Returns the allocated elements of a register buffer: whole vectors, so that
  // masked lanes past its end can be accessed.
  int64_t RegisterElements(const loops::Buffer& buffer) const;

  // transpose.cc
  int64_t StrideOf(const loops::Access& access, loops::VarId var) const;
  // Loads and transposes, for the vector loop in `unrolled`, what is contiguous
  // along `unrolled` and strided along the vector.
  void TransposeLoads(const loops::Loop& unrolled);
  // The same for a body that copies adjacent elements, together 32 bits: each
  // group is transposed as one number.
  void TransposeWords(const loops::Loop& unrolled, const loops::Loop& vector);
  // Returns the vectors that `access` has in the iterations of `unrolled`, of
  // elements of type `element`, each of so many bytes.
  std::vector<llvm::Value*> LoadTransposed(const loops::Access& access,
                                           llvm::Type* element, int64_t bytes,
                                           const loops::Loop& unrolled,
                                           const loops::Loop& vector);
  // Begins to defer the store of `unrolled`, the loop above it, if it is
  // strided along the vector and contiguous along `unrolled`.
  void DeferStores(const loops::Loop& unrolled);
  void DeferStore(llvm::Value* value);
  // Transposes and stores what was deferred since DeferStores(unrolled).
  void StoreDeferred(const loops::Loop& unrolled);

  llvm::Value* Int64(int64_t value) { return b_.getInt64(uint64_t(value)); }

  ProgramContext& context_;
  llvm::Function* function_;
  llvm::IRBuilder<> b_;
  Arithmetic arithmetic_;

  std::vector<llvm::Value*> bases_;  // by buffer
  absl::flat_hash_map<loops::VarId, Variable> variables_;
  absl::flat_hash_map<const loops::Statement*, Accumulation> accumulations_;
  // Bounded loops known to be full here, and whether the code for the other
  // case is being emitted.
  absl::flat_hash_set<const loops::Loop*> full_;
  bool is_remainder_ = false;
  // True in a loop whose condition holds: its statements need not ask.
  bool is_condition_met_ = false;
  llvm::Value* heap_ = nullptr;
  bool has_non_temporal_ = false;

  // Loads in the vector loop of the unrolled loop that is being emitted: their
  // values by iteration of that.
  struct Transposed {
    loops::VarId var = -1;
    std::vector<llvm::Value*> values;
  };
  absl::flat_hash_map<const loops::Expression*, Transposed> transposed_;
  // The same for copies of several elements as one number, by the first one.
  absl::flat_hash_map<const loops::Expression*, Transposed> transposed_words_;
  // The only statement in an unrolled loop, which stores a block.
  struct Deferred {
    const loops::Statement* statement = nullptr;
    const loops::Loop* unrolled = nullptr;
    // Unrolled loops between that loop and the vector.
    std::vector<const loops::Loop*> between;
    const loops::Loop* vector = nullptr;
    // The vectors by iteration of `unrolled`, for those of `between`.
    std::map<std::vector<int64_t>, std::vector<llvm::Value*>> values;
  };
  std::optional<Deferred> deferred_;

  // State inside a vector loop.
  int64_t lanes_ = 0;
  loops::VarId lane_var_ = -1;
  // The active lanes; null for all.
  llvm::Value* mask_ = nullptr;
  // Memoized expressions of the current statement, one map per nested
  // condition.
  std::vector<Memo> memo_;
};

}  // namespace hone::backends

#endif  // HONE_BACKENDS_LLVM_FUNCTION_EMITTER_H_
