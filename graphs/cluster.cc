#include "graphs/cluster.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

// Debian's library of the same name is built with exceptions.
#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include <toml++/toml.h>

#include "base/status_macros.h"

namespace hone::graphs {
namespace {

// The parser destroys nested tables recursively: `a.a.a = 1` has three.
constexpr size_t kMaxText = 8 << 10;
constexpr double kMaxCount = 1 << 20;  // as of DeviceGraph

// A key of a table, with what it may be and where it goes.
struct Key {
  absl::string_view name;
  double min = 0;
  double max = 0;
  double* value = nullptr;
  bool is_integer = false;
  bool is_optional = false;
};

Key Integer(absl::string_view name, double min, double max, double& value) {
  return {name, min, max, &value, /*is_integer=*/true};
}

// Rates of at least 1 keep all times finite.
Key Rate(absl::string_view name, double& value) {
  return {name, 1, 1e30, &value};
}
Key Seconds(absl::string_view name, double& value) {
  return {name, 0, 3600, &value};
}

absl::string_view View(std::string_view text) {
  return {text.data(), text.size()};
}

std::string Names(const std::vector<Key>& keys) {
  return absl::StrJoin(keys, ", ", [](std::string* out, const Key& key) {
    absl::StrAppend(out, key.name);
  });
}

// A number in as few digits as say which it is.
std::string Number(double value) {
  std::array<char, 32> digits;
  const auto end =
      std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  return std::string(digits.data(), end);
}

class Parser {
 public:
  explicit Parser(absl::string_view file) : file_(file) {}

  absl::StatusOr<Cluster> Parse(const toml::table& root) {
    Cluster cluster;
    for (const auto& [key, node] : root) {
      const absl::string_view name = View(key.str());
      if (name == "accelerators" || name == "cpus") {
        HONE_RETURN_IF_ERROR(ReadKinds(
            name, node, name == "cpus" ? cluster.cpus : cluster.accelerators));
      } else if (name == "link") {
        HONE_RETURN_IF_ERROR(ReadLink(name, node, cluster.link));
      } else if (name == "network") {
        HONE_RETURN_IF_ERROR(ReadLink(name, node, cluster.network.emplace()));
      } else {
        return ErrorAt(key.source(),
                       absl::StrCat("unknown table \"", name,
                                    "\", expected accelerators, cpus, link, "
                                    "network"));
      }
    }
    if (cluster.accelerators.empty() && cluster.cpus.empty()) {
      return ErrorAt(root.source(),
                     "no devices, expected [accelerators] or [cpus]");
    }
    if (!root.contains("link")) {
      return ErrorAt(root.source(), "[link] is missing, expected a table");
    }
    if (!cluster.network.has_value() && HostCount(cluster) > 1) {
      return ErrorAt(root.source(),
                     "[network] is missing, expected a table, as there are "
                     "several hosts");
    }
    return cluster;
  }

  absl::Status ErrorAt(const toml::source_region& where,
                       absl::string_view message) const {
    return absl::InvalidArgumentError(absl::StrCat(
        file_, ":", where.begin.line, ":", where.begin.column, ": ", message));
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
    std::vector<Key> keys = {Integer("count", 1, kMaxCount, count),
                             Rate("flops_per_second", kind.flops_per_second),
                             Rate("bytes_per_second", kind.bytes_per_second),
                             Rate("memory_bytes", kind.memory_bytes),
                             Seconds("launch_seconds", kind.launch_seconds),
                             Integer("host", 0, kMaxCount, host)};
    keys.back().is_optional = true;
    if (name == "cpus") keys.erase(keys.begin() + 3);
    HONE_RETURN_IF_ERROR(ReadTable(name, node, keys, "link"));
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
    return ReadTable(name, node,
                     {Rate("bytes_per_second", link.bytes_per_second),
                      Seconds("latency_seconds", link.latency_seconds)});
  }

  // Reads the keys of a table, which has no others but for `other`.
  absl::Status ReadTable(absl::string_view name, const toml::node& node,
                         const std::vector<Key>& keys,
                         absl::string_view other = "") const {
    if (!node.is_table()) {
      return ErrorAt(node.source(), absl::StrCat("\"", name,
                                                 "\" is a value, expected "
                                                 "a table"));
    }
    const toml::table& table = *node.as_table();
    for (const auto& [key, value] : table) {
      const absl::string_view found = View(key.str());
      if (found != other &&
          std::none_of(keys.begin(), keys.end(),
                       [&](const Key& k) { return k.name == found; })) {
        return ErrorAt(
            key.source(),
            absl::StrCat("unknown key \"", found, "\" in [", name,
                         "], expected ", Names(keys),
                         other.empty() ? "" : absl::StrCat(", ", other)));
      }
    }
    for (const Key& key : keys) {
      const toml::node* const found =
          table.get(std::string_view(key.name.data(), key.name.size()));
      if (found == nullptr && key.is_optional) continue;
      const std::string expected =
          absl::StrCat(key.is_integer ? "an integer from " : "a number from ",
                       Number(key.min), " to ", Number(key.max));
      if (found == nullptr) {
        return ErrorAt(table.source(),
                       absl::StrCat("[", name, "] has no \"", key.name,
                                    "\", expected ", expected));
      }
      const std::optional<double> value = key.is_integer && !found->is_integer()
                                              ? std::nullopt
                                              : found->value<double>();
      if (!value.has_value() || !(*value >= key.min && *value <= key.max)) {
        return ErrorAt(found->source(),
                       absl::StrCat("bad value of \"", key.name, "\" in [",
                                    name, "], expected ", expected));
      }
      *key.value = *value;
    }
    return absl::OkStatus();
  }

  const absl::string_view file_;
};

std::string PrintLink(const Link& link) {
  return absl::StrCat("{bytes_per_second=", Number(link.bytes_per_second),
                      ",latency_seconds=", Number(link.latency_seconds), "}");
}

std::string PrintKind(const DeviceKind& kind) {
  return absl::StrCat(
      "{count=", kind.count,
      ",flops_per_second=", Number(kind.flops_per_second),
      ",bytes_per_second=", Number(kind.bytes_per_second),
      std::isfinite(kind.memory_bytes)
          ? absl::StrCat(",memory_bytes=", Number(kind.memory_bytes))
          : "",
      ",launch_seconds=", Number(kind.launch_seconds),
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
  if (text.size() > kMaxText) {
    return absl::InvalidArgumentError(
        absl::StrCat(file, ": ", text.size(),
                     " bytes, expected the description of a cluster, of at "
                     "most ",
                     kMaxText));
  }
  Parser parser(file);
  const toml::parse_result parsed =
      toml::parse(std::string_view(text.data(), text.size()));
  if (!parsed) {
    return parser.ErrorAt(
        parsed.error().source(),
        absl::StrCat(View(parsed.error().description()), ", expected TOML"));
  }
  return parser.Parse(parsed.table());
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
