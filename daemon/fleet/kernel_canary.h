#ifndef HONE_DAEMON_FLEET_KERNEL_CANARY_H_
#define HONE_DAEMON_FLEET_KERNEL_CANARY_H_

#include "daemon/fleet/fleet.h"

namespace hone::daemon {

// A measurement whose result is known, in three parts. The baseline's own
// script as a candidate must take the baseline's time (A/A). A schedule that is
// slower on every machine must be slower. A script with a step that cannot be
// applied must be reported as such.
//
// It finds machines that are noisy, and workers that invent reports; not a
// worker that recognizes canaries and lies otherwise. Against that one a winner
// is measured by a second machine (KernelRequest::confirm).
Fleet::Canary KernelCanary();

}  // namespace hone::daemon

#endif  // HONE_DAEMON_FLEET_KERNEL_CANARY_H_
