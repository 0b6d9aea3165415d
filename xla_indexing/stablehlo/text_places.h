// Where the operations of a module that was parsed stand in its text, and what values are called there.

#ifndef XLA_INDEXING_STABLEHLO_TEXT_PLACES_H_
#define XLA_INDEXING_STABLEHLO_TEXT_PLACES_H_

#include <cstdint>
#include <memory>

#include "absl/strings/string_view.h"
#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/model/module.h"

namespace xla_indexing::internal {

class TextPlaces {
 public:
  // No text: nothing is known.
  TextPlaces() = default;
  // `state` is the parser's about `source`, which it read in place.
  TextPlaces(std::shared_ptr<const SourceText> source, const mlir::AsmParserState* state)
      : source_(std::move(source)), state_(state) {}

  const std::shared_ptr<const SourceText>& source() const { return source_; }

  // The offset of an operation's name; HloInstruction::kNoSourceOffset where it is not known.
  int64_t OffsetOf(mlir::Operation& op) const {
    const auto* definition = state_ == nullptr ? nullptr : state_->getOpDef(&op);
    if (definition == nullptr) return HloInstruction::kNoSourceOffset;
    return definition->loc.Start.getPointer() - source_->text.data();
  }

  // `5` of `%5:2 = ..`; empty where there is none.
  absl::string_view NameOf(mlir::Operation& op) const {
    const auto* definition = state_ == nullptr ? nullptr : state_->getOpDef(&op);
    if (definition == nullptr || definition->resultGroups.empty()) return {};
    return NameAt(definition->resultGroups.front().definition.loc);
  }
  absl::string_view NameOf(mlir::BlockArgument argument) const {
    const auto* block = state_ == nullptr ? nullptr : state_->getBlockDef(argument.getOwner());
    if (block == nullptr || argument.getArgNumber() >= block->arguments.size()) return {};
    return NameAt(block->arguments[argument.getArgNumber()].loc);
  }

 private:
  static absl::string_view NameAt(llvm::SMRange range) {
    if (!range.isValid()) return {};
    absl::string_view name(range.Start.getPointer(),
                           static_cast<size_t>(range.End.getPointer() - range.Start.getPointer()));
    if (!name.empty() && name.front() == '%') name.remove_prefix(1);
    return name;
  }

  std::shared_ptr<const SourceText> source_;
  const mlir::AsmParserState* state_ = nullptr;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_STABLEHLO_TEXT_PLACES_H_
