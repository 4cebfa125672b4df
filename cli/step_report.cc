#include "cli/step_report.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "cli/columns.h"
#include "cli/report_page.h"
#include <nlohmann/json.hpp>

#include "backends/cluster_sim/chrome_trace.h"
#include "backends/cluster_sim/timeline.h"
#include "base/files.h"
#include "base/status_macros.h"
#include "graphs/hlo_import.h"
#include "graphs/op_graph.h"
#include "tuning/tasks/step_decision.h"

namespace hone::cli {
namespace {

using backends::Timeline;
using graphs::KernelGraph;
using graphs::KernelIndex;
using graphs::NodeIndex;
using graphs::OpGraph;
using graphs::OpNode;

// Returns the kernel of each node: its own, or that of the first user that is
// on its device, for one that is fused.
std::vector<KernelIndex> KernelsOfNodes(const OpGraph& graph,
                                        const KernelGraph& kernels,
                                        absl::Span<const int32_t> devices) {
  std::vector<KernelIndex> result(graph.size());
  const absl::Span<const NodeIndex> order = graph.topological_order();
  for (auto node = order.rbegin(); node != order.rend(); ++node) {
    result[*node] = kernels.kernel_of(*node);
    if (result[*node] != KernelGraph::kFused) continue;
    for (const NodeIndex user : graph.adjacency().successors(*node)) {
      const bool is_here = devices[user] == devices[*node];
      if (result[*node] == KernelGraph::kFused || is_here) {
        result[*node] = result[user];
      }
      if (is_here) break;
    }
  }
  return result;
}

std::string PrintNodes(const OpGraph& graph, const KernelGraph& kernels,
                       absl::Span<const int32_t> devices) {
  const std::vector<KernelIndex> kernel_of =
      KernelsOfNodes(graph, kernels, devices);
  const size_t size = graph.size();
  Columns nodes;
  nodes.AddTexts("name", size, [&](size_t i) -> const std::string& {
    return graph.nodes()[i].name;
  });
  nodes.AddRepeated("opcode", size, [&](size_t i) -> const std::string& {
    return graph.nodes()[i].opcode;
  });
  nodes.AddRepeated("scope", size, [&](size_t i) -> const std::string& {
    return graph.nodes()[i].scope;
  });
  nodes.Add("device", size, [&](size_t i) { return devices[i]; });
  nodes.Add("kernel", size, [&](size_t i) { return kernel_of[i]; });
  std::vector<NodeIndex> sources, targets;
  for (size_t i = 0; i < size; ++i) {
    const auto node = static_cast<NodeIndex>(i);
    for (const NodeIndex user : graph.adjacency().successors(node)) {
      sources.push_back(node);
      targets.push_back(user);
    }
  }
  nodes.Add("sources", sources.size(), [&](size_t i) { return sources[i]; });
  nodes.Add("targets", targets.size(), [&](size_t i) { return targets[i]; });
  nodes.Add("order", size,
            [&](size_t i) { return graph.topological_order()[i]; });
  return nodes.Finish();
}

std::string PrintKernels(const KernelGraph& kernels, const Timeline& timeline) {
  const std::vector<Timeline::Kernel>& runs = timeline.kernels();
  std::vector<const Timeline::Kernel*> run_of(kernels.size());
  for (const Timeline::Kernel& run : runs) run_of[run.kernel] = &run;
  const auto number = [](size_t i) { return static_cast<KernelIndex>(i); };
  const size_t size = kernels.size();
  Columns columns;
  columns.Add("root", size, [&](size_t i) { return kernels.root(number(i)); });
  columns.Add("flops", size,
              [&](size_t i) { return kernels.flops(number(i)); });
  columns.Add("bytes", size,
              [&](size_t i) { return kernels.bytes(number(i)); });
  columns.Add("begin", size,
              [&](size_t i) { return run_of[i]->begin_seconds; });
  columns.Add("end", size, [&](size_t i) { return run_of[i]->end_seconds; });
  return columns.Finish();
}

std::string PrintTransfers(const std::vector<Timeline::Transfer>& transfers) {
  const size_t size = transfers.size();
  Columns columns;
  columns.Add("kernel", size, [&](size_t i) { return transfers[i].kernel; });
  columns.Add("from", size, [&](size_t i) { return transfers[i].from; });
  columns.Add("to", size, [&](size_t i) { return transfers[i].to; });
  columns.Add("bytes", size, [&](size_t i) { return transfers[i].bytes; });
  columns.Add("begin", size,
              [&](size_t i) { return transfers[i].begin_seconds; });
  columns.Add("end", size, [&](size_t i) { return transfers[i].end_seconds; });
  return columns.Finish();
}

std::string PrintMemory(const std::vector<Timeline::MemorySample>& samples) {
  Columns columns;
  columns.Add("device", samples.size(),
              [&](size_t i) { return samples[i].device; });
  columns.Add("seconds", samples.size(),
              [&](size_t i) { return samples[i].seconds; });
  columns.Add("bytes", samples.size(),
              [&](size_t i) { return samples[i].bytes; });
  return columns.Finish();
}

std::string PrintReport(const TunedStep& step, const OpGraph& graph,
                        absl::Span<const int32_t> devices,
                        const tuning::SimulatedStep& simulated,
                        const Timeline& timeline) {
  nlohmann::ordered_json summary = {
      {"name", step.subject->name()},
      {"subject", tuning::SubjectKindName(step.subject->kind())},
      {"cluster", step.cluster_name},
      {"task", step.task},
      {"step_seconds", simulated.result.seconds},
      {"default_seconds", step.default_cost / 1e3}};
  auto& list = summary["devices"] = nlohmann::ordered_json::array();
  for (const graphs::DeviceKind* const kind :
       graphs::KindsOfDevices(step.cluster)) {
    // JSON has no infinity: null is no limit.
    list.push_back({{"capacity_bytes", kind->memory_bytes},
                    {"peak_bytes", simulated.result.peak_bytes[list.size()]},
                    {"flops_per_second", kind->flops_per_second},
                    {"bytes_per_second", kind->bytes_per_second},
                    {"host", kind->host}});
  }
  const std::string data = absl::StrCat(
      "{\"summary\":", DumpAnyText(summary),
      ",\n\"nodes\":", PrintNodes(graph, simulated.kernels, devices),
      ",\n\"kernels\":", PrintKernels(simulated.kernels, timeline),
      ",\n\"transfers\":", PrintTransfers(timeline.transfers()),
      ",\n\"memory\":", PrintMemory(timeline.memory()), "}");
  return PrintReportPage(ReportPage::kStep, data);
}

}  // namespace

absl::Status WriteStepFiles(const ReportFiles& files, const TunedStep& step) {
  if (files.report.empty() && files.trace.empty()) return absl::OkStatus();
  std::optional<OpGraph> imported;
  if (step.subject->kind() == tuning::SubjectKind::kModule) {
    HONE_ASSIGN_OR_RETURN(imported, graphs::ImportHlo(step.subject->module()));
  }
  const OpGraph& graph =
      imported.has_value() ? *imported : step.subject->operators();
  HONE_ASSIGN_OR_RETURN(const tuning::StepDecision decision,
                        tuning::ParseStepDecision(step.decision, graph.size()));
  Timeline timeline;
  HONE_ASSIGN_OR_RETURN(
      const tuning::SimulatedStep simulated,
      tuning::SimulateDecision(graph, step.cluster, decision, &timeline));
  if (!files.report.empty()) {
    HONE_RETURN_IF_ERROR(WriteFileAtomically(
        files.report,
        PrintReport(step, graph, decision.devices, simulated, timeline)));
  }
  if (!files.trace.empty()) {
    HONE_RETURN_IF_ERROR(WriteFileAtomically(
        files.trace,
        backends::PrintChromeTrace(
            timeline, graph, simulated.kernels,
            static_cast<int32_t>(simulated.result.peak_bytes.size()))));
  }
  return absl::OkStatus();
}

}  // namespace hone::cli
