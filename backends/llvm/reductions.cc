#include <algorithm>

#include <llvm/IR/Constants.h>

#include "backends/llvm/function_emitter.h"
#include "loops/ir/code_limits.h"

namespace hone::backends {
namespace {

using loops::Access;
using loops::BufferId;
using loops::Expression;
using loops::ExpressionPtr;
using loops::Loop;
using loops::LoopMode;
using loops::Node;
using loops::Statement;

// The number of independent dependence chains that hides the latency of an
// operation.
constexpr int64_t kUsefulCopies = 8;

bool Loads(const Expression& expression, BufferId buffer);

bool Loads(const Access& access, BufferId buffer) {
  return std::any_of(access.indices.begin(), access.indices.end(),
                     [&](const loops::Index& index) {
                       return index.offset != nullptr &&
                              Loads(*index.offset, buffer);
                     });
}

bool Loads(const Expression& expression, BufferId buffer) {
  if (expression.kind() == Expression::Kind::kLoad &&
      (expression.access().buffer == buffer ||
       Loads(expression.access(), buffer))) {
    return true;
  }
  return std::any_of(
      expression.operands().begin(), expression.operands().end(),
      [&](const ExpressionPtr& operand) { return Loads(*operand, buffer); });
}

// Returns true if all accesses of `buffer` in `nodes` combine into it with
// `combine`.
bool OnlyCombines(const std::vector<Node>& nodes, BufferId buffer,
                  hlo::Opcode combine) {
  return std::all_of(nodes.begin(), nodes.end(), [&](const Node& node) {
    if (node.loop() != nullptr) {
      return OnlyCombines(node.loop()->body, buffer, combine);
    }
    const Statement& statement = *node.statement();
    if (Loads(*statement.value, buffer) || Loads(statement.target, buffer) ||
        (statement.predicate != nullptr &&
         Loads(*statement.predicate, buffer))) {
      return false;
    }
    return statement.target.buffer != buffer || statement.combine == combine;
  });
}

// A combining statement in a vector loop, with the loops from `top` down to
// the vector loop.
struct Candidate {
  const Statement* statement = nullptr;
  std::vector<const Loop*> loops;
};

void FindCandidates(const Loop& loop, std::vector<const Loop*>& above,
                    std::vector<Candidate>& candidates) {
  if (loop.mode == LoopMode::kParallel || loop.extent <= 0) return;
  above.push_back(&loop);
  for (const Node& node : loop.body) {
    if (node.loop() != nullptr) {
      FindCandidates(*node.loop(), above, candidates);
    } else if (loop.mode == LoopMode::kVector &&
               node.statement()->combine.has_value()) {
      candidates.push_back({node.statement(), above});
    }
  }
  above.pop_back();
}

bool UsesVar(const Access& access, loops::VarId var) {
  return std::any_of(
      access.indices.begin(), access.indices.end(),
      [&](const loops::Index& index) { return index.affine.Uses(var); });
}

}  // namespace

void FunctionEmitter::BeginAccumulations(const Loop& loop,
                                         std::vector<const Statement*>& begun) {
  std::vector<const Loop*> above;
  std::vector<Candidate> candidates;
  FindCandidates(loop, above, candidates);
  for (const Candidate& candidate : candidates) {
    const Statement& statement = *candidate.statement;
    const Access& target = statement.target;
    const bool is_affine = std::all_of(
        target.indices.begin(), target.indices.end(),
        [](const loops::Index& index) { return index.offset == nullptr; });
    const auto occurrences = std::count_if(
        candidates.begin(), candidates.end(),
        [&](const Candidate& c) { return c.statement == &statement; });
    if (!is_affine || occurrences > 1 || accumulations_.contains(&statement)) {
      continue;
    }

    Accumulation accumulation;
    accumulation.statement = &statement;
    int64_t elements = 1;
    int64_t repetitions = 1;
    bool is_possible = true;
    for (const Loop* inner : candidate.loops) {
      const bool in_target = UsesVar(target, inner->var);
      if (inner->mode != LoopMode::kUnrolled) {
        is_possible &= !in_target;
        continue;
      }
      // Elements past a bound may not exist.
      is_possible &= !in_target || IsFull(*inner);
      accumulation.dimensions.push_back({inner, in_target});
      (in_target ? elements : repetitions) *= inner->extent;
    }
    if (!is_possible || elements > loops::kMostPartialResults ||
        !OnlyCombines(loop.body, target.buffer, *statement.combine)) {
      continue;
    }
    accumulation.copies =
        std::max<int64_t>(1, std::min(repetitions, kUsefulCopies / elements));
    accumulation.lanes = LanesAtOnce(*candidate.loops.back());
    // No gain if the vector loop runs once.
    if (candidate.loops.front() == candidate.loops.back() &&
        accumulation.lanes == loop.extent) {
      continue;
    }
    const hlo::ElementType type = context_.program.buffer(target.buffer).type;
    llvm::Value* identity = llvm::ConstantVector::getSplat(
        llvm::ElementCount::getFixed(static_cast<unsigned>(accumulation.lanes)),
        arithmetic_.Identity(*statement.combine, type));
    accumulation.has_keys = Arithmetic::HasKeys(*statement.combine, type);
    if (accumulation.has_keys) {
      identity = arithmetic_.ToKey(*statement.combine, identity);
    }
    for (int64_t i = 0; i < elements * accumulation.copies; ++i) {
      accumulation.parts.push_back(EntryAlloca(identity->getType(), 64));
      b_.CreateStore(identity, accumulation.parts.back());
    }
    accumulations_.emplace(&statement, std::move(accumulation));
    begun.push_back(&statement);
  }
}

llvm::AllocaInst* FunctionEmitter::CurrentPart(
    const Accumulation& accumulation) const {
  int64_t element = 0;
  int64_t repetition = 0;
  for (const Accumulation::Dimension& dimension : accumulation.dimensions) {
    int64_t& number = dimension.is_in_target ? element : repetition;
    number = number * dimension.loop->extent +
             variables_.at(dimension.loop->var).range.lo;
  }
  return accumulation.parts[static_cast<size_t>(
      element * accumulation.copies + repetition % accumulation.copies)];
}

llvm::Value* FunctionEmitter::CombineParts(const Accumulation& accumulation,
                                           llvm::Value* a, llvm::Value* b) {
  const Statement& statement = *accumulation.statement;
  const hlo::ElementType type =
      context_.program.buffer(statement.target.buffer).type;
  return accumulation.has_keys
             ? arithmetic_.CombineKeys(*statement.combine, a, b)
             : arithmetic_.Combine(*statement.combine, type, a, b);
}

void FunctionEmitter::Accumulate(const Accumulation& accumulation,
                                 llvm::Value* value) {
  if (accumulation.has_keys) {
    value = arithmetic_.ToKey(*accumulation.statement->combine, value);
  }
  llvm::AllocaInst* part = CurrentPart(accumulation);
  llvm::Value* old = b_.CreateLoad(value->getType(), part);
  value = CombineParts(accumulation, old, value);
  if (mask_ != nullptr) value = b_.CreateSelect(mask_, value, old);
  b_.CreateStore(value, part);
}

void FunctionEmitter::EndAccumulations(
    const std::vector<const Statement*>& begun) {
  for (const Statement* statement : begun) {
    const Accumulation accumulation = std::move(accumulations_.at(statement));
    accumulations_.erase(statement);
    EndAccumulation(accumulation);
  }
}

void FunctionEmitter::EndAccumulation(const Accumulation& accumulation) {
  const Statement& statement = *accumulation.statement;
  const BufferId buffer = statement.target.buffer;
  const hlo::ElementType type = context_.program.buffer(buffer).type;
  const hlo::Opcode combine = *statement.combine;
  const int64_t elements =
      static_cast<int64_t>(accumulation.parts.size()) / accumulation.copies;
  for (int64_t element = 0; element < elements; ++element) {
    llvm::Value* sum = nullptr;
    for (int64_t copy = 0; copy < accumulation.copies; ++copy) {
      llvm::AllocaInst* part =
          accumulation
              .parts[static_cast<size_t>(element * accumulation.copies + copy)];
      llvm::Value* value = b_.CreateLoad(part->getAllocatedType(), part);
      sum = sum == nullptr ? value : CombineParts(accumulation, sum, value);
    }
    sum = accumulation.has_keys
              ? arithmetic_.FromKey(arithmetic_.ReduceLanesOfKeys(combine, sum))
              : arithmetic_.ReduceLanes(combine, type, sum);
    // The unrolled variables of the target, the last one fastest.
    int64_t rest = element;
    for (size_t i = accumulation.dimensions.size(); i-- > 0;) {
      const Accumulation::Dimension& dimension = accumulation.dimensions[i];
      if (!dimension.is_in_target) continue;
      const int64_t value = rest % dimension.loop->extent;
      rest /= dimension.loop->extent;
      variables_[dimension.loop->var] = {Int64(value), {value, value}};
    }
    const Address address = EmitAddress(statement.target);
    llvm::Value* old = EmitScalarLoad(buffer, address.pointer);
    EmitScalarStore(buffer, address.pointer,
                    arithmetic_.Combine(combine, type, old, sum));
  }
  for (const Accumulation::Dimension& dimension : accumulation.dimensions) {
    if (dimension.is_in_target) variables_.erase(dimension.loop->var);
  }
}

}  // namespace hone::backends
