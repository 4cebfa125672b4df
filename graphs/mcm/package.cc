#include "graphs/mcm/package.h"

#include <vector>

#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "graphs/quantity.h"
#include "graphs/toml_tables.h"

namespace hone::graphs {

absl::StatusOr<Package> ParsePackage(absl::string_view text,
                                     absl::string_view file) {
  HONE_ASSIGN_OR_RETURN(const TomlTables tables,
                        TomlTables::Parse(text, file, "a package"));
  Package package;
  double count = 0;
  for (const auto& [key, node] : tables.root()) {
    const absl::string_view name = TomlView(key.str());
    if (name == "chips") {
      HONE_RETURN_IF_ERROR(tables.ReadTable(
          name, node,
          {IntegerKey("count", 1, kMaxChips, count),
           RateKey("flops_per_second", package.flops_per_second),
           RateKey("bytes_per_second", package.bytes_per_second),
           {"memory_bytes", 1, kMaxMemoryBytes, &package.memory_bytes},
           SecondsKey("op_seconds", package.op_seconds),
           RateKey("spill_bytes_per_second", package.spill_bytes_per_second)}));
    } else if (name == "link") {
      HONE_RETURN_IF_ERROR(tables.ReadTable(
          name, node,
          {RateKey("bytes_per_second", package.link.bytes_per_second),
           SecondsKey("latency_seconds", package.link.latency_seconds)}));
    } else {
      return tables.ErrorAt(
          key.source(),
          absl::StrCat("unknown table \"", name, "\", expected chips, link"));
    }
  }
  for (const char* const name : {"chips", "link"}) {
    if (!tables.root().contains(name)) {
      return tables.ErrorAt(
          tables.root().source(),
          absl::StrCat("[", name, "] is missing, expected a table"));
    }
  }
  package.chips = static_cast<int32_t>(count);
  return package;
}

std::string PrintPackage(const Package& package) {
  return absl::StrCat(
      "chips={count=", package.chips,
      ",flops_per_second=", TomlNumber(package.flops_per_second),
      ",bytes_per_second=", TomlNumber(package.bytes_per_second),
      ",memory_bytes=", TomlNumber(package.memory_bytes),
      ",op_seconds=", TomlNumber(package.op_seconds),
      ",spill_bytes_per_second=", TomlNumber(package.spill_bytes_per_second),
      "}\nlink={bytes_per_second=", TomlNumber(package.link.bytes_per_second),
      ",latency_seconds=", TomlNumber(package.link.latency_seconds), "}\n");
}

}  // namespace hone::graphs
