#ifndef HONE_BACKENDS_TPU_SIM_TPU_H_
#define HONE_BACKENDS_TPU_SIM_TPU_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace hone::backends {

// The version of the simulator: times of different ones are not compared.
inline constexpr int kTpuSimVersion = 4;

// One core of a TPU as the simulator has it; README.md says what each number
// does. Slots and units work side by side; an interval is the number of cycles
// from one operation of a unit to the next, a latency that from its operands to
// its result.
struct Tpu {
  double clock_hz = 0;

  // Memory of the device and transfers from and to it.
  double hbm_bytes_per_second = 0;
  double hbm_latency_seconds = 0;
  double hbm_piece_bytes = 0;
  int64_t outstanding_transfers = 0;

  int64_t vmem_bytes = 0;
  int64_t load_slots = 0;
  int64_t store_slots = 0;
  int64_t load_latency = 0;

  int64_t alu_slots = 0;
  int64_t alu_latency = 0;
  int64_t registers = 0;
  int64_t transcendental_interval = 0;
  int64_t transcendental_latency = 0;
  int64_t cross_lane_units = 0;
  int64_t cross_lane_interval = 0;
  int64_t cross_lane_latency = 0;

  // Systolic arrays of 128 × 128.
  int64_t matrix_units = 0;
  int64_t weight_load_cycles = 0;
  int64_t matrix_latency = 0;
  // Partial sums of products stay in the unit, instead of being added by the
  // vector unit.
  bool matrix_accumulates = false;

  int64_t launch_cycles = 0;
  int64_t step_cycles = 0;
  int64_t transfer_cycles = 0;
  int64_t index_cycles = 0;
  int64_t loop_cycles = 0;

  double hbm_bytes_per_cycle() const { return hbm_bytes_per_second / clock_hz; }

  friend bool operator==(const Tpu&, const Tpu&) = default;
};

// Parses a description in TOML: the tables [core], [hbm], [vmem], [vector],
// [cross_lane], [matrix] and [scalar] of tpus/v3.toml, all of them with all
// keys.
// Errors: InvalidArgument, "FILE:LINE:COLUMN: which key, expected what".
absl::StatusOr<Tpu> ParseTpu(absl::string_view text, absl::string_view file);

// Returns the description that `name_or_text` is, if it has a `=`, or else the
// bundled one of that name (tpus.def).
// Errors: NotFound for an unknown name, listing the known ones; those of
// ParseTpu.
absl::StatusOr<Tpu> FindTpu(absl::string_view name_or_text);

// Returns a text that is the same for equal descriptions only: for fingerprints
// and for workers, which know no files of others. ParseTpu reads it.
std::string PrintTpu(const Tpu& tpu);

}  // namespace hone::backends

#endif  // HONE_BACKENDS_TPU_SIM_TPU_H_
