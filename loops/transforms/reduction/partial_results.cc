#include "loops/transforms/reduction/partial_results.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "loops/ir/rewrite.h"
#include "loops/transforms/analysis/coverage.h"
#include "loops/transforms/locals.h"

namespace hone::loops {
namespace {

int64_t Largest(hlo::ElementType type) {
  const int bits = hlo::BitWidth(type);
  if (hlo::IsUnsigned(type)) {
    return bits == 64 ? -1 : (int64_t{1} << bits) - 1;
  }
  return bits == 64 ? std::numeric_limits<int64_t>::max()
                    : (int64_t{1} << (bits - 1)) - 1;
}

int64_t Least(hlo::ElementType type) {
  return hlo::IsUnsigned(type) ? 0 : -Largest(type) - 1;
}

// Returns a nest over the box around `inner`.
Node OverBox(Program& program, const PartialResults& partial,
             absl::FunctionRef<Node(absl::Span<const Affine>)> inner) {
  std::vector<Loop> loops;
  std::vector<Affine> indices;
  for (int64_t extent : partial.box.CompactExtents()) {
    Loop loop;
    loop.var = program.NewVar();
    loop.extent = extent;
    indices.push_back(Affine::Var(loop.var));
    loops.push_back(std::move(loop));
  }
  Node node = inner(indices);
  while (!loops.empty()) {
    loops.back().body.push_back(std::move(node));
    node = MakeNode(std::move(loops.back()));
    loops.pop_back();
  }
  return node;
}

Access LocalPart(const PartialResults& partial,
                 absl::Span<const Affine> indices, const Affine& part) {
  Access access;
  access.buffer = partial.local;
  if (!partial.parts_last) access.indices.emplace_back(part);
  for (const Affine& index : indices) access.indices.emplace_back(index);
  if (partial.parts_last) access.indices.emplace_back(part);
  return access;
}

// Returns a loop over the parts around `leaf`.
Node OverParts(Program& program, int64_t count,
               absl::FunctionRef<Statement(const Affine&)> leaf) {
  if (count == 1) return MakeNode(leaf(Affine(0)));
  Loop loop;
  loop.var = program.NewVar();
  loop.extent = count;
  loop.body.push_back(MakeNode(leaf(Affine::Var(loop.var))));
  return MakeNode(std::move(loop));
}

}  // namespace

absl::StatusOr<ExpressionPtr> ReductionIdentity(hlo::Opcode combine,
                                                hlo::ElementType type) {
  const bool is_float = hlo::IsFloat(type);
  if (is_float || hlo::IsIntegral(type)) {
    const double infinity = std::numeric_limits<double>::infinity();
    switch (combine) {
      case hlo::Opcode::kAdd:
        // -0 + 0 is 0, and -0 + -0 stays -0.
        return Expression::Constant(type, is_float ? -0.0 : 0);
      case hlo::Opcode::kMultiply:
        return Expression::Constant(type, 1);
      case hlo::Opcode::kMaximum:
        return is_float ? Expression::Constant(type, -infinity)
                        : Expression::ConstantInt(type, Least(type));
      case hlo::Opcode::kMinimum:
        return is_float ? Expression::Constant(type, infinity)
                        : Expression::ConstantInt(type, Largest(type));
      default:
        break;
    }
  }
  if (!is_float && !hlo::IsComplex(type)) {
    const bool is_pred = type == hlo::ElementType::kPred;
    if (combine == hlo::Opcode::kAnd) {
      return Expression::ConstantInt(type, is_pred ? 1
                                           : hlo::IsUnsigned(type)
                                               ? Largest(type)
                                               : -1);
    }
    if (combine == hlo::Opcode::kOr || combine == hlo::Opcode::kXor) {
      return Expression::ConstantInt(type, 0);
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat("no identity is known of ", hlo::OpcodeName(combine),
                   " for ", hlo::ElementTypeName(type)));
}

absl::StatusOr<PartialResults> MakePartialResults(Program& program,
                                                  const Path& region,
                                                  const Path& path,
                                                  BufferId buffer,
                                                  int64_t parts) {
  const Path parent = Prefix(region, region.size() - 1);
  const std::optional<Path> declaration = FindDeclaration(program, buffer);
  if (declaration.has_value() && IsAtOrBelow(*declaration, region)) {
    return absl::InvalidArgumentError(
        "the target is declared where its parts would be");
  }
  const std::vector<AccessSite> sites = SitesOf(program, region, buffer);
  if (sites.empty()) {
    return absl::InvalidArgumentError("nothing reduces to the buffer there");
  }
  const VarId var = program.At(path).loop()->var;
  for (const AccessSite& site : sites) {
    if (!site.combine.has_value() || site.combine != sites.front().combine) {
      return absl::InvalidArgumentError(
          "the target has accesses other than one reduction");
    }
    if (!IsAtOrBelow(site.path, path)) {
      return absl::InvalidArgumentError(
          "the target is accessed beside the loop");
    }
    if (!TouchSame(program, parent, site, sites.front())) {
      return absl::InvalidArgumentError(
          "accesses of the target touch different elements");
    }
    for (const Index& index : site.access.indices) {
      if (index.affine.Uses(var)) {
        return absl::InvalidArgumentError(
            "the target depends on the loop: not a reduction");
      }
    }
  }
  // Elements that nothing is combined into may have no value.
  if (!IsUnconditional(program, parent, sites.front())) {
    return absl::InvalidArgumentError(
        "some elements of the target may not be reached");
  }
  // A part is combined into its element once.
  if (!TouchesEachOnce(program, sites.front(),
                       LoopsBetween(program, parent, sites.front()))) {
    return absl::InvalidArgumentError(
        "several iterations may have one element of the target");
  }
  PartialResults partial;
  partial.site = sites.front();
  partial.parts = parts;
  HONE_ASSIGN_OR_RETURN(partial.box,
                        BoxOf(program, parent, sites, /*clip=*/true));
  const Buffer target = program.buffer(buffer);
  HONE_ASSIGN_OR_RETURN(partial.identity,
                        ReductionIdentity(*partial.site.combine, target.type));
  const std::vector<Node>& body = program.At(path).loop()->body;
  partial.parts_last =
      std::all_of(body.begin(), body.end(),
                  [](const Node& node) { return node.statement() != nullptr; });
  hlo::DimensionVector dimensions = partial.box.CompactExtents();
  dimensions.insert(partial.parts_last ? dimensions.end() : dimensions.begin(),
                    parts);
  partial.local =
      DeclareLocal(program, parent, absl::StrCat(target.name, "_parts"),
                   target.type, dimensions);
  return partial;
}

Access PartOf(const Program& program, const PartialResults& partial,
              const Access& access, const Affine& part) {
  const Access place = partial.box.Localize(
      partial.local, *IndicesOf(program, access, partial.box.form));
  std::vector<Affine> indices;
  for (const Index& index : place.indices) indices.push_back(index.affine);
  return LocalPart(partial, indices, part);
}

Node Initialize(Program& program, const PartialResults& partial) {
  return OverBox(program, partial, [&](absl::Span<const Affine> indices) {
    return OverParts(program, partial.parts, [&](const Affine& part) {
      Statement statement;
      statement.target = LocalPart(partial, indices, part);
      statement.value = partial.identity;
      return statement;
    });
  });
}

Node CombineHalves(Program& program, const PartialResults& partial,
                   int64_t count) {
  return OverBox(program, partial, [&](absl::Span<const Affine> indices) {
    return OverParts(program, count, [&](const Affine& part) {
      Statement statement;
      statement.target = LocalPart(partial, indices, part);
      statement.value =
          Expression::Load(partial.identity->type(),
                           LocalPart(partial, indices, part + Affine(count)));
      statement.combine = partial.site.combine;
      return statement;
    });
  });
}

absl::StatusOr<Node> CombineInto(Program& program, const Path& region,
                                 const PartialResults& partial, int64_t count) {
  Loop parts;
  parts.var = program.NewVar();
  parts.extent = count;
  HONE_ASSIGN_OR_RETURN(
      Node sweep,
      SweepOf(program, Prefix(region, region.size() - 1), partial.site,
              [&](const Access& access) {
                Statement statement;
                statement.target = access;
                statement.value = Expression::Load(
                    partial.identity->type(),
                    PartOf(program, partial, access,
                           count == 1 ? Affine(0) : Affine::Var(parts.var)));
                statement.combine = partial.site.combine;
                return statement;
              }));
  if (count == 1) return sweep;
  parts.body.push_back(std::move(sweep));
  return MakeNode(std::move(parts));
}

}  // namespace hone::loops
