#ifndef HONE_LEARNING_NETWORKS_ARCHIVE_CHECK_H_
#define HONE_LEARNING_NETWORKS_ARCHIVE_CHECK_H_

#include "absl/strings/string_view.h"

namespace hone::learning {

// Returns true if `bytes` are a ZIP archive as Torch writes them, and the
// checksums of its files are right. Torch's reader is built without that check,
// and what it makes of broken bytes may end the process.
bool IsIntactArchive(absl::string_view bytes);

}  // namespace hone::learning

#endif  // HONE_LEARNING_NETWORKS_ARCHIVE_CHECK_H_
