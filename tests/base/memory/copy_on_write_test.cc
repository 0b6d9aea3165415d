#include "xla_indexing/base/memory/copy_on_write.h"

#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace xla_indexing {
namespace {

using Text = CopyOnWrite<std::string>;

TEST(CopyOnWriteTest, CopiesShareUntilOneIsChanged) {
  Text a("one");
  Text b = a;
  EXPECT_TRUE(a.SharesWith(b));
  b.Mutable() += " more";
  EXPECT_FALSE(a.SharesWith(b));
  EXPECT_EQ(*a, "one");
  EXPECT_EQ(*b, "one more");
}

TEST(CopyOnWriteTest, TheLastOwnerKeepsTheValueInItsPlace) {
  Text a("one");
  const std::string* const place = &*a;
  {
    Text b("two");
    b = a;
    EXPECT_EQ(&*b, place);
  }
  a.Mutable() += " more";
  EXPECT_EQ(&*a, place);
}

TEST(CopyOnWriteTest, AssignmentsLeaveOtherCopiesAsTheyAre) {
  Text a("one");
  Text b("two");
  const Text c = a;
  a = b;
  EXPECT_EQ(*a, "two");
  EXPECT_EQ(*c, "one");
  a = *&a;
  EXPECT_EQ(*a, "two");
  b = std::move(a);
  EXPECT_EQ(*b, "two");
  a = c;
  EXPECT_EQ(*a, "one");
}

TEST(CopyOnWriteTest, CopiesAreChangedOnSeveralThreads) {
  for (int round = 0; round < 100; ++round) {
    std::vector<Text> copies(4, Text("start"));
    std::vector<std::thread> threads;
    threads.reserve(copies.size());
    for (Text& copy : copies) {
      threads.emplace_back([&copy] {
        for (int i = 0; i < 10; ++i) copy.Mutable() += "!";
        const Text last = copy;
        copy = last;
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const Text& copy : copies) EXPECT_EQ(*copy, "start!!!!!!!!!!");
  }
}

}  // namespace
}  // namespace xla_indexing
