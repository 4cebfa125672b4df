#ifndef HONE_LOOPS_IR_PATH_H_
#define HONE_LOOPS_IR_PATH_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/container/inlined_vector.h"

namespace hone::loops {

// The place of a node in a program: the number of the child to take at each
// level, from the root down. An empty path is the root itself.
using Path = absl::InlinedVector<int32_t, 8>;

// "0.1.2"; "-" for the root.
std::string PathText(const Path& path);

// `path` with `offset` added to its last number.
Path Sibling(Path path, int32_t offset);
// The path of child `number` of the node at `path`.
Path Child(Path path, int32_t number);
// The path of the loop around the node at `path`, empty for the root.
Path Parent(const Path& path);
// The first `length` numbers of `path`.
Path Prefix(const Path& path, size_t length);

// The length of the longest common prefix.
size_t CommonLength(const Path& a, const Path& b);
// Returns true if `path` is `above` or leads to a node inside it.
bool IsAtOrBelow(const Path& path, const Path& above);

}  // namespace hone::loops

#endif  // HONE_LOOPS_IR_PATH_H_
