// SPDX-License-Identifier: BSD-3-Clause
#include "types/edited_string.h"

#include <algorithm>

namespace cairn {

Result<EditedString> EditedString::Open(Keyspace& keys, const Key& key, const KeyEntry& entry) {
  EditedString text(keys, key, entry);
  if (entry.exists() && entry.encoding() == Encoding::kSpread) {
    text.fragments_ = TRY(Fragments::Open(keys.txn(), key.stripe(), entry.payload()));
  } else {
    text.stored_ = TRY(ReadText(keys, key, entry));
  }
  return text;
}

// The bytes of a string that is not fragmented.
std::string_view EditedString::whole() const { return edited_ ? *edited_ : stored_.view(); }

uint64_t EditedString::size() const { return fragments_ ? fragments_->length() : whole().size(); }

Result<std::string> EditedString::Read(uint64_t offset, uint64_t size) const {
  const uint64_t there = offset < this->size() ? std::min(size, this->size() - offset) : 0;
  std::string bytes;
  if (there == 0) return bytes;
  if (fragments_) {
    TRY(fragments_->Read(offset, there, bytes));
  } else {
    bytes = whole().substr(offset, there);
  }
  return bytes;
}

// Prepares the string for changes and extends it to at least `size` bytes.
Status EditedString::PrepareFor(uint64_t size) {
  size = std::max(size, this->size());
  if (!fragments_ && size >= kFragmentedFrom) {
    Fragments fragments = Fragments::Create(keys_->txn(), keys_->id(), key_->stripe());
    TRY(fragments.Write(0, whole()));
    fragments_ = fragments;
    edited_.reset();
  }
  if (fragments_) return Ok();
  if (!edited_) {
    edited_.emplace();
    edited_->reserve(size);
    edited_->append(stored_.view());
  }
  edited_->resize(size);
  return Ok();
}

Status EditedString::Write(uint64_t offset, std::string_view bytes) {
  TRY(PrepareFor(offset + bytes.size()));
  if (fragments_) return fragments_->Write(offset, bytes);
  edited_->replace(offset, bytes.size(), bytes);
  return Ok();
}

Status EditedString::Grow(uint64_t size) {
  TRY(PrepareFor(size));
  if (fragments_) fragments_->Grow(size);
  return Ok();
}

Status EditedString::Save() {
  if (!fragments_) {
    return WriteBytes(*keys_, *key_, *entry_, whole(), entry_->expire_ms(), Origin::kEdited);
  }
  const std::string payload = fragments_->Payload();
  if (entry_->encoding() == Encoding::kSpread && entry_->payload() == payload) return Ok();
  const RecordHeader header = {.type = Type::kString, .encoding = Encoding::kSpread, .expire_ms = entry_->expire_ms()};
  return keys_->Write(*key_, *entry_, header, payload);
}

}  // namespace cairn
