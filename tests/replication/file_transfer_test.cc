// SPDX-License-Identifier: BSD-3-Clause
//
// The words of a transfer in files, byte for byte as docs/format.md, section 9, has them, and what is refused.
#include "replication/file_transfer.h"

#include <gtest/gtest.h>

#include <string>

namespace cairn {
namespace {

const std::string kId = "0123456789abcdef0123456789abcdef01234567";

TEST(FileTransfer, OffersAreWordsOfCapa) {
  FilesOffer offer{.format = 2, .databases = 16, .free = {17, 1048577}};
  EXPECT_EQ(EncodeFilesOffer(offer), "cairn-files:1:2:16:17:1048577:-:0:0");
  offer.has = {kId, 3, 4096};
  const std::string word = EncodeFilesOffer(offer);
  EXPECT_EQ(word, "cairn-files:1:2:16:17:1048577:" + kId + ":3:4096");
  const auto read = ParseFilesOffer(word);
  ASSERT_TRUE(read);
  EXPECT_EQ(EncodeFilesOffer(*read), word);
}

TEST(FileTransfer, WhatIsNoOfferIsNone) {
  for (const char* word :
       {"", "eof", "psync2", "cairn-files", "cairn-files:1:2:16:17:1:-:0", "cairn-files:1:2:16:17:1:-:0:0:0",
        "cairn-files:2:2:16:17:1:-:0:0", "cairn-files:1:2:16:4294967296:1:-:0:0", "cairn-files:1:2:16:17:1:../../x:0:0",
        "cairn-files:1:2:16:17:1:-:-1:0", "cairn-files:1::16:17:1:-:0:0"}) {
    EXPECT_FALSE(ParseFilesOffer(word)) << word;
  }
}

TEST(FileTransfer, HeadsAndLines) {
  const FilesHead head{.first = {256, 16777216}, .from = {kId, 1, 2}};
  const std::string line = EncodeFilesHead(head);
  EXPECT_EQ(line, "$CAIRN-FILES 1 " + kId + " 256 16777216 1 2");
  EXPECT_TRUE(IsFilesHead(line));
  EXPECT_FALSE(IsFilesHead("$EOF:" + kId));
  const auto read = ParseFilesHead(line);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(EncodeFilesHead(*read), line);
  EXPECT_FALSE(ParseFilesHead("$CAIRN-FILES 1 - 256 16777216 0 0").ok());
  EXPECT_FALSE(ParseFilesHead("$CAIRN-FILES 2 " + kId + " 256 16777216 0 0").ok());

  const FileLine file{.space = Space::kScores, .size = 123, .checksum = 0xabc, .total = 0};
  EXPECT_EQ(EncodeFileLine(file), "FILE scores 123 0000000000000abc 0");
  const FileLine end{.is_end = true, .size = 9, .checksum = ~uint64_t{0}, .total = 1000};
  EXPECT_EQ(EncodeFileLine(end), "END 9 ffffffffffffffff 1000");
  for (const FileLine& one : {file, end}) {
    const auto again = ParseFileLine(EncodeFileLine(one));
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(EncodeFileLine(*again), EncodeFileLine(one));
  }
  for (const char* text : {"FILE meta 1 0000000000000abc 0", "FILE default 1 0000000000000abc 0", "FILE keys 1 abc 0",
                           "FILE keys -1 0000000000000abc 0", "FILE keys 1 0000000000000abg 0",
                           "END 1 0000000000000abc", "FILE keys 1 0000000000000abc 0 0"}) {
    EXPECT_FALSE(ParseFileLine(text).ok()) << text;
  }
}

TEST(FileTransfer, ContentsHaveTheBytesOfTheFormat) {
  FilesContent content;
  content.rows.databases = {{256, 300}, {257, 0}};
  content.rows.collections_end = 5;
  content.selected_db = 1;
  content.functions = {"#!lua"};
  const std::string bytes = EncodeFilesContent(content);
  EXPECT_EQ(bytes, std::string("\x02\x80\x02\xac\x02\x81\x02\x00\x05\x02\x01\x05#!lua", 17));
  const auto read = DecodeFilesContent(bytes);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(EncodeFilesContent(*read), bytes);
  EXPECT_FALSE(DecodeFilesContent(bytes + "x").ok());
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(DecodeFilesContent(std::string_view(bytes).substr(0, size)).ok()) << size;
  }
}

}  // namespace
}  // namespace cairn
