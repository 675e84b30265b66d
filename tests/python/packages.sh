# SPDX-License-Identifier: Apache-2.0
# Packages for the interpreters of the tests: sourced.

# package_of PYTHON MINOR PACKAGE MODULE: a folder with it for this interpreter, or nothing
package_of() {
	local folder=$PWD/${BUILD:-build}/python/$3-3.$2
	if [ ! -d "$folder" ]; then
		rm -rf "$folder.part"
		python3 -m pip install -q --disable-pip-version-check --only-binary=:all: --python-version "3.$2" \
			--implementation cp --target "$folder.part" "$3" >/dev/null 2>&1 &&
			mv "$folder.part" "$folder" || return
	fi
	PYTHONPATH=$folder "$1" -c "import $4" 2>/dev/null && echo "$folder"
}
