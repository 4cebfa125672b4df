#ifndef HONE_HLO_PROTO_MODULE_TEXT_H_
#define HONE_HLO_PROTO_MODULE_TEXT_H_

#include <string>

#include "absl/strings/string_view.h"

#include "hlo/ir/module.h"

namespace hone::xla {
class HloModuleProto;
class OpMetadata;
class StackFrameIndexProto;
}  // namespace hone::xla

// The parts of a module that Hone keeps as text, between text and proto.
namespace hone::hlo {

// `op_name="x" source_line=3`: what stands in the braces of metadata={…}.
// Fields that the text has no name for are left out, as are unknown names on
// the way back: metadata means nothing to the program.
std::string MetadataText(const xla::OpMetadata& proto);
void ReadMetadataText(absl::string_view text, xla::OpMetadata& proto);

// The tables FileNames … StackFrames; empty for an empty proto. The reverse is
// false when the text is malformed.
std::string StackFrameText(const xla::StackFrameIndexProto& proto);
bool ReadStackFrameText(absl::string_view text,
                        xla::StackFrameIndexProto& proto);

// Header attributes and stack frames. What is left in the proto without text
// goes to a frontend attribute (see hlo/proto/attributes.h).
void TakeHeader(xla::HloModuleProto& proto, Module& module);
void WriteHeader(const Module& module, xla::HloModuleProto& proto);

}  // namespace hone::hlo

#endif  // HONE_HLO_PROTO_MODULE_TEXT_H_
