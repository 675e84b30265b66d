# SPDX-License-Identifier: Apache-2.0
# Which CPythons there are: sourced. They are looked for in the folders of WEFT_PYTHONS (between
# colons), pyenv's versions, the folders of PATH and where .ci/pythons.sh unpacks newer ones.
# A minor version with a t is the free-threaded build of it.
PYTHON_MINORS="6 7 8 9 10 11 12 13 14 15 13t 14t 15t"

# Tests that take long run under an old and a new one of each way to lay things out, unless all are asked for.
PYTHON_FEW="8 11 13 14"
[ -z "${ALL_PYTHONS:-}" ] || PYTHON_FEW=$PYTHON_MINORS

# python_of MINOR: the command of one CPython 3.MINOR, or nothing
python_of() {
	local name=python3.$1 number=${1%t} kind folders folder IFS
	kind=${1#"$number"}
	folders=${WEFT_PYTHONS:-}:$(printf '%s:' "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3."$number".*"$kind"/bin)
	folders=$folders:$PATH:/usr/local/bin:/usr/bin:${XDG_CACHE_HOME:-$HOME/.cache}/weft/pythons/3.$1
	IFS=:
	for folder in $folders; do
		# A shim of pyenv is there for versions that are not; only an answer counts.
		if [ -x "$folder/$name" ] && "$folder/$name" -c "import sys
sys.exit(getattr(sys, 'abiflags', '').replace('m', '') != '$kind')" 2>/dev/null; then
			echo "$folder/$name"
			return
		fi
	done
}

# What every run of CI must have tested: old frames, 3.11's, and what describes itself.
pythons_are_enough() {
	local found=" $* " minor old='' new=''
	for minor in 6 7 8; do
		case $found in *" $minor "*) old=1 ;; esac
	done
	for minor in 14 15; do
		case $found in *" $minor "*) new=1 ;; esac
	done
	[ -n "$old" ] && [ -n "$new" ] || return 1
	for minor in 11 13; do
		case $found in *" $minor "*) ;; *) return 1 ;; esac
	done
}

# pythons_all [MINORS]: the commands of all there are, or of these, with colons between.
pythons_all() {
	local minor python all=
	for minor in ${1:-$PYTHON_MINORS}; do
		python=$(python_of "$minor")
		[ -z "$python" ] || all=${all:+$all:}$python
	done
	echo "$all"
}
