#include "backends/cluster_sim/chrome_trace.h"

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"

namespace hone::backends {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kMicroseconds = 1e6;

class Printer {
 public:
  void Add(const Json& event) {
    absl::StrAppend(&text_, text_.empty() ? "" : ",\n",
                    event.dump(-1, ' ', false, Json::error_handler_t::replace));
  }
  void NameProcess(int32_t process, const std::string& name) {
    Add({{"name", "process_name"},
         {"ph", "M"},
         {"pid", process},
         {"args", {{"name", name}}}});
    Add({{"name", "process_sort_index"},
         {"ph", "M"},
         {"pid", process},
         {"args", {{"sort_index", process}}}});
  }
  void NameThread(int32_t process, int32_t thread, const std::string& name) {
    Add({{"name", "thread_name"},
         {"ph", "M"},
         {"pid", process},
         {"tid", thread},
         {"args", {{"name", name}}}});
  }
  void AddSlice(absl::string_view category, const std::string& name,
                int32_t process, int32_t thread, double begin, double end,
                Json arguments) {
    Add({{"name", name},
         {"cat", category},
         {"ph", "X"},
         {"pid", process},
         {"tid", thread},
         {"ts", begin * kMicroseconds},
         {"dur", (end - begin) * kMicroseconds},
         {"args", std::move(arguments)}});
  }

  std::string Finish() const {
    return absl::StrCat("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n",
                        text_, "\n]}\n");
  }

 private:
  std::string text_;  // the events
};

}  // namespace

std::string PrintChromeTrace(const Timeline& timeline,
                             const graphs::OpGraph& graph,
                             const graphs::KernelGraph& kernels,
                             int32_t device_count) {
  Printer printer;
  for (int32_t d = 0; d < device_count; ++d) {
    printer.NameProcess(1 + d, absl::StrCat("device ", d));
    printer.NameThread(1 + d, 0, "kernels");
  }
  const int32_t links = 1 + device_count;
  // Ordered, so that threads are in the order of devices.
  std::map<std::pair<int32_t, int32_t>, int32_t> thread_of;
  for (const Timeline::Transfer& transfer : timeline.transfers()) {
    if (transfer.end_seconds > transfer.begin_seconds) {
      thread_of[{transfer.from, transfer.to}] = 0;
    }
  }
  if (!thread_of.empty()) printer.NameProcess(links, "links");
  int32_t next = 0;
  for (auto& [ends, thread] : thread_of) {
    thread = next++;
    printer.NameThread(
        links, thread,
        absl::StrCat("device ", ends.first, " to device ", ends.second));
  }
  for (const Timeline::Kernel& kernel : timeline.kernels()) {
    if (kernel.end_seconds <= kernel.begin_seconds) continue;
    const graphs::OpNode& root = graph.node(kernels.root(kernel.kernel));
    printer.AddSlice("kernel", root.name, 1 + kernel.device, 0,
                     kernel.begin_seconds, kernel.end_seconds,
                     {{"opcode", root.opcode},
                      {"scope", root.scope},
                      {"flops", kernels.flops(kernel.kernel)},
                      {"bytes", kernels.bytes(kernel.kernel)}});
  }
  for (const Timeline::Transfer& transfer : timeline.transfers()) {
    if (transfer.end_seconds <= transfer.begin_seconds) continue;
    const graphs::OpNode& root = graph.node(kernels.root(transfer.kernel));
    printer.AddSlice("transfer", root.name, links,
                     thread_of[{transfer.from, transfer.to}],
                     transfer.begin_seconds, transfer.end_seconds,
                     {{"from", transfer.from},
                      {"to", transfer.to},
                      {"bytes", transfer.bytes}});
  }
  for (const Timeline::MemorySample& sample : timeline.memory()) {
    printer.Add({{"name", "memory"},
                 {"ph", "C"},
                 {"pid", 1 + sample.device},
                 {"ts", sample.seconds * kMicroseconds},
                 {"args", {{"bytes", sample.bytes}}}});
  }
  return printer.Finish();
}

}  // namespace hone::backends
