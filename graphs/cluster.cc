#include "graphs/cluster.h"

#include <cmath>
#include <cstddef>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "base/status_macros.h"
#include "graphs/toml_tables.h"

namespace hone::graphs {
namespace {

constexpr double kMaxCount = 1 << 20;  // as of DeviceGraph

class Parser {
 public:
  explicit Parser(const TomlTables& tables) : tables_(tables) {}

  absl::StatusOr<Cluster> Parse() {
    const toml::table& root = tables_.root();
    Cluster cluster;
    for (const auto& [key, node] : root) {
      const absl::string_view name = TomlView(key.str());
      if (name == "accelerators" || name == "cpus") {
        HONE_RETURN_IF_ERROR(ReadKinds(
            name, node, name == "cpus" ? cluster.cpus : cluster.accelerators));
      } else if (name == "link") {
        HONE_RETURN_IF_ERROR(ReadLink(name, node, cluster.link));
      } else if (name == "network") {
        HONE_RETURN_IF_ERROR(ReadLink(name, node, cluster.network.emplace()));
      } else {
        return tables_.ErrorAt(
            key.source(), absl::StrCat("unknown table \"", name,
                                       "\", expected accelerators, cpus, link, "
                                       "network"));
      }
    }
    if (cluster.accelerators.empty() && cluster.cpus.empty()) {
      return tables_.ErrorAt(root.source(),
                             "no devices, expected [accelerators] or [cpus]");
    }
    if (!root.contains("link")) {
      return tables_.ErrorAt(root.source(),
                             "[link] is missing, expected a table");
    }
    if (!cluster.network.has_value() && HostCount(cluster) > 1) {
      return tables_.ErrorAt(
          root.source(),
          "[network] is missing, expected a table, as there are "
          "several hosts");
    }
    return cluster;
  }

 private:
  static size_t HostCount(const Cluster& cluster) {
    std::set<int32_t> hosts;
    for (const DeviceKind* const kind : KindsOfDevices(cluster)) {
      hosts.insert(kind->host);
    }
    return hosts.size();
  }

  // Reads one table, or each of an array of them.
  absl::Status ReadKinds(absl::string_view name, const toml::node& node,
                         std::vector<DeviceKind>& kinds) {
    if (const toml::array* const array = node.as_array();
        array != nullptr && array->is_array_of_tables()) {
      for (const toml::node& element : *array) {
        HONE_RETURN_IF_ERROR(ReadKind(name, element, kinds.emplace_back()));
      }
      return absl::OkStatus();
    }
    return ReadKind(name, node, kinds.emplace_back());
  }

  absl::Status ReadKind(absl::string_view name, const toml::node& node,
                        DeviceKind& kind) {
    double count = 0;
    double host = 0;
    std::vector<NumberKey> keys = {
        IntegerKey("count", 1, kMaxCount, count),
        RateKey("flops_per_second", kind.flops_per_second),
        RateKey("bytes_per_second", kind.bytes_per_second),
        RateKey("memory_bytes", kind.memory_bytes),
        SecondsKey("launch_seconds", kind.launch_seconds),
        IntegerKey("host", 0, kMaxCount, host)};
    keys.back().is_optional = true;
    if (name == "cpus") keys.erase(keys.begin() + 3);
    HONE_RETURN_IF_ERROR(tables_.ReadTable(name, node, keys, "link"));
    if (const toml::node* const link = node.as_table()->get("link")) {
      HONE_RETURN_IF_ERROR(
          ReadLink(absl::StrCat(name, ".link"), *link, kind.link.emplace()));
    }
    kind.count = static_cast<int32_t>(count);
    kind.host = static_cast<int32_t>(host);
    return absl::OkStatus();
  }

  absl::Status ReadLink(absl::string_view name, const toml::node& node,
                        Link& link) const {
    return tables_.ReadTable(
        name, node,
        {RateKey("bytes_per_second", link.bytes_per_second),
         SecondsKey("latency_seconds", link.latency_seconds)});
  }

  const TomlTables& tables_;
};

std::string PrintLink(const Link& link) {
  return absl::StrCat("{bytes_per_second=", TomlNumber(link.bytes_per_second),
                      ",latency_seconds=", TomlNumber(link.latency_seconds),
                      "}");
}

std::string PrintKind(const DeviceKind& kind) {
  return absl::StrCat(
      "{count=", kind.count,
      ",flops_per_second=", TomlNumber(kind.flops_per_second),
      ",bytes_per_second=", TomlNumber(kind.bytes_per_second),
      std::isfinite(kind.memory_bytes)
          ? absl::StrCat(",memory_bytes=", TomlNumber(kind.memory_bytes))
          : "",
      ",launch_seconds=", TomlNumber(kind.launch_seconds),
      kind.host != 0 ? absl::StrCat(",host=", kind.host) : "",
      kind.link ? absl::StrCat(",link=", PrintLink(*kind.link)) : "", "}");
}

// One kind as a table, several as an array of tables.
std::string PrintKinds(absl::string_view name,
                       const std::vector<DeviceKind>& kinds) {
  if (kinds.empty()) return "";
  const std::string tables =
      absl::StrJoin(kinds, ",", [](std::string* out, const DeviceKind& kind) {
        absl::StrAppend(out, PrintKind(kind));
      });
  return kinds.size() == 1 ? absl::StrCat(name, "=", tables, "\n")
                           : absl::StrCat(name, "=[", tables, "]\n");
}

}  // namespace

absl::StatusOr<Cluster> ParseCluster(absl::string_view text,
                                     absl::string_view file) {
  HONE_ASSIGN_OR_RETURN(const TomlTables tables,
                        TomlTables::Parse(text, file, "a cluster"));
  return Parser(tables).Parse();
}

std::string PrintCluster(const Cluster& cluster) {
  return absl::StrCat(
      PrintKinds("accelerators", cluster.accelerators),
      PrintKinds("cpus", cluster.cpus), "link=", PrintLink(cluster.link), "\n",
      cluster.network
          ? absl::StrCat("network=", PrintLink(*cluster.network), "\n")
          : "");
}

std::vector<const DeviceKind*> KindsOfDevices(const Cluster& cluster) {
  std::vector<const DeviceKind*> kinds;
  for (const std::vector<DeviceKind>* const list :
       {&cluster.accelerators, &cluster.cpus}) {
    for (const DeviceKind& kind : *list) {
      kinds.insert(kinds.end(), static_cast<size_t>(kind.count), &kind);
    }
  }
  return kinds;
}

const Link& LinkBetween(const Cluster& cluster, const DeviceKind& a,
                        const DeviceKind& b) {
  if (a.host != b.host) return *cluster.network;
  return &a == &b && a.link.has_value() ? *a.link : cluster.link;
}

}  // namespace hone::graphs
