#include "graphs/lower_bounds.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "graphs/max_load.h"

namespace hone::graphs {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Nodes that share a device: a color class, or a node without one.
struct Class {
  double accelerator = 0;  // time
  double cpu = 0;          // time
  double bytes = 0;
  // False if it can only be on a CPU core.
  bool fits_accelerator = true;
};

std::vector<Class> GatherClasses(const DeviceGraph& graph) {
  std::vector<Class> classes;
  absl::flat_hash_map<int64_t, size_t> class_of;
  for (const DeviceNode& node : graph.nodes()) {
    size_t index = classes.size();
    if (node.color_class.has_value()) {
      index = class_of.try_emplace(*node.color_class, index).first->second;
    }
    if (index == classes.size()) classes.emplace_back();
    Class& of = classes[index];
    of.accelerator += node.accelerator_latency;
    of.cpu += node.cpu_latency;
    of.bytes += node.size_bytes;
    of.fits_accelerator &= node.supported_on_accelerator;
  }
  for (Class& of : classes) {
    of.fits_accelerator &= graph.limits().accelerators > 0 &&
                           FitsAccelerator(graph.limits(), of.bytes);
  }
  return classes;
}

// The mean over so many devices; of no device it is infinite, unless there is
// nothing to do.
double Mean(double time, int32_t devices) {
  if (devices > 0) return time / devices;
  return time > 0 ? kInfinity : 0;
}

double SharedWork(const DeviceLimits& limits,
                  const std::vector<Class>& classes) {
  double accelerator = 0;
  double cpu = 0;
  // Those that could be on either, first all on CPU cores.
  std::vector<const Class*> movable;
  for (const Class& of : classes) {
    if (!of.fits_accelerator) {
      cpu += of.cpu;
    } else if (limits.cpus == 0) {
      accelerator += of.accelerator;
    } else if (of.accelerator > 0 && of.cpu > 0) {
      cpu += of.cpu;
      movable.push_back(&of);
    }
  }
  // Accelerators take first what they take least time for, compared with a
  // core: an exchange of pieces of two classes in another order shortens one
  // mean load and not the other. Logarithms, as quotients may overflow.
  std::sort(movable.begin(), movable.end(), [](const Class* a, const Class* b) {
    return std::log(a->accelerator) - std::log(a->cpu) <
           std::log(b->accelerator) - std::log(b->cpu);
  });
  for (const Class* of : movable) {
    const double gap =
        Mean(cpu, limits.cpus) - Mean(accelerator, limits.accelerators);
    if (gap <= 0) break;
    // The share of the class that makes both mean loads equal.
    const double share = gap / (Mean(of->cpu, limits.cpus) +
                                Mean(of->accelerator, limits.accelerators));
    accelerator += std::min(share, 1.0) * of->accelerator;
    cpu = std::max(0.0, cpu - std::min(share, 1.0) * of->cpu);
    if (share < 1) break;
  }
  return std::max(Mean(cpu, limits.cpus),
                  Mean(accelerator, limits.accelerators));
}

double LargestClass(const DeviceLimits& limits,
                    const std::vector<Class>& classes) {
  double largest = 0;
  for (const Class& of : classes) {
    largest = std::max(
        largest, std::min(of.fits_accelerator ? of.accelerator : kInfinity,
                          limits.cpus > 0 ? of.cpu : kInfinity));
  }
  return largest;
}

double Memory(const DeviceLimits& limits, const std::vector<Class>& classes) {
  double cpu = 0;
  double bytes = 0;
  std::vector<const Class*> movable;
  for (const Class& of : classes) {
    if (!of.fits_accelerator) {
      cpu += of.cpu;
    } else if (of.bytes > 0) {
      bytes += of.bytes;
      movable.push_back(&of);
    }
  }
  DeviceLimits all = limits;
  all.max_accelerator_bytes *= limits.accelerators;
  if (FitsAccelerator(all, bytes)) return 0;
  if (limits.cpus == 0) return kInfinity;
  double excess = bytes - all.max_accelerator_bytes * (1 + 1e-12);
  std::sort(movable.begin(), movable.end(), [](const Class* a, const Class* b) {
    return std::log(a->cpu) - std::log(a->bytes) <
           std::log(b->cpu) - std::log(b->bytes);
  });
  for (const Class* of : movable) {
    if (excess <= 0) break;
    cpu += of->cpu * std::min(excess / of->bytes, 1.0);
    excess -= of->bytes;
  }
  return cpu / limits.cpus;
}

}  // namespace

double LoadBounds::greatest() const {
  return std::max({shared_work, largest_class, memory});
}

LoadBounds LowerBounds(const DeviceGraph& graph) {
  const std::vector<Class> classes = GatherClasses(graph);
  return {.shared_work = SharedWork(graph.limits(), classes),
          .largest_class = LargestClass(graph.limits(), classes),
          .memory = Memory(graph.limits(), classes)};
}

}  // namespace hone::graphs
