#include <iostream>
#include <string>
#include "bench/cost_model/collect_tpu.h"
int main(int argc, char** argv) {
  hone::bench::CollectTpuOptions o;
  o.output = argv[1];
  if (argc > 2) o.only = argv[2];
  if (argc > 3) o.tpu = argv[3];
  if (argc > 4) o.kernels = atoi(argv[4]);
  auto r = hone::bench::CollectTpu(o, std::cerr);
  std::cerr << r.status() << "\n";
}
