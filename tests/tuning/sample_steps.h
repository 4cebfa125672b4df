#ifndef HONE_TESTS_TUNING_SAMPLE_STEPS_H_
#define HONE_TESTS_TUNING_SAMPLE_STEPS_H_

#include "absl/strings/string_view.h"

#include "graphs/cluster.h"
#include "tuning/tasks/step_space.h"

namespace hone::tuning {

// The decisions of a task about a step.
struct NamedDecisions {
  const char* task;
  StepDecisions decisions;
};
inline constexpr NamedDecisions kAllDecisions[] = {
    {"placement", {.devices = true}},
    {"schedule", {.priorities = true}},
    {"fusion", {.fusion = true}},
    {"joint", {.devices = true, .priorities = true, .fusion = true}}};

// Two products that take equally long, each followed by an elementwise
// operator, and their sum.
inline constexpr absl::string_view kBranches =
    R"({"nodes":[
{"id":0,"name":"x","opcode":"parameter","flops":0,"bytes":0,"output_bytes":4096,"parameter_bytes":4096},
{"id":1,"name":"a","opcode":"dot","flops":2e6,"bytes":12288,"output_bytes":4096,"parameter_bytes":4096,"scope":"left"},
{"id":2,"name":"b","opcode":"dot","flops":2e6,"bytes":12288,"output_bytes":4096,"parameter_bytes":4096,"scope":"right"},
{"id":3,"name":"e","opcode":"exponential","flops":1e3,"bytes":8192,"output_bytes":4096,"parameter_bytes":0,"scope":"left"},
{"id":4,"name":"n","opcode":"negate","flops":1e3,"bytes":8192,"output_bytes":4096,"parameter_bytes":0,"scope":"right"},
{"id":5,"name":"sum","opcode":"add","flops":1e3,"bytes":12288,"output_bytes":4096,"parameter_bytes":0,"is_output":true}],
"edges":[
{"from":0,"to":1,"bytes":4096},
{"from":0,"to":2,"bytes":4096},
{"from":1,"to":3,"bytes":4096},
{"from":2,"to":4,"bytes":4096},
{"from":3,"to":5,"bytes":4096},
{"from":4,"to":5,"bytes":4096}]}
)";

// The same as a module.
inline constexpr absl::string_view kBranchesModule = R"(HloModule branches

ENTRY main {
  x = f32[32,32] parameter(0)
  w = f32[32,32] parameter(1)
  v = f32[32,32] parameter(2)
  a = f32[32,32] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  b = f32[32,32] dot(x, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  e = f32[32,32] exponential(a)
  n = f32[32,32] negate(b)
  ROOT sum = f32[32,32] add(e, n)
}
)";

// `count` accelerators with `memory_bytes` each, on which those products take
// longer than what they send.
inline graphs::Cluster Accelerators(int32_t count, double memory_bytes = 1e9) {
  return {.accelerators = {{.count = count,
                            .flops_per_second = 1e8,
                            .bytes_per_second = 1e9,
                            .launch_seconds = 1e-6,
                            .memory_bytes = memory_bytes}},
          .cpus = {},
          .link = {1e9, 1e-6}};
}

}  // namespace hone::tuning

#endif  // HONE_TESTS_TUNING_SAMPLE_STEPS_H_
