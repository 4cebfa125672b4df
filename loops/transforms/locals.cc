#include "loops/transforms/locals.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"

#include "loops/ir/rewrite.h"

namespace hone::loops {
namespace {

// The largest size of locals on a thread's stack.
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

// Returns true if the index is constant once unrolled and vector loops are
// expanded.
bool IsKnown(const Index& index, absl::Span<const Loop* const> above) {
  if (index.offset != nullptr) return false;
  return std::all_of(above.begin(), above.end(), [&](const Loop* loop) {
    return !index.affine.Uses(loop->var) || loop->mode == LoopMode::kUnrolled ||
           loop->mode == LoopMode::kVector;
  });
}

}  // namespace

absl::StatusOr<BufferId> BufferParameter(const Program& program,
                                         const Step& step, size_t i) {
  const int64_t id = i < step.parameters.size() ? step.parameters[i] : -1;
  if (id < 0 || static_cast<size_t>(id) >= program.buffers().size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("parameter ", i, " is not a buffer: ", id));
  }
  return static_cast<BufferId>(id);
}

absl::Status ExpectLoop(const Program& program, const Path& path) {
  if (path.empty()) return absl::OkStatus();
  if (!program.Has(path)) {
    return absl::InvalidArgumentError("there is no node at the path");
  }
  const Loop* loop = program.At(path).loop();
  if (loop == nullptr) {
    return absl::InvalidArgumentError("the node at the path is not a loop");
  }
  if (loop->mode == LoopMode::kVector) {
    return absl::InvalidArgumentError(
        "the loop at the path is a vector, which cannot contain a nest");
  }
  return absl::OkStatus();
}

const std::vector<Node>& BodyAt(const Program& program, const Path& path) {
  return path.empty() ? program.body() : program.At(path).loop()->body;
}

std::vector<const Loop*> LoopsAt(const Program& program, const Path& path) {
  if (path.empty()) return {};
  std::vector<const Loop*> loops = program.LoopsAbove(path);
  loops.push_back(program.At(path).loop());
  return loops;
}

void SetBody(Program& program, const Path& path, std::vector<Node> body) {
  if (path.empty()) {
    program.mutable_body() = std::move(body);
    return;
  }
  Loop loop = *program.At(path).loop();
  loop.body = std::move(body);
  program.ReplaceLoop(path, std::move(loop));
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
  buffer.memory = MemoryFor(buffer);
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
  Loop loop = *program.At(*at).loop();
  std::erase(loop.locals, buffer);
  program.ReplaceLoop(*at, std::move(loop));
}

void AddDeclaration(Program& program, const Path& path, BufferId buffer) {
  if (path.empty()) {
    program.mutable_locals().push_back(buffer);
    return;
  }
  Loop loop = *program.At(path).loop();
  loop.locals.push_back(buffer);
  program.ReplaceLoop(path, std::move(loop));
}

Memory MemoryFor(const Buffer& buffer) {
  return buffer.allocated_bytes() <= kSmallBytes ? Memory::kStack
                                                 : Memory::kHeap;
}

absl::Status CheckLocalsExpand(const Program& program, const Loop& loop) {
  for (BufferId id : loop.locals) {
    const Buffer& buffer = program.buffer(id);
    bool is_flat = false;
    for (const Node& node : loop.body) {
      VisitStatements(node, [&](const Statement& statement) {
        VisitAccesses(statement, [&](const Access& access, bool) {
          is_flat |= access.buffer == id &&
                     access.indices.size() != buffer.dimensions.size();
        });
      });
    }
    if (is_flat) {
      return absl::InvalidArgumentError(absl::StrCat(
          "local ", buffer.name, " is accessed as flat in the loop"));
    }
  }
  return absl::OkStatus();
}

void ExpandLocals(Program& program, const Path& path) {
  Loop loop = *program.At(path).loop();
  for (BufferId id : loop.locals) {
    Buffer buffer = program.buffer(id);
    for (Node& node : loop.body) {
      node = MapAccesses(node, [&](const Access& access) {
        Access own = access;
        if (access.buffer == id) own.indices.push_back(Affine::Var(loop.var));
        return own;
      });
    }
    for (int64_t& stride : buffer.strides) stride *= loop.extent;
    buffer.dimensions.push_back(loop.extent);
    buffer.strides.push_back(1);
    program.SetBuffer(id, std::move(buffer));
  }
  const std::vector<BufferId> locals = std::exchange(loop.locals, {});
  program.ReplaceLoop(path, std::move(loop));
  const Path above = Prefix(path, path.size() - 1);
  for (BufferId id : locals) AddDeclaration(program, above, id);
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
        const std::vector<const Loop*> above = program.LoopsAbove(path);
        VisitAccesses(statement, [&](const Access& access, bool) {
          if (program.buffer(access.buffer).memory != Memory::kRegister) return;
          for (const Index& index : access.indices) {
            if (IsKnown(index, above)) continue;
            status = absl::InvalidArgumentError(
                absl::StrCat("an index of ", program.buffer(access.buffer).name,
                             ", in registers, would depend on a loop that is "
                             "neither unrolled "
                             "nor a vector"));
          }
        });
      });
  return status;
}

Node MakeNode(Statement statement) {
  return std::make_shared<const Statement>(std::move(statement));
}

Node MakeNode(Loop loop) {
  return std::make_shared<const Loop>(std::move(loop));
}

}  // namespace hone::loops
