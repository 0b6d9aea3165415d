#include "xla_indexing/report/analysis/draw_kernel.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "xla_indexing/hlo/memory/physical_layout.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/ops/rules/frame/operation_maps.h"
#include "xla_indexing/tiling/tile/symbolic_tile.h"
#include "xla_indexing/tiling/tile/tile_text.h"

namespace xla_indexing::internal {
namespace {

constexpr size_t kMaxArrays = 64;
constexpr size_t kMaxEntries = 256;
constexpr size_t kMaxMapsOfEntry = 32;
constexpr int64_t kMaxNodes = 200;
constexpr size_t kMaxMapsOfEdge = 2;
constexpr size_t kMaxAddressText = 2000;
constexpr int64_t kMaxDrawnPairs = 4096;

// Indices as texts of expressions.
struct TextIndices {
  using Texts = PhysicalIndices<std::string>;

  Texts Reshape(absl::Span<const std::string> indices, absl::Span<const int64_t> from,
                absl::Span<const int64_t> to) const {
    std::string position = indices.empty() ? "0" : "";
    int64_t stride = 1;
    for (size_t i = indices.size(); i-- > 0;) {
      const std::string term =
          stride == 1 ? indices[i] : absl::StrCat("(", indices[i], ") * ", stride);
      position = position.empty() ? term : absl::StrCat(term, " + ", position);
      stride *= from[i];
    }
    Texts result(to.size());
    int64_t behind = 1;
    for (size_t i = to.size(); i-- > 0;) {
      std::string digit = absl::StrCat("(", position, ")");
      if (behind > 1) digit = absl::StrCat("(", digit, " floordiv ", behind, ")");
      if (i > 0) digit = absl::StrCat("(", digit, " mod ", to[i], ")");
      result[i] = std::move(digit);
      behind *= to[i];
    }
    return result;
  }
  static std::string Pad(const std::string& index, int64_t, int64_t) { return index; }
};

// False where there are too many.
bool AddArraysOf(const Shape& shape, int64_t operand, KernelDrawing* drawing) {
  const std::vector<const Shape*> leaves = shape.Leaves();
  for (size_t leaf = 0; leaf < leaves.size(); ++leaf) {
    const Shape& array = *leaves[leaf];
    if (!array.IsArray()) continue;
    if (drawing->arrays.size() >= kMaxArrays) return false;
    DrawnArray drawn;
    drawn.operand = operand;
    drawn.leaf = static_cast<int64_t>(leaf);
    drawn.shape = array.ToString();
    for (const int64_t size : array.dimensions()) {
      drawn.dimensions.push_back(size == Shape::kUnboundedSize ? -1 : size);
    }
    const Layout layout = array.LayoutOrRowMajor();
    drawn.minor_to_major.assign(layout.minor_to_major.begin(), layout.minor_to_major.end());
    drawn.bits = BitsOfElement(array);
    drawn.address = AddressText(array);
    drawing->arrays.push_back(std::move(drawn));
  }
  return true;
}

// The position of an instruction among the kernel's operands; -1 where it is none.
int64_t OperandOf(const HloInstruction& kernel, const HloInstruction* instruction) {
  for (int64_t i = 0; i < kernel.operand_count(); ++i) {
    if (kernel.operand(i) == instruction) return i;
  }
  return -1;
}

// Without source and operand.
DrawnBinding BindingOf(const OperandIndexing& map, int i) {
  const RuntimeVarIndexing& binding = map.bindings()[static_cast<size_t>(i)];
  DrawnBinding drawn;
  drawn.leaf = binding.leaf;
  drawn.value = binding.value.ToString();
  drawn.map = map.ElementMap(i).ToString();
  if (binding.device) drawn.replica = map.ElementDeviceMap(i).ToString();
  return drawn;
}

class KernelDrawer {
 public:
  KernelDrawer(const HloInstruction& kernel, const FusionView& view, HloIndexer* indexer,
               KernelDrawing* drawing)
      : kernel_(kernel), view_(view), indexer_(*indexer), drawing_(*drawing) {
    for (size_t i = 0; i < drawing_.arrays.size(); ++i) {
      place_of_[{drawing_.arrays[i].operand, drawing_.arrays[i].leaf}] = static_cast<int64_t>(i);
    }
  }

  void Draw() && {
    DrawEntries();
    DrawInside();
  }

 private:
  DrawnMap MapOf(const OperandIndexing& map) const {
    DrawnMap drawn;
    drawn.map = map.IsUnknown() ? "" : map.map().ToString();
    drawn.reason = map.label().reason;
    for (int i = 0; i < (map.IsUnknown() ? 0 : map.map().num_runtimes()); ++i) {
      const RuntimeVarIndexing& binding = map.bindings()[static_cast<size_t>(i)];
      drawn.bindings.push_back(BindingOf(map, i));
      drawn.bindings.back().source = binding.YieldedBy(kernel_.parent());
      if (binding.call_path.empty()) {
        drawn.bindings.back().operand = OperandOf(kernel_, binding.instruction);
      }
    }
    drawn.replica = map.ReplicaToString();
    return drawn;
  }

  DrawnEntry* EntryOf(int64_t output_leaf, int64_t operand, int64_t operand_leaf) {
    const auto output = place_of_.find({-1, output_leaf});
    const auto input = place_of_.find({operand, operand_leaf});
    if (output == place_of_.end() || input == place_of_.end()) return nullptr;
    const auto [it, is_new] =
        place_of_entry_.try_emplace({output->second, input->second}, drawing_.entries.size());
    if (is_new) {
      if (drawing_.entries.size() >= kMaxEntries) {
        place_of_entry_.erase(it);
        return nullptr;
      }
      drawing_.entries.push_back({output->second, input->second, {}, {}});
    }
    return &drawing_.entries[it->second];
  }

  void AddTile(const OperandIndexing& map, const Shape& output, const TilePieces& pieces,
               DrawnMap* drawn) const {
    if (map.IsUnknown()) return;
    std::vector<int64_t> sizes;
    for (const int64_t size : output.dimensions()) {
      sizes.push_back(size == Shape::kUnboundedSize ? INT64_MAX : size);
    }
    const absl::StatusOr<SymbolicTile> tile = SymbolicTile::Of(map, sizes, pieces);
    if (!tile.ok()) return;
    const auto list = [](const auto& values) {
      return absl::StrJoin(values, ",", [](std::string* out, const auto& value) {
        absl::StrAppend(out, value.ToJson());
      });
    };
    const std::string texts = absl::StrJoin(
        TileConditions(*tile), ",",
        [](std::string* out, const std::string& text) { absl::StrAppend(out, "\"", text, "\""); });
    drawn->tile =
        absl::StrCat("{\"offsets\":[", list(tile->Offsets()), "],\"sizes\":[", list(tile->Sizes()),
                     "],\"strides\":[", list(tile->Strides()), "],\"conditions\":[",
                     list(tile->Conditions()), "],\"texts\":[", texts, "]}");
  }

  void DrawEntries() {
    if (MostEntries(kernel_) > kMaxDrawnPairs) {
      drawing_.left_out.push_back(absl::StrCat("more than ", kMaxDrawnPairs, " pairs of arrays"));
      return;
    }
    const absl::StatusOr<SharedIndexing> reads = indexer_.Index(kernel_, Direction::kOutputToInput);
    const absl::StatusOr<SharedIndexing> writes =
        indexer_.Index(kernel_, Direction::kInputToOutput);
    bool has_all = true;
    const auto draw = [&](const InstructionIndexing& entries, bool is_reads) {
      std::map<int64_t, TilePieces> pieces;
      for (const IndexingEntry& entry : entries) {
        for (const OperandIndexing& map : entry.indexing) {
          if (is_reads && !map.IsUnknown()) pieces[entry.output_leaf].Add(map.map());
        }
      }
      for (const IndexingEntry& entry : entries) {
        DrawnEntry* drawn = EntryOf(entry.output_leaf, entry.operand, entry.operand_leaf);
        if (drawn == nullptr) {
          has_all = false;
          continue;
        }
        std::vector<DrawnMap>& maps = is_reads ? drawn->reads : drawn->writes;
        for (const OperandIndexing& map : entry.indexing) {
          if (maps.size() >= kMaxMapsOfEntry) {
            has_all = false;
            break;
          }
          maps.push_back(MapOf(map));
          if (!is_reads) continue;
          AddTile(map, kernel_.shape().Leaf(entry.output_leaf), pieces[entry.output_leaf],
                  &maps.back());
        }
      }
    };
    if (reads.ok()) draw(**reads, /*is_reads=*/true);
    if (writes.ok()) draw(**writes, /*is_reads=*/false);
    if (!reads.ok() || !writes.ok()) {
      drawing_.left_out.push_back(std::string((reads.ok() ? writes : reads).status().message()));
    }
    if (!has_all) drawing_.left_out.push_back("some maps, of which there are too many");
  }

  void DrawInside() {
    // Of a loop, its body.
    const bool is_loop = kernel_.opcode() == HloOpcode::kWhile;
    const HloComputation& inside = is_loop ? *kernel_.while_body() : view_.computation();
    if (inside.instruction_count() > kMaxNodes) {
      drawing_.left_out.push_back(absl::StrCat("the graph of ", inside.instruction_count(),
                                               " instructions, more than ", kMaxNodes));
      return;
    }
    for (const HloInstruction* instruction : inside.instructions()) {
      const HloInstruction* original = is_loop ? instruction : view_.OriginalOf(*instruction);
      DrawnNode node;
      node.name = std::string((original == nullptr ? instruction : original)->name());
      node.opcode = std::string(instruction->opcode_name());
      node.shape = instruction->shape().ToString();
      node.is_root = instruction->is_root();
      if (instruction->opcode() == HloOpcode::kParameter) {
        for (int64_t i = kernel_.operand_count() - 1; i >= 0; --i) {
          if (is_loop ||
              view_.ParameterOf(*kernel_.operand(i)) == instruction->parameter_number()) {
            node.operand = i;
          }
        }
      }
      DrawEdgesOf(*instruction);
      drawing_.nodes.push_back(std::move(node));
    }
  }

  void DrawEdgesOf(const HloInstruction& instruction) {
    std::map<int64_t, size_t> known;  // by operand
    for (int64_t i = 0; i < instruction.operand_count(); ++i) {
      known[i] = drawing_.edges.size();
      drawing_.edges.push_back(
          {instruction.operand(i)->index_in_computation(), instruction.index_in_computation(), {}});
    }
    if (instruction.opcode() == HloOpcode::kTuple || MostEntries(instruction) > kMaxDrawnPairs) {
      return;
    }
    const auto entries = indexer_.Index(instruction, Direction::kOutputToInput);
    if (!entries.ok()) return;
    for (const IndexingEntry& entry : **entries) {
      std::vector<std::string>& maps = drawing_.edges[known[entry.operand]].maps;
      for (const OperandIndexing& map : entry.indexing) {
        if (maps.size() < kMaxMapsOfEdge) maps.push_back(map.MapToString());
      }
    }
  }

  const HloInstruction& kernel_;
  const FusionView& view_;
  HloIndexer& indexer_;
  KernelDrawing& drawing_;
  std::map<std::pair<int64_t, int64_t>, int64_t> place_of_;  // arrays, by operand and leaf
  std::map<std::pair<int64_t, int64_t>, size_t> place_of_entry_;
};

template <typename List>
std::vector<int64_t> Numbers(const List& list) {
  return std::vector<int64_t>(list.begin(), list.end());
}

}  // namespace

KernelDrawing DrawArrays(const HloInstruction& kernel) {
  KernelDrawing drawing;
  bool has_all = AddArraysOf(kernel.shape(), -1, &drawing);
  for (int64_t i = 0; i < kernel.operand_count() && has_all; ++i) {
    has_all = AddArraysOf(kernel.operand(i)->shape(), i, &drawing);
  }
  if (!has_all) drawing.left_out.push_back(absl::StrCat("more than ", kMaxArrays, " arrays"));
  return drawing;
}

void DrawMaps(const HloInstruction& kernel, const FusionView& view, HloIndexer* indexer,
              KernelDrawing* drawing) {
  KernelDrawer(kernel, view, indexer, drawing).Draw();
}

void DrawAccess(const HloInstruction& kernel, const FusionView& view, const ThreadAccess& access,
                int64_t operand, const OperandIndexing& map, const Coalescing& coalescing,
                KernelDrawing* drawing) {
  DrawnAccess drawn;
  drawn.is_write = access.kind == ThreadAccess::Kind::kWrite;
  drawn.array = -1;
  for (size_t i = 0; i < drawing->arrays.size(); ++i) {
    const DrawnArray& array = drawing->arrays[i];
    if (array.operand == (drawn.is_write ? -1 : operand) && array.leaf == access.leaf) {
      drawn.array = static_cast<int64_t>(i);
    }
  }
  if (drawn.array < 0 || map.IsUnknown()) return;
  const ThreadMapping& threads = access.array.mapping;
  drawn.threads = threads.map.ToString();
  drawn.thread_dims = Numbers(threads.thread_dims);
  drawn.thread_sizes = Numbers(threads.thread_sizes);
  drawn.block_dims = Numbers(threads.block_dims);
  drawn.block_sizes = Numbers(threads.block_sizes);
  drawn.vector_ranges = Numbers(threads.vector_ranges);
  drawn.map = map.map().ToString();
  for (int i = 0; i < map.map().num_runtimes(); ++i) {
    // The instructions of accesses are copies of those of the view, which keep their names.
    const std::string source =
        std::string(map.bindings()[static_cast<size_t>(i)].instruction->name());
    DrawnBinding& binding = drawn.bindings.emplace_back(BindingOf(map, i));
    binding.source = source;
    for (const HloInstruction* inside : view.computation().instructions()) {
      const HloInstruction* const original =
          inside->name() == source ? view.OriginalOf(*inside) : nullptr;
      if (original == nullptr) continue;
      binding.source = std::string(original->name());
      binding.operand = OperandOf(kernel, original);
    }
  }
  if (coalescing.worst) {
    drawn.worst_block = Numbers(coalescing.worst->block);
    // A launch of one block has no coordinates of it.
    if (drawn.worst_block.empty()) drawn.worst_block = {0};
    drawn.worst_thread = coalescing.worst->first_thread;
    drawn.worst_loops = Numbers(coalescing.worst->loops);
    drawn.worst_symbols = Numbers(coalescing.worst->symbols);
    drawn.worst_sectors = coalescing.worst_cost.units;
  }
  drawing->accesses.push_back(std::move(drawn));
}

std::string AddressText(const Shape& array) {
  const absl::StatusOr<PhysicalLayout> layout = PhysicalLayoutOf(array);
  if (!layout.ok()) return "";
  std::vector<std::string> dims;
  dims.reserve(static_cast<size_t>(array.rank()));
  for (int64_t i = 0; i < array.rank(); ++i) dims.push_back(absl::StrCat("d", i));
  TextIndices algebra;
  const auto axes = ToPhysical(*layout, absl::MakeConstSpan(dims), algebra);
  std::vector<std::string> terms;
  Int128 stride = layout->width;
  for (size_t i = axes.size(); i-- > 0;) {
    if (stride > INT64_MAX) return "";
    if (layout->sizes[i] > 1) {
      terms.push_back(absl::StrCat("(", axes[i], ") * ", static_cast<int64_t>(stride)));
    }
    stride *= layout->sizes[i];
  }
  if (terms.empty()) terms.emplace_back("0");
  std::string text =
      absl::StrCat("(", absl::StrJoin(dims, ", "), ") -> (", absl::StrJoin(terms, " + "), ")");
  return text.size() <= kMaxAddressText ? text : "";
}

}  // namespace xla_indexing::internal
