#ifndef HONE_LOOPS_LOWERING_BUFFER_NAMES_H_
#define HONE_LOOPS_LOWERING_BUFFER_NAMES_H_

#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"

namespace hone::loops {

// The names of one program's buffers: those of HLO instructions, made into
// identifiers.
class BufferNames {
 public:
  // `name`, changed where it is no identifier or was given out before.
  std::string Unique(absl::string_view name);

 private:
  absl::flat_hash_set<std::string> used_;
};

}  // namespace hone::loops

#endif  // HONE_LOOPS_LOWERING_BUFFER_NAMES_H_
