#ifndef HONE_GRAPHS_OP_SCOPE_H_
#define HONE_GRAPHS_OP_SCOPE_H_

#include <string>

#include "absl/strings/string_view.h"

namespace hone::graphs {

// Returns the part of a model that an instruction belongs to, by its metadata:
// the named scopes of the program, of `op_name="jit(f)/transpose(jvp(layer1))/
// attention/dot_general"` "layer1/attention". The last component is the
// operator; components "jit(…)" and "pjit(…)" name no part, and other
// transformations stand for what they are applied to. Empty if there is no
// scope.
std::string ScopeOf(absl::string_view metadata);

}  // namespace hone::graphs

#endif  // HONE_GRAPHS_OP_SCOPE_H_
