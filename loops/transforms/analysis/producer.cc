#include "loops/transforms/analysis/producer.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "loops/transforms/analysis/coverage.h"
#include "loops/transforms/analysis/footprint.h"
#include "loops/transforms/locals.h"

namespace hone::loops {
namespace {

// The value of each variable of a producer at the place of a read.
using VarMap = absl::flat_hash_map<VarId, Affine>;

bool IsFixed(const Buffer& buffer) {
  return buffer.memory == Memory::kArgument ||
         buffer.memory == Memory::kConstant;
}

// Solves index = wanted for the variables of the digits of `index`, where they
// tell which element is meant; `loops` are those above the reader.
bool Solve(const SeenIndex& index, const Affine& wanted,
           absl::Span<const Loop* const> loops, VarMap& vars) {
  Affine rest = wanted - index.fixed;
  if (index.digits.size() == 1 && index.digits[0].coefficient == 1) {
    return vars.emplace(index.digits[0].loop->var, rest).second;
  }
  // Digits of a number: each is the sum of the terms of the other side that are
  // multiples of it, and less than the next one.
  std::vector<Digit> digits = index.digits;
  std::sort(digits.begin(), digits.end(), [](const Digit& a, const Digit& b) {
    return a.coefficient < b.coefficient;
  });
  int64_t reach = 0;
  for (size_t i = 0; i < digits.size(); ++i) {
    const auto [loop, unit] = digits[i];
    if (unit <= reach) return false;
    reach += unit * (loop->extent - 1);
    const int64_t next = i + 1 < digits.size()
                             ? digits[i + 1].coefficient
                             : std::numeric_limits<int64_t>::max();
    Affine value = rest.constant() % next / unit;
    for (const Affine::Term& term : rest.terms()) {
      if (term.coefficient % unit == 0 && term.coefficient < next) {
        value += Affine::Var(term.var) * (term.coefficient / unit);
      }
    }
    const Interval range = RangeOf(value, loops);
    if (range.lo < 0 || range.hi >= loop->extent) return false;
    rest -= value * unit;
    if (!vars.emplace(loop->var, value).second) return false;
  }
  return rest == Affine(0);
}

// Returns an error if an input of `value` may change between the producer and
// the consumer.
absl::Status CheckUnchanged(const Program& program, const Producer& producer,
                            const Path& consumer, size_t common) {
  std::vector<BufferId> loaded;
  VisitLoads(*program.At(producer.path).statement()->value,
             [&](const Access& access) { loaded.push_back(access.buffer); });
  for (BufferId buffer : loaded) {
    if (IsFixed(program.buffer(buffer))) continue;
    for (const AccessSite& site :
         SitesOf(program, Prefix(consumer, common), buffer)) {
      if (site.is_write && site.path[common] >= producer.path[common] &&
          site.path[common] <= consumer[common]) {
        return absl::InvalidArgumentError(
            "what the value depends on may change before it is read");
      }
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<VarMap> VarsFor(const Program& program, const Producer& producer,
                               const Path& consumer, const Access& load,
                               size_t common) {
  const Statement& statement = *program.At(producer.path).statement();
  const std::vector<const Loop*> loops = program.LoopsAbove(producer.path);
  const absl::Span<const Loop* const> below =
      absl::MakeSpan(loops).subspan(common);
  const std::vector<const Loop*> reader_loops = program.LoopsAbove(consumer);
  const bool is_flat =
      load.indices.size() != program.buffer(load.buffer).dimensions.size() ||
      statement.target.indices.size() != load.indices.size();
  const IndexForm form = is_flat ? IndexForm::kFlat : IndexForm::kDimensions;
  const auto indices = IndicesOf(program, statement.target, form);
  const auto wanted = IndicesOf(program, load, form);
  if (!indices.has_value() || !wanted.has_value()) {
    return absl::InvalidArgumentError("an index depends on data");
  }
  VarMap vars;
  for (size_t d = 0; d < indices->size(); ++d) {
    if (!Solve(SeenFrom((*indices)[d], below), (*wanted)[d], reader_loops,
               vars)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "index ", d, " does not tell the iteration of the producer"));
    }
  }
  bool is_complete = true;
  MapAffines(statement.value, [&](const Affine& affine) {
    for (const Loop* loop : below) {
      is_complete &= !affine.Uses(loop->var) || vars.contains(loop->var);
    }
    return affine;
  });
  if (!is_complete) {
    return absl::InvalidArgumentError(
        "the value depends on a loop that the target does not");
  }
  return vars;
}

Affine Substituted(const Affine& affine, const VarMap& vars) {
  Affine result = affine.constant();
  for (const Affine::Term& term : affine.terms()) {
    const auto it = vars.find(term.var);
    result += (it == vars.end() ? Affine::Var(term.var) : it->second) *
              term.coefficient;
  }
  return result;
}

}  // namespace

absl::StatusOr<Producer> ProducerAt(const Program& program, const Path& path) {
  if (path.empty() || !program.Has(path) ||
      program.At(path).statement() == nullptr) {
    return absl::InvalidArgumentError("the path is not that of a statement");
  }
  const Statement& statement = *program.At(path).statement();
  const BufferId buffer = statement.target.buffer;
  if (!program.buffer(buffer).IsLocal() || statement.combine.has_value() ||
      statement.predicate != nullptr) {
    return absl::InvalidArgumentError(
        "the statement does not always give a local its value");
  }
  for (const AccessSite& site : SitesOf(program, Path(), buffer)) {
    if ((site.is_write && site.path != path) ||
        (!site.is_write && site.path == path)) {
      return absl::InvalidArgumentError(
          "the local gets other values elsewhere");
    }
  }
  return Producer{path, buffer};
}

absl::StatusOr<Producer> ProducerOf(const Program& program, BufferId buffer) {
  for (const AccessSite& site : SitesOf(program, Path(), buffer)) {
    if (site.is_write) return ProducerAt(program, site.path);
  }
  return absl::InvalidArgumentError("nothing writes the buffer");
}

absl::StatusOr<StatementPtr> WithValueOf(const Program& program,
                                         const Producer& producer,
                                         const Path& consumer) {
  if (!program.Has(consumer) || program.At(consumer).statement() == nullptr) {
    return absl::InvalidArgumentError("the reader is not a statement");
  }
  const size_t common = CommonLength(producer.path, consumer);
  if (producer.path == consumer || producer.path[common] > consumer[common]) {
    return absl::InvalidArgumentError("the reader is before the producer");
  }
  // Both in the same iteration of the loops above both: declared in the
  // innermost, or written anew.
  const std::optional<Path> declaration =
      FindDeclaration(program, producer.buffer);
  const bool is_fresh =
      declaration.has_value() && declaration->size() == common;
  AccessSite write;
  write.path = producer.path;
  write.access = program.At(producer.path).statement()->target;
  write.is_write = true;
  bool is_read = false;
  for (const AccessSite& site : SitesOf(program, consumer, producer.buffer)) {
    is_read = true;
    if (!is_fresh && !Covers(program, write, site)) {
      return absl::InvalidArgumentError(
          "the reader may see a value of another iteration");
    }
  }
  if (!is_read) {
    return absl::InvalidArgumentError("the statement does not read the local");
  }
  HONE_RETURN_IF_ERROR(CheckUnchanged(program, producer, consumer, common));
  absl::Status status;
  const StatementPtr result = MapExpressions(
      program.At(consumer).statement_ptr(),
      [&](const ExpressionPtr& e) -> ExpressionPtr {
        if (e->kind() != Expression::Kind::kLoad ||
            e->access().buffer != producer.buffer) {
          return e;
        }
        const absl::StatusOr<VarMap> vars =
            VarsFor(program, producer, consumer, e->access(), common);
        if (!vars.ok()) {
          status = vars.status();
          return e;
        }
        return MapAffines(
            program.At(producer.path).statement()->value,
            [&](const Affine& affine) { return Substituted(affine, *vars); });
      });
  if (!status.ok()) return status;
  return result;
}

}  // namespace hone::loops
