#include "graphs/cluster.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

// Debian's library of the same name is built with exceptions.
#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
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
};

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

std::string Names(absl::Span<const Key> keys) {
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
    double accelerators = 0;
    double cpus = 0;
    const std::vector<Key> of_accelerators = {
        {"count", 1, kMaxCount, &accelerators},
        Rate("flops_per_second", cluster.accelerators.flops_per_second),
        Rate("bytes_per_second", cluster.accelerators.bytes_per_second),
        Rate("memory_bytes", cluster.accelerator_bytes),
        Seconds("launch_seconds", cluster.accelerators.launch_seconds)};
    const std::vector<Key> of_cpus = {
        {"count", 1, kMaxCount, &cpus},
        Rate("flops_per_second", cluster.cpus.flops_per_second),
        Rate("bytes_per_second", cluster.cpus.bytes_per_second),
        Seconds("launch_seconds", cluster.cpus.launch_seconds)};
    const std::vector<Key> of_link = {
        Rate("bytes_per_second", cluster.link_bytes_per_second),
        Seconds("latency_seconds", cluster.link_latency_seconds)};
    for (const auto& [key, node] : root) {
      const absl::string_view name = View(key.str());
      const std::vector<Key>* const keys = name == "accelerators"
                                               ? &of_accelerators
                                           : name == "cpus" ? &of_cpus
                                           : name == "link" ? &of_link
                                                            : nullptr;
      if (keys == nullptr) {
        return ErrorAt(key.source(),
                       absl::StrCat("unknown table \"", name,
                                    "\", expected accelerators, cpus, link"));
      }
      if (!node.is_table()) {
        return ErrorAt(node.source(), absl::StrCat("\"", name,
                                                   "\" is a value, expected "
                                                   "a table"));
      }
      HONE_RETURN_IF_ERROR(ReadTable(name, *node.as_table(), *keys));
    }
    if (accelerators == 0 && cpus == 0) {
      return ErrorAt(root.source(),
                     "no devices, expected [accelerators] or [cpus]");
    }
    if (!root.contains("link")) {
      return ErrorAt(root.source(), "[link] is missing, expected a table");
    }
    cluster.accelerators.count = static_cast<int32_t>(accelerators);
    cluster.cpus.count = static_cast<int32_t>(cpus);
    return cluster;
  }

  absl::Status ErrorAt(const toml::source_region& where,
                       absl::string_view message) const {
    return absl::InvalidArgumentError(absl::StrCat(
        file_, ":", where.begin.line, ":", where.begin.column, ": ", message));
  }

 private:
  absl::Status ReadTable(absl::string_view name, const toml::table& table,
                         absl::Span<const Key> keys) const {
    for (const auto& [key, node] : table) {
      const absl::string_view found = View(key.str());
      if (std::none_of(keys.begin(), keys.end(),
                       [&](const Key& k) { return k.name == found; })) {
        return ErrorAt(key.source(),
                       absl::StrCat("unknown key \"", found, "\" in [", name,
                                    "], expected ", Names(keys)));
      }
    }
    for (const Key& key : keys) {
      const toml::node* const node =
          table.get(std::string_view(key.name.data(), key.name.size()));
      const bool is_integer = key.name == "count";
      const std::string expected =
          absl::StrCat(is_integer ? "an integer from " : "a number from ",
                       Number(key.min), " to ", Number(key.max));
      if (node == nullptr) {
        return ErrorAt(table.source(),
                       absl::StrCat("[", name, "] has no \"", key.name,
                                    "\", expected ", expected));
      }
      const std::optional<double> value = is_integer && !node->is_integer()
                                              ? std::nullopt
                                              : node->value<double>();
      if (!value.has_value() || !(*value >= key.min && *value <= key.max)) {
        return ErrorAt(node->source(),
                       absl::StrCat("bad value of \"", key.name, "\" in [",
                                    name, "], expected ", expected));
      }
      *key.value = *value;
    }
    return absl::OkStatus();
  }

  const absl::string_view file_;
};

std::string PrintKind(absl::string_view name, const DeviceKind& kind,
                      std::optional<double> memory) {
  if (kind.count == 0) return "";
  return absl::StrCat(
      name, "={count=", kind.count,
      ",flops_per_second=", Number(kind.flops_per_second),
      ",bytes_per_second=", Number(kind.bytes_per_second),
      memory ? absl::StrCat(",memory_bytes=", Number(*memory)) : "",
      ",launch_seconds=", Number(kind.launch_seconds), "}\n");
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
      PrintKind("accelerators", cluster.accelerators,
                cluster.accelerator_bytes),
      PrintKind("cpus", cluster.cpus, std::nullopt),
      "link={bytes_per_second=", Number(cluster.link_bytes_per_second),
      ",latency_seconds=", Number(cluster.link_latency_seconds), "}\n");
}

}  // namespace hone::graphs
