#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"

#include "hlo/text/literal.h"
#include "loops/ir/affine_text.h"
#include "loops/text/constant.h"
#include "loops/text/expression.h"
#include "loops/text/lexer.h"
#include "loops/text/text.h"

namespace hone::loops {
namespace {

using hlo::Opcode;

// The precedence of an expression; operands of lower precedence than their
// place requires are parenthesized.
enum Level { kComparison, kSum, kProduct, kPrimary };

absl::string_view Operator(const Expression& e) {
  if (e.kind() != Expression::Kind::kApply) return "";
  switch (e.opcode()) {
    case Opcode::kAdd:
      return "+";
    case Opcode::kSubtract:
      return "-";
    case Opcode::kMultiply:
      return "*";
    case Opcode::kDivide:
      return "/";
    case Opcode::kCompare:
      return e.total_order() ? "" : ComparisonText(e.direction(), false);
    default:
      return "";
  }
}

Level LevelOf(absl::string_view binary_operator) {
  if (binary_operator.empty()) return kPrimary;
  if (binary_operator == "+" || binary_operator == "-") return kSum;
  if (binary_operator == "*" || binary_operator == "/") return kProduct;
  return kComparison;
}

absl::string_view CombineText(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAdd:
      return "+";
    case Opcode::kMultiply:
      return "*";
    case Opcode::kMaximum:
      return "max";
    case Opcode::kMinimum:
      return "min";
    default:
      return hlo::OpcodeName(opcode);
  }
}

absl::string_view ModeText(LoopMode mode) {
  switch (mode) {
    case LoopMode::kSequential:
      return "";
    case LoopMode::kUnrolled:
      return " unrolled";
    case LoopMode::kVector:
      return " vector";
    case LoopMode::kParallel:
      return " parallel";
  }
  return "";
}

absl::string_view MemoryText(Memory memory) {
  switch (memory) {
    case Memory::kArgument:
      return "argument";
    case Memory::kResult:
      return "result";
    case Memory::kInOut:
      return "inout";
    case Memory::kConstant:
      return "constant";
    case Memory::kHeap:
      return "heap";
    case Memory::kStack:
      return "stack";
    case Memory::kRegister:
      return "register";
  }
  return "";
}

class Printer {
 public:
  Printer(const Program& program, bool with_paths)
      : program_(program),
        with_paths_(with_paths),
        names_(program.buffers().size()),
        loaded_(program.buffers().size(), false) {}

  std::string Print() {
    FindLoaded(program_.body());
    AppendName();
    AppendInterface(/*outputs=*/false);
    AppendInterface(/*outputs=*/true);
    for (size_t i = 0; i < loaded_.size(); ++i) {
      const Buffer& buffer = *program_.buffers()[i];
      if (buffer.memory != Memory::kConstant || !loaded_[i]) continue;
      Begin();
      AppendDeclaration(static_cast<BufferId>(i), "constant");
      out_ += ' ';
      hlo::AppendLiteral(*buffer.literal, out_);
      out_ += '\n';
    }
    AppendLocals(program_.locals());
    AppendBody(program_.body());
    return std::move(out_);
  }

 private:
  void FindLoaded(const std::vector<Node>& body) {
    for (const Node& node : body) {
      if (node.loop() != nullptr) {
        FindLoaded(node.loop()->body);
        continue;
      }
      const Statement& statement = *node.statement();
      if (statement.predicate != nullptr) FindLoaded(*statement.predicate);
      FindLoaded(*statement.value);
      FindLoaded(statement.target);
    }
  }

  void FindLoaded(const Expression& e) {
    if (e.kind() == Expression::Kind::kLoad) FindLoaded(e.access());
    for (const ExpressionPtr& operand : e.operands()) FindLoaded(*operand);
  }

  void FindLoaded(const Access& access) {
    loaded_[static_cast<size_t>(access.buffer)] = true;
    for (const Index& index : access.indices) {
      if (index.offset != nullptr) FindLoaded(*index.offset);
    }
  }

  // The text in front of a line without a node, and of a line with one.
  void Begin() {
    if (with_paths_) out_.append(PathWidth() + 1, ' ');
    for (size_t i = 0; i < vars_.size(); ++i) out_ += "| ";
  }
  void BeginNode() {
    if (with_paths_) {
      const std::string path = PathText(path_);
      out_ += path;
      out_.append(PathWidth() + 1 - path.size(), ' ');
    }
    for (size_t i = 0; i < vars_.size(); ++i) out_ += "| ";
  }

  size_t PathWidth() {
    if (path_width_ == 0) {
      path_width_ = 1;
      MeasurePaths(program_.body(), 0);
    }
    return path_width_;
  }
  void MeasurePaths(const std::vector<Node>& body, size_t before) {
    for (size_t i = 0; i < body.size(); ++i) {
      const size_t width = before + absl::StrCat(i).size();
      path_width_ = std::max(path_width_, width);
      if (body[i].loop() != nullptr) {
        MeasurePaths(body[i].loop()->body, width + 1);
      }
    }
  }

  void AppendName() {
    Begin();
    out_ += "kernel";
    if (!program_.name().empty()) out_ += ' ';
    for (char c : program_.name()) {
      const bool readable = c > ' ' && c != 127 && c != '#';
      out_ += readable ? c : '_';
    }
    out_ += '\n';
  }

  // Arguments, or results and in-out arrays, by number.
  void AppendInterface(bool outputs) {
    std::vector<std::pair<int32_t, BufferId>> buffers;
    for (size_t i = 0; i < program_.buffers().size(); ++i) {
      const Buffer& buffer = *program_.buffers()[i];
      const bool is_wanted =
          outputs ? buffer.IsOutput() : buffer.memory == Memory::kArgument;
      if (!is_wanted) continue;
      buffers.emplace_back(buffer.number, static_cast<BufferId>(i));
    }
    std::sort(buffers.begin(), buffers.end());
    for (const auto& [number, id] : buffers) {
      Begin();
      AppendDeclaration(id, MemoryText(program_.buffer(id).memory));
      out_ += '\n';
    }
  }

  void AppendLocals(const std::vector<BufferId>& locals) {
    for (BufferId id : locals) {
      const Buffer& buffer = program_.buffer(id);
      Begin();
      AppendDeclaration(id, "local");
      absl::StrAppend(&out_, " ", MemoryText(buffer.memory));
      if (!buffer.IsDense()) {
        absl::StrAppend(&out_, " strides {", absl::StrJoin(buffer.strides, ","),
                        "}");
      }
      out_ += '\n';
    }
  }

  void AppendDeclaration(BufferId id, absl::string_view what) {
    const Buffer& buffer = program_.buffer(id);
    absl::StrAppend(&out_, what, " ", NameOf(id), " ",
                    hlo::ElementTypeName(buffer.type), "[",
                    absl::StrJoin(buffer.dimensions, ","), "]");
  }

  // Returns a parseable, unique name of the buffer. Names are assigned in the
  // order of the text, so that they do not depend on ids.
  const std::string& NameOf(BufferId id) {
    std::string& name = names_[static_cast<size_t>(id)];
    if (!name.empty()) return name;
    std::string wanted = program_.buffer(id).name;
    for (char& c : wanted) {
      if (!IsNameCharacter(c)) c = '_';
    }
    if (wanted.empty() || !StartsName(wanted[0])) {
      wanted = absl::StrCat("_", wanted);
    }
    name = wanted;
    for (int i = 1; !taken_.insert(name).second; ++i) {
      name = absl::StrCat(wanted, "_", i);
    }
    return name;
  }

  void AppendBody(const std::vector<Node>& body) {
    for (size_t i = 0; i < body.size(); ++i) {
      path_.push_back(static_cast<int32_t>(i));
      BeginNode();
      if (body[i].loop() != nullptr) {
        AppendLoop(*body[i].loop());
      } else {
        AppendStatement(*body[i].statement());
      }
      path_.pop_back();
    }
  }

  void AppendLoop(const Loop& loop) {
    absl::StrAppend(&out_, "for i", vars_.size(), " ", loop.extent);
    if (loop.bound) {
      absl::StrAppend(&out_, " < ", AffineText(*loop.bound, vars_));
    }
    absl::StrAppend(&out_, ModeText(loop.mode));
    if (loop.prefetch != 0) absl::StrAppend(&out_, " prefetch ", loop.prefetch);
    out_ += '\n';
    vars_.push_back(loop.var);
    AppendLocals(loop.locals);
    AppendBody(loop.body);
    vars_.pop_back();
  }

  void AppendStatement(const Statement& statement) {
    AppendAccess(statement.target);
    out_ += ' ';
    if (statement.combine) {
      absl::StrAppend(&out_, CombineText(*statement.combine));
    }
    out_ += "= ";
    AppendExpression(*statement.value, kComparison);
    if (statement.predicate != nullptr) {
      out_ += " if (";
      AppendExpression(*statement.predicate, kComparison);
      out_ += ')';
    }
    if (statement.non_temporal) out_ += " nontemporal";
    out_ += '\n';
  }

  void AppendAccess(const Access& access) {
    const size_t rank = program_.buffer(access.buffer).dimensions.size();
    out_ += NameOf(access.buffer);
    out_ += access.indices.size() == rank ? "[" : "@[";
    for (size_t i = 0; i < access.indices.size(); ++i) {
      if (i > 0) out_ += ',';
      const Index& index = access.indices[i];
      const bool has_affine =
          index.offset == nullptr || index.affine != Affine();
      if (has_affine) out_ += AffineText(index.affine, vars_);
      if (index.offset == nullptr) continue;
      out_ += has_affine ? "+{" : "{";
      AppendExpression(*index.offset, kComparison);
      out_ += '}';
    }
    out_ += ']';
  }

  void AppendExpression(const Expression& e, Level least) {
    switch (e.kind()) {
      case Expression::Kind::kConstant:
        return AppendConstant(e, out_);
      case Expression::Kind::kLoad:
        return AppendAccess(e.access());
      case Expression::Kind::kIndex:
        absl::StrAppend(&out_, "index(", hlo::ElementTypeName(e.type()), ", ",
                        AffineText(e.index(), vars_), ")");
        return;
      case Expression::Kind::kWhere:
        return AppendWhere(e);
      case Expression::Kind::kApply:
        break;
    }
    const absl::string_view symbol = Operator(e);
    if (symbol.empty()) return AppendCall(e);
    const Level level = LevelOf(symbol);
    if (level < least) out_ += '(';
    // Sums and products are left-associative; comparisons are not associative.
    const Level right = static_cast<Level>(level + 1);
    AppendExpression(*e.operands()[0], level == kComparison ? right : level);
    absl::StrAppend(&out_, " ", symbol, " ");
    AppendExpression(*e.operands()[1], right);
    if (level < least) out_ += ')';
  }

  void AppendCall(const Expression& e) {
    const bool converts =
        e.opcode() == Opcode::kConvert || e.opcode() == Opcode::kBitcastConvert;
    if (e.opcode() == Opcode::kCompare) {
      absl::StrAppend(&out_, ComparisonText(e.direction(), true), "(");
    } else {
      absl::StrAppend(
          &out_, absl::StrReplaceAll(hlo::OpcodeName(e.opcode()), {{"-", "_"}}),
          "(");
    }
    if (converts) absl::StrAppend(&out_, hlo::ElementTypeName(e.type()), ", ");
    AppendOperands(e);
  }

  void AppendWhere(const Expression& e) {
    out_ += "where(";
    if (e.ranges().empty()) out_ += "true";
    for (size_t i = 0; i < e.ranges().size(); ++i) {
      const Range& range = e.ranges()[i];
      absl::StrAppend(&out_, i > 0 ? " and " : "", range.lo,
                      " <= ", AffineText(range.value, vars_), " < ", range.hi);
    }
    out_ += ", ";
    AppendOperands(e);
  }

  // The operands and the closing parenthesis.
  void AppendOperands(const Expression& e) {
    for (size_t i = 0; i < e.operands().size(); ++i) {
      if (i > 0) out_ += ", ";
      AppendExpression(*e.operands()[i], kComparison);
    }
    out_ += ')';
  }

  const Program& program_;
  const bool with_paths_;
  std::string out_;
  std::vector<std::string> names_;  // by BufferId, empty for those not named
  std::vector<bool> loaded_;        // by BufferId
  absl::flat_hash_set<std::string> taken_;
  std::vector<VarId> vars_;  // of the loops around the line
  Path path_;
  size_t path_width_ = 0;
};

}  // namespace

std::string PrintProgram(const Program& program) {
  return Printer(program, false).Print();
}

std::string PrintProgramWithPaths(const Program& program) {
  return Printer(program, true).Print();
}

}  // namespace hone::loops
