// Writes the weights of an untrained cost model of CPU kernels, for tests of
// commands that read them: hone_write_kernel_cost_model FILE [VERSION], for
// features of that version.

#include <fstream>

#include "learning/models/cost_model.h"
#include "tuning/tasks/kernel_cost_spec.h"

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  hone::learning::CostSpec spec = hone::tuning::KernelCostSpec();
  if (argc > 2) spec.features = argv[2];
  const hone::learning::CostModel model(
      spec, {.layers = 1, .width = 16, .hidden = 16}, /*seed=*/1);
  std::ofstream file(argv[1], std::ios::binary);
  file << model.Serialize();
  return file.flush() ? 0 : 1;
}
