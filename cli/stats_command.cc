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
#include "graphs/op_graph.h"
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

// Prints the members of a JSON object line by line.
void PrintLines(const nlohmann::ordered_json& document) {
  for (const auto& [name, value] : document.items()) {
    std::cout << absl::StrFormat(
        "%-20s %s\n", name,
        value.is_string() ? value.get<std::string>() : value.dump());
  }
}

// The number of instructions or operators of each opcode.
using OpcodeCounts = std::map<std::string, int64_t>;

// Prints `document`, and after it the opcodes, the most frequent ones first.
void PrintWithOpcodes(nlohmann::ordered_json document,
                      const OpcodeCounts& opcodes, const Context& context) {
  if (context.json) {
    document["opcodes"] = opcodes;
    PrintJson(document);
    return;
  }
  PrintLines(document);
  std::vector<std::pair<std::string, int64_t>> counts(opcodes.begin(),
                                                      opcodes.end());
  std::stable_sort(
      counts.begin(), counts.end(),
      [](const auto& a, const auto& b) { return a.second > b.second; });
  for (const auto& [opcode, count] : counts) {
    std::cout << absl::StrFormat("  %-24s %d\n", opcode, count);
  }
}

absl::StatusOr<int> RunOnOperators(const tuning::Subject& subject,
                                   double parse_seconds,
                                   const Context& context) {
  const graphs::OpGraph& graph = subject.operators();
  double flops = 0;
  double bytes = 0;
  double output_bytes = 0;
  double parameter_bytes = 0;
  OpcodeCounts opcodes;
  for (const graphs::OpNode& node : graph.nodes()) {
    flops += node.flops;
    bytes += node.bytes;
    output_bytes += node.output_bytes;
    parameter_bytes += node.parameter_bytes;
    ++opcodes[node.opcode];
  }
  PrintWithOpcodes({{"graph", subject.name()},
                    {"fingerprint", subject.Fingerprint()},
                    {"nodes", graph.size()},
                    {"edges", graph.edges().size()},
                    {"flops", flops},
                    {"bytes", bytes},
                    {"output_bytes", output_bytes},
                    {"parameter_bytes", parameter_bytes},
                    {"parse_seconds", parse_seconds}},
                   opcodes, context);
  return kDone;
}

absl::StatusOr<int> RunOnDevices(const tuning::Subject& subject,
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
    const double seconds = absl::ToDoubleSeconds(absl::Now() - start);
    return subject.kind() == tuning::SubjectKind::kOperators
               ? RunOnOperators(subject, seconds, context)
               : RunOnDevices(subject, seconds, context);
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
  OpcodeCounts by_opcode;
  for (hlo::ComputationId id : module.ComputationPostOrder()) {
    const hlo::Computation& computation = module.computation(id);
    for (hlo::InstructionId i : computation.LiveInstructions()) {
      const hlo::Instruction& instruction = computation[i];
      ++by_opcode[instruction.unknown_opcode() != nullptr
                      ? *instruction.unknown_opcode()
                      : std::string(hlo::OpcodeName(instruction.opcode()))];
    }
  }
  PrintWithOpcodes(
      {{"module", module.name()},
       {"fingerprint", hlo::Fingerprint(module)},
       {"instructions", module.instruction_count()},
       {"ops", hlo::CountOps(module)},
       {"lowered_ops", hlo::CountOps(hlo::Lowered(module, *lowering))},
       {"flops", costs.flops},
       {"transcendentals", costs.transcendentals},
       {"bytes", costs.bytes()},
       {"modeled_ns", model->PredictModuleNs(module)},
       {"parse_seconds", parse_seconds}},
      by_opcode, context);
  return kDone;
}

}  // namespace

void AddStatsCommand(CLI::App& app, Context& context) {
  auto file = std::make_shared<std::string>();
  CLI::App* command = AddCommand(
      app, context, "stats",
      "Count instructions, ops, flops, bytes, opcodes; of an operator graph "
      "nodes, edges, flops, bytes, weights, opcodes; of a weighted graph "
      "nodes, edges, devices, latencies, lower bounds of the max load");
  AddSubjectArgument(*command, "FILE", *file);
  command->callback([file, &context] {
    RunCommand(context, [&] { return Run(*file, context); });
  });
}

}  // namespace hone::cli
