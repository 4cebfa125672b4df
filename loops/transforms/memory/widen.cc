// widen - BUFFER: stores a local in the type that everything that reads it
// converts it to.
//
//   t[i] = x[i]                      →  t[i] = convert(f32, x[i])
//   s[] += convert(f32, t[i])           s[] += t[i]
//
// Legal if all reads convert to one type of more bytes, and no reduction
// combines into the local. Pays off if elements are read several times, as the
// padded inputs of depthwise convolutions are.

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "loops/ir/rewrite.h"
#include "loops/transforms/checks.h"
#include "loops/transforms/locals.h"
#include "loops/transforms/registry.h"

namespace hone::loops {
namespace {

bool IsLoadOf(const Expression& e, BufferId buffer) {
  return e.kind() == Expression::Kind::kLoad && e.access().buffer == buffer;
}

// Returns true for a load of the buffer that is converted.
bool IsConvertedLoad(const Expression& e, BufferId buffer) {
  return e.kind() == Expression::Kind::kApply &&
         e.opcode() == hlo::Opcode::kConvert &&
         IsLoadOf(*e.operands()[0], buffer);
}

// Returns the type that all reads of the buffer convert to; nullopt if there is
// none.
std::optional<hlo::ElementType> TypeOfReads(const Program& program,
                                            BufferId buffer) {
  std::optional<hlo::ElementType> type;
  int64_t loads = 0;
  int64_t converted = 0;
  bool fits = true;
  const auto visit = [&](const ExpressionPtr& e) {
    if (IsLoadOf(*e, buffer)) ++loads;
    if (IsConvertedLoad(*e, buffer)) {
      ++converted;
      fits = fits && type.value_or(e->type()) == e->type();
      type = e->type();
    }
    return e;
  };
  for (const Node& node : program.body()) {
    MapExpressions(node, visit);
    VisitStatements(node, [&](const Statement& statement) {
      fits = fits && (statement.target.buffer != buffer ||
                      !statement.combine.has_value());
    });
  }
  return fits && loads == converted ? type : std::nullopt;
}

class Widen final : public Transform {
 public:
  absl::string_view name() const override { return "widen"; }
  int32_t buffer_parameters() const override { return 1; }

  void Enumerate(const Program& program, const Machine&,
                 std::vector<Step>& steps) const override {
    for (size_t b = 0; b < program.buffers().size(); ++b) {
      const Buffer& buffer = *program.buffers()[b];
      if (!buffer.IsLocal() || hlo::ByteWidth(buffer.type) >= 4) continue;
      const Step step = {"widen", Path(), {static_cast<int64_t>(b)}};
      if (Apply(program, step).ok()) steps.push_back(step);
    }
  }

  absl::StatusOr<Program> Apply(const Program& program,
                                const Step& step) const override {
    HONE_RETURN_IF_ERROR(ExpectParameters(step, 1, "BUFFER"));
    HONE_ASSIGN_OR_RETURN(const BufferId id, BufferParameter(program, step, 0));
    Buffer buffer = program.buffer(id);
    if (!step.path.empty() || !buffer.IsLocal() ||
        !FindDeclaration(program, id).has_value()) {
      return absl::InvalidArgumentError("expected path - and a local");
    }
    const std::optional<hlo::ElementType> type = TypeOfReads(program, id);
    if (!type.has_value() ||
        hlo::ByteWidth(*type) <= hlo::ByteWidth(buffer.type)) {
      return absl::InvalidArgumentError(
          "expected reads that all convert to one wider type, and no "
          "reduction into the local");
    }
    buffer.type = *type;
    if (buffer.memory == Memory::kStack) buffer.memory = MemoryFor(buffer);
    Program result = program;
    result.SetBuffer(id, std::move(buffer));
    std::vector<Node> body = program.body();
    for (Node& node : body) {
      node = MapExpressions(node, [&](const ExpressionPtr& e) {
        return IsConvertedLoad(*e, id)
                   ? Expression::Load(*type, e->operands()[0]->access())
                   : e;
      });
      node = MapStatements(node, [&](const StatementPtr& old) {
        if (old->target.buffer != id) return old;
        auto wider = std::make_shared<Statement>(*old);
        wider->value = Expression::Apply(hlo::Opcode::kConvert, *type,
                                         {std::move(wider->value)});
        return StatementPtr(std::move(wider));
      });
    }
    SetBody(result, Path(), std::move(body));
    return result;
  }
};

}  // namespace

std::unique_ptr<Transform> MakeWiden() { return std::make_unique<Widen>(); }

}  // namespace hone::loops
