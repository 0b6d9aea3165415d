// A function whose values are remembered, so that equal arguments cost its work once.
//
// Whoever does much work in which arguments come again (a loop of many layers that are alike) opens
// a table on its thread, for as long as it likes. Where none is open, or no budget, every value is
// made anew.
//
// What is remembered is not seen in any answer. A value that is taken from a table spends as many
// steps of the question (base/question_budget.h) as making it has spent; where fewer are left, and
// where making it was cut short, it is made anew. So a question is cut at the same place and has the
// same answer whatever the table holds, and a table may forget at any time: it does when it is full.
//
// Example:
//   Remembered<Expr, Expr>::Table table;            // kept from question to question
//   const Remembered<Expr, Expr>::Open open(&table);
//   Remembered<Expr, Expr>::Of(expr, [&] { return Simplified(expr); });   // made
//   Remembered<Expr, Expr>::Of(expr, [&] { return Simplified(expr); });   // taken
#ifndef XLA_INDEXING_BASE_MEMORY_REMEMBERED_H_
#define XLA_INDEXING_BASE_MEMORY_REMEMBERED_H_

#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "xla_indexing/base/question_budget.h"

namespace xla_indexing {

// Arguments that are equal have equal values, and equal hashes; they hold all that values depend on.
template <typename Argument, typename Value>
class Remembered {
 public:
  class Table {
   public:
    static constexpr size_t kMaxValues = size_t{1} << 14;

    void Forget() { values_.clear(); }
    size_t size() const { return values_.size(); }

   private:
    friend class Remembered;
    struct Made {
      Value value;
      int64_t steps;
    };
    absl::flat_hash_map<Argument, Made> values_;
  };

  // Opens a table on this thread, or joins the one that is open. Keeps the pointer.
  class Open {
   public:
    explicit Open(Table* table) : is_first_(open_ == nullptr) {
      if (is_first_) open_ = table;
    }
    ~Open() {
      if (is_first_) open_ = nullptr;
    }
    Open(const Open&) = delete;
    Open& operator=(const Open&) = delete;

   private:
    const bool is_first_;
  };

  static bool IsOpen() { return open_ != nullptr; }

  // What make() returns, whose value depends on the argument alone.
  template <typename Make>
  static Value Of(const Argument& argument, Make make) {
    Table* const table = open_;
    if (table == nullptr || QuestionBudget::Number() == 0) return make();
    const int64_t left = QuestionBudget::Left();
    if (const auto known = table->values_.find(argument); known != table->values_.end()) {
      if (QuestionBudget::IsSpent() || known->second.steps > left) return make();
      QuestionBudget::Spend(known->second.steps);
      return known->second.value;
    }
    Value value = make();
    if (QuestionBudget::IsSpent()) return value;
    if (table->values_.size() >= Table::kMaxValues) table->Forget();
    table->values_.insert_or_assign(argument,
                                    typename Table::Made{value, left - QuestionBudget::Left()});
    return value;
  }

 private:
  static inline thread_local constinit Table* open_ = nullptr;
};

}  // namespace xla_indexing

#endif  // XLA_INDEXING_BASE_MEMORY_REMEMBERED_H_
