#include "bench/faults/faults.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

#include "base/status_macros.h"
#include "bench/corpus.h"

namespace hone::bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::pair<const char*, Fault>, 11> kFaults = {{
    {"kill", KillUnderLoad},
    {"cancel", CancelCalls},
    {"drain", DrainUnderLoad},
    {"hostile", SendHostileRequests},
    {"modules", SendHostileModules},
    {"slow-clients", StallClients},
    {"full-disk", FillDisk},
    {"io-errors", FailDisk},
    {"bit-flips", FlipBits},
    {"paused", PauseWorkers},
    {"native", RunHostileCode},
}};

}  // namespace

std::vector<std::string> FaultNames() {
  std::vector<std::string> names;
  for (const auto& [name, _] : kFaults) names.emplace_back(name);
  return names;
}

absl::StatusOr<Json> RunFaultsBench(const FaultOptions& options,
                                    std::ostream& out) {
  const std::vector<std::string> known = FaultNames();
  for (const std::string& name : options.only) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--only '", name, "': no such fault, expected some of ",
                       absl::StrJoin(known, ", ")));
    }
  }
  Json document = {{"bench", "faults"},
                   {"machine", DescribeMachine()},
                   {"seed", options.seed},
                   {"faults", Json::array()}};
  size_t broken = 0;
  for (const auto& [name, fault] : kFaults) {
    if (!options.only.empty() &&
        std::find(options.only.begin(), options.only.end(), name) ==
            options.only.end()) {
      continue;
    }
    HONE_ASSIGN_OR_RETURN(Json row, fault(options));
    out << absl::StreamFormat("%s\n", name);
    for (const auto& [key, value] : row.items()) {
      if (key == "fault" || key == "broken") continue;
      out << absl::StreamFormat("  %-36s %s\n", key, value.dump());
    }
    for (const Json& sentence : row["broken"]) {
      out << "  BROKEN: " << sentence.get<std::string>() << "\n";
    }
    out.flush();
    broken += row["broken"].size();
    document["faults"].push_back(std::move(row));
  }
  document["broken"] = broken;
  out << (broken == 0 ? "all promises kept\n"
                      : absl::StrCat(broken, " promises broken\n"));
  return document;
}

}  // namespace hone::bench
