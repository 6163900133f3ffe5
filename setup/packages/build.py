"""Builds the packages for PyPI and npm from the archives of a release: each has the very binary of its archive. The same archives give the
same bytes. Reads the version in Cargo.toml, and GITHUB_SERVER_URL and GITHUB_REPOSITORY for the links to the sources, if they are set.

usage: build.py ARCHIVES OUT     writes OUT/pypi/*.whl, OUT/npm/*.tgz and OUT/SHA256SUMS"""

import base64
import gzip
import hashlib
import io
import json
import os
import pathlib
import sys
import tarfile
import tomllib
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
LICENSES = ["LICENSE-APACHE", "LICENSE-MIT"]
# The tags of a wheel, and `process.platform` and `process.arch` of Node. The Linux binaries are static, so any libc will do.
SYSTEMS = {
    "x86_64-linux": ("manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64", "linux", "x64"),
    "aarch64-linux": ("manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64", "linux", "arm64"),
    "aarch64-macos": ("macosx_11_0_arm64", "darwin", "arm64"),
    "x86_64-macos": ("macosx_10_12_x86_64", "darwin", "x64"),
}
# Where Python's prefix has what a shell and `man` look for.
SHARED = {
    "completions/goldgate.bash": "share/bash-completion/completions/goldgate",
    "completions/_goldgate": "share/zsh/site-functions/_goldgate",
    "completions/goldgate.fish": "share/fish/vendor_completions.d/goldgate.fish",
}


def sources():
    server, repository = os.environ.get("GITHUB_SERVER_URL"), os.environ.get("GITHUB_REPOSITORY")
    return f"{server}/{repository}" if server and repository else None


def read_archive(path):
    with tarfile.open(path) as archive:
        return {file.name: archive.extractfile(file).read() for file in archive if file.isfile()}


def digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def wheel(package, tags, files, out):
    """A wheel with the program in `scripts`, which the installer puts on the PATH."""
    name, version = package["name"], package["version"]
    data, about = f"{name}-{version}.data", f"{name}-{version}.dist-info"
    lines = ["Metadata-Version: 2.4", f"Name: {name}", f"Version: {version}", f"Summary: {package['description']}"]
    lines += [f"License-Expression: {package['license']}"]
    lines += [f"License-File: {file}" for file in LICENSES]
    lines += [f"Project-URL: Source, {sources()}"] if sources() else []
    lines += [f"Keywords: {','.join(package['keywords'])}", "Requires-Python: >=3.8", "Description-Content-Type: text/markdown"]
    metadata = "\n".join(lines) + "\n\n" + (HERE / "README.md").read_text()
    form = "".join(f"Tag: py3-none-{tag}\n" for tag in tags.split("."))
    entries = {f"{data}/scripts/goldgate": files["goldgate"]}
    entries |= {f"{data}/data/{to}": files[file] for file, to in SHARED.items()}
    entries |= {f"{data}/data/share/man/man1/{file[4:]}": files[file] for file in sorted(files) if file.startswith("man/")}
    entries |= {f"{about}/licenses/{file}": (ROOT / file).read_bytes() for file in LICENSES}
    entries[f"{about}/METADATA"] = metadata.encode()
    entries[f"{about}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: goldgate\nRoot-Is-Purelib: false\n{form}".encode()
    record = "".join(f"{path},sha256={digest(data)},{len(data)}\n" for path, data in entries.items())
    entries[f"{about}/RECORD"] = f"{record}{about}/RECORD,,\n".encode()
    with zipfile.ZipFile(out / f"{name}-{version}-py3-none-{tags}.whl", "w") as archive:
        for path, data in entries.items():
            info = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
            info.create_system, info.compress_type = 3, zipfile.ZIP_DEFLATED
            info.external_attr = (0o100755 if "/scripts/" in path else 0o100644) << 16
            archive.writestr(info, data)


def npm_package(manifest, files, out):
    """A package as `npm pack` makes it, of `files` by path."""
    name = manifest["name"].removeprefix("@").replace("/", "-")
    files = {"package.json": (json.dumps(manifest, indent=2) + "\n").encode()} | files
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path, data in files.items():
            info = tarfile.TarInfo(f"package/{path}")
            # The time that `npm pack` gives to every file; some tools refuse the year 1970.
            info.size, info.mtime, info.mode = len(data), 499162500, 0o755 if path in ("goldgate", "goldgate.js") else 0o644
            archive.addfile(info, io.BytesIO(data))
    (out / f"{name}-{manifest['version']}.tgz").write_bytes(gzip.compress(raw.getvalue(), mtime=0))


def npm_manifest(package, name, **more):
    manifest = {"name": name, "version": package["version"], "description": package["description"], "license": package["license"]}
    if sources():
        manifest["repository"] = {"type": "git", "url": f"git+{sources()}.git"}
    return manifest | more


def main(archives, out):
    package = tomllib.loads((ROOT / "Cargo.toml").read_text())["package"]
    pypi, npm = pathlib.Path(out, "pypi"), pathlib.Path(out, "npm")
    texts = {file: (ROOT / file).read_bytes() for file in LICENSES} | {"README.md": (HERE / "README.md").read_bytes()}
    systems = []
    for folder in (pypi, npm):
        folder.mkdir(parents=True)
    for path in sorted(pathlib.Path(archives).glob("goldgate-*.tar.gz")):
        tags, platform, arch = SYSTEMS[path.name.removeprefix("goldgate-").removesuffix(".tar.gz")]
        files = read_archive(path)
        wheel(package, tags, files, pypi)
        systems.append(f"@goldgate/{platform}-{arch}")
        npm_package(npm_manifest(package, systems[-1], os=[platform], cpu=[arch]), texts | {"goldgate": files["goldgate"]}, npm)
    if not systems:
        sys.exit(f"{archives} has no goldgate-*.tar.gz")
    own = {"bin": {"goldgate": "goldgate.js"}, "engines": {"node": ">=18"}}
    own["optionalDependencies"] = {name: package["version"] for name in sorted(systems)}
    npm_package(npm_manifest(package, "goldgate", **own), texts | {"goldgate.js": (HERE / "goldgate.js").read_bytes()}, npm)
    built = sorted([*pypi.iterdir(), *npm.iterdir()])
    sums = "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(out)}\n" for path in built)
    pathlib.Path(out, "SHA256SUMS").write_text(sums)
    for path in built:
        print(f"{path.stat().st_size:>10,} {path.relative_to(out)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
