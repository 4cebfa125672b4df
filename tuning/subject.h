#ifndef HONE_TUNING_SUBJECT_H_
#define HONE_TUNING_SUBJECT_H_

#include <string>
#include <variant>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "graphs/device_graph.h"
#include "graphs/op_graph.h"
#include "hlo/ir/module.h"

namespace hone::tuning {

// What a task decides about. A value is the index of Subject's alternative.
enum class SubjectKind { kModule, kGraph, kOperators };

// "an HLO module", "a weighted graph", "an operator graph", for messages.
absl::string_view SubjectKindName(SubjectKind kind);

// The subject of a tuning: an HLO module, a weighted graph, which lists its
// devices, or a graph of operators, which does not.
class Subject {
 public:
  // Implicit, as either is a subject. A graph has no name of its own.
  Subject(hlo::Module module);  // NOLINT(google-explicit-constructor)
  Subject(graphs::DeviceGraph graph,
          std::string name = "graph");  // NOLINT(google-explicit-constructor)
  Subject(graphs::OpGraph operators,
          std::string name = "graph");  // NOLINT(google-explicit-constructor)

  SubjectKind kind() const { return static_cast<SubjectKind>(value_.index()); }
  const std::string& name() const { return name_; }

  // It must be of that kind.
  const hlo::Module& module() const { return std::get<hlo::Module>(value_); }
  const graphs::DeviceGraph& graph() const {
    return std::get<graphs::DeviceGraph>(value_);
  }
  const graphs::OpGraph& operators() const {
    return std::get<graphs::OpGraph>(value_);
  }

  // The content address: hlo::Fingerprint or graphs::Fingerprint.
  std::string Fingerprint() const;
  // Returns its text, which ParseSubject reads.
  std::string Print() const;

 private:
  std::variant<hlo::Module, graphs::DeviceGraph, graphs::OpGraph> value_;
  std::string name_;
};

// Returns true for JSON in the format of operator graphs, whatever is wrong
// with it, rather than that of weighted graphs.
bool HasOpcodes(absl::string_view json);

// Returns true if `bytes` can only be JSON: no HLO text and no proto of a
// module begins so.
bool IsJson(absl::string_view bytes);

// Parses and verifies HLO text, a proto of a module, or a graph in JSON
// (graphs/device_graph_json.h, graphs/op_graph_json.h; an operator graph has
// opcodes). A graph is named after `file_name`.
// Errors: InvalidArgument with one line, "FILE: what and where, what was
// expected"; about JSON that may be either graph, what it lacks as the one of
// kind `expected`.
absl::StatusOr<Subject> ParseSubject(
    absl::string_view bytes, absl::string_view file_name,
    SubjectKind expected = SubjectKind::kGraph);

}  // namespace hone::tuning

#endif  // HONE_TUNING_SUBJECT_H_
