#include "backends/tpu_sim/tpu.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "backends/tpu_sim/bundled_tpus.h"
#include "base/status_macros.h"
#include "graphs/toml_tables.h"

namespace hone::backends {
namespace {

constexpr double kMaxCycles = 1 << 20;

// One number of a description.
struct Field {
  const char* table;
  const char* key;
  double min;
  double max;
  // One of them.
  double Tpu::*real = nullptr;
  int64_t Tpu::*integer = nullptr;
};

constexpr double kTera = 1e12;

// In the order of the text. Rates are so large at least that times stay finite.
constexpr Field kFields[] = {
    {"core", "clock_hz", 1e6, kTera, &Tpu::clock_hz},
    {"hbm", "bytes_per_second", 1e6, 1e15, &Tpu::hbm_bytes_per_second},
    {"hbm", "latency_seconds", 0, 1e-3, &Tpu::hbm_latency_seconds},
    {"hbm", "piece_bytes", 0, 1 << 20, &Tpu::hbm_piece_bytes},
    {"hbm", "outstanding_transfers", 1, 1024, nullptr,
     &Tpu::outstanding_transfers},
    {"vmem", "bytes", 1 << 16, kTera, nullptr, &Tpu::vmem_bytes},
    {"vmem", "load_slots", 1, 64, nullptr, &Tpu::load_slots},
    {"vmem", "store_slots", 1, 64, nullptr, &Tpu::store_slots},
    {"vmem", "load_latency", 0, kMaxCycles, nullptr, &Tpu::load_latency},
    {"vector", "alu_slots", 1, 64, nullptr, &Tpu::alu_slots},
    {"vector", "alu_latency", 1, kMaxCycles, nullptr, &Tpu::alu_latency},
    {"vector", "registers", 8, 4096, nullptr, &Tpu::registers},
    {"vector", "transcendental_interval", 1, kMaxCycles, nullptr,
     &Tpu::transcendental_interval},
    {"vector", "transcendental_latency", 0, kMaxCycles, nullptr,
     &Tpu::transcendental_latency},
    {"cross_lane", "units", 1, 64, nullptr, &Tpu::cross_lane_units},
    {"cross_lane", "interval", 1, kMaxCycles, nullptr,
     &Tpu::cross_lane_interval},
    {"cross_lane", "latency", 0, kMaxCycles, nullptr, &Tpu::cross_lane_latency},
    {"matrix", "units", 1, 64, nullptr, &Tpu::matrix_units},
    {"matrix", "weight_load_cycles", 0, kMaxCycles, nullptr,
     &Tpu::weight_load_cycles},
    {"matrix", "latency", 0, kMaxCycles, nullptr, &Tpu::matrix_latency},
    {"matrix", "accumulates", 0, 1, nullptr, nullptr},
    {"scalar", "launch_cycles", 0, kMaxCycles, nullptr, &Tpu::launch_cycles},
    {"scalar", "step_cycles", 1, kMaxCycles, nullptr, &Tpu::step_cycles},
    {"scalar", "transfer_cycles", 0, kMaxCycles, nullptr,
     &Tpu::transfer_cycles},
    {"scalar", "index_cycles", 0, kMaxCycles, nullptr, &Tpu::index_cycles},
    {"scalar", "loop_cycles", 0, kMaxCycles, nullptr, &Tpu::loop_cycles},
};

double ValueOf(const Tpu& tpu, const Field& field) {
  if (field.real != nullptr) return tpu.*field.real;
  if (field.integer != nullptr) return static_cast<double>(tpu.*field.integer);
  return tpu.matrix_accumulates ? 1 : 0;
}

void SetValue(double value, const Field& field, Tpu& tpu) {
  if (field.real != nullptr) {
    tpu.*field.real = value;
  } else if (field.integer != nullptr) {
    tpu.*field.integer = static_cast<int64_t>(value);
  } else {
    tpu.matrix_accumulates = value != 0;
  }
}

std::vector<absl::string_view> TableNames() {
  std::vector<absl::string_view> names;
  for (const Field& field : kFields) {
    if (names.empty() || names.back() != field.table) {
      names.push_back(field.table);
    }
  }
  return names;
}

}  // namespace

absl::StatusOr<Tpu> ParseTpu(absl::string_view text, absl::string_view file) {
  HONE_ASSIGN_OR_RETURN(const graphs::TomlTables tables,
                        graphs::TomlTables::Parse(text, file, "a TPU"));
  const std::vector<absl::string_view> names = TableNames();
  for (const auto& [key, node] : tables.root()) {
    const absl::string_view name = graphs::TomlView(key.str());
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      return tables.ErrorAt(
          key.source(), absl::StrCat("unknown table \"", name, "\", expected ",
                                     absl::StrJoin(names, ", ")));
    }
  }
  Tpu tpu;
  std::vector<double> values(std::size(kFields));
  for (const absl::string_view name : names) {
    const auto* const node =
        tables.root().get(std::string_view(name.data(), name.size()));
    if (node == nullptr) {
      return tables.ErrorAt(
          tables.root().source(),
          absl::StrCat("[", name, "] is missing, expected a table"));
    }
    std::vector<graphs::NumberKey> keys;
    for (size_t i = 0; i < std::size(kFields); ++i) {
      const Field& field = kFields[i];
      if (field.table != name) continue;
      keys.push_back({field.key, field.min, field.max, &values[i],
                      /*is_integer=*/field.real == nullptr});
    }
    HONE_RETURN_IF_ERROR(tables.ReadTable(name, *node, keys));
  }
  for (size_t i = 0; i < std::size(kFields); ++i) {
    SetValue(values[i], kFields[i], tpu);
  }
  return tpu;
}

absl::StatusOr<Tpu> FindTpu(absl::string_view name_or_text) {
  if (absl::StrContains(name_or_text, '=')) {
    return ParseTpu(name_or_text, "<tpu>");
  }
  HONE_ASSIGN_OR_RETURN(const BundledTpu* const bundled,
                        BundledTpus().Find(name_or_text));
  return ParseTpu(bundled->text, absl::StrCat(bundled->id, ".toml"));
}

std::string PrintTpu(const Tpu& tpu) {
  std::string text;
  absl::string_view table;
  for (const Field& field : kFields) {
    if (table != field.table) {
      table = field.table;
      absl::StrAppend(&text, "[", table, "]\n");
    }
    // Integers have no exponent, which would make them floats.
    absl::StrAppend(
        &text, field.key, " = ",
        field.real != nullptr
            ? graphs::TomlNumber(ValueOf(tpu, field))
            : absl::StrCat(static_cast<int64_t>(ValueOf(tpu, field))),
        "\n");
  }
  return text;
}

}  // namespace hone::backends
