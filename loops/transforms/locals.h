#ifndef HONE_LOOPS_TRANSFORMS_LOCALS_H_
#define HONE_LOOPS_TRANSFORMS_LOCALS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "loops/program.h"
#include "loops/transforms/transform.h"

namespace hone::loops {

// Buffers and bodies of scopes: what transformations of data do to programs.
// A path that is empty means the root.

// The buffer that parameter `i` of a step names.
// Errors: InvalidArgument where there is none.
absl::StatusOr<BufferId> BufferParameter(const Program& program,
                                         const Step& step, size_t i);
// Errors: InvalidArgument where `path` is no scope (nor the root) that may have
// scopes inside.
absl::Status ExpectScope(const Program& program, const Path& path);

// The children of the scope at `path`.
const std::vector<Node>& BodyAt(const Program& program, const Path& path);
void SetBody(Program& program, const Path& path, std::vector<Node> body);
// Without the node at `path`, and without scopes that are empty then.
void RemoveNode(Program& program, Path path);

// A new dense local, declared in the scope at `path`, with a name made of
// `name`: on the stack as far as it is small, on the heap otherwise.
BufferId DeclareLocal(Program& program, const Path& path,
                      absl::string_view name, hlo::ElementType type,
                      absl::Span<const int64_t> dimensions);
// A new scalar in a register, not yet declared.
BufferId AddScalar(Program& program, absl::string_view name,
                   hlo::ElementType type);
// Takes a local out of what its scope declares.
void RemoveDeclaration(Program& program, BufferId buffer);
// Adds a local that is declared nowhere to what the scope at `path` declares.
void AddDeclaration(Program& program, const Path& path, BufferId buffer);

// Errors: InvalidArgument where an index of a buffer in registers depends on a
// scope that is neither unrolled nor a vector, or on data: a rewrite may have
// moved an access to such a place.
absl::Status CheckRegisters(const Program& program);

// Whether `path` is `above` or leads to a place in it.
bool IsAtOrBelow(const Path& path, const Path& above);
// How many children both paths go down together.
size_t CommonLength(const Path& a, const Path& b);
// The first `length` children of a path.
Path Prefix(const Path& path, size_t length);

// Statements as nodes.
Node MakeNode(Statement statement);
Node MakeNode(Scope scope);

}  // namespace hone::loops

#endif  // HONE_LOOPS_TRANSFORMS_LOCALS_H_
