// SPDX-License-Identifier: BSD-3-Clause
//
// A payload for every encoding of RDB, without footers, with its meaning. Those that Redis 7.0 writes come from its
// DUMP; the others were written by hand from the description of the format.
#pragma once

#include <string>
#include <vector>

#include "tests/rdb/hex.h"

namespace cairn {

struct CorpusPayload {
  std::string name;
  std::string bytes;
  std::string meaning;  // its type, whether it was packed, its items, its scores
};

inline std::vector<CorpusPayload> RdbCorpus() {
  std::vector<CorpusPayload> corpus = {
      {"string raw", "000b68656c6c6f20776f726c64", "string hello world"},
      {"string int8", "00c0f9", "string -7"},
      {"string int16", "00c1e803", "string 1000"},
      {"string int32", "00c26079feff", "string -100000"},
      {"string of many digits", "000b3132333435363738393031", "string 12345678901"},
      {"string lzf", "00c30a3c02616261e02e01016162",
       "string abababababababababababababababababababababababababababababab"},
      {"list", "01030161c0010162", "list a 1 b"},
      {"set", "020305677265656ec00503726564", "set green 5 red"},
      {"zset", "0303016103312e350162fe0163022d32", "zset a b c 1.500000 inf -2.000000"},
      {"hash", "0402046e616d650341646104626f726ec11707", "hash name Ada born 1815"},
      {"zset 2", "05030468696768000000000000f07f036d69640000000000000000036c6f77000000000000f8bf",
       "zset high mid low inf 0.000000 -1.500000"},
      {"hash zipmap", "091a0203666f6f03006261720568656c6c6f0502776f726c640000ff", "hash packed foo bar hello world"},
      {"list ziplist", "0a0f0f0000000c000000020000f202f3ff", "list packed 1 2"},
      {"set intset 16", "0b0e0200000003000000fdff00000c00", "set packed -3 0 12"},
      {"set intset 32", "0b10040000000200000090eefeff05000000", "set packed -70000 5"},
      {"set intset 64", "0b180800000002000000ffffffffffffffff0000000000010000", "set packed -1 1099511627776"},
      {"zset ziplist", "0c181800000012000000040000016103f20201620303322e35ff", "zset packed a b 1.000000 2.500000"},
      {"hash ziplist", "0d181800000012000000040000016103f20201620303322e35ff", "hash packed a 1 b 2.5"},
      {"list quicklist", "0e020f0f0000000c000000020000f202f3ff0f0f0000000c000000020000f402f5ff", "list 1 2 3 4"},
      {"hash listpack",
       "10c3406040a21fa2000000140082663003847465787405826631037f0182663203dfff0282663301"
       "03cf4006033403d000200d173503f130750382663603f200ee850482663703f30094357720350238"
       "03f42049400008100982663903e04679e03c000148ff",
       "hash packed f0 text f1 127 f2 -1 f3 4095 f4 -4096 f5 30000 f6 -8000000 f7 200000"
       "0000 f8 1152921504606846976 f9 yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy"
       "yyyyyyyyyyyyyyyyyyyyy"},
      {"zset listpack", "111a1a0000000600816102010181620284322e3235058163020301ff",
       "zset packed a b c 1.000000 2.250000 3.000000"},
      {"list quicklist 2", "12010215150000000300836f6e6504020185746872656506ff", "list one 2 three"},
      {"list quicklist 2 lzf",
       "120102c3404140690d690000000c00866974656d20300780070031a0070032a0070033a0070034a0"
       "070035a0070036a0070037a0070038a00702390787604f02313008a008023108ff",
       "list item 0 item 1 item 2 item 3 item 4 item 5 item 6 item 7 item 8 item 9 item "
       "10 item 11"},
      {"list quicklist 2 plain",
       "1203020e0e00000001008573686f727406ff011071756974652061206c6f6e67206f6e65020d0d00"
       "000001008474696e7905ff",
       "list short quite a long one tiny"},
      {"list quicklist 2 in nodes", "1203020b0b000000020000010101ff020b0b000000020002010301ff02090900000001000401ff",
       "list 0 1 2 3 4"},
      {"set listpack", "140c0c00000002000101816102ff", "set packed 1 a"},
      {"hash with times", "187b409452a3030000020101610178000162 0179", "hash a x b y until 4000000000123 -1"},
      {"hash listpack ex", "197b409452a30300001f1f0000000600816102817802f47b409452a3030000098162028179020001ff",
       "hash packed a x b y until 4000000000123 -1"},
      {"stream",
       "0f0110000000000000000500000000000000011d1d0000000a000101000101018161020001020100010001"
       "8162020401ff01050101016705010100000000000000050000000000000001e803000000000000020101"
       "63d0070000000000000100000000000000050000000000000001",
       "stream last 5-1 | 5-1 a b | group g 5-1 consumer c 2000 5-1 1000 2"},
      {"stream 2",
       "130110000000000000000500000000000000011d1d0000000a000101000101018161020001020100010001"
       "8162020401ff010501050100000101016705010101000000000000000500000000000000"
       "01e80300000000000002010163d0070000000000000100000000000000050000000000000001",
       "stream last 5-1 | 5-1 a b | group g 5-1 consumer c 2000 5-1 1000 2"},
      {"stream 2 of nothing", "1300000909000008081400", "stream last 9-9"},
      {"stream 3",
       "150110000000000000000500000000000000011d1d0000000a000101000101018161020001020100010001"
       "8162020401ff010501050100000101016705010101000000000000000500000000000000"
       "01e80300000000000002010163d007000000000000b80b000000000000010000000000000005"
       "0000000000000001",
       "stream last 5-1 | 5-1 a b | group g 5-1 consumer c 2000 5-1 1000 2"},
  };
  for (CorpusPayload& payload : corpus) payload.bytes = FromHex(payload.bytes);
  return corpus;
}

}  // namespace cairn
