// hone stats: what a module or a graph is made of.

#include <algorithm>
#include <iostream>
#include <map>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "cli/command.h"

#include "base/status_macros.h"
#include "costmodels/registry.h"
#include "graphs/device_graph.h"
#include "graphs/lower_bounds.h"
#include "hlo/analysis/cost_analysis.h"
#include "hlo/analysis/fingerprint.h"
#include "hlo/analysis/op_count.h"
#include "hlo/inference/verifier.h"
#include "hlo/passes/lowering.h"
#include "hlo/proto/io.h"
#include "hlo/read_module.h"
#include "tuning/subject.h"

namespace hone::cli {
namespace {

// Prints the members of a JSON object line by line, but for `left_out`.
void PrintLines(const nlohmann::ordered_json& document,
                absl::string_view left_out = "") {
  for (const auto& [name, value] : document.items()) {
    if (name == left_out) continue;
    std::cout << absl::StrFormat(
        "%-20s %s\n", name,
        value.is_string() ? value.get<std::string>() : value.dump());
  }
}

absl::StatusOr<int> RunOnGraph(const tuning::Subject& subject,
                               double parse_seconds, const Context& context) {
  const graphs::DeviceGraph& graph = subject.graph();
  double accelerator = 0;
  double cpu = 0;
  double bytes = 0;
  for (const graphs::DeviceNode& node : graph.nodes()) {
    accelerator += node.accelerator_latency;
    cpu += node.cpu_latency;
    bytes += node.size_bytes;
  }
  const graphs::LoadBounds bounds = graphs::LowerBounds(graph);
  const nlohmann::ordered_json document = {
      {"graph", subject.name()},
      {"fingerprint", subject.Fingerprint()},
      {"nodes", graph.size()},
      {"edges", graph.edges().size()},
      {"accelerators", graph.limits().accelerators},
      {"cpus", graph.limits().cpus},
      {"accelerator_latency", accelerator},
      {"cpu_latency", cpu},
      {"bytes", bytes},
      {"accelerator_bytes", graph.limits().max_accelerator_bytes},
      {"shared_work_bound", bounds.shared_work},
      {"largest_class_bound", bounds.largest_class},
      {"memory_bound", bounds.memory},
      {"max_load_bound", bounds.greatest()},
      {"parse_seconds", parse_seconds}};
  if (context.json) {
    PrintJson(document);
  } else {
    PrintLines(document);
  }
  return kDone;
}

absl::StatusOr<int> Run(const std::string& file, const Context& context) {
  HONE_ASSIGN_OR_RETURN(const std::string bytes, hlo::ReadFileBytes(file));
  const absl::Time start = absl::Now();
  if (tuning::IsJson(bytes)) {
    HONE_ASSIGN_OR_RETURN(const tuning::Subject subject,
                          tuning::ParseSubject(bytes, file));
    return RunOnGraph(subject, absl::ToDoubleSeconds(absl::Now() - start),
                      context);
  }
  HONE_ASSIGN_OR_RETURN(const hlo::Module module, hlo::ParseHlo(bytes, file));
  const double parse_seconds = absl::ToDoubleSeconds(absl::Now() - start);
  const absl::Status verified = hlo::VerifyModule(module);
  if (!verified.ok()) {
    return absl::Status(verified.code(),
                        absl::StrCat(file, ": ", verified.message()));
  }
  const hlo::CostAnalysis analysis(module);
  const hlo::Costs& costs = analysis.ModuleCosts();
  HONE_ASSIGN_OR_RETURN(const auto model,
                        costmodels::CreateCostModel("analytical"));
  HONE_ASSIGN_OR_RETURN(const hlo::Pipeline* const lowering,
                        hlo::FindLowering("xla-cpu"));
  std::map<std::string, int64_t> by_opcode;
  for (hlo::ComputationId id : module.ComputationPostOrder()) {
    const hlo::Computation& computation = module.computation(id);
    for (hlo::InstructionId i : computation.LiveInstructions()) {
      const hlo::Instruction& instruction = computation[i];
      ++by_opcode[instruction.unknown_opcode() != nullptr
                      ? *instruction.unknown_opcode()
                      : std::string(hlo::OpcodeName(instruction.opcode()))];
    }
  }
  const nlohmann::ordered_json document = {
      {"module", module.name()},
      {"fingerprint", hlo::Fingerprint(module)},
      {"instructions", module.instruction_count()},
      {"ops", hlo::CountOps(module)},
      {"lowered_ops", hlo::CountOps(hlo::Lowered(module, *lowering))},
      {"flops", costs.flops},
      {"transcendentals", costs.transcendentals},
      {"bytes", costs.bytes()},
      {"modeled_ns", model->PredictModuleNs(module)},
      {"parse_seconds", parse_seconds},
      {"opcodes", by_opcode}};
  if (context.json) {
    PrintJson(document);
    return kDone;
  }
  PrintLines(document, "opcodes");
  std::vector<std::pair<std::string, int64_t>> counts(by_opcode.begin(),
                                                      by_opcode.end());
  std::stable_sort(
      counts.begin(), counts.end(),
      [](const auto& a, const auto& b) { return a.second > b.second; });
  for (const auto& [opcode, count] : counts) {
    std::cout << absl::StrFormat("  %-24s %d\n", opcode, count);
  }
  return kDone;
}

}  // namespace

void AddStatsCommand(CLI::App& app, Context& context) {
  auto file = std::make_shared<std::string>();
  CLI::App* command = AddCommand(
      app, context, "stats",
      "Count instructions, ops, flops, bytes, opcodes; of a graph nodes, "
      "edges, devices, latencies, lower bounds of the max load");
  AddSubjectArgument(*command, "FILE", *file);
  command->callback([file, &context] {
    RunCommand(context, [&] { return Run(*file, context); });
  });
}

}  // namespace hone::cli
