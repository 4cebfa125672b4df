#ifndef HONE_LEARNING_NETWORKS_TORCH_THREADS_H_
#define HONE_LEARNING_NETWORKS_TORCH_THREADS_H_

#include <cstdint>
#include <functional>

namespace hone::learning {

// Makes Torch, and the BLAS under it, use the calling thread only: searches run
// on several threads of our own, and Torch's would only compete (and spin while
// they wait). Every network is made through WithSeed, which calls it.
void UseOneThread();

// Calls `make` with Torch's generator of initial weights seeded. There is one
// for the whole process, so calls exclude each other.
void WithSeed(uint64_t seed, const std::function<void()>& make);

}  // namespace hone::learning

#endif  // HONE_LEARNING_NETWORKS_TORCH_THREADS_H_
