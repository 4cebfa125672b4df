// Stream compaction: a loop that lists, in order, what fulfils a condition,
//
//   list[{next[]}] = e if (p)
//   next[] += 1 if (p)
//
// Vectors move the lanes that fulfil it to the front, and are stored whole:
// what lies behind the list has no value yet.

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include <llvm/IR/Constants.h>
#include <llvm/IR/IntrinsicsX86.h>

#include "backends/llvm/function_emitter.h"
#include "loops/ir/rewrite.h"
#include "loops/transforms/analysis/same_expression.h"

namespace hone::backends {
namespace {

using loops::BufferId;
using loops::Expression;
using loops::ExpressionPtr;
using loops::Loop;
using loops::Node;
using loops::Program;
using loops::Statement;

constexpr int64_t kLaneBytes = 4;
// The lanes of a vector of AVX2.
constexpr size_t kFewLanes = 8;

struct Compaction {
  const Statement* store = nullptr;
  BufferId list = 0;
  BufferId next = 0;
};

// Returns the buffer of a scalar that is loaded and maybe converted.
std::optional<BufferId> LoadedScalar(const Program& program,
                                     const Expression* e) {
  while (e->kind() == Expression::Kind::kApply &&
         e->opcode() == hlo::Opcode::kConvert) {
    e = e->operands()[0].get();
  }
  if (e->kind() != Expression::Kind::kLoad ||
      !program.buffer(e->access().buffer).dimensions.empty()) {
    return std::nullopt;
  }
  return e->access().buffer;
}

bool Loads(const Expression& e, BufferId buffer) {
  bool loads = false;
  loops::VisitLoads(e, [&](const loops::Access& access) {
    loads = loads || access.buffer == buffer;
  });
  return loads;
}

std::optional<Compaction> AsCompaction(const Program& program,
                                       const Loop& loop) {
  if (loop.mode != loops::LoopMode::kSequential || loop.bound.has_value() ||
      !loop.locals.empty() || loop.body.size() != 2 ||
      loop.body[0].statement() == nullptr ||
      loop.body[1].statement() == nullptr) {
    return std::nullopt;
  }
  const Statement& store = *loop.body[0].statement();
  const Statement& count = *loop.body[1].statement();
  if (store.predicate == nullptr || count.predicate == nullptr ||
      !loops::SameExpression(*store.predicate, *count.predicate) ||
      store.combine.has_value() || store.target.indices.size() != 1 ||
      store.target.indices[0].affine != loops::Affine() ||
      store.target.indices[0].offset == nullptr ||
      count.combine != hlo::Opcode::kAdd ||
      count.value->kind() != Expression::Kind::kConstant ||
      count.value->integer() != 1) {
    return std::nullopt;
  }
  const std::optional<BufferId> next =
      LoadedScalar(program, store.target.indices[0].offset.get());
  if (!next.has_value() || count.target.buffer != *next) return std::nullopt;
  const Compaction compaction = {&store, store.target.buffer, *next};
  const loops::Buffer& list = program.buffer(compaction.list);
  if (!list.IsLocal() || list.dimensions.size() != 1 || !list.IsDense() ||
      list.type != hlo::ElementType::kS32 ||
      program.buffer(*next).type != hlo::ElementType::kS32) {
    return std::nullopt;
  }
  for (const BufferId buffer : {compaction.list, *next}) {
    if (Loads(*store.value, buffer) || Loads(*store.predicate, buffer)) {
      return std::nullopt;
    }
  }
  return compaction;
}

bool Stores(const Node& node, BufferId buffer) {
  bool stores = false;
  loops::VisitStatements(node, [&](const Statement& statement) {
    stores = stores || statement.target.buffer == buffer;
  });
  return stores;
}

// Calls `visit` for each body with `loop` in it: its locals, and its nodes up
// to `loop`.
void VisitBodiesOf(const Loop& loop, const std::vector<BufferId>& locals,
                   const std::vector<Node>& body,
                   absl::FunctionRef<void(const std::vector<BufferId>&,
                                          absl::Span<const Node>)>
                       visit) {
  for (size_t i = 0; i < body.size(); ++i) {
    const Loop* const inner = body[i].loop();
    if (inner == &loop) {
      visit(locals, absl::MakeConstSpan(body).first(i));
    } else if (inner != nullptr) {
      VisitBodiesOf(loop, inner->locals, inner->body, visit);
    }
  }
}

// Returns true if no element of the list behind the next one has a value when
// `loop` begins: nothing but compactions that continue each other has written
// to it since its declaration.
bool EndsAtNext(const Program& program, const Loop& loop,
                const Compaction& compaction) {
  bool ends = true;
  VisitBodiesOf(
      loop, program.locals(), program.body(),
      [&](const std::vector<BufferId>& locals, absl::Span<const Node> before) {
        ends = ends &&
               std::count(locals.begin(), locals.end(), compaction.list) != 0;
        bool has_begun = false;
        for (const Node& node : before) {
          const std::optional<Compaction> other =
              node.loop() == nullptr ? std::nullopt
                                     : AsCompaction(program, *node.loop());
          if (other.has_value() && other->list == compaction.list &&
              other->next == compaction.next) {
            has_begun = true;
            continue;
          }
          ends = ends && !Stores(node, compaction.list) &&
                 !(has_begun && Stores(node, compaction.next));
        }
      });
  return ends;
}

}  // namespace

// Returns `value` with the lanes of `taken` moved to the front.
llvm::Value* FunctionEmitter::Compress(llvm::Value* value, llvm::Value* taken) {
  if (static_cast<size_t>(lanes_) != kFewLanes) {
    return b_.CreateIntrinsic(
        llvm::Intrinsic::x86_avx512_mask_compress, {value->getType()},
        {value, llvm::Constant::getNullValue(value->getType()), taken});
  }
  // The numbers of the lanes, by their bits.
  constexpr char kName[] = "hone_lanes_by_bits";
  constexpr size_t kSets = size_t{1} << kFewLanes;
  llvm::GlobalVariable* table = context_.module.getNamedGlobal(kName);
  if (table == nullptr) {
    std::array<uint8_t, kSets* kFewLanes> numbers = {};
    for (size_t bits = 0; bits < kSets; ++bits) {
      size_t at = bits * kFewLanes;
      for (size_t lane = 0; lane < kFewLanes; ++lane) {
        if ((bits >> lane & 1) != 0) numbers[at++] = static_cast<uint8_t>(lane);
      }
    }
    llvm::Constant* values =
        llvm::ConstantDataArray::get(b_.getContext(), numbers);
    table = new llvm::GlobalVariable(
        context_.module, values->getType(), /*isConstant=*/true,
        llvm::GlobalValue::PrivateLinkage, values, kName);
    table->setAlignment(llvm::Align(64));
  }
  llvm::Value* bits = b_.CreateZExt(
      b_.CreateBitCast(taken, b_.getIntNTy(kFewLanes)), b_.getInt64Ty());
  llvm::Type* row = llvm::FixedVectorType::get(b_.getInt8Ty(), kFewLanes);
  llvm::Value* numbers = b_.CreateAlignedLoad(
      row, b_.CreateInBoundsGEP(row, table, bits), llvm::Align(kFewLanes));
  return b_.CreateIntrinsic(llvm::Intrinsic::x86_avx2_permd, {},
                            {value, b_.CreateZExt(numbers, value->getType())});
}

void FunctionEmitter::EmitListed(const Statement& store,
                                 llvm::AllocaInst* next) {
  const BufferId list = store.target.buffer;
  llvm::Value* taken = AndMask(mask_, Splat(EmitExpression(store.predicate)));
  // Only what is listed is loaded: addresses of other lanes may be outside.
  llvm::Value* const outer = std::exchange(mask_, taken);
  memo_.emplace_back();
  llvm::Value* value = Compress(Splat(EmitExpression(store.value)), taken);
  memo_.pop_back();
  mask_ = outer;
  llvm::Value* bits =
      b_.CreateBitCast(taken, b_.getIntNTy(static_cast<unsigned>(lanes_)));
  llvm::Value* count = b_.CreateZExt(
      b_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, bits), b_.getInt64Ty());
  llvm::Value* begin = b_.CreateLoad(b_.getInt64Ty(), next);
  llvm::Value* pointer =
      b_.CreateGEP(StorageOf(list), bases_[static_cast<size_t>(list)], begin);
  const llvm::Align align(kLaneBytes);
  llvm::Value* fits = b_.CreateICmpSLE(
      begin,
      Int64(context_.program.buffer(list).allocated_elements() - lanes_));
  EmitIf(fits,
         [&] { Annotate(list, b_.CreateAlignedStore(value, pointer, align)); });
  EmitIf(b_.CreateNot(fits), [&] {
    llvm::Value* mask =
        b_.CreateICmpULT(LaneNumbers(b_.getInt32Ty(), 1),
                         Splat(b_.CreateTrunc(count, b_.getInt32Ty())));
    Annotate(list, b_.CreateMaskedStore(value, pointer, align, mask));
  });
  b_.CreateStore(b_.CreateAdd(begin, count), next);
}

void FunctionEmitter::EmitVectorsOfList(const Loop& loop,
                                        const Statement& store) {
  const int64_t lanes = context_.target.vector_bytes / kLaneBytes;
  const Statement& count = *loop.body[1].statement();
  const BufferId counter = count.target.buffer;
  llvm::Value* const number = EmitAddress(count.target).pointer;
  llvm::AllocaInst* const next = EntryAlloca(b_.getInt64Ty(), 8);
  b_.CreateStore(
      b_.CreateSExt(EmitScalarLoad(counter, number), b_.getInt64Ty()), next);
  const auto emit = [&](llvm::Value* first, loops::Interval range,
                        int64_t active) {
    memo_.emplace_back();
    variables_[loop.var] = {first, range};
    lanes_ = lanes;
    lane_var_ = loop.var;
    if (active < lanes) mask_ = FirstLanes(active);
    EmitListed(store, next);
    mask_ = nullptr;
    lanes_ = 0;
    lane_var_ = -1;
    memo_.pop_back();
  };
  const int64_t whole = loop.extent / lanes;
  EmitCountedLoop(Int64(0), Int64(whole), [&](llvm::Value* i) {
    emit(b_.CreateMul(i, Int64(lanes), "", true, true),
         {0, (whole - 1) * lanes}, lanes);
  });
  if (const int64_t rest = loop.extent % lanes; rest > 0) {
    emit(Int64(whole * lanes), {whole * lanes, whole * lanes}, rest);
  }
  variables_.erase(loop.var);
  EmitScalarStore(
      counter, number,
      b_.CreateTrunc(b_.CreateLoad(b_.getInt64Ty(), next), b_.getInt32Ty()));
}

// Emits the loop. If its condition is a conjunction whose first term uses no
// loop's variable, that is tested once, around the loop.
bool FunctionEmitter::EmitCompaction(const Loop& loop) {
  const int64_t lanes = context_.target.vector_bytes / kLaneBytes;
  if (!context_.target.has_compress || loop.extent < lanes) return false;
  const std::optional<Compaction> compaction =
      AsCompaction(context_.program, loop);
  if (!compaction.has_value() ||
      !EndsAtNext(context_.program, loop, *compaction)) {
    return false;
  }
  const std::vector<Memo> outer_memo = std::exchange(memo_, {Memo()});
  const Expression& condition = *compaction->store->predicate;
  llvm::Value* common = nullptr;
  if (condition.kind() == Expression::Kind::kApply &&
      condition.opcode() == hlo::Opcode::kAnd &&
      IsLoopInvariant(*condition.operands()[0])) {
    common = EmitExpression(condition.operands()[0]);
  }
  EmitIf(common, [&] { EmitVectorsOfList(loop, *compaction->store); });
  memo_ = outer_memo;
  return true;
}

}  // namespace hone::backends
