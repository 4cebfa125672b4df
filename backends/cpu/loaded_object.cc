#include "backends/cpu/loaded_object.h"

#include <mutex>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include <dlfcn.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>

#include "backends/cpu/kernel_runtime.h"
#include "backends/cpu/library/library.h"
#include "base/status_macros.h"

namespace hone::backends {
namespace {

absl::Status ToStatus(llvm::Error error) {
  if (!error) return absl::OkStatus();
  const std::string message = llvm::toString(std::move(error));
  if (absl::StrContains(message, "Symbols not found")) {
    return absl::NotFoundError(message);
  }
  return absl::InvalidArgumentError(message);
}

class JitObject final : public LoadedObject {
 public:
  explicit JitObject(std::unique_ptr<llvm::orc::LLJIT> jit)
      : jit_(std::move(jit)) {}

  absl::StatusOr<EntryFunction> Entry(
      const std::string& symbol) const override {
    auto address = jit_->lookup(symbol);
    if (!address) return ToStatus(address.takeError());
    return address->toPtr<EntryFunction>();
  }

 private:
  // A lookup links lazily; it has a lock of its own.
  std::unique_ptr<llvm::orc::LLJIT> jit_;
};

absl::Status DefineRuntime(llvm::orc::LLJIT& jit) {
  llvm::orc::SymbolMap symbols;
  const auto define = [&](const char* name, auto* function) {
    symbols[jit.mangleAndIntern(name)] = {
        llvm::orc::ExecutorAddr::fromPtr(function),
        llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
  };
  define("hone_kernel_call", &hone_kernel_call);
  define("hone_kernel_fail", &hone_kernel_fail);
  define("hone_kernel_parallel_for", &hone_kernel_parallel_for);
  define("hone_kernel_allocate", &hone_kernel_allocate);
  define("hone_kernel_free", &hone_kernel_free);
#define HONE_LIBRARY_FUNCTION(name) define(#name, &(name));
#include "backends/cpu/library/functions.def"
#undef HONE_LIBRARY_FUNCTION
  HONE_RETURN_IF_ERROR(ToStatus(jit.getMainJITDylib().define(
      llvm::orc::absoluteSymbols(std::move(symbols)))));
  // The C library's functions.
  auto process = llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      jit.getDataLayout().getGlobalPrefix());
  if (!process) return ToStatus(process.takeError());
  jit.getMainJITDylib().addGenerator(std::move(*process));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<LoadedObject>> LoadedObject::Create(
    const std::string& object) {
  static std::once_flag once;
  std::call_once(once, [] { llvm::InitializeNativeTarget(); });
  // Kernels have no initializers, so they need no platform support, which would
  // compile code.
  auto jit = llvm::orc::LLJITBuilder()
                 .setPlatformSetUp(llvm::orc::setUpInactivePlatform)
                 .create();
  if (!jit) return ToStatus(jit.takeError());
  HONE_RETURN_IF_ERROR(DefineRuntime(**jit));
  HONE_RETURN_IF_ERROR(ToStatus((*jit)->addObjectFile(
      llvm::MemoryBuffer::getMemBufferCopy(object, "kernel"))));
  return std::make_unique<JitObject>(std::move(*jit));
}

}  // namespace hone::backends
