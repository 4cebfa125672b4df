#ifndef HONE_WORK_JOBS_H_
#define HONE_WORK_JOBS_H_

#include "base/thread_pool.h"
#include "hone/internal/work.pb.h"
#include "work/environments.h"
#include "work/parent.h"

namespace hone::work {

// Does a job, in the process that works. Every error is the result's.
internal::Result DoJob(const internal::Job& job, Parent& parent,
                       Environments& environments, ThreadPool& pool);

}  // namespace hone::work

#endif  // HONE_WORK_JOBS_H_
