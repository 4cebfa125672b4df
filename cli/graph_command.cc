// hone graph: the weighted graphs that placement and partition see.

#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cli/command.h"
#include "cli/read_hardware.h"

#include "base/files.h"
#include "base/status_macros.h"
#include "graphs/device_graph_json.h"
#include "graphs/fingerprint.h"
#include "graphs/hlo_import.h"
#include "graphs/op_graph_json.h"
#include "graphs/roofline.h"
#include "hlo/read_module.h"
#include "tuning/subject.h"

namespace hone::cli {
namespace {

struct Options {
  std::string file;
  std::string cluster;
  std::string loops = "one";
  std::string output;
};

// A graph as it is written.
struct Written {
  std::string text;
  nlohmann::ordered_json summary;
};

Written Write(const graphs::DeviceGraph& graph, const std::string& name) {
  return {.text = graphs::PrintDeviceGraph(graph),
          .summary = {{"graph", name},
                      {"kind", "devices"},
                      {"fingerprint", graphs::Fingerprint(graph)},
                      {"nodes", graph.size()},
                      {"edges", graph.edges().size()}}};
}

// Writes operators, or what they are on a cluster.
absl::StatusOr<Written> Write(const graphs::OpGraph& operators,
                              const std::string& name,
                              const std::optional<graphs::Cluster>& cluster) {
  if (cluster.has_value()) {
    HONE_ASSIGN_OR_RETURN(const graphs::DeviceGraph graph,
                          graphs::MakeDeviceGraph(operators, *cluster));
    return Write(graph, name);
  }
  return Written{.text = graphs::PrintOpGraph(operators),
                 .summary = {{"graph", name},
                             {"kind", "operators"},
                             {"nodes", operators.size()},
                             {"edges", operators.edges().size()}}};
}

absl::StatusOr<Written> WriteAny(
    const std::string& bytes, const std::string& file, graphs::Loops loops,
    const std::optional<graphs::Cluster>& cluster) {
  const absl::StatusOr<tuning::Subject> subject =
      tuning::ParseSubject(bytes, file);
  if (!subject.ok()) {
    const absl::StatusOr<graphs::OpGraph> operators =
        graphs::ParseOpGraph(bytes, file);
    if (operators.ok()) {
      return Write(*operators, std::filesystem::path(file).stem(), cluster);
    }
    // What is no module either is told what is wrong with it as the graph that
    // it looks like: only weighted ones list devices.
    if (!absl::EndsWith(file, ".json")) return subject.status();
    return absl::StrContains(bytes, "\"maxFPGAs\"") ||
                   absl::StrContains(bytes, "\"maxSizePerFPGA\"")
               ? graphs::ParseDeviceGraph(bytes, file).status()
               : operators.status();
  }
  if (subject->kind() == tuning::SubjectKind::kModule) {
    absl::StatusOr<graphs::OpGraph> operators =
        graphs::ImportHlo(subject->module(), {.loops = loops});
    if (!operators.ok()) {
      return absl::Status(
          operators.status().code(),
          absl::StrCat(file, ": ", operators.status().message()));
    }
    return Write(*operators, subject->name(), cluster);
  }
  if (loops != graphs::Loops::kOne) {
    return absl::InvalidArgumentError(
        absl::StrCat(file, " is ", tuning::SubjectKindName(subject->kind()),
                     ", expected an HLO module with --loops unrolled"));
  }
  if (subject->kind() == tuning::SubjectKind::kOperators) {
    return Write(subject->operators(), subject->name(), cluster);
  }
  if (cluster.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat(file, " lists its devices, expected no --cluster"));
  }
  return Write(subject->graph(), subject->name());
}

absl::StatusOr<int> Run(const Options& options, const Context& context) {
  HONE_RETURN_IF_ERROR(CheckModuleOutput(context, options.output));
  HONE_ASSIGN_OR_RETURN(const std::optional<graphs::Cluster> cluster,
                        ReadCluster(options.cluster));
  HONE_ASSIGN_OR_RETURN(const std::string bytes,
                        hlo::ReadFileBytes(options.file));
  HONE_ASSIGN_OR_RETURN(Written written, WriteAny(bytes, options.file,
                                                  options.loops == "unrolled"
                                                      ? graphs::Loops::kUnrolled
                                                      : graphs::Loops::kOne,
                                                  cluster));
  if (options.output.empty() || options.output == "-") {
    std::cout << written.text;
  } else {
    HONE_RETURN_IF_ERROR(WriteFileAtomically(options.output, written.text));
  }
  if (context.json) {
    written.summary["output"] = options.output;
    PrintJson(written.summary);
  }
  return kDone;
}

}  // namespace

void AddGraphCommand(CLI::App& app, Context& context) {
  auto options = std::make_shared<Options>();
  CLI::App* command = AddCommand(
      app, context, "graph",
      "Write the weighted graph that placement and partition see: of a module "
      "its operators, with --cluster their times on its devices");
  AddSubjectArgument(*command, "FILE", options->file);
  AddClusterOption(*command, options->cluster);
  command
      ->add_option("--loops", options->loops,
                   "A loop of known trip count of a module is: one node, or "
                   "unrolled, the nodes of each iteration (at most 100,000 in "
                   "all)")
      ->check(CLI::IsMember({"one", "unrolled"}));
  command->add_option("-o,--output", options->output,
                      "Path of the graph in JSON; default: stdout");
  command->callback([options, &context] {
    RunCommand(context, [&] { return Run(*options, context); });
  });
}

}  // namespace hone::cli
