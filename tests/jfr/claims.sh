# SPDX-License-Identifier: Apache-2.0
# For tests whose claims a program makes: sourced after tests/cli/tap.sh.

# claims COMMAND...: a claim for each line of it that begins with 0 or 1; the others are remarks
claims() {
	local failed text status
	"$@" >"$work/claims" 2>"$work/err"
	status=$?
	while read -r failed text; do
		case $failed in
		0 | 1) claim "$text" "$failed" ;;
		*) echo "# $text" ;;
		esac
	done <"$work/claims"
	[ $status = 0 ] || claim "$* runs to its end" $status
}

# recorded NAME: its path in $path, or a skip that says why not
recorded() {
	path=$(tests/jfr/recordings.sh "$1" 2>"$work/err") && return
	skip "$1" "$(sed -n 's/^recordings: [^:]*: //p' "$work/err" | tail -n 1)"
	return 1
}
