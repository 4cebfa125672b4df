#include "daemon/services/module_loader.h"

#include <utility>

#include "base/hash.h"
#include "base/status_macros.h"
#include "daemon/errors.h"

namespace hone::daemon {
namespace {

// The time in which the largest module can be read.
constexpr absl::Duration kReadLimit = absl::Minutes(1);

absl::Status NoModule() {
  return InvalidField("module", "empty, expected content or digest");
}

}  // namespace

absl::StatusOr<ModuleLoader::Description> ModuleLoader::Read(
    std::string bytes, std::string digest, absl::string_view file_name,
    tuning::SubjectKind expected, const StopPredicate& stop) {
  HONE_RETURN_IF_ERROR(quarantine_.Check(digest));
  internal::Job job;
  job.mutable_describe()->set_module(std::move(bytes));
  job.mutable_describe()->set_file_name(std::string(file_name));
  job.mutable_describe()->set_expected(static_cast<int32_t>(expected));
  const absl::StatusOr<internal::Result> result =
      pool_.Run(job, {.search = {.stop = stop}}, kReadLimit);
  quarantine_.Count(digest, result.status());
  if (absl::IsInvalidArgument(result.status())) {
    return WithReason(result.status(), "MALFORMED_MODULE");
  }
  HONE_RETURN_IF_ERROR(result.status());
  const internal::Described& described = result->described();
  Description description = {
      .digest = std::move(digest),
      .fingerprint = described.fingerprint(),
      .name = described.name(),
      .kind = static_cast<tuning::SubjectKind>(described.kind()),
      .cost = {.flops = described.evaluation_flops(),
               .most_flops = described.most_flops(),
               .bytes = described.evaluation_bytes(),
               .most_bytes = described.most_bytes()}};
  known_.Insert(description.digest, description);
  return description;
}

absl::StatusOr<std::string> ModuleLoader::ReadBlob(absl::string_view digest) {
  absl::StatusOr<std::string> bytes = store_.GetBlob(digest);
  if (absl::IsNotFound(bytes.status())) {
    return WithReason(ResourceNotFound("module", digest), "MODULE_UNKNOWN",
                      {{"digest", std::string(digest)}});
  }
  return bytes;
}

absl::StatusOr<ModuleLoader::Description> ModuleLoader::Describe(
    const v1::ModuleSource& source, tuning::SubjectKind expected,
    const StopPredicate& stop) {
  std::string digest = DigestOf(source);
  if (std::optional<Description> known = Remembered(digest)) {
    HONE_RETURN_IF_ERROR(quarantine_.Check(digest));
    return *std::move(known);
  }
  HONE_ASSIGN_OR_RETURN(std::string bytes, Bytes(source));
  return Read(std::move(bytes), std::move(digest), FileNameOf(source), expected,
              stop);
}

absl::StatusOr<ModuleLoader::Description> ModuleLoader::DescribeStored(
    absl::string_view digest) {
  if (std::optional<Description> known = Remembered(digest)) return *known;
  HONE_ASSIGN_OR_RETURN(std::string bytes, ReadBlob(digest));
  return Read(std::move(bytes), std::string(digest), digest,
              tuning::SubjectKind::kGraph, nullptr);
}

std::optional<ModuleLoader::Description> ModuleLoader::Remembered(
    absl::string_view digest) {
  return known_.Find(digest);
}

std::string ModuleLoader::DigestOf(const v1::ModuleSource& source) {
  return source.has_content() ? Sha256Hex(source.content()) : source.digest();
}

absl::StatusOr<std::string> ModuleLoader::Bytes(
    const v1::ModuleSource& source) {
  switch (source.source_case()) {
    case v1::ModuleSource::kContent:
      return source.content();
    case v1::ModuleSource::kDigest:
      return ReadBlob(source.digest());
    case v1::ModuleSource::SOURCE_NOT_SET:
      break;
  }
  return NoModule();
}

absl::string_view ModuleLoader::FileNameOf(const v1::ModuleSource& source) {
  return source.file_name().empty() ? "<module>"
                                    : absl::string_view(source.file_name());
}

}  // namespace hone::daemon
