#!/bin/sh
# rootfs.sh NODE BUNDLE LICENSE OUT: lays out all files of the image below OUT, which is made anew.
set -eu
node=$1 bundle=$2 license=$3 out=$4

rm -rf "$out"
mkdir -p "$out/usr/local/bin" "$out/app" "$out/etc/forbear"

cp "$node" "$out/usr/local/bin/node"
# A sixth of the binary is a table of symbols for debuggers.
if command -v strip >/dev/null; then
  strip --strip-all "$out/usr/local/bin/node"
else
  echo 'rootfs.sh: no strip here (package binutils), so node stays larger than need be' >&2
fi
if [ -f "$(dirname "$node")/../LICENSE" ]; then cp "$(dirname "$node")/../LICENSE" "$out/usr/local/LICENSE"; fi

# Each library where the loader looks for it, and the loader.
ldd "$node" | awk '$2 == "=>" && $3 ~ /^\// { print $3 } $1 ~ /^\/.*ld-/ { print $1 }' | while read -r library; do
  mkdir -p "$out$(dirname "$library")"
  cp -L "$library" "$out$library"
done

# A command by itself, for `kubectl exec POD -c forbear -- forbear …`.
{ echo '#!/usr/local/bin/node' && cat "$bundle"; } >"$out/app/forbear.mjs"
chmod 755 "$out/app/forbear.mjs"
ln -s ../../../app/forbear.mjs "$out/usr/local/bin/forbear"
cp "${bundle%.mjs}.licenses.txt" "$out/app/licenses.txt"
case $(uname -m) in
  x86_64) machine=x64 ;;
  aarch64) machine=arm64 ;;
  *) machine=none ;;
esac
# Without it calls are parked in a Redis only.
level="$(dirname "$bundle")/leveldb-linux-$machine.node"
if [ -f "$level" ]; then cp "$level" "$out/app/"; fi
cp "$license" "$out/app/LICENSE"

echo 'forbear:x:65532:65532:forbear:/:/nonexistent' >"$out/etc/passwd"
echo 'forbear:x:65532:' >"$out/etc/group"
# Without it glibc asks the name service before /etc/hosts, where the kubelet writes hostAliases.
echo 'hosts: files dns' >"$out/etc/nsswitch.conf"

# Whatever the umask and the owner of the sources: root's, and nobody may write.
chmod -R a+rX,go-w "$out"
