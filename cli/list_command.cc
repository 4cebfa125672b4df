// hone list: what there is.

#include <array>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/tuning_text.h"

#include "backends/tpu_sim/bundled_tpus.h"
#include "base/status_macros.h"
#include "costmodels/registry.h"
#include "graphs/bundled_clusters.h"
#include "graphs/mcm/bundled_packages.h"
#include "hlo/passes/pipeline.h"
#include "hlo/passes/registry.h"
#include "loops/transforms/registry.h"
#include "optimizers/registry.h"
#include "tuning/registry.h"
#include "tuning/task.h"

namespace hone::cli {
namespace {

void AddNames(CLI::App& parent, Context& context, const std::string& what,
              const std::string& description,
              const std::function<std::vector<std::string>()>& names) {
  CLI::App* command = AddCommand(parent, context, what, description);
  command->callback([what, names, &context] {
    RunCommand(context, [&]() -> absl::StatusOr<int> {
      if (context.json) {
        PrintJson({{what, names()}});
      } else {
        for (const std::string& name : names()) std::cout << name << "\n";
      }
      return kDone;
    });
  });
}

template <typename Range>
std::vector<std::string> Strings(const Range& range) {
  return {range.begin(), range.end()};
}

absl::StatusOr<int> ListTunings(const Context& context) {
  Client client(context);
  hone::v1::ListTuningsRequest request;
  nlohmann::ordered_json tunings = nlohmann::ordered_json::array();
  do {
    HONE_ASSIGN_OR_RETURN(const hone::v1::ListTuningsResponse page,
                          client.ListTunings(request));
    for (const hone::v1::Tuning& tuning : page.tunings()) {
      if (context.json) {
        tunings.push_back(TuningToJson(tuning));
      } else {
        std::cout << TuningToText(tuning) << "\n";
      }
    }
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  if (context.json) PrintJson({{"tunings", tunings}});
  return kDone;
}

// "lost_lease".
std::string ReasonName(hone::v1::Worker::Quarantine::Reason reason) {
  return absl::AsciiStrToLower(
      hone::v1::Worker::Quarantine::Reason_Name(reason));
}

bool IsBusy(const hone::v1::Worker& worker, int device) {
  return absl::c_linear_search(worker.busy_devices(), device);
}

std::string QuarantineEnd(const hone::v1::Worker& worker) {
  return absl::FormatTime(
      absl::FromUnixSeconds(worker.quarantine().end_time().seconds()),
      absl::UTCTimeZone());
}

// One line for each device.
void PrintWorker(const hone::v1::Worker& worker) {
  std::string state;
  if (worker.draining()) state += ", draining";
  if (worker.has_quarantine()) {
    absl::StrAppend(&state, ", quarantined until ", QuarantineEnd(worker), ": ",
                    ReasonName(worker.quarantine().reason()), ": ",
                    worker.quarantine().detail());
  } else if (worker.on_probation()) {
    state += ", on probation";
  }
  for (int i = 0; i < worker.devices_size(); ++i) {
    const hone::v1::Device& device = worker.devices(i);
    std::cout << absl::StrFormat(
        "%s %s (%s), %d threads, machine %s, %s%s\n", worker.id(),
        device.fingerprint(), device.model(), device.threads(),
        worker.machine().empty() ? "unnamed" : worker.machine(),
        IsBusy(worker, i) ? "busy" : "idle", state);
  }
}

nlohmann::ordered_json WorkerToJson(const hone::v1::Worker& worker) {
  nlohmann::ordered_json devices = nlohmann::ordered_json::array();
  for (int i = 0; i < worker.devices_size(); ++i) {
    const hone::v1::Device& device = worker.devices(i);
    devices.push_back({{"kind", device.kind()},
                       {"model", device.model()},
                       {"isa", device.isa()},
                       {"threads", device.threads()},
                       {"fingerprint", device.fingerprint()},
                       {"busy", IsBusy(worker, i)}});
  }
  nlohmann::ordered_json json = {
      {"id", worker.id()},
      {"devices", devices},
      {"machine", worker.machine()},
      {"machine_id", worker.machine_id()},
      {"principal", worker.principal()},
      {"version", worker.version()},
      {"protocol_version", worker.protocol_version()},
      {"capabilities", std::vector<std::string>(worker.capabilities().begin(),
                                                worker.capabilities().end())},
      {"draining", worker.draining()},
      {"on_probation", worker.on_probation()}};
  if (worker.has_quarantine()) {
    json["quarantine"] = {{"reason", ReasonName(worker.quarantine().reason())},
                          {"detail", worker.quarantine().detail()},
                          {"until", QuarantineEnd(worker)}};
  }
  return json;
}

absl::StatusOr<int> ListWorkers(const Context& context) {
  HONE_ASSIGN_OR_RETURN(const hone::v1::ListWorkersResponse response,
                        Client(context).ListWorkers());
  nlohmann::ordered_json workers = nlohmann::ordered_json::array();
  for (const hone::v1::Worker& worker : response.workers()) {
    if (context.json) {
      workers.push_back(WorkerToJson(worker));
    } else {
      PrintWorker(worker);
    }
  }
  if (context.json) PrintJson({{"workers", workers}});
  return kDone;
}

absl::StatusOr<int> ListPasses(const Context& context) {
  nlohmann::ordered_json passes = nlohmann::ordered_json::array();
  for (const hlo::PassEntry& entry : hlo::Passes()) {
    const absl::string_view origin = hlo::PassOriginName(entry.origin);
    const absl::string_view numerics =
        hlo::NumericClassName(entry.numeric_class);
    if (context.json) {
      passes.push_back(
          {{"id", entry.id}, {"origin", origin}, {"numeric_class", numerics}});
    } else {
      std::cout << absl::StrFormat("%-36s %-10s %s\n", entry.id, origin,
                                   numerics);
    }
  }
  if (context.json) PrintJson({{"passes", passes}});
  return kDone;
}

struct Backend {
  absl::string_view id;
  absl::string_view target;
  absl::string_view contents;
};
constexpr std::array kBackends = {
#define HONE_BACKEND(id, target, contents) Backend{id, target, contents},
#include "backends/backends.def"
#undef HONE_BACKEND
};

absl::StatusOr<int> ListBackends(const Context& context) {
  nlohmann::ordered_json backends = nlohmann::ordered_json::array();
  for (const Backend& backend : kBackends) {
    if (context.json) {
      backends.push_back({{"id", backend.id},
                          {"target", backend.target},
                          {"contents", backend.contents}});
    } else {
      std::cout << absl::StrFormat("%-12s %-8s %s\n", backend.id,
                                   backend.target, backend.contents);
    }
  }
  if (context.json) PrintJson({{"backends", backends}});
  return kDone;
}

}  // namespace

void AddListCommand(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("list", "List what is available");
  command->require_subcommand(1);
  AddCommand(*command, context, "passes", "HLO passes")->callback([&context] {
    RunCommand(context, [&] { return ListPasses(context); });
  });
  AddNames(*command, context, "pipelines", "Named orders of passes", [] {
    std::vector<std::string> names;
    for (const hlo::Pipeline& pipeline : hlo::Pipelines()) {
      names.push_back(pipeline.name);
    }
    return names;
  });
  AddNames(*command, context, "optimizers", "Search algorithms",
           [] { return Strings(optimizers::Optimizers().ids()); });
  AddNames(*command, context, "cost-models", "Cost models",
           [] { return Strings(costmodels::CostModels().ids()); });
  AddCommand(*command, context, "backends",
             "Backends: what results are measured or simulated on")
      ->callback([&context] {
        RunCommand(context, [&] { return ListBackends(context); });
      });
  AddNames(*command, context, "clusters", "Clusters to place modules on",
           [] { return Strings(graphs::BundledClusters().ids()); });
  AddNames(*command, context, "packages",
           "Multi-chip modules to partition graphs over",
           [] { return Strings(graphs::BundledPackages().ids()); });
  AddNames(*command, context, "tasks", "Decisions that Hone tunes",
           [] { return Strings(tuning::Tasks().ids()); });
  AddNames(*command, context, "tpus", "Simulated TPUs to tune kernels for",
           [] { return Strings(backends::BundledTpus().ids()); });
  AddNames(*command, context, "transforms", "Transformations of kernels",
           [] { return Strings(loops::Transforms().ids()); });
  CLI::App* tunings =
      AddCommand(*command, context, "tunings", "Tunings of the daemon");
  tunings->callback([&context] {
    RunCommand(context, [&] { return ListTunings(context); });
  });
  CLI::App* workers =
      AddCommand(*command, context, "workers", "Workers of the daemon");
  workers->callback([&context] {
    RunCommand(context, [&] { return ListWorkers(context); });
  });
}

}  // namespace hone::cli
