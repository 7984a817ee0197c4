// SPDX-License-Identifier: BSD-3-Clause
//
// Checks that hold for the decoding of any bytes as a message of the cluster bus.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bus/message_file.h"
#include "bus/message_reader.h"
#include "bus/message_writer.h"

namespace cairn {

inline std::vector<std::string> GoldenBytes() {
  std::vector<std::string> corpus;
  for (const GoldenMessage& golden : ReadGoldenMessages()) corpus.push_back(golden.bytes);
  return corpus;
}

// Decodes a copy that has exactly the message's size, so that a sanitizer sees each read behind its end.
inline Result<Message> DecodeAlone(std::string_view bytes) {
  const std::unique_ptr<char[]> copy(new char[bytes.size()]);
  std::copy(bytes.begin(), bytes.end(), copy.get());
  return DecodeMessage({copy.get(), bytes.size()});
}

struct Decoding {
  bool is_message = false;
  std::string error;  // what is wrong with the decoder
};

// A message that decodes is encoded again with the same meaning: what the reader accepts, the writer accepts too. An
// error names the field.
inline Decoding DecodeAndCheck(std::string_view bytes) {
  const Result<Message> message = DecodeAlone(bytes);
  if (!message.ok()) {
    const std::string text(message.status().text());
    return {false, text.find(": ") == std::string::npos ? "the error names no field: " + text : ""};
  }
  std::string encoded;
  AppendMessage(encoded, *message);
  const Result<Message> again = DecodeAlone(encoded);
  if (!again.ok()) return {true, "the encoded message does not decode: " + std::string(again.status().text())};
  std::string twice;
  AppendMessage(twice, *again);
  return {true, twice == encoded ? "" : "the encoded message has another meaning"};
}

}  // namespace cairn
