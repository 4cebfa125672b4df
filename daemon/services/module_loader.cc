#include "daemon/services/module_loader.h"

#include <utility>

#include "absl/strings/str_cat.h"

#include "base/hash.h"
#include "base/status_macros.h"
#include "daemon/errors.h"
#include "hlo/analysis/fingerprint.h"
#include "hlo/inference/verifier.h"
#include "hlo/proto/io.h"

namespace hone::daemon {
absl::StatusOr<ModuleLoader::Loaded> ModuleLoader::Parse(
    absl::string_view bytes, absl::string_view digest,
    absl::string_view file_name) {
  absl::StatusOr<hlo::Module> module = hlo::ParseHlo(bytes, file_name);
  if (!module.ok()) return WithReason(module.status(), "MALFORMED_MODULE");
  if (absl::Status status = hlo::VerifyModule(*module); !status.ok()) {
    return WithReason(
        absl::Status(status.code(),
                     absl::StrCat(file_name, ": ", status.message())),
        "MALFORMED_MODULE");
  }
  std::string fingerprint = hlo::Fingerprint(*module);
  fingerprints_.Insert(digest, fingerprint);
  return Loaded{*std::move(module), std::move(fingerprint)};
}

absl::StatusOr<std::string> ModuleLoader::ReadBlob(absl::string_view digest) {
  absl::StatusOr<std::string> bytes = store_.GetBlob(digest);
  if (absl::IsNotFound(bytes.status())) {
    return WithReason(ResourceNotFound("module", digest), "MODULE_UNKNOWN",
                      {{"digest", std::string(digest)}});
  }
  return bytes;
}

absl::StatusOr<ModuleLoader::Loaded> ModuleLoader::Load(
    const v1::ModuleSource& source) {
  const absl::string_view file_name =
      source.file_name().empty() ? "<module>"
                                 : absl::string_view(source.file_name());
  switch (source.source_case()) {
    case v1::ModuleSource::kContent:
      return Parse(source.content(), Sha256Hex(source.content()), file_name);
    case v1::ModuleSource::kDigest: {
      HONE_ASSIGN_OR_RETURN(const std::string bytes, ReadBlob(source.digest()));
      return Parse(bytes, source.digest(), file_name);
    }
    case v1::ModuleSource::SOURCE_NOT_SET:
      break;
  }
  return InvalidField("module", "empty, expected content or digest");
}

absl::StatusOr<std::string> ModuleLoader::FingerprintOfDigest(
    absl::string_view digest) {
  if (std::optional<std::string> fingerprint = RememberedFingerprint(digest)) {
    return *std::move(fingerprint);
  }
  HONE_ASSIGN_OR_RETURN(const std::string bytes, ReadBlob(digest));
  HONE_ASSIGN_OR_RETURN(Loaded loaded, Parse(bytes, digest, digest));
  return std::move(loaded.fingerprint);
}

std::optional<std::string> ModuleLoader::RememberedFingerprint(
    absl::string_view digest) {
  return fingerprints_.Find(digest);
}

std::optional<std::string> ModuleLoader::RememberedFingerprint(
    const v1::ModuleSource& source) {
  switch (source.source_case()) {
    case v1::ModuleSource::kContent:
      return RememberedFingerprint(Sha256Hex(source.content()));
    case v1::ModuleSource::kDigest:
      return RememberedFingerprint(source.digest());
    case v1::ModuleSource::SOURCE_NOT_SET:
      break;
  }
  return std::nullopt;
}

}  // namespace hone::daemon
