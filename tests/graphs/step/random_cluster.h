#ifndef HONE_TESTS_GRAPHS_STEP_RANDOM_CLUSTER_H_
#define HONE_TESTS_GRAPHS_STEP_RANDOM_CLUSTER_H_

#include "base/rng.h"
#include "graphs/cluster.h"

namespace hone::testing {

// A random cluster with up to 6 devices: one or several kinds, links and hosts,
// some without latency or overhead. Half of all have powers of 2 everywhere, so
// that sums are exact and many things happen at the same time.
graphs::Cluster RandomCluster(Rng& rng);

}  // namespace hone::testing

#endif  // HONE_TESTS_GRAPHS_STEP_RANDOM_CLUSTER_H_
