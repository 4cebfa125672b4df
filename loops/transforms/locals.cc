#include "loops/transforms/locals.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"

#include "base/check.h"
#include "loops/rewrite.h"

namespace hone::loops {
namespace {

// More than this and a thread's stack may not be the place.
constexpr int64_t kSmallBytes = 16 << 10;

std::string UnusedName(const Program& program, absl::string_view name) {
  const auto is_used = [&](absl::string_view candidate) {
    return std::any_of(
        program.buffers().begin(), program.buffers().end(),
        [&](const BufferPtr& buffer) { return buffer->name == candidate; });
  };
  std::string candidate(name);
  for (int i = 1; is_used(candidate); ++i) candidate = absl::StrCat(name, i);
  return candidate;
}

// Whether the index has one value in each copy of an unrolled or vector scope.
bool IsKnown(const Index& index, absl::Span<const Scope* const> above) {
  if (index.offset != nullptr) return false;
  return std::all_of(above.begin(), above.end(), [&](const Scope* scope) {
    return !index.affine.Uses(scope->var) ||
           scope->mode == ScopeMode::kUnrolled ||
           scope->mode == ScopeMode::kVector;
  });
}

}  // namespace

absl::StatusOr<BufferId> BufferParameter(const Program& program,
                                         const Step& step, size_t i) {
  const int64_t id = i < step.parameters.size() ? step.parameters[i] : -1;
  if (id < 0 || static_cast<size_t>(id) >= program.buffers().size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("parameter ", i, " is no buffer: ", id));
  }
  return static_cast<BufferId>(id);
}

absl::Status ExpectScope(const Program& program, const Path& path) {
  if (path.empty()) return absl::OkStatus();
  if (!program.Has(path)) {
    return absl::InvalidArgumentError("there is no node at the path");
  }
  const Scope* scope = program.At(path).scope();
  if (scope == nullptr) {
    return absl::InvalidArgumentError("the node at the path is no scope");
  }
  if (scope->mode == ScopeMode::kVector) {
    return absl::InvalidArgumentError(
        "the scope at the path is a vector, which has no room for a nest");
  }
  return absl::OkStatus();
}

const std::vector<Node>& BodyAt(const Program& program, const Path& path) {
  return path.empty() ? program.body() : program.At(path).scope()->body;
}

void SetBody(Program& program, const Path& path, std::vector<Node> body) {
  if (path.empty()) {
    program.mutable_body() = std::move(body);
    return;
  }
  Scope scope = *program.At(path).scope();
  scope.body = std::move(body);
  program.ReplaceScope(path, std::move(scope));
}

void RemoveNode(Program& program, Path path) {
  while (path.size() > 1) {
    const Path parent = Prefix(path, path.size() - 1);
    if (BodyAt(program, parent).size() > 1) break;
    path = parent;
  }
  program.Replace(path, {});
}

BufferId DeclareLocal(Program& program, const Path& path,
                      absl::string_view name, hlo::ElementType type,
                      absl::Span<const int64_t> dimensions) {
  Buffer buffer;
  buffer.name = UnusedName(program, name);
  buffer.type = type;
  buffer.dimensions.assign(dimensions.begin(), dimensions.end());
  buffer.strides = DenseStrides(dimensions);
  buffer.memory =
      buffer.allocated_bytes() <= kSmallBytes ? Memory::kStack : Memory::kHeap;
  const BufferId id = program.AddBuffer(std::move(buffer));
  AddDeclaration(program, path, id);
  return id;
}

BufferId AddScalar(Program& program, absl::string_view name,
                   hlo::ElementType type) {
  Buffer buffer;
  buffer.name = UnusedName(program, name);
  buffer.type = type;
  buffer.memory = Memory::kRegister;
  return program.AddBuffer(std::move(buffer));
}

void RemoveDeclaration(Program& program, BufferId buffer) {
  const std::optional<Path> at = FindDeclaration(program, buffer);
  if (!at.has_value()) return;
  if (at->empty()) {
    std::erase(program.mutable_locals(), buffer);
    return;
  }
  Scope scope = *program.At(*at).scope();
  std::erase(scope.locals, buffer);
  program.ReplaceScope(*at, std::move(scope));
}

void AddDeclaration(Program& program, const Path& path, BufferId buffer) {
  if (path.empty()) {
    program.mutable_locals().push_back(buffer);
    return;
  }
  Scope scope = *program.At(path).scope();
  scope.locals.push_back(buffer);
  program.ReplaceScope(path, std::move(scope));
}

absl::Status CheckRegisters(const Program& program) {
  if (std::none_of(program.buffers().begin(), program.buffers().end(),
                   [](const BufferPtr& buffer) {
                     return buffer->memory == Memory::kRegister;
                   })) {
    return absl::OkStatus();
  }
  absl::Status status;
  VisitStatements(
      program, Path(), [&](const Path& path, const Statement& statement) {
        const std::vector<const Scope*> above = program.ScopesAbove(path);
        VisitAccesses(statement, [&](const Access& access, bool) {
          if (program.buffer(access.buffer).memory != Memory::kRegister) return;
          for (const Index& index : access.indices) {
            if (IsKnown(index, above)) continue;
            status = absl::InvalidArgumentError(
                absl::StrCat("an index of ", program.buffer(access.buffer).name,
                             ", in registers, would depend on a scope that is "
                             "neither unrolled "
                             "nor a vector"));
          }
        });
      });
  return status;
}

bool IsAtOrBelow(const Path& path, const Path& above) {
  return CommonLength(path, above) == above.size();
}

size_t CommonLength(const Path& a, const Path& b) {
  size_t length = 0;
  while (length < a.size() && length < b.size() && a[length] == b[length]) {
    ++length;
  }
  return length;
}

Path Prefix(const Path& path, size_t length) {
  HONE_CHECK(length <= path.size());
  return Path(path.begin(), path.begin() + static_cast<ptrdiff_t>(length));
}

Node MakeNode(Statement statement) {
  return std::make_shared<const Statement>(std::move(statement));
}

Node MakeNode(Scope scope) {
  return std::make_shared<const Scope>(std::move(scope));
}

}  // namespace hone::loops
