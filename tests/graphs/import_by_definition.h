#ifndef HONE_TESTS_GRAPHS_IMPORT_BY_DEFINITION_H_
#define HONE_TESTS_GRAPHS_IMPORT_BY_DEFINITION_H_

#include <map>
#include <string>
#include <utility>

#include "hlo/ir/module.h"

namespace hone::graphs {

// What graphs/hlo_import.h says about who reads what, found element by element
// from the end: each path into an operand is followed back to the instruction
// that makes it. Slow, for modules in which instructions have unique names.
struct DefinedImport {
  // Bytes by source and target.
  std::map<std::pair<std::string, std::string>, double> edges;
  // Of each node that holds any.
  std::map<std::string, double> parameter_bytes;
};
DefinedImport ImportByDefinition(const hlo::Module& module);

}  // namespace hone::graphs

#endif  // HONE_TESTS_GRAPHS_IMPORT_BY_DEFINITION_H_
