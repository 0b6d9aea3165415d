// What the page draws of a kernel: its arrays, the maps between them, what is inside it, its threads
// and its tiles. Nothing in it refers to a module or a context.
//
// Maps are texts (map/text/text.h), which the page evaluates (report/page/maps.js).
#ifndef XLA_INDEXING_REPORT_KERNEL_DRAWING_H_
#define XLA_INDEXING_REPORT_KERNEL_DRAWING_H_

#include <cstdint>
#include <string>
#include <vector>

namespace xla_indexing::internal {

// What yields a runtime variable of a map (ops/answers/parts/runtime_var_indexing.h).
struct DrawnBinding {
  std::string source;    // `tokens`, `fusion/computation/indices`
  int64_t operand = -1;  // the kernel's, where the source is one
  int64_t leaf = 0;      // of the source
  std::string value;     // `clamp [0, 9]`
  std::string map;       // from the variables of the map to the element of the source
  std::string replica;   // the device whose element it is; empty: the reader's
};

struct DrawnMap {
  std::string map;                     // empty where it is unknown
  std::string reason;                  // why it is not exact; empty where it is
  std::vector<DrawnBinding> bindings;  // of each runtime variable
  std::string replica;
  // The symbolic tile of a map from the output, as JSON; empty where there is none.
  //   {"offsets": [..], "sizes": [..], "strides": [..]   expressions (tiling/tile/tile_expr.h)
  //    "conditions": [..], "texts": [..]}                (tiling/tile/tile_condition.h)
  std::string tile;
};

// An array of the kernel's result or operands.
struct DrawnArray {
  int64_t operand = -1;  // -1: the result
  int64_t leaf = 0;
  std::string shape;
  std::vector<int64_t> dimensions;
  std::vector<int64_t> minor_to_major;
  int64_t bits = 0;     // of an element
  std::string address;  // a map from indices to the bit where the element begins; empty: not known
};

// The maps between an array of the result and one of the operands, by their positions in `arrays`.
struct DrawnEntry {
  int64_t output = 0;
  int64_t operand = 0;
  std::vector<DrawnMap> reads;   // output to input
  std::vector<DrawnMap> writes;  // input to output
};

struct DrawnNode {
  std::string name;
  std::string opcode;
  std::string shape;
  int64_t operand = -1;  // of a parameter: the kernel's operand
  bool is_root = false;
};

struct DrawnEdge {
  int64_t from = 0;               // the node that is read
  int64_t to = 0;                 // the node that reads
  std::vector<std::string> maps;  // from elements of `to`
};

// What threads access through one map.
struct DrawnAccess {
  bool is_write = false;
  int64_t array = 0;    // its position in `arrays`
  std::string threads;  // the map of the thread mapping
  std::vector<int64_t> thread_dims;
  std::vector<int64_t> thread_sizes;
  std::vector<int64_t> block_dims;
  std::vector<int64_t> block_sizes;
  std::vector<int64_t> vector_ranges;
  std::string map;  // from elements that the threads go over
  std::vector<DrawnBinding> bindings;
  // The worst request: the block's indices, the first thread, loops, symbols; empty: none.
  std::vector<int64_t> worst_block;
  int64_t worst_thread = 0;
  std::vector<int64_t> worst_loops;
  std::vector<int64_t> worst_symbols;
  int64_t worst_sectors = 0;
};

struct KernelDrawing {
  std::vector<DrawnArray> arrays;  // the result's, then the operands'
  std::vector<DrawnEntry> entries;
  std::vector<DrawnNode> nodes;  // operands before their users
  int64_t hero = -1;             // a node; -1 where there is none
  std::vector<DrawnEdge> edges;
  std::vector<DrawnAccess> accesses;
  std::vector<std::string> left_out;  // what is not drawn, and why
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_REPORT_KERNEL_DRAWING_H_
