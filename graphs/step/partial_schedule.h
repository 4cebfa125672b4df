#ifndef HONE_GRAPHS_STEP_PARTIAL_SCHEDULE_H_
#define HONE_GRAPHS_STEP_PARTIAL_SCHEDULE_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"

#include "graphs/step/device_times.h"
#include "graphs/step/kernel_graph.h"
#include "graphs/step/step_schedule.h"

namespace hone::graphs {

// A schedule to which kernels are added, each after its inputs. Times are those
// of the simulator, but for transfers, which follow each other in the order in
// which they are asked for and have the bytes that the first to ask reads.
// Arguments, and what is made of them in no time, are not scheduled: they go
// where the first kernel that reads them goes.
class PartialSchedule {
 public:
  // Both outlive this.
  PartialSchedule(const KernelGraph& kernels, const DeviceTimes& times);

  // The kernels to add, each after those before it that it reads.
  bool is_scheduled(KernelIndex kernel) const { return follows_[kernel] == 0; }
  // The number of inputs of a kernel that have to be added before it.
  size_t MissingInputs(KernelIndex kernel) const;

  // Returns when a kernel could start on a device: once its inputs are there
  // and the device is free, in a gap between kernels if `inserts`.
  double EarliestStart(KernelIndex kernel, int32_t device, bool inserts);
  // Returns when a kernel could start on a device after `input`, if that
  // finished on `input_device` at `finish`, and those of its other inputs that
  // were added already.
  double StartAfter(KernelIndex kernel, int32_t device, KernelIndex input,
                    int32_t input_device, double finish) const;
  double Seconds(KernelIndex kernel, int32_t device) const {
    return kernels_.Seconds(kernel, times_.kind_of(device));
  }
  // Returns true if the device has memory left for the kernel, as far as what
  // was added so far tells.
  bool Fits(KernelIndex kernel, int32_t device);
  double free_bytes(int32_t device) const {
    return times_.memory_bytes(device) - used_[static_cast<size_t>(device)];
  }
  // The kernel that was last added to a device; kNone if there is none.
  static constexpr KernelIndex kNone = ~KernelIndex{0};
  KernelIndex last(int32_t device) const {
    return last_[static_cast<size_t>(device)];
  }

  void Add(KernelIndex kernel, int32_t device, double start);

  // Returns the schedule of all kernels.
  StepSchedule Finish() const;

 private:
  struct Interval {
    double begin;
    double end;
  };
  // A result on a device that it was sent to.
  struct Copy {
    double arrival = -1;  // < 0: not sent
    double bytes = 0;
  };
  size_t At(KernelIndex kernel, int32_t device) const {
    return kernel * devices_ + static_cast<size_t>(device);
  }
  // When the channels that lead to a device are free, by where they come from.
  using Channels = absl::InlinedVector<double, 8>;  // [devices]
  Channels ChannelsTo(int32_t device) const;
  // Returns when an input, of this number, is on a device; if it has to be sent
  // there, the channel is taken until then.
  double Arrival(KernelIndex input, uint32_t number, int32_t device,
                 Channels& channels) const;
  // Sets group_ to the inputs that follow a kernel, also those that follow
  // them, each after what it reads, and the kernel as the last.
  void FindGroup(KernelIndex kernel);
  // Adds a kernel whose inputs are all added.
  void AddOne(KernelIndex kernel, int32_t device, double start);
  double FirstGap(int32_t device, double ready, double seconds) const;
  // Returns the memory that a kernel takes on a device, with the inputs that
  // follow it.
  double NewBytes(KernelIndex kernel, int32_t device);

  const KernelGraph& kernels_;
  const DeviceTimes& times_;
  const size_t devices_;
  std::vector<uint8_t> follows_;    // [kernels]: goes where its reader goes
  std::vector<int32_t> device_of_;  // [kernels]; < 0: not added
  std::vector<double> start_, finish_;
  std::vector<Copy> copies_;                 // [kernels, devices]
  std::vector<double> channel_free_;         // [devices, devices], to and from
  std::vector<std::vector<Interval>> busy_;  // [devices], sorted
  std::vector<KernelIndex> last_;            // [devices]
  std::vector<double> used_;                 // [devices], bytes
  std::vector<uint32_t> readers_left_;       // [kernels]
  std::vector<uint64_t> weights_on_;         // [weights], devices
  // Room to work.
  KernelIndex group_of_ = kNone;
  std::vector<KernelIndex> group_;
  std::vector<std::pair<KernelIndex, size_t>> walk_;  // and its next input
  // Kernels and weights marked with `now_` are in the current sum already.
  uint32_t now_ = 0;
  std::vector<uint32_t> kernel_seen_, weights_seen_;
};

}  // namespace hone::graphs

#endif  // HONE_GRAPHS_STEP_PARTIAL_SCHEDULE_H_
