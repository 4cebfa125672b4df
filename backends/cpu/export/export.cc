#include "backends/cpu/export/export.h"

#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include "backends/cpu/compiler.h"
#include "backends/cpu/export/shared_object.h"
#include "base/files.h"
#include "base/status_macros.h"
#include "loops/text/text.h"

namespace hone::backends {
namespace {

// Elements of tuples are named by their index.
void AddArrays(const std::string& name, const hlo::ShapePtr& shape,
               std::vector<EntryArray>& arrays) {
  if (!shape->IsTuple()) {
    arrays.push_back({name, shape});
    return;
  }
  for (size_t i = 0; i < shape->tuple_elements().size(); ++i) {
    AddArrays(absl::StrCat(name, ".", i), shape->tuple_elements()[i], arrays);
  }
}

// Returns the arrays of one kind of memory that the caller passes, in order.
std::vector<EntryArray> ArraysOf(const loops::Program& program,
                                 loops::Memory memory) {
  std::vector<EntryArray> arrays;
  for (const loops::BufferPtr& buffer : program.buffers()) {
    if (buffer->memory != memory) continue;
    const auto number = static_cast<size_t>(buffer->number);
    if (arrays.size() <= number) arrays.resize(number + 1);
    arrays[number] = {buffer->name,
                      hlo::Shape::Array(buffer->type, buffer->dimensions)};
  }
  return arrays;
}

std::vector<EntryAlias> AllPairs(size_t arguments, size_t results) {
  std::vector<EntryAlias> pairs;
  for (size_t i = 0; i < arguments; ++i) {
    for (size_t j = 0; j < results; ++j) {
      pairs.push_back({static_cast<int32_t>(i), static_cast<int32_t>(j)});
    }
  }
  return pairs;
}

std::string Header(const ExportedNames& names, const hlo::Module& module,
                   const loops::ModulePlan& plan) {
  const hlo::Computation& entry = module.entry_computation();
  std::vector<EntryArray> arguments;
  for (hlo::InstructionId id : entry.parameters()) {
    AddArrays(std::string(entry[id].name()), entry[id].shape_ptr(), arguments);
  }
  std::vector<EntryArray> results;
  AddArrays("result", entry[entry.root()].shape_ptr(), results);
  return CHeader(
      names, arguments, results,
      absl::StrCat(module.name(), ": ", plan.kernels.size(), " kernels."));
}

absl::Status Write(const std::string& object, const ExportedNames& names,
                   const std::string& header, const std::string& path) {
  HONE_RETURN_IF_ERROR(WriteSharedObject(object, names, path));
  return WriteFileAtomically(
      absl::StrCat(path.substr(0, path.size() - 3), ".h"), header);
}

}  // namespace

absl::Status CheckLibraryPath(const std::string& path) {
  if (absl::EndsWith(path, ".so")) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": not the name of a shared object, expected *.so"));
}

absl::Status ExportKernel(const loops::Program& program, int32_t threads,
                          const std::string& path) {
  HONE_RETURN_IF_ERROR(CheckLibraryPath(path));
  const ExportedNames names = ExportedNames::Of(path);
  const auto arguments = ArraysOf(program, loops::Memory::kArgument);
  const auto results = ArraysOf(program, loops::Memory::kResult);
  HONE_ASSIGN_OR_RETURN(
      const std::string object,
      CompileProgram(program, names.entry,
                     {.threads = threads,
                      .aliases = AllPairs(arguments.size(), results.size())}));
  return Write(object, names,
               CHeader(names, arguments, results, loops::PrintProgram(program)),
               path);
}

absl::Status ExportModule(const hlo::Module& module,
                          const loops::ModulePlan& plan, int32_t threads,
                          const std::string& path) {
  HONE_RETURN_IF_ERROR(CheckLibraryPath(path));
  const ExportedNames names = ExportedNames::Of(path);
  HONE_ASSIGN_OR_RETURN(const std::string object,
                        CompilePlan(plan, names.entry, {.threads = threads}));
  return Write(object, names, Header(names, module, plan), path);
}

}  // namespace hone::backends
