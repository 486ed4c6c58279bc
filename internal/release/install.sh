#!/bin/sh
# Installs hubcli from the archives of a release. It writes one file, PREFIX/bin/hubcli, and tells of
# everything that it does. It asks nothing. "sh install.sh --help" lists the options.
set -eu

version='@VERSION@'
site='@SITE@'
key='@KEY@'
prefix="${HOME:-}/.local"

usage() {
	cat <<'EOF'
usage: sh install.sh [--prefix FOLDER] [--version NUMBER] [--from PLACE] [--key KEY]

  --prefix FOLDER   write FOLDER/bin/hubcli (default: ~/.local)
  --version NUMBER  the release, such as 0.1.0 (default: the one that this script came with)
  --from PLACE      the folder that holds the archive and SHA256SUMS, or its https:// or file:// address.
                    {version} in it stands for the number of the release
  --key KEY         the public key of minisign with which the release must be signed
EOF
}

fail() {
	printf 'install.sh: %s\nfix: %s\n' "$1" "$2" >&2
	exit 1
}

say() { printf '%s\n' "$*"; }

# has says whether a program is installed.
has() { command -v "$1" >/dev/null 2>&1; }

# need_value refuses an option without its value.
need_value() {
	[ "$2" -ge 2 ] || fail "$1 has no value" "write one behind it; sh install.sh --help lists the options"
}

take_options() {
	while [ $# -gt 0 ]; do
		case $1 in
		--prefix) need_value "$1" $# && prefix=$2 && shift 2 ;;
		--version) need_value "$1" $# && version=${2#v} && shift 2 ;;
		--from) need_value "$1" $# && site=$2 && shift 2 ;;
		--key) need_value "$1" $# && key=$2 && shift 2 ;;
		-h | --help) usage && exit 0 ;;
		*) fail "there is no option $1" "sh install.sh --help lists the options" ;;
		esac
	done
	case $version in
	'' | *[!0-9A-Za-z.+-]* | .*) fail "$version is no number of a release" "give one such as --version 0.1.0" ;;
	esac
	case $prefix in
	/*) ;;
	'') fail "the prefix is empty" "give a folder: --prefix FOLDER" ;;
	*) prefix=$(pwd)/$prefix ;;
	esac
}

# find_site says where the files of the release are. What comes over http could have been changed on its way.
find_site() {
	[ -n "$site" ] || fail "this script names no place that has the release" "give it: --from https://ADDRESS or --from FOLDER"
	case $site in
	*'{version}'*) site=${site%%'{version}'*}$version${site#*'{version}'} ;;
	esac
	site=${site%/}
	case $site in
	https://*) has curl || fail "curl is not installed" "install it, or fetch the files in another way and call: sh install.sh --from FOLDER" ;;
	file:///*) site=${site#file://} ;;
	*://* | *:*//*) fail "$site is no https:// address" "give --from an https:// or file:// address, or a folder" ;;
	esac
}

# fetch gets a file of the release, over https alone, whatever the server says.
fetch() {
	case $site in
	https://*) curl --proto '=https' --proto-redir '=https' --tlsv1.2 --fail --silent --show-error --location --output "$work/$1" "$site/$1" ;;
	*) [ -f "$site/$1" ] && cp "$site/$1" "$work/$1" ;;
	esac
}

# find_platform names the archive as the release does.
find_platform() {
	case $(uname -s) in
	Linux) os=linux ;;
	Darwin) os=darwin ;;
	*) fail "there is no archive for $(uname -s)" "on Windows use npm or pip; docs/install.md has the commands" ;;
	esac
	case $(uname -m) in
	x86_64 | amd64) arch=amd64 ;;
	aarch64 | arm64) arch=arm64 ;;
	*) fail "there is no archive for the processor $(uname -m)" "build it from the sources; docs/install.md says how" ;;
	esac
	# A shell that runs translated says that its processor is the other one.
	if [ $os = darwin ] && [ "$(sysctl -n sysctl.proc_translated 2>/dev/null || true)" = 1 ]; then arch=arm64; fi
	folder=hubcli-$version-$os-$arch
	archive=$folder.tar.gz
}

sum_of() {
	if has sha256sum; then
		sha256sum <"$1" | cut -d ' ' -f 1
	elif has shasum; then
		shasum -a 256 <"$1" | cut -d ' ' -f 1
	else
		fail "neither sha256sum nor shasum is installed" "install one of them; without it nothing can be checked"
	fi
}

# check_signature checks that the list of sums is the one that was signed, where that can be done.
check_signature() {
	if [ -z "$key" ]; then
		say "signature: not checked, since this script names no key"
	elif ! has minisign; then
		say "signature: not checked, since minisign is not installed"
	else
		fetch SHA256SUMS.minisig || fail "there is no signature SHA256SUMS.minisig in $site" "get the release from its own place"
		minisign -Vqm "$work/SHA256SUMS" -x "$work/SHA256SUMS.minisig" -P "$key" >/dev/null 2>&1 ||
			fail "SHA256SUMS is not what the key $key has signed" "do not use these files; tell those who have made the release"
		say "signature: good, of the key $key"
	fi
}

check_sum() {
	want=$(awk -v name="$archive" '$2 == name { print $1 }' "$work/SHA256SUMS")
	[ -n "$want" ] || fail "SHA256SUMS does not list $archive" "choose a release that has it: --version NUMBER"
	got=$(sum_of "$work/$archive")
	[ "$got" = "$want" ] || fail "$archive has the checksum $got, and SHA256SUMS says $want" "do not use this file; fetch it again"
	say "checksum:  good, sha256 $got"
}

# is_hubcli looks into a file and does not start it. A program of Go says of which package it was built.
is_hubcli() {
	[ -f "$1" ] && LC_ALL=C grep -q -e '/cmd/packed' -e '/cmd/hubcli' "$1"
}

# check_target refuses to replace what is not this program.
check_target() {
	if [ -L "$target" ]; then
		fail "$target is a link, so another installer takes care of it" "remove the link, or choose another folder: --prefix FOLDER"
	elif [ -e "$target" ] && ! is_hubcli "$target"; then
		fail "$target is there and is not hubcli, so it stays as it is" "move it away, or choose another folder: --prefix FOLDER"
	fi
}

# put writes the executable in one step for those that start it, once it has been seen to run.
put() {
	mkdir -p "$prefix/bin" || fail "the folder $prefix/bin cannot be made" "choose another one: --prefix FOLDER"
	tar -xzf "$work/$archive" -C "$work" "$folder/hubcli" || fail "$archive holds no $folder/hubcli" "fetch it again"
	part=$target.part.$$
	cp "$work/$folder/hubcli" "$part" || fail "$prefix/bin cannot be written" "choose another folder: --prefix FOLDER"
	chmod 755 "$part"
	said=$("$part" --version 2>&1) || said="it failed: $said"
	case $said in
	"hubcli $version"*) ;;
	*) fail "hubcli of the archive does not run from $prefix/bin as version $version: $said" "choose a folder whose disk runs programs: --prefix FOLDER" ;;
	esac
	mv -f "$part" "$target"
	part=
}

tell() {
	say "wrote:     $target"
	say "           nothing else was changed"
	found=$(command -v hubcli || true)
	case :$PATH: in
	*:"$prefix/bin":*)
		if [ "$found" != "$target" ]; then say "note:      the hubcli in your PATH is another one: $found"; fi
		;;
	*) say "note:      $prefix/bin is not in your PATH. Add it: export PATH=\"$prefix/bin:\$PATH\"" ;;
	esac
	say "next:      go to a repository of yours and call: hubcli init"
	say "to remove: hubcli adapter uninstall --all && hubcli stop; rm \"$target\""
	say "           your data stays; \"hubcli data-root\" names its folder"
}

# All of it is read before any of it runs: half a script does nothing.
main() {
	take_options "$@"
	find_site
	find_platform
	target=$prefix/bin/hubcli
	check_target
	work=$(mktemp -d)
	part=
	trap 'rm -rf "$work" ${part:+"$part"}' EXIT
	trap 'exit 130' INT TERM HUP
	say "hubcli $version for $os/$arch, from $site"
	fetch SHA256SUMS || fail "SHA256SUMS could not be had from $site" "look at the place and the number: --from PLACE --version NUMBER"
	check_signature
	fetch "$archive" || fail "$archive could not be had from $site" "look at the place and the number: --from PLACE --version NUMBER"
	check_sum
	put
	tell
}

main "$@"
