# SPDX-License-Identifier: BSD-3-Clause
"""The numbers of a class's public methods and fields are limited, because a class should keep one invariant."""

import classes
import tree

MOST_METHODS = 30
MOST_FIELDS = 25


def test_no_class_is_too_large():
    for path in tree.sources():
        for name, (methods, fields) in classes.sizes(tree.text(path)).items():
            assert methods <= MOST_METHODS, f"{path}: {name} has {methods} public methods"
            assert fields <= MOST_FIELDS, f"{path}: {name} has {fields} fields"


def test_methods_and_fields_are_counted():
    source = """
namespace a {
class Other;
class Some final : public Base {
 public:
  using Done = std::function<void(int)>;
  enum class State : unsigned char { kNone, kSome };
  struct Parts {
    Other& other;
    std::function<void(bool up)> on_link;
  };
  explicit Some(int x) : x_(x) { Run(); }
  Some(const Some&) = delete;
  Some& operator=(const Some&) = delete;
  ~Some();
  int x() const { return x_; }  // ; {
  template <typename T>
  void Visit(const T& visit) {
    if (x_) { visit(x_); }
  }
  static int Count();
  int shown = 0;

 private:
  friend class Other;
  void Run();
  static constexpr int kMost = 2;
  struct alignas(64) Slot {
    std::atomic<uint64_t> value{0};
  };
  int x_ = 0;
  const Other* other_ = nullptr;
  std::map<std::pair<int, int>, int> map_{};
};
}
"""
    assert classes.sizes(source) == {"Parts": (0, 2), "Slot": (0, 1), "Some": (3, 4)}
