#include "tuning/subject.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

#include "base/status_macros.h"
#include "graphs/device_graph_json.h"
#include "graphs/fingerprint.h"
#include "graphs/op_graph_json.h"
#include "hlo/analysis/fingerprint.h"
#include "hlo/inference/verifier.h"
#include "hlo/proto/io.h"
#include "hlo/text/printer.h"

namespace hone::tuning {
namespace {

// "bert" of "models/bert.json"; "graph" of what is no name of a file.
std::string NameOfFile(absl::string_view file_name) {
  absl::string_view name = file_name;
  if (const size_t slash = name.rfind('/'); slash != name.npos) {
    name.remove_prefix(slash + 1);
  }
  name = name.substr(0, name.find('.'));
  const bool is_name = !name.empty() && name[0] != '<';
  return std::string(is_name ? name : absl::string_view("graph"));
}

bool ListsDevices(absl::string_view json) {
  return absl::StrContains(json, "\"maxFPGAs\"") ||
         absl::StrContains(json, "\"maxSizePerFPGA\"");
}

}  // namespace

bool HasOpcodes(absl::string_view json) {
  return absl::StrContains(json, "\"opcode\"") && !ListsDevices(json);
}

absl::string_view SubjectKindName(SubjectKind kind) {
  switch (kind) {
    case SubjectKind::kModule:
      return "an HLO module";
    case SubjectKind::kGraph:
      return "a weighted graph";
    case SubjectKind::kOperators:
      break;
  }
  return "an operator graph";
}

Subject::Subject(hlo::Module module)
    : value_(std::move(module)), name_(this->module().name()) {}

Subject::Subject(graphs::DeviceGraph graph, std::string name)
    : value_(std::move(graph)), name_(std::move(name)) {}

Subject::Subject(graphs::OpGraph operators, std::string name)
    : value_(std::move(operators)), name_(std::move(name)) {}

std::string Subject::Fingerprint() const {
  switch (kind()) {
    case SubjectKind::kModule:
      return hlo::Fingerprint(module());
    case SubjectKind::kGraph:
      return graphs::Fingerprint(graph());
    case SubjectKind::kOperators:
      break;
  }
  return graphs::Fingerprint(operators());
}

std::string Subject::Print() const {
  switch (kind()) {
    case SubjectKind::kModule:
      return hlo::PrintModule(module());
    case SubjectKind::kGraph:
      return graphs::PrintDeviceGraph(graph());
    case SubjectKind::kOperators:
      break;
  }
  return graphs::PrintOpGraph(operators());
}

// A proto may begin with a line feed, the tag of its name, and `{`, the length
// of that, but no name of a module begins with a quotation mark or a blank.
bool IsJson(absl::string_view bytes) {
  // The parser skips a byte order mark, too.
  absl::ConsumePrefix(&bytes, "\xEF\xBB\xBF");
  bytes = absl::StripLeadingAsciiWhitespace(bytes);
  if (bytes.empty() || bytes[0] != '{') return false;
  bytes = absl::StripLeadingAsciiWhitespace(bytes.substr(1));
  return bytes.empty() || bytes[0] == '"' || bytes[0] == '}';
}

absl::StatusOr<Subject> ParseSubject(absl::string_view bytes,
                                     absl::string_view file_name,
                                     SubjectKind expected) {
  if (IsJson(bytes) && HasOpcodes(bytes)) {
    HONE_ASSIGN_OR_RETURN(graphs::OpGraph graph,
                          graphs::ParseOpGraph(bytes, file_name));
    return Subject(std::move(graph), NameOfFile(file_name));
  }
  if (IsJson(bytes)) {
    if (expected == SubjectKind::kOperators && !ListsDevices(bytes)) {
      HONE_RETURN_IF_ERROR(graphs::ParseOpGraph(bytes, file_name).status());
    }
    HONE_ASSIGN_OR_RETURN(graphs::DeviceGraph graph,
                          graphs::ParseDeviceGraph(bytes, file_name));
    return Subject(std::move(graph), NameOfFile(file_name));
  }
  HONE_ASSIGN_OR_RETURN(hlo::Module module, hlo::ParseHlo(bytes, file_name));
  if (const absl::Status status = hlo::VerifyModule(module); !status.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(file_name, ": ", status.message()));
  }
  return Subject(std::move(module));
}

}  // namespace hone::tuning
