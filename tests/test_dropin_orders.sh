#!/usr/bin/env bash
# Processes of one node that use the drop-in leave their contexts in different orders.
set -u
. "$SRCDIR/tests/dropin_help.sh"
for ranks in 2 3; do
  run orders $ranks "$BUILDDIR/tests/dropin_orders" "" "${on[@]}"
  grep -qx left orders || complain "$ranks ranks: the contexts were not left"
  [ "$(taken orders.err pdgemm)" = 9 ] || complain "$ranks ranks: not all products were taken"
done
[ $failures = 0 ] && echo "contexts are left in any order"
exit $((failures > 0))
