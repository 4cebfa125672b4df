#ifndef HONE_GRAPHS_STEP_STEP_SCHEDULE_H_
#define HONE_GRAPHS_STEP_STEP_SCHEDULE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"

#include "graphs/step/device_times.h"
#include "graphs/step/kernel_graph.h"

namespace hone::graphs {

// Where kernels run and in which order they start.
struct StepSchedule {
  std::vector<int32_t> devices;    // [kernels]
  std::vector<KernelIndex> order;  // all kernels, by start
};

// The order in which a list scheduler takes kernels that are ready.
enum class ListRank {
  kUpward,  // the longest path to the end, with mean times and transfers
  kUpwardDownward,  // and the longest from the beginning
  kStaticLevel,     // the longest path to the end, without transfers
  kProgram,         // the order of the program
};

struct ListScheduleOptions {
  ListRank rank = ListRank::kUpward;
  // Chooses the device by when the kernels that read the result could finish,
  // the first eight of them if they have at most 128 inputs, instead of by the
  // finish of the kernel alone.
  bool looks_ahead = false;
  // Kernels may start in gaps that earlier ones have left.
  bool inserts = true;
};

// Returns the longest path of each kernel to the end, itself included, in
// seconds, with the mean of the times of devices and, if `transfers`, of
// transfers: [kernels].
std::vector<double> UpwardRanks(const KernelGraph& kernels,
                                const DeviceTimes& times, bool transfers);

// The same under a placement: with the times of the kernels' devices, and
// transfers between different ones only.
std::vector<double> PlacedRanks(const KernelGraph& kernels,
                                const DeviceTimes& times,
                                absl::Span<const int32_t> devices);

// Heterogeneous earliest finish time: takes the kernels by rank, each on the
// device on which it finishes first. Transfers of one channel follow each
// other. A device whose memory is full, as far as that can be told from what is
// scheduled so far, is not chosen as long as there is another one; if there is
// none, that with the most left is. Ties: the kernel of the lowest number, the
// first device.
// Source: Topcuoglu, Hariri and Wu, "Performance-effective and low-complexity
// task scheduling for heterogeneous computing", 2002; looking ahead:
// Bittencourt, Sakellariou and Madeira, "DAG scheduling using a lookahead
// variant of the heterogeneous earliest finish time algorithm", 2010.
StepSchedule ScheduleByRank(const KernelGraph& kernels,
                            const DeviceTimes& times,
                            const ListScheduleOptions& options);

// Takes, again and again, the ready kernel that can start first, on the device
// on which it does (m-ETF). With `favorites` a device waits for the child that
// its last kernel sends most to, as long as sending that elsewhere would take,
// while inputs of the child are not scheduled yet (m-SCT; children are chosen
// greedily by bytes instead of by a linear program). Of many ready kernels only
// the 32 of the highest static levels are looked at. Full devices and ties as
// above, but of kernels that of the highest static level first.
// Source: Jeon et al., "Baechi: fast device placement of machine learning
// graphs", 2020.
StepSchedule ScheduleEarliestFirst(const KernelGraph& kernels,
                                   const DeviceTimes& times, bool favorites);

}  // namespace hone::graphs

#endif  // HONE_GRAPHS_STEP_STEP_SCHEDULE_H_
