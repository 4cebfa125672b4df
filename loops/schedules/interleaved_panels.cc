#include "loops/schedules/interleaved_panels.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "absl/algorithm/container.h"

#include "loops/ir/rewrite.h"
#include "loops/schedules/loop_chain.h"
#include "loops/schedules/nest.h"
#include "loops/schedules/transposed_copy.h"
#include "loops/schedules/vectorize_innermost.h"
#include "loops/transforms/checks.h"

namespace hone::loops {
namespace {

using hlo::ElementType;

// The most steps that an instruction takes at once.
constexpr int64_t kMostSteps = 4;

// Returns true for a load, possibly converted once.
bool IsConvertedLoad(const Expression& e) {
  if (e.kind() == Expression::Kind::kLoad) return true;
  return e.kind() == Expression::Kind::kApply &&
         e.opcode() == hlo::Opcode::kConvert &&
         e.operands()[0]->kind() == Expression::Kind::kLoad;
}

bool IsShortInteger(ElementType type) {
  return type == ElementType::kS8 || type == ElementType::kU8 ||
         type == ElementType::kS16;
}

// A nest that copies to a local in which a few steps of a sum are adjacent.
struct InterleavedCopy {
  VarId step = 0;
  int64_t products = 1;  // the number of adjacent steps
  VarId along = 0;       // the loop that reads contiguously
};

std::optional<InterleavedCopy> AsInterleavedCopy(const Program& program,
                                                 const Path& path) {
  std::vector<const Loop*> loops;
  for (const Loop* loop = program.At(path).loop(); loop != nullptr;
       loop = OnlyChildLoop(*loop)) {
    loops.push_back(loop);
  }
  const Statement* const copy = !loops.empty() && loops.back()->body.size() == 1
                                    ? loops.back()->body[0].statement()
                                    : nullptr;
  if (loops.size() < 3 || copy == nullptr || copy->combine.has_value() ||
      !program.buffer(copy->target.buffer).IsLocal()) {
    return std::nullopt;
  }
  const Expression& value = *copy->value;
  const bool has_margin = value.kind() == Expression::Kind::kWhere;
  const Expression& load = has_margin ? *value.operands()[0] : value;
  if (load.kind() != Expression::Kind::kLoad) return std::nullopt;
  const auto stride = [&](const Access& access, const Loop* loop) {
    return StrideOf(program, access, loop->var);
  };
  const auto step = absl::c_find_if(loops, [&](const Loop* loop) {
    return loop->extent <= kMostSteps && stride(copy->target, loop) == 1 &&
           stride(load.access(), loop) != 1;
  });
  if (step == loops.end()) return std::nullopt;
  const int64_t products = (*step)->extent;
  const auto along = absl::c_find_if(loops, [&](const Loop* loop) {
    return stride(copy->target, loop) == products &&
           stride(load.access(), loop) == 1;
  });
  if (along == loops.end()) return std::nullopt;
  return InterleavedCopy{(*step)->var, products, (*along)->var};
}

}  // namespace

int64_t ProductsOfTypes(const Program& program, const Machine& machine,
                        const Contraction& contraction) {
  if (contraction.a == nullptr) return 1;
  const Statement& statement = *program.At(contraction.path).statement();
  const ElementType sum = program.buffer(statement.target.buffer).type;
  const ElementType a = program.buffer(contraction.a->buffer).type;
  const ElementType b = program.buffer(contraction.b->buffer).type;
  if (machine.has_bf16_dot && sum == ElementType::kF32 &&
      a == ElementType::kBf16 && b == a) {
    return 2;
  }
  if (!machine.has_integer_dot ||
      (sum != ElementType::kS32 && sum != ElementType::kU32) ||
      !IsShortInteger(a) || !IsShortInteger(b)) {
    return 1;
  }
  const bool is_mixed =
      std::minmax(a, b) == std::minmax(ElementType::kS8, ElementType::kU8);
  return is_mixed ? 4 : 2;
}

int64_t ProductsAtOnce(const Program& program, const Machine& machine,
                       const Contraction& contraction) {
  const Statement& statement = *program.At(contraction.path).statement();
  if (statement.value->kind() != Expression::Kind::kApply ||
      !absl::c_all_of(statement.value->operands(),
                      [](const ExpressionPtr& factor) {
                        return IsConvertedLoad(*factor);
                      })) {
    return 1;
  }
  return ProductsOfTypes(program, machine, contraction);
}

void VectorizeInterleavedCopy(Scheduler& s, const Path& path,
                              int64_t products) {
  if (ScheduleTransposedCopy(s, path)) return;
  LoopChain chain(s, path);
  const std::vector<const Loop*> loops = chain.Loops();
  const Statement* const copy = loops.back()->body[0].statement();
  const Scheduler::Checkpoint mark = s.Save();
  if (loops.size() < 3 || loops.back()->extent != products || copy == nullptr) {
    VectorizeInnermost(s, path);
    return;
  }
  const Loop& last = *loops[loops.size() - 2];
  // Vectors go along what is read contiguously.
  bool is_contiguous = false;
  bool is_transposed = false;
  const Loop* steps = loops[loops.size() - 3];
  VisitLoads(*copy->value, [&](const Access& load) {
    is_contiguous |= StrideOf(s.program(), load, last.var) == 1;
    is_transposed |= StrideOf(s.program(), load, loops.back()->var) == 1;
    for (const Loop* loop : loops) {
      if (StrideOf(s.program(), load, loop->var) == products) steps = loop;
    }
  });
  const Loop& first = *steps;
  VarId along = last.var;
  int64_t lanes = s.machine().vector_bytes /
                  hlo::ByteWidth(s.program().buffer(copy->target.buffer).type);
  if (!is_contiguous && is_transposed) {
    along = first.var;
    lanes /= products;
  }
  const VarId step = loops.back()->var;
  const int64_t extent = along == last.var ? last.extent : first.extent;
  const VarId other = along == last.var ? first.var : last.var;
  std::vector<VarId> order;
  for (const Loop* loop : loops) {
    if (loop->var != other && loop->var != along && loop->var != step) {
      order.push_back(loop->var);
    }
  }
  for (VarId var : {other, along, step}) order.push_back(var);
  if (!chain.MoveOut(order)) {
    s.Restore(mark);
    return;
  }
  Path vector = chain.PathOf(along);
  for (int64_t left = products - 1; left >= 1; --left) {
    if (!s.Try("peel", Child(vector, 0), {left})) {
      s.Restore(mark);
      return;
    }
  }
  if (extent > lanes) {
    if (!s.Try("split", vector, {lanes})) return;
    if (extent % lanes != 0 && !s.Try("peel", vector, {extent / lanes})) {
      return;
    }
    const Path rest = Sibling(vector, 1);
    // A single iteration that is peeled off is no loop any more.
    if (extent / lanes > 1) vector = Child(vector, 0);
    if (extent % lanes > 1) s.Try("vectorize", rest);
  }
  s.Try("vectorize", vector);
}

bool IsInterleavedCopy(const Program& program, const Path& path) {
  return AsInterleavedCopy(program, path).has_value();
}

bool ScheduleInterleavedCopy(Scheduler& s, const Path& path) {
  const std::optional<InterleavedCopy> copy =
      AsInterleavedCopy(s.program(), path);
  if (!copy.has_value()) return false;
  LoopChain chain(s, path);
  std::vector<VarId> order;
  for (const Loop* loop : chain.Loops()) {
    if (loop->var != copy->step && loop->var != copy->along) {
      order.push_back(loop->var);
    }
  }
  order.insert(order.end(), {copy->along, copy->step});
  const Scheduler::Checkpoint mark = s.Save();
  if (!chain.MoveOut(order)) {
    s.Restore(mark);
    return false;
  }
  const size_t others = s.program().body().size() - 1;
  VectorizeInterleavedCopy(s, path, copy->products);
  for (size_t i = s.program().body().size() - others; i-- > 0;) {
    ParallelizeNest(s, Sibling(path, static_cast<int32_t>(i)));
  }
  return true;
}

}  // namespace hone::loops
