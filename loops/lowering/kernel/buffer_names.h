#ifndef HONE_LOOPS_LOWERING_KERNEL_BUFFER_NAMES_H_
#define HONE_LOOPS_LOWERING_KERNEL_BUFFER_NAMES_H_

#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"

namespace hone::loops {

// Makes unique buffer names of a program from the names of HLO instructions.
class BufferNames {
 public:
  // Returns `name`, changed if it is not an identifier or was returned before.
  std::string Unique(absl::string_view name);

 private:
  absl::flat_hash_set<std::string> used_;
};

}  // namespace hone::loops

#endif  // HONE_LOOPS_LOWERING_KERNEL_BUFFER_NAMES_H_
