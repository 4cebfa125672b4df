#include "loops/schedules/nest.h"

#include <algorithm>
#include <initializer_list>

#include "absl/algorithm/container.h"
#include "absl/types/span.h"

#include "loops/ir/rewrite.h"

namespace hone::loops {
namespace {

// Iterations of a sum in registers that take as long as one of a statement that
// reads and writes memory.
constexpr double kMostUses = 16;

bool DependsOn(const Expression& e, VarId var) {
  switch (e.kind()) {
    case Expression::Kind::kConstant:
      return false;
    case Expression::Kind::kIndex:
      return e.index().Uses(var);
    case Expression::Kind::kLoad:
      return absl::c_any_of(e.access().indices, [&](const Index& index) {
        return index.affine.Uses(var) ||
               (index.offset != nullptr && DependsOn(*index.offset, var));
      });
    case Expression::Kind::kApply:
    case Expression::Kind::kWhere:
      return absl::c_any_of(e.operands(),
                            [&](const ExpressionPtr& operand) {
                              return DependsOn(*operand, var);
                            }) ||
             absl::c_any_of(e.ranges(), [&](const Range& range) {
               return range.value.Uses(var);
             });
  }
  return true;
}

// The load that `e` is, conversions and wheres around it left out; null for
// anything else.
const Access* AsLoad(const Expression& e) {
  if (e.kind() == Expression::Kind::kLoad) return &e.access();
  const bool transparent = e.kind() == Expression::Kind::kWhere ||
                           (e.kind() == Expression::Kind::kApply &&
                            e.opcode() == hlo::Opcode::kConvert);
  return transparent ? AsLoad(*e.operands()[0]) : nullptr;
}

}  // namespace

std::optional<int64_t> StrideOf(const Program& program, const Access& access,
                                VarId var) {
  const Buffer& buffer = program.buffer(access.buffer);
  const bool flat = access.indices.size() != buffer.dimensions.size();
  int64_t stride = 0;
  for (size_t d = 0; d < access.indices.size(); ++d) {
    const Index& index = access.indices[d];
    if (index.offset != nullptr && DependsOn(*index.offset, var)) {
      return std::nullopt;
    }
    stride += index.affine.coefficient(var) * (flat ? 1 : buffer.strides[d]);
  }
  return stride;
}

bool HasPolynomials(const Expression& e) {
  return (e.kind() == Expression::Kind::kApply &&
          hlo::IsTranscendental(e.opcode()) &&
          e.opcode() != hlo::Opcode::kSqrt &&
          e.opcode() != hlo::Opcode::kRsqrt) ||
         absl::c_any_of(e.operands(), [](const ExpressionPtr& operand) {
           return HasPolynomials(*operand);
         });
}

bool IsInnermost(const Loop& loop) {
  return absl::c_all_of(
      loop.body, [](const Node& node) { return node.statement() != nullptr; });
}

const Loop* OnlyChildLoop(const Loop& loop) {
  return loop.body.size() == 1 ? loop.body[0].loop() : nullptr;
}

std::vector<Path> SequentialInnermostLoops(const Program& program,
                                           const Path& path) {
  std::vector<Path> innermost;
  VisitLoops(program, path, [&](const Path& at, const Loop& loop) {
    if (loop.mode == LoopMode::kSequential && IsInnermost(loop)) {
      innermost.push_back(at);
    }
  });
  return innermost;
}

double WorkOf(const Program& program, const Path& path) {
  double work = 0;
  VisitStatements(program, path, [&](const Path& at, const Statement& st) {
    const std::vector<const Loop*> all = program.LoopsAbove(at);
    const absl::Span<const Loop* const> loops =
        absl::MakeSpan(all).subspan(path.empty() ? 0 : path.size() - 1);
    double iterations = 1;
    for (const Loop* loop : loops) {
      iterations *= static_cast<double>(loop->extent);
    }
    double uses = st.combine.has_value() ? kMostUses : 1;
    VisitAccesses(st, [&](const Access& access, bool is_target) {
      if (is_target) return;
      double uses_of_load = 1;
      for (const Loop* loop : loops) {
        if (StrideOf(program, access, loop->var) == 0) {
          uses_of_load *= static_cast<double>(loop->extent);
        }
      }
      uses = std::min(uses, uses_of_load);
    });
    work += iterations / uses;
  });
  return work;
}

std::optional<Contraction> AsContraction(const Program& program,
                                         const Path& path) {
  const Statement& statement = *program.At(path).statement();
  // In convolutions of groups it is the products that padding leaves out.
  const Expression& value = statement.value->kind() == Expression::Kind::kWhere
                                ? *statement.value->operands()[0]
                                : *statement.value;
  if (statement.combine != hlo::Opcode::kAdd ||
      statement.predicate != nullptr ||
      value.kind() != Expression::Kind::kApply ||
      value.opcode() != hlo::Opcode::kMultiply) {
    return std::nullopt;
  }
  Contraction contraction;
  contraction.path = path;
  contraction.a = AsLoad(*value.operands()[0]);
  contraction.b = AsLoad(*value.operands()[1]);
  if (contraction.a == nullptr || contraction.b == nullptr) return std::nullopt;
  for (const Loop* loop : program.LoopsAbove(path)) {
    const auto moves = [&](const Access& access) {
      return StrideOf(program, access, loop->var) != 0;
    };
    const bool target = moves(statement.target);
    const bool a = moves(*contraction.a);
    const bool b = moves(*contraction.b);
    if (target && a && b) contraction.batches.push_back(loop->var);
    if (target && a && !b) contraction.rows.push_back(loop->var);
    if (target && !a && b) contraction.columns.push_back(loop->var);
    if (!target) contraction.sums.push_back(loop->var);
  }
  if (contraction.sums.empty()) return std::nullopt;
  const auto is_contiguous = [&](const Access& access, VarId var) {
    return StrideOf(program, access, var) == 1;
  };
  // A vector for vectors to go along, where there are not both of rows and
  // columns.
  const auto has_vector = [&](const std::vector<VarId>& vars,
                              std::initializer_list<const Access*> factors) {
    return absl::c_any_of(vars, [&](VarId var) {
      return is_contiguous(statement.target, var) &&
             absl::c_all_of(factors, [&](const Access* factor) {
               const auto stride = StrideOf(program, *factor, var);
               return stride.has_value() && *stride >= 1 &&
                      *stride <= kMostLoadStride;
             });
    });
  };
  const bool has_rows = !contraction.rows.empty();
  const bool has_columns = !contraction.columns.empty();
  if ((has_rows && has_columns) ||
      ((has_rows || has_columns) &&
       (has_vector(contraction.batches, {contraction.a, contraction.b}) ||
        has_vector(contraction.rows, {contraction.a}) ||
        has_vector(contraction.columns, {contraction.b})))) {
    return contraction;
  }
  return std::nullopt;
}

void DropLoops(const std::vector<const Loop*>& loops,
               Contraction& contraction) {
  for (const Loop* loop : loops) {
    for (std::vector<VarId>* vars : {&contraction.rows, &contraction.columns,
                                     &contraction.sums, &contraction.batches}) {
      std::erase(*vars, loop->var);
    }
  }
}

std::optional<Contraction> AsSumOverRows(const Program& program,
                                         const Path& path) {
  const Statement& statement = *program.At(path).statement();
  if (!statement.combine.has_value()) return std::nullopt;
  const std::vector<const Loop*> loops = program.LoopsAbove(path);
  std::vector<const Access*> loads;
  VisitLoads(*statement.value,
             [&](const Access& access) { loads.push_back(&access); });
  Contraction contraction;
  contraction.path = path;
  for (const Loop* loop : loops) {
    (StrideOf(program, statement.target, loop->var) == 0 ? contraction.sums
                                                         : contraction.columns)
        .push_back(loop->var);
  }
  if (contraction.sums.empty()) return std::nullopt;
  // The matrix moves with every loop of the result and one of the sums.
  const auto moves = [&](const Access& access, VarId var) {
    return StrideOf(program, access, var) != 0;
  };
  const auto matrix = absl::c_find_if(loads, [&](const Access* load) {
    return absl::c_all_of(contraction.columns,
                          [&](VarId v) { return moves(*load, v); }) &&
           absl::c_any_of(contraction.sums,
                          [&](VarId v) { return moves(*load, v); });
  });
  if (matrix == loads.end()) return std::nullopt;
  contraction.b = *matrix;
  // Blocks of short rows are transposed in registers.
  const bool has_short_rows =
      contraction.sums.size() == 1 &&
      absl::c_find_if(
          loops,
          [&](const Loop* loop) { return loop->var == contraction.sums[0]; })[0]
              ->extent <= kShortRow;
  const bool has_vector = absl::c_any_of(contraction.columns, [&](VarId var) {
    return StrideOf(program, statement.target, var) == 1 &&
           absl::c_all_of(loads, [&](const Access* load) {
             const std::optional<int64_t> stride =
                 StrideOf(program, *load, var);
             return stride.has_value() && *stride >= 0 &&
                    (*stride <= kMostLoadStride ||
                     (has_short_rows &&
                      StrideOf(program, *load, contraction.sums[0]) == 1));
           });
  });
  return has_vector ? std::optional(std::move(contraction)) : std::nullopt;
}

bool GoesAlongSumsOverRows(const Program& program, const Path& path) {
  const VarId var = program.At(path).loop()->var;
  bool found = false;
  VisitStatements(program, path, [&](const Path& at, const Statement& st) {
    const std::optional<Contraction> sum = AsSumOverRows(program, at);
    found =
        found || (sum.has_value() && StrideOf(program, st.target, var) == 1 &&
                  StrideOf(program, *sum->b, var) == 1);
  });
  return found;
}

bool HasContraction(const Program& program, const Path& path) {
  bool found = false;
  VisitStatements(program, path, [&](const Path& at, const Statement&) {
    found = found || AsContraction(program, at).has_value();
  });
  return found;
}

bool HasSumOverRows(const Program& program, const Path& path) {
  bool found = false;
  VisitStatements(program, path, [&](const Path& at, const Statement&) {
    found = found || AsSumOverRows(program, at).has_value();
  });
  return found;
}

bool HasSumOfWindows(const Program& program, const Path& path) {
  bool found = false;
  VisitStatements(program, path, [&](const Path& at, const Statement&) {
    const std::optional<Contraction> sum = AsSumOverRows(program, at);
    if (!sum.has_value()) return;
    for (const Index& index : sum->b->indices) {
      const auto moves = [&](VarId var) { return index.affine.Uses(var); };
      found = found || (absl::c_any_of(sum->sums, moves) &&
                        absl::c_any_of(sum->columns, moves));
    }
  });
  return found;
}

}  // namespace hone::loops
