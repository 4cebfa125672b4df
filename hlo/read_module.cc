#include "hlo/read_module.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include <zstd.h>

#include "base/status_macros.h"
#include "hlo/inference/verifier.h"
#include "hlo/proto/io.h"

namespace hone::hlo {
namespace {

// The maximum size of a file, decompressed: a small archive must not fill the
// memory.
constexpr size_t kMaxBytes = size_t{2} << 30;

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
struct FreeStream {
  void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
};

absl::Status TooLarge(const std::string& path) {
  return absl::ResourceExhaustedError(
      absl::StrCat(path, ": too large, expected at most 2 GiB"));
}

absl::StatusOr<std::string> ReadRaw(const std::string& path) {
  const std::unique_ptr<std::FILE, CloseFile> file(
      std::fopen(path.c_str(), "rb"));
  if (file == nullptr) {
    return absl::NotFoundError(
        absl::StrCat(path, ": ", std::strerror(errno),
                     ", expected an HLO text or proto file"));
  }
  std::string bytes;
  std::error_code unknown_size;
  const uintmax_t size = std::filesystem::file_size(path, unknown_size);
  if (!unknown_size && size <= kMaxBytes) bytes.reserve(size);
  char buffer[1 << 16];
  size_t count = 0;
  while ((count = std::fread(buffer, 1, sizeof(buffer), file.get())) > 0) {
    bytes.append(buffer, count);
    if (bytes.size() > kMaxBytes) return TooLarge(path);
  }
  if (std::ferror(file.get()) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": ", std::strerror(errno),
                     ", expected an HLO text or proto file"));
  }
  return bytes;
}

// All frames of `compressed`, one after the other.
absl::StatusOr<std::string> Decompress(const std::string& path,
                                       const std::string& compressed) {
  const std::unique_ptr<ZSTD_DStream, FreeStream> stream(ZSTD_createDStream());
  std::string bytes;
  std::vector<char> buffer(ZSTD_DStreamOutSize());
  ZSTD_inBuffer in = {compressed.data(), compressed.size(), 0};
  size_t pending = 0;
  // A full output buffer may leave more to write than there is to read.
  bool more = true;
  while (in.pos < in.size || more) {
    ZSTD_outBuffer out = {buffer.data(), buffer.size(), 0};
    pending = ZSTD_decompressStream(stream.get(), &out, &in);
    if (ZSTD_isError(pending) != 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          path, ": ", ZSTD_getErrorName(pending), ", expected Zstandard data"));
    }
    bytes.append(buffer.data(), out.pos);
    if (bytes.size() > kMaxBytes) return TooLarge(path);
    more = out.pos == out.size;
  }
  if (pending != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": the compressed data is cut off, expected its end"));
  }
  return bytes;
}

}  // namespace

absl::StatusOr<std::string> ReadFileBytes(const std::string& path) {
  absl::StatusOr<std::string> bytes = ReadRaw(path);
  constexpr absl::string_view kZstdMagic = "\x28\xb5\x2f\xfd";
  if (!bytes.ok() || !absl::StartsWith(*bytes, kZstdMagic)) return bytes;
  return Decompress(path, *bytes);
}

absl::StatusOr<Module> ReadModuleFile(const std::string& path) {
  HONE_ASSIGN_OR_RETURN(const std::string bytes, ReadFileBytes(path));
  HONE_ASSIGN_OR_RETURN(Module module, ParseHlo(bytes, path));
  if (absl::Status status = VerifyModule(module); !status.ok()) {
    return absl::Status(status.code(),
                        absl::StrCat(path, ": ", status.message()));
  }
  return module;
}

}  // namespace hone::hlo
