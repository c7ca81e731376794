// C++ for its ordered map (contract: simulator.h).
#include "src/simulation/simulator.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <vector>

using byte = unsigned char;

struct sim_pieces {
  std::map<const byte *, std::vector<byte>> at;
};

sim_pieces *osli_sim_pieces_create()
{
  return new sim_pieces;
}

void osli_sim_pieces_free(sim_pieces *pieces)
{
  delete pieces;
}

void osli_sim_pieces_store(sim_pieces *pieces, const void *at, const void *bytes, size_t count)
{
  auto *place = static_cast<const byte *>(at), *source = static_cast<const byte *>(bytes);
  auto next = pieces->at.upper_bound(place);
  if (next != pieces->at.begin()) {
    auto before = std::prev(next);
    if (place + count <= before->first + before->second.size()) {
      std::memcpy(before->second.data() + (place - before->first), source, count);
      return;
    }
  }
  pieces->at.emplace_hint(next, place, std::vector<byte>(source, source + count));
}

void osli_sim_pieces_take(sim_pieces *pieces, void *to, const void *from, size_t bytes)
{
  auto *start = static_cast<const byte *>(from), *end = start + bytes;
  auto first = pieces->at.lower_bound(start), last = first;
  for (; last != pieces->at.end() && last->first < end; ++last) {
    std::vector<byte> &piece = last->second;
    auto count = std::min(piece.size(), static_cast<size_t>(end - last->first));
    std::memcpy(static_cast<byte *>(to) + (last->first - start), piece.data(), count);
    if (count < piece.size())
      pieces->at.emplace(end,
                         std::vector<byte>(piece.begin() + static_cast<long>(count), piece.end()));
  }
  pieces->at.erase(first, last);
}
