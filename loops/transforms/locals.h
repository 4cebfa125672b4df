#ifndef HONE_LOOPS_TRANSFORMS_LOCALS_H_
#define HONE_LOOPS_TRANSFORMS_LOCALS_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "loops/ir/program.h"
#include "loops/transforms/transform.h"

namespace hone::loops {

// Edits of buffers, declarations and bodies that transformations share. An
// empty path means the root.

// Returns the buffer that parameter `i` of a step names, or InvalidArgument if
// there is none.
absl::StatusOr<BufferId> BufferParameter(const Program& program,
                                         const Step& step, size_t i);
// Returns InvalidArgument unless `path` is the root, or a loop that may have
// inner loops.
absl::Status ExpectLoop(const Program& program, const Path& path);

// The children of the loop at `path`.
const std::vector<Node>& BodyAt(const Program& program, const Path& path);
// The loops at and above `path`, outermost first.
std::vector<const Loop*> LoopsAt(const Program& program, const Path& path);
void SetBody(Program& program, const Path& path, std::vector<Node> body);
// Removes the node at `path`, and the loops that become empty by that.
void RemoveNode(Program& program, Path path);

// Adds a dense local and declares it in the loop at `path`, with a unique name
// based on `name`: on the stack if it is small, on the heap otherwise.
BufferId DeclareLocal(Program& program, const Path& path,
                      absl::string_view name, hlo::ElementType type,
                      absl::Span<const int64_t> dimensions);
// Adds a scalar register buffer without declaring it.
BufferId AddScalar(Program& program, absl::string_view name,
                   hlo::ElementType type);
// Removes the declaration of a local.
void RemoveDeclaration(Program& program, BufferId buffer);
// Declares a local that has no declaration in the loop at `path`.
void AddDeclaration(Program& program, const Path& path, BufferId buffer);

// The memory of a new dense local: the stack if it is small, else the heap.
Memory MemoryFor(const Buffer& buffer);

// Returns InvalidArgument if the loop accesses one of its locals as flat: such
// numbers change if the local gets a dimension.
absl::Status CheckLocalsExpand(const Program& program, const Loop& loop);
// Moves the declarations of the locals of the loop at `path` out of it. Each
// iteration has its own elements then, by a last dimension.
void ExpandLocals(Program& program, const Path& path);

// Returns InvalidArgument if an index of a register buffer depends on data, or
// on a loop that is neither unrolled nor a vector: a rewrite may have moved an
// access to such a place.
absl::Status CheckRegisters(const Program& program);

// Make nodes of the tree.
Node MakeNode(Statement statement);
Node MakeNode(Loop loop);

}  // namespace hone::loops

#endif  // HONE_LOOPS_TRANSFORMS_LOCALS_H_
