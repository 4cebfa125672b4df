#include "backends/cpu/entry_emitter.h"

#include <algorithm>

#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/TargetParser/Triple.h>

#include "backends/cpu/kernel_call.h"
#include "backends/cpu/workspace.h"
#include "base/status_macros.h"

namespace hone::backends {
namespace {

constexpr int64_t kAlignment = 64;

// Lays out the structs of kernel_abi.h as constants.
class DescriptorBuilder {
 public:
  explicit DescriptorBuilder(llvm::Module& module)
      : module_(module), context_(module.getContext()) {}

  llvm::Constant* Int32(int64_t value) {
    return llvm::ConstantInt::get(llvm::Type::getInt32Ty(context_),
                                  static_cast<uint64_t>(value));
  }
  llvm::Constant* Int64(int64_t value) {
    return llvm::ConstantInt::get(llvm::Type::getInt64Ty(context_),
                                  static_cast<uint64_t>(value));
  }
  llvm::Constant* Struct(const std::vector<llvm::Constant*>& fields) {
    return llvm::ConstantStruct::getAnon(context_, fields);
  }
  llvm::Constant* Text(const std::string& text) {
    return Global(llvm::ConstantDataArray::getString(context_, text));
  }
  // A pointer to an array; null if it is empty.
  llvm::Constant* Array(const std::vector<llvm::Constant*>& elements) {
    if (elements.empty()) {
      return llvm::ConstantPointerNull::get(
          llvm::PointerType::get(context_, 0));
    }
    return Global(llvm::ConstantArray::get(
        llvm::ArrayType::get(elements[0]->getType(), elements.size()),
        elements));
  }
  llvm::Constant* Arrays(const std::vector<hlo::ShapePtr>& shapes) {
    std::vector<llvm::Constant*> arrays;
    arrays.reserve(shapes.size());
    for (const hlo::ShapePtr& shape : shapes) {
      std::vector<llvm::Constant*> dimensions;
      for (int64_t size : shape->dimensions()) {
        dimensions.push_back(Int64(size));
      }
      const hlo::ElementType type = shape->element_type();
      arrays.push_back(
          Struct({Int32(static_cast<int64_t>(type)), Int32(shape->rank()),
                  Text(std::string(hlo::ElementTypeName(type))),
                  Array(dimensions), Int64(shape->byte_size())}));
    }
    return Array(arrays);
  }

 private:
  llvm::Constant* Global(llvm::Constant* value) {
    auto* global = new llvm::GlobalVariable(
        module_, value->getType(), /*isConstant=*/true,
        llvm::GlobalValue::PrivateLinkage, value, "interface");
    return global;
  }

  llvm::Module& module_;
  llvm::LLVMContext& context_;
};

// The features among "+avx2,-xop,…" that code uses and the runtime checks.
std::vector<std::string> UsedFeatures(const std::string& features) {
  std::vector<std::string> used;
  for (absl::string_view feature : absl::StrSplit(features, ',')) {
    if (!absl::ConsumePrefix(&feature, "+")) continue;
    const std::string name(feature);
    if (hone_kernel_is_known_feature(name.c_str()) != 0) used.push_back(name);
  }
  return used;
}

llvm::Constant* Info(DescriptorBuilder& b, const EntryInterface& interface,
                     const Workspace& workspace) {
  std::vector<EntryAlias> sorted = interface.aliases;
  std::sort(sorted.begin(), sorted.end());
  std::vector<llvm::Constant*> aliases;
  aliases.reserve(sorted.size());
  for (const EntryAlias& alias : sorted) {
    aliases.push_back(
        b.Struct({b.Int32(alias.argument), b.Int32(alias.result)}));
  }
  std::vector<llvm::Constant*> features;
  for (const std::string& name : UsedFeatures(interface.features)) {
    features.push_back(b.Text(name));
  }
  int64_t bytes =
      workspace.shared_bytes + interface.threads * workspace.thread_bytes;
  // It may have any address.
  if (bytes > 0) bytes += kAlignment - 1;
  const auto size = [&b](const auto& container) {
    return b.Int32(static_cast<int64_t>(container.size()));
  };
  return b.Struct({b.Int32(sizeof(hone_info)), b.Int32(HONE_ABI_VERSION),
                   b.Text(interface.name), b.Text(HONE_VERSION),
                   size(interface.arguments), size(interface.results),
                   b.Arrays(interface.arguments), b.Arrays(interface.results),
                   size(aliases), size(features), b.Array(aliases),
                   b.Array(features), b.Int32(interface.threads),
                   b.Int64(bytes), b.Int64(workspace.thread_bytes)});
}

}  // namespace

absl::Status EmitEntry(const std::string& symbol,
                       const EntryInterface& interface, llvm::Function& run) {
  HONE_ASSIGN_OR_RETURN(const Workspace workspace, WorkspaceOf(run));
  llvm::Module& module = *run.getParent();
  DescriptorBuilder builder(module);
  llvm::Constant* unchecked = builder.Int32(0);
  auto* is_checked = new llvm::GlobalVariable(
      module, unchecked->getType(), /*isConstant=*/false,
      llvm::GlobalValue::InternalLinkage, unchecked, symbol + ".is_checked");
  llvm::Constant* descriptor =
      builder.Struct({Info(builder, interface, workspace), &run,
                      builder.Int64(workspace.shared_bytes),
                      builder.Int64(workspace.thread_bytes), is_checked});
  auto* global = new llvm::GlobalVariable(
      module, descriptor->getType(), /*isConstant=*/true,
      llvm::GlobalValue::ExternalLinkage, descriptor, "hone_kernel_descriptor");
  global->setVisibility(llvm::GlobalValue::HiddenVisibility);

  llvm::LLVMContext& context = module.getContext();
  llvm::Type* pointer = llvm::PointerType::get(context, 0);
  llvm::Type* code = llvm::Type::getInt32Ty(context);
  const llvm::FunctionCallee call = module.getOrInsertFunction(
      "hone_kernel_call", code, pointer, pointer, pointer, pointer);
  llvm::Function* entry = llvm::Function::Create(
      llvm::FunctionType::get(code, {pointer, pointer, pointer}, false),
      llvm::GlobalValue::ExternalLinkage, symbol, module);
  entry->setDoesNotThrow();
  // The runtime checks the processor, so that nothing before may use more than
  // all processors have.
  if (llvm::Triple(module.getTargetTriple()).getArch() ==
      llvm::Triple::x86_64) {
    entry->addFnAttr("target-cpu", "x86-64");
    entry->addFnAttr("target-features", "+sse2");
  }
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(context, "entry", entry));
  b.CreateRet(b.CreateCall(
      call, {global, entry->getArg(0), entry->getArg(1), entry->getArg(2)}));
  return absl::OkStatus();
}

}  // namespace hone::backends
