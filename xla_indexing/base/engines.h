// The engines of the library: parts that find more than is found without them. Each can be switched off by
// itself, so that it "finds nothing", and what it is worth can be measured (scripts/board.py, docs/board.md).
//
// base/engines.def is the table of them. An engine asks at its entry:
//
//   if (IsOff(Engine::kCoalesce)) return;
//
// In builds without the CMake option XLA_INDEXING_BOARD, which all are that are shipped, no engine is off, and
// this costs nothing. With it, two variables of the environment are read: XLA_INDEXING_WITHOUT=Coalesce,Spreading
// switches engines off, and XLA_INDEXING_ASKED is a file to which the names of the engines that have asked are
// written at the end: the others could be off without a difference. An answer is right whichever engines are
// off, but it may be longer, weaker or later.
#ifndef XLA_INDEXING_BASE_ENGINES_H_
#define XLA_INDEXING_BASE_ENGINES_H_

#include <cstdint>

namespace xla_indexing::internal {

enum class Engine : uint8_t {
#define XLA_INDEXING_ENGINE(name, question, files) k##name,
#include "xla_indexing/base/engines.def"
#undef XLA_INDEXING_ENGINE
};

#ifdef XLA_INDEXING_BOARD
bool IsOff(Engine engine);
#else
constexpr bool IsOff(Engine /*engine*/) { return false; }
#endif

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_BASE_ENGINES_H_
