#include "loops/analysis/verifier.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "base/status_macros.h"
#include "loops/analysis/verifier_internal.h"
#include "loops/ir/operation_types.h"

namespace hone::loops {
namespace {

using hlo::ElementType;

template <typename... Parts>
absl::Status Error(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

size_t At(int64_t i) { return static_cast<size_t>(i); }

class Verifier {
 public:
  explicit Verifier(const Program& program)
      : program_(program),
        declared_(program.buffers().size(), false),
        visible_(program.buffers().size(), false) {}

  std::optional<Defect> Find() {
    absl::Status status = VerifyAll();
    if (status.ok()) return std::nullopt;
    return Defect{path_, std::string(status.message())};
  }

 private:
  absl::Status VerifyAll() {
    HONE_RETURN_IF_ERROR(VerifyBuffers(program_));
    for (size_t i = 0; i < visible_.size(); ++i) {
      visible_[i] = !program_.buffers()[i]->IsLocal();
    }
    HONE_RETURN_IF_ERROR(Declare(program_.locals()));
    return VerifyBody(program_.body());
  }

  // Makes locals visible; Hide ends that.
  absl::Status Declare(const std::vector<BufferId>& locals) {
    for (BufferId id : locals) {
      HONE_RETURN_IF_ERROR(VerifyId(id));
      if (!program_.buffer(id).IsLocal()) {
        return Error("buffer ", program_.buffer(id).name,
                     " is declared among locals, expected a local one");
      }
      if (declared_[At(id)]) {
        return Error("local buffer ", program_.buffer(id).name,
                     " is declared again, expected once");
      }
      declared_[At(id)] = true;
      visible_[At(id)] = true;
    }
    return absl::OkStatus();
  }

  void Hide(const std::vector<BufferId>& locals) {
    for (BufferId id : locals) visible_[At(id)] = false;
  }

  absl::Status VerifyId(BufferId id) {
    if (id >= 0 && At(id) < program_.buffers().size()) return absl::OkStatus();
    return Error("no buffer has number ", id, ", expected less than ",
                 program_.buffers().size());
  }

  // On an error path_ stays at the node.
  absl::Status VerifyBody(const std::vector<Node>& body) {
    for (size_t i = 0; i < body.size(); ++i) {
      path_.push_back(static_cast<int32_t>(i));
      if (body[i].loop() != nullptr) {
        HONE_RETURN_IF_ERROR(VerifyLoop(*body[i].loop()));
      } else if (body[i].statement() != nullptr) {
        HONE_RETURN_IF_ERROR(VerifyStatement(*body[i].statement()));
      } else {
        return Error("neither a loop nor a statement, expected one");
      }
      path_.pop_back();
    }
    return absl::OkStatus();
  }

  absl::Status VerifyLoop(const Loop& loop) {
    if (loop.extent < 0 || loop.extent > kMaxIndexNumber) {
      return Error("extent ", loop.extent, ", expected 0 to 2^56");
    }
    if (loop.var < 0 || loop.var >= program_.next_var()) {
      return Error("variable ", loop.var, ", expected one of NewVar");
    }
    // The bound may use the variables of outer loops only.
    if (loop.bound) HONE_RETURN_IF_ERROR(VerifyAffine(*loop.bound));
    for (const Loop* outer : loops_) {
      if (outer->var == loop.var) {
        return Error("variable ", loop.var,
                     " is a loop's above, too, expected one of its own");
      }
      if (outer->mode == LoopMode::kParallel &&
          loop.mode == LoopMode::kParallel) {
        return Error(
            "a parallel loop in another, expected a sequential, unrolled or "
            "vector one");
      }
    }
    if (loop.prefetch < 0 || loop.prefetch > kMaxPrefetch ||
        (loop.prefetch != 0 && loop.mode != LoopMode::kSequential)) {
      return Error("prefetch ", loop.prefetch, ", expected 0 to ", kMaxPrefetch,
                   ", and 0 unless the loop is sequential");
    }
    if (loop.mode == LoopMode::kVector) {
      for (const Node& node : loop.body) {
        if (node.loop() == nullptr) continue;
        return Error("a loop in a vector loop, expected statements only");
      }
      if (!loop.locals.empty()) {
        return Error(
            "a local of a vector loop, expected one outside with a place for "
            "each lane");
      }
    }
    HONE_RETURN_IF_ERROR(Declare(loop.locals));
    loops_.push_back(&loop);
    HONE_RETURN_IF_ERROR(VerifyBody(loop.body));
    loops_.pop_back();
    Hide(loop.locals);
    return absl::OkStatus();
  }

  absl::Status VerifyStatement(const Statement& statement) {
    if (statement.value == nullptr) return Error("no value, expected one");
    if (statement.predicate != nullptr) {
      HONE_RETURN_IF_ERROR(VerifyExpression(*statement.predicate));
      if (statement.predicate->type() != ElementType::kPred) {
        return Error("the predicate is of type ",
                     hlo::ElementTypeName(statement.predicate->type()),
                     ", expected pred");
      }
    }
    HONE_RETURN_IF_ERROR(VerifyExpression(*statement.value));
    HONE_RETURN_IF_ERROR(VerifyAccess(statement.target));
    const Buffer& target = program_.buffer(statement.target.buffer);
    if (target.memory == Memory::kArgument ||
        target.memory == Memory::kConstant) {
      return Error(target.name, " is written, expected a result or a local");
    }
    if (statement.value->type() != target.type) {
      return Error("a value of type ",
                   hlo::ElementTypeName(statement.value->type()), " for ",
                   target.name, ", expected ",
                   hlo::ElementTypeName(target.type));
    }
    if (statement.combine && !CanCombine(*statement.combine, target.type)) {
      return Error("combines ", hlo::ElementTypeName(target.type), " by ",
                   hlo::OpcodeName(*statement.combine),
                   ", expected a reduction of the type");
    }
    return absl::OkStatus();
  }

  absl::Status VerifyExpression(const Expression& e) {
    for (const ExpressionPtr& operand : e.operands()) {
      if (operand == nullptr) return Error("an operand is missing");
      HONE_RETURN_IF_ERROR(VerifyExpression(*operand));
    }
    switch (e.kind()) {
      case Expression::Kind::kConstant:
        if (hlo::KindOf(e.type()) != hlo::ElementKind::kNone) break;
        return Error("a number of type ", hlo::ElementTypeName(e.type()),
                     ", expected one with elements");
      case Expression::Kind::kIndex:
        if (hlo::KindOf(e.type()) == hlo::ElementKind::kNone ||
            e.type() == ElementType::kPred) {
          return Error("an index as ", hlo::ElementTypeName(e.type()),
                       ", expected a number");
        }
        return VerifyAffine(e.index());
      case Expression::Kind::kLoad:
        HONE_RETURN_IF_ERROR(VerifyAccess(e.access()));
        if (program_.buffer(e.access().buffer).type == e.type()) break;
        return Error(
            "loads ", program_.buffer(e.access().buffer).name, " as ",
            hlo::ElementTypeName(e.type()), ", expected ",
            hlo::ElementTypeName(program_.buffer(e.access().buffer).type));
      case Expression::Kind::kApply:
        if (IsWellTyped(e)) break;
        return Error(
            hlo::OpcodeName(e.opcode()), " of (",
            absl::StrJoin(e.operands(), ", ",
                          [](std::string* out, const ExpressionPtr& operand) {
                            absl::StrAppend(
                                out, hlo::ElementTypeName(operand->type()));
                          }),
            ") as ", hlo::ElementTypeName(e.type()),
            ", expected types that it is defined on");
      case Expression::Kind::kWhere:
        return VerifyWhere(e);
    }
    return absl::OkStatus();
  }

  absl::Status VerifyWhere(const Expression& e) {
    for (const Range& range : e.ranges()) {
      HONE_RETURN_IF_ERROR(VerifyAffine(range.value));
      HONE_RETURN_IF_ERROR(VerifyNumber(range.lo));
      HONE_RETURN_IF_ERROR(VerifyNumber(range.hi));
    }
    if (e.operands()[0]->type() == e.type() &&
        e.operands()[1]->type() == e.type()) {
      return absl::OkStatus();
    }
    return Error("where of ", hlo::ElementTypeName(e.operands()[0]->type()),
                 " and ", hlo::ElementTypeName(e.operands()[1]->type()),
                 ", expected one type");
  }

  absl::Status VerifyAccess(const Access& access) {
    HONE_RETURN_IF_ERROR(VerifyId(access.buffer));
    const Buffer& buffer = program_.buffer(access.buffer);
    if (!visible_[At(access.buffer)]) {
      return Error("local buffer ", buffer.name,
                   " is used, expected its declaration above");
    }
    const size_t rank = buffer.dimensions.size();
    const bool flat =
        access.indices.size() == 1 && rank != 1 && buffer.IsDense();
    if (access.indices.size() != rank && !flat) {
      return Error(access.indices.size(), " indices for ", buffer.name,
                   ", expected ", rank);
    }
    for (const Index& index : access.indices) {
      HONE_RETURN_IF_ERROR(VerifyAffine(index.affine));
      if (index.offset != nullptr) {
        HONE_RETURN_IF_ERROR(VerifyExpression(*index.offset));
        if (!hlo::IsIntegral(index.offset->type())) {
          return Error("an index of ", buffer.name, " is of type ",
                       hlo::ElementTypeName(index.offset->type()),
                       ", expected an integer");
        }
      }
      if (buffer.memory == Memory::kRegister) {
        HONE_RETURN_IF_ERROR(VerifyRegisterIndex(buffer, index));
      }
    }
    return absl::OkStatus();
  }

  absl::Status VerifyRegisterIndex(const Buffer& buffer, const Index& index) {
    bool known = index.offset == nullptr;
    for (const Loop* loop : loops_) {
      known &= loop->mode == LoopMode::kUnrolled ||
               loop->mode == LoopMode::kVector || !index.affine.Uses(loop->var);
    }
    if (known) return absl::OkStatus();
    return Error("an index of ", buffer.name,
                 ", which is in registers, changes at run time, expected one "
                 "of unrolled and vector loops");
  }

  absl::Status VerifyNumber(int64_t number) {
    if (number >= -kMaxIndexNumber && number <= kMaxIndexNumber) {
      return absl::OkStatus();
    }
    return Error("number ", number, " among indices, expected at most 2^56");
  }

  absl::Status VerifyAffine(const Affine& affine) {
    HONE_RETURN_IF_ERROR(VerifyNumber(affine.constant()));
    // Its value in the worst case.
    __int128 magnitude = std::abs(affine.constant());
    for (const Affine::Term& term : affine.terms()) {
      HONE_RETURN_IF_ERROR(VerifyNumber(term.coefficient));
      const auto loop =
          std::find_if(loops_.begin(), loops_.end(),
                       [&](const Loop* s) { return s->var == term.var; });
      if (loop == loops_.end()) {
        return Error("variable ", term.var,
                     " is used, expected one of a loop above");
      }
      magnitude += static_cast<__int128>(std::abs(term.coefficient)) *
                   static_cast<__int128>((*loop)->extent);
    }
    if (magnitude > kMaxIndexNumber) {
      return Error("an index may exceed 2^56, expected less");
    }
    return absl::OkStatus();
  }

  const Program& program_;
  Path path_;
  std::vector<const Loop*> loops_;  // above the node at path_
  std::vector<bool> declared_;      // by BufferId, anywhere so far
  std::vector<bool> visible_;       // by BufferId, at path_
};

}  // namespace

absl::Status StatusOf(const Defect& defect) {
  return absl::InvalidArgumentError(
      absl::StrCat("at ", PathText(defect.path), ": ", defect.what));
}

std::optional<Defect> FindStructureDefect(const Program& program) {
  return Verifier(program).Find();
}

absl::Status VerifyProgram(const Program& program) {
  if (const auto defect = FindStructureDefect(program)) {
    return StatusOf(*defect);
  }
  if (const auto defect = FindBoundsDefect(program)) {
    return StatusOf(*defect);
  }
  return absl::OkStatus();
}

}  // namespace hone::loops
