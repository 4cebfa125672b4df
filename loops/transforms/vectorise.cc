// vectorise PATH: the iterations of a scope become the lanes of vectors.
//
//   for i 16         →    for i 16 vector
//
// For scopes of 2 … 64 iterations with statements only: split first. Legal
// where no iteration depends on another one; a reduction over the scope may,
// its lanes are combined at the end. Pays where the scope goes along the
// elements that lie next to each other.

#include <algorithm>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "loops/dependences.h"
#include "loops/rewrite.h"
#include "loops/transforms/checks.h"
#include "loops/transforms/registry.h"

namespace hone::loops {
namespace {

constexpr int64_t kMinLanes = 2;
constexpr int64_t kMaxLanes = 64;

absl::Status CheckShape(const Scope& scope) {
  if (scope.mode != ScopeMode::kSequential) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the scope is ", ModeName(scope.mode), ", expected sequential"));
  }
  if (scope.extent < kMinLanes || scope.extent > kMaxLanes) {
    return absl::InvalidArgumentError(absl::StrCat("extent ", scope.extent,
                                                   ", expected ", kMinLanes,
                                                   " … ", kMaxLanes, " lanes"));
  }
  for (const Node& node : scope.body) {
    if (node.scope() != nullptr) {
      return absl::InvalidArgumentError("the scope has scopes in it");
    }
  }
  return absl::OkStatus();
}

bool HasOffset(const Access& access) {
  return std::any_of(
      access.indices.begin(), access.indices.end(),
      [](const Index& index) { return index.offset != nullptr; });
}

bool SameAccess(const Access& a, const Access& b) {
  return std::equal(
      a.indices.begin(), a.indices.end(), b.indices.begin(), b.indices.end(),
      [](const Index& x, const Index& y) { return x.affine == y.affine; });
}

// Whether lanes can hold parts of the reductions of the scope: each combines
// into a place that is known before, and no two into the same elements by
// different indices.
bool CanReduceInLanes(const Scope& scope) {
  for (size_t i = 0; i < scope.body.size(); ++i) {
    const Statement& a = *scope.body[i].statement();
    if (!a.combine.has_value()) continue;
    if (HasOffset(a.target)) return false;
    for (size_t j = 0; j < i; ++j) {
      const Statement& b = *scope.body[j].statement();
      if (a.target.buffer == b.target.buffer &&
          !SameAccess(a.target, b.target)) {
        return false;
      }
    }
  }
  return true;
}

// A local has no row-major numbers any more once it has a place for each lane.
absl::Status CheckLocals(const Program& program, const Scope& scope) {
  for (BufferId id : scope.locals) {
    const Buffer& buffer = program.buffer(id);
    bool is_flat = false;
    for (const Node& node : scope.body) {
      VisitAccesses(*node.statement(), [&](const Access& access, bool) {
        is_flat |= access.buffer == id &&
                   access.indices.size() != buffer.dimensions.size();
      });
    }
    if (is_flat) {
      return absl::InvalidArgumentError(absl::StrCat(
          "local ", buffer.name, " is accessed as flat in the scope"));
    }
  }
  return absl::OkStatus();
}

absl::Status Check(const Program& program, const Path& path,
                   const Scope& scope) {
  HONE_RETURN_IF_ERROR(CheckShape(scope));
  HONE_RETURN_IF_ERROR(CheckLocals(program, scope));
  if (CarriesDependence(program, path,
                        {.reorder_reductions = CanReduceInLanes(scope)})) {
    return absl::InvalidArgumentError("iterations depend on each other");
  }
  return absl::OkStatus();
}

// A place for each lane in the locals that the scope declares, which move out
// of it: a vector has no iterations for them to begin anew in.
void ExpandLocals(Program& program, const Path& path, Scope& scope) {
  for (BufferId id : scope.locals) {
    Buffer buffer = program.buffer(id);
    for (Node& node : scope.body) {
      node = MapAccesses(node, [&](const Access& access) {
        Access lane = access;
        if (access.buffer == id) lane.indices.push_back(Affine::Var(scope.var));
        return lane;
      });
    }
    for (int64_t& stride : buffer.strides) stride *= scope.extent;
    buffer.dimensions.push_back(scope.extent);
    buffer.strides.push_back(1);
    program.SetBuffer(id, std::move(buffer));
  }
  const Path above(path.begin(), path.end() - 1);
  if (above.empty()) {
    std::vector<BufferId>& locals = program.mutable_locals();
    locals.insert(locals.end(), scope.locals.begin(), scope.locals.end());
  } else if (!scope.locals.empty()) {
    Scope around = *program.At(above).scope();
    around.locals.insert(around.locals.end(), scope.locals.begin(),
                         scope.locals.end());
    program.ReplaceScope(above, std::move(around));
  }
  scope.locals.clear();
}

class Vectorise final : public Transform {
 public:
  absl::string_view name() const override { return "vectorise"; }
  bool changes_rounding() const override { return true; }

  void Enumerate(const Program& program, const Machine&,
                 std::vector<Step>& steps) const override {
    VisitScopes(program, Path(), [&](const Path& path, const Scope& scope) {
      if (Check(program, path, scope).ok()) {
        steps.push_back({"vectorise", path, {}});
      }
    });
  }

  absl::StatusOr<Program> Apply(const Program& program,
                                const Step& step) const override {
    HONE_RETURN_IF_ERROR(ExpectParameters(step, 0, "none"));
    HONE_ASSIGN_OR_RETURN(const Scope* scope, FindScope(program, step));
    HONE_RETURN_IF_ERROR(Check(program, step.path, *scope));
    Scope vector = *scope;
    vector.mode = ScopeMode::kVector;
    vector.prefetch = 0;
    Program result = program;
    ExpandLocals(result, step.path, vector);
    result.ReplaceScope(step.path, std::move(vector));
    return result;
  }
};

}  // namespace

std::unique_ptr<Transform> MakeVectorise() {
  return std::make_unique<Vectorise>();
}

}  // namespace hone::loops
