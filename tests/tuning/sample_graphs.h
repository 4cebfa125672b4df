#ifndef HONE_TESTS_TUNING_SAMPLE_GRAPHS_H_
#define HONE_TESTS_TUNING_SAMPLE_GRAPHS_H_

#include "absl/strings/string_view.h"

namespace hone::tuning {

// Four layers in a row for two accelerators and a CPU core, which alone can run
// the last; the best pipeline has a max load of 3.5.
inline constexpr absl::string_view kChain =
    R"({"maxSizePerFPGA":100,"maxFPGAs":2,"maxCPUs":1,"nodes":[
{"id":0,"name":"a","fpgaLatency":3,"cpuLatency":10,"size":30,"supportedOnFpga":1,"isBackwardNode":0},
{"id":1,"name":"b","fpgaLatency":1,"cpuLatency":10,"size":30,"supportedOnFpga":1,"isBackwardNode":0},
{"id":2,"name":"c","fpgaLatency":1,"cpuLatency":10,"size":30,"supportedOnFpga":1,"isBackwardNode":0},
{"id":3,"name":"d","fpgaLatency":1,"cpuLatency":1,"size":30,"supportedOnFpga":0,"isBackwardNode":0}],
"edges":[
{"sourceId":0,"destId":1,"cost":0.5},
{"sourceId":1,"destId":2,"cost":0.25},
{"sourceId":2,"destId":3,"cost":0.5}]}
)";

}  // namespace hone::tuning

#endif  // HONE_TESTS_TUNING_SAMPLE_GRAPHS_H_
