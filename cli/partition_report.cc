#include "cli/partition_report.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "cli/columns.h"
#include "cli/report_page.h"
#include <nlohmann/json.hpp>

#include "backends/mcm_sim/pipeline_program.h"
#include "backends/mcm_sim/pipeline_simulator.h"
#include "base/files.h"
#include "base/status_macros.h"
#include "graphs/mcm/chip_loads.h"
#include "graphs/mcm/partition_graph.h"
#include "graphs/mcm/partitions.h"
#include "tuning/task.h"
#include "tuning/tasks/partition_decision.h"

namespace hone::cli {
namespace {

using backends::PipelineEvent;
using backends::PipelineOutput;
using backends::PipelineResult;
using graphs::PartitionGraph;

// The samples whose events a page has: as many as have at most so many events
// together, but no more than kMaxSamples, and the first in any case.
constexpr int32_t kMaxSamples = 8;
constexpr size_t kMaxEvents = 50'000;

// Outputs that cross chips, all of them or on one link.
struct Traffic {
  int64_t outputs = 0;
  double milliseconds = 0;  // per sample, on the link
};

// Returns the traffic of the links that leave the chips. [chips]
std::vector<Traffic> TrafficOfLinks(int32_t chips,
                                    absl::Span<const PipelineOutput> outputs) {
  std::vector<Traffic> links(static_cast<size_t>(chips));
  for (const PipelineOutput& output : outputs) {
    for (int32_t chip = output.from; chip < output.last; ++chip) {
      Traffic& link = links[static_cast<size_t>(chip)];
      ++link.outputs;
      link.milliseconds += output.transfer;
    }
  }
  return links;
}

// Returns the number of first samples whose events a page has.
int32_t SamplesToShow(absl::Span<const PipelineEvent> events) {
  std::array<size_t, kMaxSamples> count_of = {};
  for (const PipelineEvent& event : events) {
    if (event.sample < kMaxSamples) {
      ++count_of[static_cast<size_t>(event.sample)];
    }
  }
  int32_t samples = 0;
  for (size_t shown = 0; samples < kMaxSamples; ++samples) {
    shown += count_of[static_cast<size_t>(samples)];
    if (samples > 0 && shown > kMaxEvents) break;
  }
  return samples;
}

// Returns true if the default that tuning started from costs what the greedy
// fill does: it is that unless that runs out of memory.
bool IsGreedy(const PartitionGraph& graph, const TunedPartition& partition,
              bool simulated) {
  const std::optional<graphs::Partition> greedy = graphs::FillGreedily(graph);
  if (!greedy.has_value()) return false;
  constexpr double kTolerance = 1e-9;
  const double cost =
      simulated ? backends::SimulatePipeline(graph, partition.package, *greedy)
                      .interval
                : graphs::ComputeChipLoads(graph, *greedy).max_load;
  return std::abs(cost - partition.default_cost) <= kTolerance * cost;
}

std::string PrintChips(const PartitionGraph& graph,
                       absl::Span<const int32_t> chips,
                       const PipelineResult& result) {
  const std::vector<graphs::ChipLoad> loads =
      graphs::ComputeChipLoads(graph, chips).chips;
  const std::vector<backends::ChipMemory>& memory = result.memory.chips;
  std::vector<size_t> nodes(loads.size());
  for (size_t i = 0; i < graph.size(); ++i) {
    nodes[static_cast<size_t>(chips[i])] += graph.nodes()[i].origins.size();
  }
  const size_t size = loads.size();
  Columns columns;
  columns.Add("nodes", size, [&](size_t c) { return nodes[c]; });
  columns.Add("compute", size, [&](size_t c) { return loads[c].compute; });
  columns.Add("inbound", size, [&](size_t c) { return loads[c].inbound; });
  columns.Add("outbound", size, [&](size_t c) { return loads[c].outbound; });
  columns.Add("resident", size, [&](size_t c) { return memory[c].resident; });
  columns.Add("buffers", size, [&](size_t c) { return memory[c].buffers; });
  columns.Add("spilled", size, [&](size_t c) { return memory[c].spilled; });
  columns.Add("excess", size, [&](size_t c) { return memory[c].excess; });
  return columns.Finish();
}

std::string PrintLinks(absl::Span<const Traffic> links,
                       const PipelineResult& result) {
  const size_t size = links.size();
  Columns columns;
  columns.Add("outputs", size, [&](size_t c) { return links[c].outputs; });
  columns.Add("milliseconds", size,
              [&](size_t c) { return links[c].milliseconds; });
  columns.Add("busy", size, [&](size_t c) { return result.link_busy[c]; });
  return columns.Finish();
}

std::string PrintOutputs(const PartitionGraph& graph,
                         absl::Span<const PipelineOutput> outputs) {
  const size_t size = outputs.size();
  Columns columns;
  columns.AddTexts("name", size, [&](size_t i) -> const std::string& {
    return graph.node(outputs[i].node).name;
  });
  columns.Add("origin", size,
              [&](size_t i) { return graph.node(outputs[i].node).origins[0]; });
  columns.Add("from", size, [&](size_t i) { return outputs[i].from; });
  columns.Add("last", size, [&](size_t i) { return outputs[i].last; });
  columns.Add("readers", size,
              [&](size_t i) { return std::popcount(outputs[i].readers); });
  columns.Add("milliseconds", size,
              [&](size_t i) { return outputs[i].transfer; });
  return columns.Finish();
}

// Prints the events of the first `samples` samples, with the number of the
// output that each is about.
std::string PrintEvents(size_t nodes, absl::Span<const PipelineOutput> outputs,
                        absl::Span<const PipelineEvent> all, int32_t samples) {
  std::vector<size_t> output_of(nodes);
  for (size_t i = 0; i < outputs.size(); ++i) output_of[outputs[i].node] = i;
  std::vector<const PipelineEvent*> events;
  for (const PipelineEvent& event : all) {
    if (event.sample < samples && event.end > event.begin) {
      events.push_back(&event);
    }
  }
  const size_t size = events.size();
  Columns columns;
  columns.Add("kind", size,
              [&](size_t i) { return static_cast<int>(events[i]->kind); });
  columns.Add("chip", size, [&](size_t i) { return events[i]->chip; });
  columns.Add("sample", size, [&](size_t i) { return events[i]->sample; });
  columns.Add("output", size, [&](size_t i) {
    return events[i]->kind == PipelineEvent::Kind::kCompute
               ? 0
               : output_of[events[i]->node];
  });
  columns.Add("begin", size, [&](size_t i) { return events[i]->begin; });
  columns.Add("end", size, [&](size_t i) { return events[i]->end; });
  return columns.Finish();
}

std::string PrintReport(const TunedPartition& partition,
                        const PartitionGraph& graph,
                        const tuning::PartitionDecision& decision) {
  const PipelineResult result =
      backends::SimulatePipeline(graph, partition.package, decision.chips,
                                 /*with_events=*/true);
  const std::vector<PipelineOutput> outputs =
      backends::MakePipelineProgram(graph, partition.package, decision.chips,
                                    result.memory.spilled_before)
          .outputs;
  const bool fits = result.excess_bytes == 0;
  // The times of a partition that does not fit mean nothing.
  const int32_t samples = fits ? SamplesToShow(result.events) : 0;
  nlohmann::ordered_json summary = {
      {"name", partition.subject->name()},
      {"subject", tuning::SubjectKindName(partition.subject->kind())},
      {"package", partition.package_name},
      {"objective", decision.objective},
      {"chips", graph.chips()},
      {"nodes", graph.origin_count()},
      {"max_load", graphs::ComputeChipLoads(graph, decision.chips).max_load},
      {"lower_bound", decision.lower_bound},
      {"default_cost", partition.default_cost},
      {"default_is_greedy",
       IsGreedy(graph, partition, decision.objective == tuning::kInterval)},
      {"best_cost", partition.best_cost},
      {"memory_bytes", graph.memory_bytes()},
      {"samples", samples}};
  if (fits) {
    summary["interval"] = result.interval;
    summary["latency"] = result.latency;
  } else {
    summary["fullest_chip"] = result.fullest_chip;
    summary["excess_bytes"] = result.excess_bytes;
  }
  // A weighted graph has times of transfers of its own, and no bytes.
  if (partition.subject->kind() != tuning::SubjectKind::kGraph) {
    constexpr double kMillisecondsPerSecond = 1e3;
    summary["link_bytes_per_millisecond"] =
        partition.package.link.bytes_per_second / kMillisecondsPerSecond;
  }
  return PrintReportPage(
      ReportPage::kPartition,
      absl::StrCat(
          "{\"summary\":", DumpAnyText(summary), ",\n\"chips\":",
          PrintChips(graph, decision.chips, result), ",\n\"links\":",
          PrintLinks(TrafficOfLinks(graph.chips(), outputs), result),
          ",\n\"outputs\":", PrintOutputs(graph, outputs), ",\n\"events\":",
          PrintEvents(graph.size(), outputs, result.events, samples), "}"));
}

}  // namespace

absl::Status WritePartitionReport(const std::string& path,
                                  const TunedPartition& partition) {
  if (path.empty()) return absl::OkStatus();
  HONE_ASSIGN_OR_RETURN(
      const PartitionGraph graph,
      tuning::PartitionGraphOf(*partition.subject, partition.package));
  HONE_ASSIGN_OR_RETURN(
      const tuning::PartitionDecision decision,
      tuning::ParsePartitionDecision(graph, partition.decision));
  return WriteFileAtomically(path, PrintReport(partition, graph, decision));
}

}  // namespace hone::cli
