"""Answers `npm install` as a registry does, from a folder of packed packages.

usage: registry.py FOLDER     prints its address, and serves until it is stopped"""

import base64
import hashlib
import http.server
import json
import pathlib
import sys
import tarfile
import urllib.parse

packages = {}
for path in sorted(pathlib.Path(sys.argv[1]).glob("*.tgz")):
    with tarfile.open(path) as archive:
        manifest = json.load(archive.extractfile("package/package.json"))
    packages[manifest["name"]] = (manifest, path)


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        name = urllib.parse.unquote(self.path[1:])
        file = next((path for _, path in packages.values() if name == path.name), None)
        if file:
            return self.answer(200, file.read_bytes())
        if name not in packages:
            return self.answer(404, b"{}")
        manifest, path = packages[name]
        sum = base64.b64encode(hashlib.sha512(path.read_bytes()).digest()).decode()
        dist = {"tarball": f"http://{self.headers['host']}/{path.name}", "integrity": f"sha512-{sum}"}
        version = manifest["version"]
        document = {"name": name, "dist-tags": {"latest": version}, "versions": {version: manifest | {"dist": dist}}}
        self.answer(200, json.dumps(document).encode())

    def answer(self, code, body):
        self.send_response(code)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(f"http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
