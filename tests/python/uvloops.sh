# SPDX-License-Identifier: Apache-2.0
# uvloop for the interpreters of the tests: sourced.

# uvloop_of PYTHON MINOR: a folder with uvloop for this interpreter, or nothing
uvloop_of() {
	local folder=$PWD/${BUILD:-build}/python/uvloop-3.$2
	if [ ! -d "$folder/uvloop" ]; then
		rm -rf "$folder"
		python3 -m pip install -q --disable-pip-version-check --no-deps --only-binary=:all: --python-version "3.$2" \
			--implementation cp --target "$folder" uvloop >/dev/null 2>&1 || return
	fi
	PYTHONPATH=$folder "$1" -c 'import uvloop' 2>/dev/null && echo "$folder"
}
