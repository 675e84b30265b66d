#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Code objects that are freed and others at their addresses: a name that was known is of no use to the next one.
. "$(dirname "$0")/../cli/tap.sh"
. tests/python/pythons.sh
[ -n "${ALL_PYTHONS:-}" ] || PYTHON_FEW="$PYTHON_FEW 15"
needs_profiling

for minor in $PYTHON_FEW; do
	python=$(python_of "$minor")
	if [ -z "$python" ]; then
		skip "CPython 3.$minor" "no python3.$minor here"
		continue
	fi
	"$weft" record -q -F 499 -o "$work/p.folded" -- "$python" tests/python/reused_program.py 4 >"$work/said" 2>"$work/err"
	{
		read -r n_codes n_addresses
		read -r _ n_places
	} <"$work/said"
	# A function is too short to be in more than one or two samples.
	read -r n_samples n_names <<<"$(awk 'match($0, /only_[0-9]+/) { n += $NF; names[substr($0, RSTART, RLENGTH)] }
		END { print n + 0, length(names) }' "$work/p.folded")"
	# Free-threaded builds use a place again when they like: what was never reused proves nothing.
	if [ "${minor%t}" != "$minor" ] && [ "$n_addresses" -gt $((n_codes / 10)) ]; then
		skip "CPython 3.$minor: $n_codes functions at $n_addresses addresses" "places were not used again"
		continue
	fi
	[ "$n_addresses" -le $((n_codes / 10)) ] && [ "$n_samples" -ge 100 ] && [ "$n_names" -ge $((n_samples * 8 / 10)) ]
	claim "CPython 3.$minor: $n_codes functions at $n_addresses addresses have $n_names names in $n_samples samples" $?
	read -r n_short n_long <<<"$(awk '/short_a/ { short += $NF } /long_b/ { long += $NF }
		END { print short + 0, long + 0 }' "$work/p.folded")"
	n_both=$((n_short + n_long))
	[ "$n_places" -le 20 ] && [ $n_both -ge 200 ] && [ "$n_long" -ge $((n_both * 65 / 100)) ] &&
		[ "$n_long" -le $((n_both * 85 / 100)) ]
	claim "CPython 3.$minor: of two in turns at $n_places addresses, the longer one has $n_long of $n_both samples" $?
done
finish
