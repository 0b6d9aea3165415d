// Whether values may lie in buffers of others, against the execution of random modules with shared
// buffers: in the order of the schedule, or, where there is none, in every order that there is.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iostream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/testing/effort.h"
#include "tests/testing/random.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/query/in_place/in_place_aliases.h"

namespace xla_indexing::reference {
namespace {

// Arrays have four elements, as f32[4] or f32[2,2]. Contents are numbers that tell how they were
// computed, so that different values have different contents.
constexpr int kElements = 4;
using Contents = std::array<uint64_t, kElements>;

uint64_t Hash(uint64_t a, uint64_t b = 0) { return MixBits(a * 31 + MixBits(b)); }

// --- Modules ---

constexpr absl::string_view kCalledComputations = R"(
shift {
  p = f32[4] parameter(0)
  first = f32[1] slice(p), slice={[0:1]}
  rest = f32[3] slice(p), slice={[0:3]}
  ROOT c = f32[4] concatenate(first, rest), dimensions={0}
}
same { p = f32[4] parameter(0) ROOT b = f32[2,2] bitcast(p) }
never { p = (f32[4], f32[4]) parameter(0) ROOT r = pred[] constant(false) }
one_changes {
  p = (f32[4], f32[4]) parameter(0)
  a = f32[4] get-tuple-element(p), index=0
  b = f32[4] get-tuple-element(p), index=1
  n = f32[4] negate(a)
  ROOT t = (f32[4], f32[4]) tuple(n, b)
}
both_change {
  p = (f32[4], f32[4]) parameter(0)
  a = f32[4] get-tuple-element(p), index=0
  b = f32[4] get-tuple-element(p), index=1
  s = f32[4] add(a, b)
  n = f32[4] negate(b)
  ROOT t = (f32[4], f32[4]) tuple(s, n)
}
exchange {
  p = (f32[4], f32[4]) parameter(0)
  a = f32[4] get-tuple-element(p), index=0
  b = f32[4] get-tuple-element(p), index=1
  n = f32[4] negate(b)
  m = f32[4] negate(a)
  ROOT t = (f32[4], f32[4]) tuple(n, m)
}
)";

class RandomAliases {
 public:
  explicit RandomAliases(uint64_t seed) : random_(seed) {}

  std::string Text() {
    const int parameters = static_cast<int>(random_.Between(1, 3));
    for (int i = 0; i < parameters; ++i) {
      Add(absl::StrCat("f32[4] parameter(", i, ")"), &flat_);
    }
    if (random_.OneIn(8)) Add("f32[4] constant({1,2,3,4})", &flat_);
    const int count = static_cast<int>(random_.Between(2, 6));
    for (int i = 0; i < count; ++i) AddAny();
    std::vector<std::string> outputs;
    std::vector<std::string> shapes;
    for (int i = 0; i < random_.Between(1, 3); ++i) {
      const bool is_square = !square_.empty() && random_.OneIn(4);
      outputs.push_back(random_.Pick(is_square ? square_ : flat_));
      shapes.push_back(is_square ? "f32[2,2]" : "f32[4]");
    }
    std::vector<std::string> aliases;
    std::vector<std::string> donors;
    for (int i = 0; i < parameters; ++i) {
      if (static_cast<size_t>(i) < outputs.size() && random_.OneIn(2)) {
        aliases.push_back(absl::StrCat("{", i, "}: (", i, ", {})"));
      } else if (random_.OneIn(4)) {
        donors.push_back(absl::StrCat("(", i, ", {})"));
      }
    }
    return absl::StrCat(
        "HloModule m", random_.OneIn(2) ? ", is_scheduled=true" : "", ", input_output_alias={ ",
        absl::StrJoin(aliases, ", "), " }, buffer_donor={ ", absl::StrJoin(donors, ", "), " }\n",
        kCalledComputations, "ENTRY e {\n", lines_, "ROOT t = (", absl::StrJoin(shapes, ", "),
        ") tuple(", absl::StrJoin(outputs, ", "), ")\n}\n");
  }

 private:
  std::string Add(absl::string_view operation, std::vector<std::string>* kind) {
    const std::string name = absl::StrCat("v", next_++);
    absl::StrAppend(&lines_, name, " = ", operation, "\n");
    if (kind != nullptr) kind->push_back(name);
    return name;
  }
  // What was made last more often, so that chains become long.
  std::string Flat() { return random_.OneIn(3) ? flat_.back() : random_.Pick(flat_); }
  std::string Alias(int operands) {
    if (random_.OneIn(2)) return "";
    return absl::StrCat(", output_to_operand_aliasing={{}: (", random_.Between(0, operands - 1),
                        ", {})}");
  }

  void AddAny() {
    switch (random_.Between(0, 12)) {
      case 0:
        Add(absl::StrCat("f32[4] copy(", Flat(), ")"), &flat_);
        break;
      case 1:
      case 2:
      case 3:
        Add(absl::StrCat("f32[4] negate(", Flat(), ")", Alias(1)), &flat_);
        break;
      case 4:
        Add(absl::StrCat("f32[4] reverse(", Flat(), "), dimensions={0}", Alias(1)), &flat_);
        break;
      case 5:
      case 6:
        Add(absl::StrCat("f32[4] add(", Flat(), ", ", Flat(), ")", Alias(2)), &flat_);
        break;
      case 7:
        Add(absl::StrCat("f32[2,2] bitcast(", Flat(), ")"), &square_);
        break;
      case 8:
        if (square_.empty()) return;
        Add(absl::StrCat("f32[2,2] transpose(", random_.Pick(square_), "), dimensions={1,0}",
                         Alias(1)),
            &square_);
        break;
      case 9:
        Add(absl::StrCat("f32[4] fusion(", Flat(), "), kind=kLoop, calls=shift", Alias(1)), &flat_);
        break;
      case 10: {
        if (random_.OneIn(2)) {
          Add(absl::StrCat("f32[2,2] call(", Flat(), "), to_apply=same"), &square_);
        } else {
          const std::string start =
              Add(absl::StrCat("(f32[4], f32[4], u32[]) copy-start(", Flat(), ")"), nullptr);
          if (random_.OneIn(2)) AddAny();
          Add(absl::StrCat("f32[4] copy-done(", start, ")"), &flat_);
        }
        break;
      }
      case 11:
        Add(absl::StrCat("f32[4] custom-call(", Flat(), "), custom_call_target=\"f\"", Alias(1)),
            &flat_);
        break;
      case 12: {
        const std::string init =
            Add(absl::StrCat("(f32[4], f32[4]) tuple(", Flat(), ", ", Flat(), ")"), nullptr);
        const std::vector<std::string> bodies = {"one_changes", "both_change", "exchange"};
        const std::string loop =
            Add(absl::StrCat("(f32[4], f32[4]) while(", init,
                             "), condition=never, body=", random_.Pick(bodies)),
                nullptr);
        for (const int leaf : {0, 1}) {
          Add(absl::StrCat("f32[4] get-tuple-element(", loop, "), index=", leaf), &flat_);
        }
        break;
      }
    }
  }

  Random random_;
  int next_ = 0;
  std::string lines_;
  std::vector<std::string> flat_;
  std::vector<std::string> square_;
};

// --- Execution ---

using Leaf = BufferValue;

// What the leaf is another name of.
Leaf NamedBy(Leaf leaf) {
  while (true) {
    const HloInstruction& i = *leaf.instruction;
    switch (i.opcode()) {
      case HloOpcode::kBitcast:
      case HloOpcode::kCopyDone:
        leaf = {i.operand(0), 0};
        continue;
      case HloOpcode::kCall:
        leaf = {i.operand(0), 0};
        continue;
      case HloOpcode::kTuple:
        leaf = {i.operand(leaf.leaf), 0};
        continue;
      case HloOpcode::kGetTupleElement:
        leaf = {i.operand(0), i.tuple_index()};
        continue;
      case HloOpcode::kCopyStart:
        if (leaf.leaf != 1) return leaf;
        leaf = {i.operand(0), 0};
        continue;
      case HloOpcode::kWhile:
        if (i.while_body()->name() != "one_changes" || leaf.leaf != 1) return leaf;
        leaf = {i.operand(0), 1};
        continue;
      default:
        return leaf;
    }
  }
}

bool IsName(const HloInstruction& i) {
  return i.opcode() == HloOpcode::kBitcast || i.opcode() == HloOpcode::kTuple ||
         i.opcode() == HloOpcode::kGetTupleElement || i.opcode() == HloOpcode::kCall;
}

// Element f of an operation, given `read(operand, element)`.
template <typename Read>
uint64_t ElementMadeBy(const HloInstruction& i, int f, Read read) {
  switch (i.opcode()) {
    case HloOpcode::kCopy:
    case HloOpcode::kCopyStart:
      return read(0, f);
    case HloOpcode::kNegate:
      return Hash(read(0, f), 1);
    case HloOpcode::kReverse:
      return read(0, kElements - 1 - f);
    case HloOpcode::kTranspose:
      return read(0, (f % 2) * 2 + f / 2);
    case HloOpcode::kAdd:
      return Hash(read(0, f), read(1, f));
    case HloOpcode::kFusion:
      return read(0, std::max(f - 1, 0));
    case HloOpcode::kCustomCall: {
      uint64_t all = 7;
      for (int e = 0; e < kElements; ++e) all = Hash(all, read(0, e));
      return Hash(all, f);
    }
    case HloOpcode::kConstant:
      return Hash(f, 99);
    default:
      ADD_FAILURE() << i.ToString();
      return 0;
  }
}

constexpr int kIterations = 2;
constexpr size_t kMostOrders = 3000;

using Order = std::vector<const HloInstruction*>;

// The contents of all values without shared buffers.
class SeparateValues {
 public:
  SeparateValues(const HloComputation& computation, const std::vector<Contents>& arguments) {
    size_t next = 0;
    for (const HloInstruction* i : computation.instructions()) {
      if (i->opcode() == HloOpcode::kParameter) {
        for (int64_t leaf = 0; leaf < i->shape().LeafCount(); ++leaf) {
          contents_[{i, leaf}] = arguments[next++];
        }
      } else if (i->opcode() == HloOpcode::kWhile) {
        std::vector<Contents> carried = {Of({i->operand(0), 0}), Of({i->operand(0), 1})};
        for (int n = 0; n < kIterations; ++n) {
          const SeparateValues body(*i->while_body(), carried);
          const HloInstruction* root = i->while_body()->root_instruction();
          carried = {body.Of({root, 0}), body.Of({root, 1})};
        }
        for (const int64_t leaf : {0, 1}) contents_[{i, leaf}] = carried[leaf];
      } else if (!IsName(*i) && i->opcode() != HloOpcode::kCopyDone) {
        Contents& contents = contents_[{i, 0}];
        for (int f = 0; f < kElements; ++f) {
          contents[f] = ElementMadeBy(
              *i, f, [&](int operand, int e) { return Of({i->operand(operand), 0})[e]; });
        }
      }
    }
  }

  const Contents& Of(const Leaf& leaf) const { return contents_.at(NamedBy(leaf)); }

 private:
  std::map<Leaf, Contents> contents_;
};

// What is put into which buffer: values over values, and outputs in buffers that are given.
struct Sharing {
  std::map<Leaf, Leaf> over;
  std::map<Leaf, Leaf> stated;  // of all aliases of instructions, whether they are kept or not
  std::map<int64_t, int64_t> outputs;  // output leaf in the buffer of the parameters' leaf
  // Outputs that are what was there before: whoever reads them says whether they still are.
  std::set<int64_t> handed_on;
};

// Runs a computation in an order, and says whether every value was computed right, and every output is.
// With `reads_first` operations that work in place read everything before they write, which finds out about
// orders of instructions alone.
class SharedExecution {
 public:
  SharedExecution(const HloComputation& computation, const Order& order, const Sharing& sharing,
                  const std::vector<Contents*>& parameters, bool reads_first)
      : computation_(computation),
        sharing_(sharing),
        parameters_(parameters),
        reads_first_(reads_first) {
    std::vector<Contents> arguments;
    for (const Contents* parameter : parameters) arguments.push_back(*parameter);
    size_t next = 0;
    for (const HloInstruction* i : computation.instructions()) {
      if (i->opcode() != HloOpcode::kParameter) continue;
      for (int64_t leaf = 0; leaf < i->shape().LeafCount(); ++leaf) {
        where_[{i, leaf}] = parameters[next++];
      }
    }
    const SeparateValues values(computation, arguments);
    for (const auto& [output, parameter] : sharing.outputs) Place(output, parameters[parameter]);
    // Constants are there from the beginning.
    for (const HloInstruction* i : computation.instructions()) {
      if (i->opcode() == HloOpcode::kConstant) {
        *(where_[{i, 0}] = &own_.emplace_back()) = values.Of({i, 0});
      }
    }
    for (const HloInstruction* i : order) Run(*i, values);
    for (const auto& [output, buffer] : copied_) *buffer = *At(Output(output));
    for (const HloInstruction* i : computation.instructions()) {
      if (i->opcode() == HloOpcode::kConstant) Expect(*where_[{i, 0}] == values.Of({i, 0}));
    }
    const int64_t leaves = computation.root_instruction()->shape().LeafCount();
    for (int64_t leaf = 0; leaf < leaves; ++leaf) {
      const auto copy = copied_.find(leaf);
      results_.push_back(copy == copied_.end() ? At(Output(leaf)) : copy->second);
      Expect(sharing.handed_on.contains(leaf) || *results_.back() == values.Of(Output(leaf)));
    }
  }

  bool IsRight() const { return is_right_; }
  const Contents& Result(int64_t leaf) const { return *results_[leaf]; }

 private:
  void Expect(bool holds) { is_right_ = is_right_ && holds; }
  Leaf Output(int64_t leaf) const { return {computation_.root_instruction(), leaf}; }
  Contents* At(const Leaf& leaf) { return where_.at(NamedBy(leaf)); }

  // Puts an output, and what its buffer comes from, into a buffer; or copies it at the end.
  void Place(int64_t output, Contents* buffer) {
    std::vector<Leaf> placed;
    Leaf value = NamedBy(Output(output));
    while (true) {
      const HloOpcode opcode = value.instruction->opcode();
      if (opcode == HloOpcode::kParameter || opcode == HloOpcode::kConstant) {
        const bool is_there = opcode == HloOpcode::kParameter && where_.at(value) == buffer;
        if (!is_there) {
          copied_[output] = buffer;
          return;
        }
        break;
      }
      if (placed_.contains(value)) {
        copied_[output] = buffer;
        return;
      }
      placed.push_back(value);
      if (const auto over = sharing_.stated.find(value); over != sharing_.stated.end()) {
        value = over->second;
      } else if (opcode == HloOpcode::kWhile) {
        value = NamedBy({value.instruction->operand(0), value.leaf});
      } else {
        break;
      }
    }
    for (const Leaf& of : placed) placed_[of] = buffer;
  }

  Contents* BufferFor(const Leaf& leaf) {
    const auto over = sharing_.over.find(leaf);
    if (over != sharing_.over.end()) return where_[leaf] = where_.at(over->second);
    const auto placed = placed_.find(leaf);
    return where_[leaf] = placed != placed_.end() ? placed->second : &own_.emplace_back();
  }

  void Run(const HloInstruction& i, const SeparateValues& values) {
    switch (i.opcode()) {
      case HloOpcode::kParameter:
      case HloOpcode::kConstant:
        return;
      case HloOpcode::kWhile:
        return RunWhile(i, values);
      case HloOpcode::kCopyStart: {
        // The copy is made in the meantime: its buffer is written from now on.
        Contents* out = BufferFor({&i, 0});
        if (out != At({i.operand(0), 0})) out->fill(0);
        return;
      }
      case HloOpcode::kCopyDone:
        *At({&i, 0}) = *At({i.operand(0)->operand(0), 0});
        return Expect(*At({&i, 0}) == values.Of({&i, 0}));
      default:
        if (!IsName(i)) RunElements(i, values);
    }
  }

  void RunElements(const HloInstruction& i, const SeparateValues& values) {
    Contents* out = BufferFor({&i, 0});
    const auto read_now = [&](int operand, int e) { return (*At({i.operand(operand), 0}))[e]; };
    const Contents before = *out;
    const Contents& right = values.Of({&i, 0});
    Contents made;
    if (reads_first_ || i.opcode() == HloOpcode::kCustomCall) {
      for (int f = 0; f < kElements; ++f) made[f] = ElementMadeBy(i, f, read_now);
      *out = made;
    } else if (i.opcode() == HloOpcode::kFusion) {
      // The order in which it is safe.
      for (int f = kElements; f-- > 0;) (*out)[f] = ElementMadeBy(i, f, read_now);
    } else {
      // In parallel: every other element may be written before this one is computed.
      for (int f = 0; f < kElements; ++f) {
        *out = right;
        (*out)[f] = before[f];
        made[f] = ElementMadeBy(i, f, read_now);
      }
      *out = made;
    }
    Expect(*out == right);
  }

  // Each leaf that the loop changes has a buffer, into which the body writes where it may; what may
  // not be written there is copied at the end of an iteration.
  void RunWhile(const HloInstruction& loop, const SeparateValues& values) {
    const HloComputation& body = *loop.while_body();
    std::vector<Contents> carried;
    for (const int64_t leaf : {0, 1}) carried.push_back(*At({loop.operand(0), leaf}));
    std::vector<Contents*> buffers;
    Sharing in_body;
    for (const int64_t leaf : {0, 1}) {
      if (NamedBy({&loop, leaf}) != Leaf{&loop, leaf}) {
        buffers.push_back(At({&loop, leaf}));
        in_body.handed_on.insert(leaf);
        continue;
      }
      const bool is_placed = placed_.contains({&loop, leaf});
      if (is_placed) in_body.outputs[leaf] = leaf;
      buffers.push_back(BufferFor({&loop, leaf}));
      *buffers.back() = carried[leaf];
    }
    const std::vector<Order> orders = OrdersOf(body);
    for (int n = 0; n < kIterations; ++n) {
      bool is_done = false;
      std::vector<Contents> at_start;
      for (const Contents* buffer : buffers) at_start.push_back(*buffer);
      for (const Order& order : orders) {
        for (const int64_t leaf : {0, 1}) *buffers[leaf] = at_start[leaf];
        const SharedExecution run(body, order, in_body, buffers, reads_first_);
        if (!run.IsRight()) continue;
        const std::vector<Contents> results = {run.Result(0), run.Result(1)};
        for (const int64_t leaf : {0, 1}) {
          if (NamedBy({&loop, leaf}) == Leaf{&loop, leaf}) *buffers[leaf] = results[leaf];
        }
        is_done = true;
        break;
      }
      Expect(is_done);
    }
    for (const int64_t leaf : {0, 1}) {
      Expect(in_body.handed_on.contains(leaf) || *buffers[leaf] == values.Of({&loop, leaf}));
    }
  }

 public:
  // The order of the schedule, or all that there are.
  static std::vector<Order> OrdersOf(const HloComputation& computation) {
    std::vector<Order> orders;
    Order order;
    if (computation.parent()->is_scheduled()) {
      for (const HloInstruction* i : computation.instructions()) order.push_back(i);
      return {order};
    }
    std::set<const HloInstruction*> done;
    AddOrders(computation, &order, &done, &orders);
    return orders;
  }

 private:
  static void AddOrders(const HloComputation& computation, Order* order,
                        std::set<const HloInstruction*>* done, std::vector<Order>* orders) {
    if (orders->size() >= kMostOrders) return;
    // Names are there as soon as what they name.
    bool is_any_left = false;
    for (const HloInstruction* i : computation.instructions()) {
      if (done->contains(i)) continue;
      is_any_left = true;
      const bool is_ready = std::all_of(i->operands().begin(), i->operands().end(),
                                        [&](auto* operand) { return done->contains(operand); });
      if (!is_ready) continue;
      order->push_back(i);
      done->insert(i);
      AddOrders(computation, order, done, orders);
      done->erase(i);
      order->pop_back();
      if (IsName(*i) || i->opcode() == HloOpcode::kParameter) return;
    }
    if (!is_any_left) orders->push_back(*order);
  }

  const HloComputation& computation_;
  const Sharing& sharing_;
  const std::vector<Contents*> parameters_;
  const bool reads_first_;
  std::deque<Contents> own_;
  std::map<Leaf, Contents*> where_;
  std::map<Leaf, Contents*> placed_;
  std::map<int64_t, Contents*> copied_;
  std::vector<const Contents*> results_;
  bool is_right_ = true;
};

// --- The check ---

struct AliasTally {
  int modules = 0;
  int left_out = 0;  // modules that have too many orders
  int any_order = 0;
  int in_order = 0;
  int is_unsafe = 0;
  int undecided = 0;
  int decided_by_elements = 0;  // of the unsafe ones
  int not_in_any_order = 0;     // likewise: no order of instructions is right with it
  int only_together = 0;        // it is right alone, but not with the others
  int needless = 0;             // it is right with the others
};

class AliasChecker {
 public:
  AliasChecker(const HloModule& module, AliasTally* tally)
      : entry_(*module.entry_computation()), tally_(*tally) {
    for (const HloInstruction* parameter : entry_.parameters()) {
      const auto number = static_cast<uint64_t>(parameter->parameter_number());
      Contents& contents = arguments_.emplace_back();
      for (uint64_t f = 0; f < kElements; ++f) contents[f] = Hash(number, f);
    }
    orders_ = SharedExecution::OrdersOf(entry_);
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    aliases_ = CheckAliases(module, &context);
    const std::string donors(module.FindAttribute("buffer_donor").value_or(""));
    for (size_t i = 0; i < arguments_.size(); ++i) {
      if (absl::StrContains(donors, absl::StrCat("(", i, ","))) {
        donated_.insert(static_cast<int64_t>(i));
      }
    }
    for (const CheckedAlias& alias : aliases_) {
      if (alias.instruction == nullptr) donated_.insert(alias.operand);
    }
  }

  void Check() {
    if (orders_.size() >= kMostOrders) {
      ++tally_.left_out;
      return;
    }
    ++tally_.modules;
    std::vector<const CheckedAlias*> safe;
    for (const CheckedAlias& alias : aliases_) {
      if (alias.safety.IsSafe()) safe.push_back(&alias);
      Count(alias.safety.answer);
      if (alias.safety.answer == InPlaceAnswer::kInOrder) {
        EXPECT_EQ(alias.safety.order, (LoopOrder{{0, true}}));
      }
    }
    // All that are called safe are right in one order.
    EXPECT_TRUE(IsRightInSomeOrder(safe, /*reads_first=*/false));
    for (const CheckedAlias& alias : aliases_) {
      if (alias.safety.answer != InPlaceAnswer::kUnsafe) continue;
      if (alias.safety.conflict) {
        ++tally_.decided_by_elements;
        continue;
      }
      std::vector<const CheckedAlias*> all;
      for (const CheckedAlias& other : aliases_) all.push_back(&other);
      std::vector<const CheckedAlias*> with = safe;
      with.push_back(&alias);
      if (!IsRightInSomeOrder(with, /*reads_first=*/true)) {
        ++tally_.not_in_any_order;
      } else if (!IsRightInSomeOrder(all, /*reads_first=*/true)) {
        ++tally_.only_together;
      } else {
        ++tally_.needless;
      }
    }
  }

 private:
  void Count(InPlaceAnswer answer) {
    ++(answer == InPlaceAnswer::kAnyOrder  ? tally_.any_order
       : answer == InPlaceAnswer::kInOrder ? tally_.in_order
       : answer == InPlaceAnswer::kUnsafe  ? tally_.is_unsafe
                                           : tally_.undecided);
  }

  bool IsRightInSomeOrder(const std::vector<const CheckedAlias*>& kept, bool reads_first) const {
    Sharing sharing;
    for (const CheckedAlias& alias : aliases_) {
      const bool is_kept = std::find(kept.begin(), kept.end(), &alias) != kept.end();
      if (alias.instruction == nullptr) {
        if (is_kept) sharing.outputs[std::stoll(alias.output.substr(1))] = alias.operand;
        continue;
      }
      const Leaf before = NamedBy({alias.instruction->operand(alias.operand), 0});
      sharing.stated[{alias.instruction, 0}] = before;
      if (is_kept) sharing.over[{alias.instruction, 0}] = before;
    }
    return std::any_of(orders_.begin(), orders_.end(), [&](const Order& order) {
      std::vector<Contents> contents = arguments_;
      std::vector<Contents*> parameters;
      for (Contents& of : contents) parameters.push_back(&of);
      if (!SharedExecution(entry_, order, sharing, parameters, reads_first).IsRight()) return false;
      for (size_t i = 0; i < contents.size(); ++i) {
        if (!donated_.contains(static_cast<int64_t>(i)) && contents[i] != arguments_[i]) {
          return false;
        }
      }
      return true;
    });
  }

  const HloComputation& entry_;
  AliasTally& tally_;
  std::vector<Contents> arguments_;
  std::vector<Order> orders_;
  std::vector<CheckedAlias> aliases_;
  std::set<int64_t> donated_;
};

TEST(RandomAliasesTest, WhatIsSafeIsExecutedRightWithSharedBuffers) {
  AliasTally tally;
  const int count = Cases(20000);
  for (int seed = 0; seed < count; ++seed) {
    const std::string text = RandomAliases(seed).Text();
    const auto module = ParseAndVerifyModule(text);
    ASSERT_TRUE(module.ok()) << module.status() << "\n" << text;
    AliasChecker(**module, &tally).Check();
    if (::testing::Test::HasFailure()) {
      mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
      std::string answers;
      for (const CheckedAlias& alias : CheckAliases(**module, &context)) {
        absl::StrAppend(&answers, alias.ToString(), "\n");
      }
      FAIL() << "seed " << seed << "\n" << text << answers;
    }
  }
  std::cout << tally.modules << " modules and " << tally.left_out << " left out: any order "
            << tally.any_order << ", in an order " << tally.in_order << ", undecided "
            << tally.undecided << ", unsafe " << tally.is_unsafe << ", of these by elements "
            << tally.decided_by_elements << ", wrong in every order " << tally.not_in_any_order
            << ", only together " << tally.only_together << ", right after all " << tally.needless
            << "\n";
  EXPECT_GT(tally.modules, count * 3 / 4);
  EXPECT_GT(tally.any_order, tally.modules / 3);
  EXPECT_GT(tally.in_order, tally.modules / 100);
  EXPECT_GT(tally.not_in_any_order, tally.modules / 10);
}

}  // namespace
}  // namespace xla_indexing::reference
