// What is known of the modules that an indexer was asked about last.
//
// What is known by address is of one module (fusion/cache/called_computations.h). Modules are told
// apart by their serial numbers, so that a module may end before the indexer that was asked about it:
// what is known of it is then never looked up again, and dropped when kMaxModules others have been
// asked about.
#ifndef XLA_INDEXING_FUSION_CACHE_KNOWN_MODULES_H_
#define XLA_INDEXING_FUSION_CACHE_KNOWN_MODULES_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/fusion/cache/called_computations.h"
#include "xla_indexing/fusion/walk/fusion_options.h"
#include "xla_indexing/hlo/model/module.h"

namespace xla_indexing::internal {

class KnownModules {
 public:
  KnownModules(mlir::MLIRContext* context, FusionOptions options)
      : context_(context), options_(std::move(options)) {}

  // What is known of a module; good until the next call.
  CalledComputations& Of(const HloModule& module) {
    if (!modules_.empty() && modules_.front().first == module.serial_number()) {
      return *modules_.front().second;
    }
    auto known = llvm::find_if(
        modules_, [&](const Known& each) { return each.first == module.serial_number(); });
    if (known == modules_.end()) {
      if (modules_.size() == kMaxModules) modules_.pop_back();
      modules_.emplace_back(module.serial_number(),
                            std::make_unique<CalledComputations>(context_, options_));
      known = std::prev(modules_.end());
    }
    // The one asked about last stands first.
    std::rotate(modules_.begin(), known, std::next(known));
    return *modules_.front().second;
  }

 private:
  static constexpr size_t kMaxModules = 4;
  using Known = std::pair<int64_t, std::unique_ptr<CalledComputations>>;

  mlir::MLIRContext* context_;
  const FusionOptions options_;
  llvm::SmallVector<Known, kMaxModules> modules_;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_FUSION_CACHE_KNOWN_MODULES_H_
