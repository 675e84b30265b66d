#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# assemble.sh OUT.h SOURCE-DIR SCRIPT...: the page as two byte arrays, before and after its data.
# Script and style lose their indentation and comments (at a line's end: those without quotes); the page's policy names their hashes.
set -eu
out=$1 dir=$2
shift 2
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

squeeze() { sed -e 's/^[	 ]*//' -e '/^\/\/ /d' -e '/^\/\/$/d' -e '/^\/\*.*\*\/$/d' \
	-e "s#[	 ][	 ]*// [^\"'\`]*\$##" -e '/^$/d'; }
# CSP's form of a hash: the digest as base64. env: the shell's own printf may not know \x.
digest() {
	hex=$(sha256sum "$1" | cut -c 1-64 | sed 's/../\\x&/g')
	echo "sha256-$(env printf "$hex" | base64)"
}
as_array() { # NAME FILE
	echo "static const unsigned char $1[] = {"
	od -An -v -tx1 "$2" | sed 's/ \(..\)/0x\1,/g'
	echo "};"
}

(cd "$dir" && cat "$@") | squeeze >"$tmp/script"
squeeze <"$dir/page.css" >"$tmp/style"
policy="default-src 'none'; script-src '$(digest "$tmp/script")'; style-src '$(digest "$tmp/style")'; img-src data:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

part=$tmp/top
: >"$part"
while IFS= read -r line; do
	case $line in
	@style@) { printf '<style>'; cat "$tmp/style"; printf '</style>\n'; } >>"$part" ;;
	@script@) { printf '<script>'; cat "$tmp/script"; printf '</script>\n'; } >>"$part" ;;
	@policy@) printf '<meta http-equiv="Content-Security-Policy" content="%s">\n' "$policy" >>"$part" ;;
	@profile@)
		printf '<script type="application/json" id="profile">' >>"$part"
		part=$tmp/bottom
		printf '</script>\n' >"$part" ;;
	*) printf '%s\n' "$line" >>"$part" ;;
	esac
done <"$dir/page.html"

{
	echo "/* Made by exporter/flamegraph/assemble.sh. */"
	as_array page_top "$tmp/top"
	as_array page_bottom "$tmp/bottom"
} >"$tmp/header"
mv "$tmp/header" "$out"
