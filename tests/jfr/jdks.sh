# SPDX-License-Identifier: Apache-2.0
# Which JDKs there are: sourced. They are looked for in the folders of WEFT_JDKS (between colons), where
# distributions have them, and where .ci/jdks.sh unpacks others. No JVM is started for that.
JDK_VERSIONS="8 11 17 21 25 26"

# jdk_of VERSION: the folder of a JDK that can compile, or nothing
jdk_of() {
	local folders folder version IFS
	folders=${WEFT_JDKS:-}:$(printf '%s:' /usr/lib/jvm/* /opt/java/* "$HOME"/.sdkman/candidates/java/*)
	folders=$folders:${XDG_CACHE_HOME:-$HOME/.cache}/weft/jdks/$1/jdk
	IFS=:
	for folder in $folders; do
		[ -x "$folder/bin/javac" ] && [ -x "$folder/bin/jcmd" ] || continue
		if [ -f "$folder/release" ]; then
			version=$(sed -n 's/^JAVA_VERSION="\(1\.\)\{0,1\}\([0-9]*\).*/\2/p' "$folder/release")
		else
			version=8	# Debian's does not say; the others do
			[ -f "$folder/jre/lib/rt.jar" ] || continue
		fi
		if [ "$version" = "$1" ]; then
			echo "$folder"
			return
		fi
	done
}
