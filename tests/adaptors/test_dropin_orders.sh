#!/usr/bin/env bash
# Processes that use the drop-in close their contexts in different orders, on one node and on two.
set -u
. "$SRCDIR/tests/adaptors/dropin_help.sh"
for nodes in 1 2; do
  more=(NODES=$nodes)
  [ $nodes = 2 ] && more=("${fake[@]}")
  run orders 2 "$BUILDDIR/tests/adaptors/dropin_orders" "" "${on[@]}" "${more[@]}"
  grep -qx left orders || complain "$nodes nodes: the contexts were not left"
  [ "$(taken orders.err pdgemm)" = 30 ] || complain "$nodes nodes: not all products were offloaded"
done
[ $failures = 0 ] && echo "contexts are left in any order"
exit $((failures > 0))
