#ifndef HONE_HLO_READ_MODULE_H_
#define HONE_HLO_READ_MODULE_H_

#include <string>

#include "absl/status/statusor.h"

#include "hlo/ir/module.h"

namespace hone::hlo {

// The bytes of a file, decompressed when they are in Zstandard format
// (whatever the file is called).
// Errors: NotFound when it cannot be opened, InvalidArgument when it is no file
// or its compressed data is broken, ResourceExhausted above 2 GiB; all name the
// file.
absl::StatusOr<std::string> ReadFileBytes(const std::string& path);

// Reads and verifies a module: HLO text or a serialized HloModuleProto, either
// compressed or not. The contents decide, not the name.
// Errors: as ReadFileBytes and ParseHlo; InvalidArgument when the module does
// not verify. All name the file.
absl::StatusOr<Module> ReadModuleFile(const std::string& path);

}  // namespace hone::hlo

#endif  // HONE_HLO_READ_MODULE_H_
