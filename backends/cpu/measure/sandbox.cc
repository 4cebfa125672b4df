#include "backends/cpu/measure/sandbox.h"

#include <cerrno>
#include <memory>
#include <system_error>

#include "absl/strings/str_cat.h"
#include <fcntl.h>
#include <linux/sched.h>
#include <seccomp.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace hone::backends {
namespace {

// Allocation, threads that share all with their process, locks, time, the
// process's own signals, and its open descriptors, which are /dev/null.
constexpr int kAllowed[] = {
    SCMP_SYS(brk),
    SCMP_SYS(mmap),
    SCMP_SYS(munmap),
    SCMP_SYS(mremap),
    SCMP_SYS(mprotect),
    SCMP_SYS(madvise),
    SCMP_SYS(mincore),
    SCMP_SYS(futex),
    SCMP_SYS(membarrier),
    SCMP_SYS(rseq),
    SCMP_SYS(set_robust_list),
    SCMP_SYS(set_tid_address),
    SCMP_SYS(sched_yield),
    SCMP_SYS(sched_getaffinity),
    SCMP_SYS(sched_setaffinity),
    SCMP_SYS(getcpu),
    SCMP_SYS(clock_gettime),
    SCMP_SYS(clock_getres),
    SCMP_SYS(clock_nanosleep),
    SCMP_SYS(nanosleep),
    SCMP_SYS(gettimeofday),
    SCMP_SYS(time),
    SCMP_SYS(restart_syscall),
    SCMP_SYS(rt_sigaction),
    SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigreturn),
    SCMP_SYS(rt_sigsuspend),
    SCMP_SYS(sigaltstack),
    SCMP_SYS(pause),
    SCMP_SYS(getpid),
    SCMP_SYS(gettid),
    SCMP_SYS(getrandom),
    SCMP_SYS(uname),
    SCMP_SYS(sysinfo),
    SCMP_SYS(getrlimit),
    SCMP_SYS(read),
    SCMP_SYS(write),
    SCMP_SYS(writev),
    SCMP_SYS(close),
    SCMP_SYS(fstat),
    SCMP_SYS(exit),
    SCMP_SYS(exit_group),
};

// These end the process, so that the outcome says what happened.
constexpr int kHostile[] = {
    SCMP_SYS(socket),
    SCMP_SYS(socketpair),
    SCMP_SYS(connect),
    SCMP_SYS(bind),
    SCMP_SYS(listen),
    SCMP_SYS(accept),
    SCMP_SYS(accept4),
    SCMP_SYS(sendto),
    SCMP_SYS(sendmsg),
    SCMP_SYS(sendmmsg),
    SCMP_SYS(execve),
    SCMP_SYS(execveat),
    SCMP_SYS(fork),
    SCMP_SYS(vfork),
    SCMP_SYS(ptrace),
    SCMP_SYS(process_vm_readv),
    SCMP_SYS(process_vm_writev),
    SCMP_SYS(kill),
    SCMP_SYS(tkill),
    SCMP_SYS(rt_sigqueueinfo),
    SCMP_SYS(rt_tgsigqueueinfo),
    SCMP_SYS(pidfd_open),
    SCMP_SYS(pidfd_send_signal),
    SCMP_SYS(pidfd_getfd),
    SCMP_SYS(creat),
    SCMP_SYS(openat2),
    SCMP_SYS(truncate),
    SCMP_SYS(unlink),
    SCMP_SYS(unlinkat),
    SCMP_SYS(rename),
    SCMP_SYS(renameat),
    SCMP_SYS(renameat2),
    SCMP_SYS(mkdir),
    SCMP_SYS(mkdirat),
    SCMP_SYS(rmdir),
    SCMP_SYS(mknod),
    SCMP_SYS(mknodat),
    SCMP_SYS(link),
    SCMP_SYS(linkat),
    SCMP_SYS(symlink),
    SCMP_SYS(symlinkat),
    SCMP_SYS(chmod),
    SCMP_SYS(fchmodat),
    SCMP_SYS(chown),
    SCMP_SYS(lchown),
    SCMP_SYS(fchownat),
    SCMP_SYS(memfd_create),
    SCMP_SYS(mount),
    SCMP_SYS(umount2),
    SCMP_SYS(chroot),
    SCMP_SYS(unshare),
    SCMP_SYS(setns),
    SCMP_SYS(setsid),
    SCMP_SYS(setpgid),
    SCMP_SYS(bpf),
    SCMP_SYS(io_uring_setup),
    SCMP_SYS(perf_event_open),
    SCMP_SYS(userfaultfd),
    SCMP_SYS(add_key),
    SCMP_SYS(keyctl),
    SCMP_SYS(init_module),
    SCMP_SYS(finit_module),
    SCMP_SYS(kexec_load),
    SCMP_SYS(reboot),
};

constexpr uint32_t kEnd = SCMP_ACT_KILL_PROCESS;

// Adds rules and keeps the first error.
class Filter {
 public:
  Filter() : context_(seccomp_init(SCMP_ACT_ERRNO(EPERM)), seccomp_release) {
    if (context_ == nullptr) error_ = ENOMEM;
  }

  template <typename... Comparisons>
  void Add(uint32_t action, int call, Comparisons... comparisons) {
    if (error_ != 0) return;
    const int result = seccomp_rule_add(
        context_.get(), action, call,
        static_cast<unsigned>(sizeof...(comparisons)), comparisons...);
    // This processor has no such call.
    if (result != -EDOM) error_ = -result;
  }
  void Set(scmp_filter_attr attribute, uint32_t value) {
    if (error_ == 0) {
      error_ = -seccomp_attr_set(context_.get(), attribute, value);
    }
  }
  // Returns an errno.
  int Load() {
    if (error_ == 0) error_ = -seccomp_load(context_.get());
    return error_;
  }

 private:
  const std::unique_ptr<void, void (*)(scmp_filter_ctx)> context_;
  int error_ = 0;
};

// Opening for reading fails like every other call; for writing is hostile.
void AddOpen(Filter& filter, int call, unsigned flags) {
  for (const int access : {O_WRONLY, O_RDWR}) {
    filter.Add(kEnd, call,
               scmp_arg_cmp{flags, SCMP_CMP_MASKED_EQ, O_ACCMODE,
                            static_cast<scmp_datum_t>(access)});
  }
  filter.Add(
      kEnd, call,
      scmp_arg_cmp{flags, SCMP_CMP_MASKED_EQ, O_ACCMODE | O_CREAT, O_CREAT});
}

}  // namespace

absl::Status EnterSandbox() {
  Filter filter;
  filter.Set(SCMP_FLTATR_ACT_BADARCH, kEnd);
  // Otherwise older kernels turn off speculative loads, which makes code slower
  // than it is elsewhere.
  filter.Set(SCMP_FLTATR_CTL_SSB, 1);
  for (const int call : kAllowed) filter.Add(SCMP_ACT_ALLOW, call);
  for (const int call : kHostile) filter.Add(kEnd, call);
  // Threads, but no processes. The C library falls back from clone3, whose
  // flags a filter cannot see, to clone.
  filter.Add(SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3));
  filter.Add(SCMP_ACT_ALLOW, SCMP_SYS(clone),
             scmp_arg_cmp{0, SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD});
  filter.Add(kEnd, SCMP_SYS(clone),
             scmp_arg_cmp{0, SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0});
  // abort() and the like signal the process itself.
  const auto self = static_cast<scmp_datum_t>(getpid());
  filter.Add(SCMP_ACT_ALLOW, SCMP_SYS(tgkill),
             scmp_arg_cmp{0, SCMP_CMP_EQ, self, 0});
  filter.Add(kEnd, SCMP_SYS(tgkill), scmp_arg_cmp{0, SCMP_CMP_NE, self, 0});
  // Limits are read, not set.
  filter.Add(SCMP_ACT_ALLOW, SCMP_SYS(prlimit64),
             scmp_arg_cmp{2, SCMP_CMP_EQ, 0, 0});
  AddOpen(filter, SCMP_SYS(open), 1);
  AddOpen(filter, SCMP_SYS(openat), 2);
  // No debugger of the same user attaches, and nothing is dumped.
  prctl(PR_SET_DUMPABLE, 0);
  const int error = filter.Load();
  if (error == 0) return absl::OkStatus();
  return absl::InternalError(
      absl::StrCat("no sandbox for kernels (seccomp): ",
                   std::generic_category().message(error)));
}

}  // namespace hone::backends
