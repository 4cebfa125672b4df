#include "daemon/names.h"

#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

#include "base/excerpt.h"
#include "base/status_macros.h"
#include "daemon/errors.h"

namespace hone::daemon {
namespace {

constexpr absl::string_view kProjects = "projects";
constexpr absl::string_view kDefaultProject = "default";
constexpr size_t kMaxSegmentBytes = 128;

bool IsSegment(absl::string_view text) {
  if (text.empty() || text.size() > kMaxSegmentBytes || text[0] == '.') {
    return false;
  }
  for (const char c : text) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) && c != '.' &&
        c != '_' && c != '-') {
      return false;
    }
  }
  return true;
}

absl::Status CheckProject(absl::string_view project) {
  if (project == kDefaultProject) return absl::OkStatus();
  return ResourceNotFound("project", absl::StrCat(kProjects, "/", project));
}

std::string NameOf(absl::string_view collection, absl::string_view id) {
  return absl::StrCat(kProjects, "/", kDefaultProject, "/", collection, "/",
                      id);
}

absl::StatusOr<std::string> IdOf(absl::string_view collection,
                                 absl::string_view name) {
  const std::vector<absl::string_view> parts = absl::StrSplit(name, '/');
  if (parts.size() != 4 || parts[0] != kProjects || !IsSegment(parts[1]) ||
      parts[2] != collection || !IsSegment(parts[3])) {
    return InvalidField(
        "name", absl::StrCat("\"", Excerpt(name), "\", expected \"", kProjects,
                             "/PROJECT/", collection, "/ID\""));
  }
  HONE_RETURN_IF_ERROR(CheckProject(parts[1]));
  return std::string(parts[3]);
}

}  // namespace

std::string EnvironmentName(absl::string_view id) {
  return NameOf("environments", id);
}

std::string OperationName(absl::string_view id) {
  return NameOf("operations", id);
}

std::string RecordName(absl::string_view digest) {
  return NameOf("records", digest);
}

std::string TuningName(absl::string_view id) { return NameOf("tunings", id); }

absl::StatusOr<std::string> EnvironmentId(absl::string_view name) {
  return IdOf("environments", name);
}

absl::StatusOr<std::string> OperationId(absl::string_view name) {
  return IdOf("operations", name);
}

absl::StatusOr<std::string> RecordDigest(absl::string_view name) {
  return IdOf("records", name);
}

absl::StatusOr<std::string> TuningId(absl::string_view name) {
  return IdOf("tunings", name);
}

absl::Status CheckParent(absl::string_view parent, absl::string_view field) {
  if (parent.empty()) return absl::OkStatus();
  const std::vector<absl::string_view> parts = absl::StrSplit(parent, '/');
  if (parts.size() != 2 || parts[0] != kProjects || !IsSegment(parts[1])) {
    return InvalidField(field, absl::StrCat("\"", parent, "\", expected \"",
                                            kProjects, "/PROJECT\""));
  }
  return CheckProject(parts[1]);
}

}  // namespace hone::daemon
