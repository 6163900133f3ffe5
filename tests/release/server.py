"""GitHub's side of a release on this machine: a public git repository over HTTP that takes pushes with a token, and files to download.

usage: server.py PORT ROOT     ROOT/git holds bare repositories, ROOT/files what is served below /, ROOT/tokens lines "TOKEN NAME"
"""

import base64
import http.server
import os
import pathlib
import subprocess
import sys

port, root = int(sys.argv[1]), pathlib.Path(sys.argv[2])


class Handler(http.server.BaseHTTPRequestHandler):
    def user(self):
        """The name of the token that the request carries, or None."""
        kind, _, value = self.headers.get("authorization", "").partition(" ")
        password = base64.b64decode(value).decode().partition(":")[2] if kind.lower() == "basic" else ""
        known = dict(line.split() for line in (root / "tokens").read_text().splitlines())
        return known.get(password)

    def answer(self, code, body=b"", headers=()):
        self.send_response(code)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def git(self, path, query):
        user = self.user()
        if "git-receive-pack" in path + query and user is None:
            return self.answer(401, headers=[("WWW-Authenticate", 'Basic realm="git"')])
        if self.headers.get("transfer-encoding", "").lower() == "chunked":
            body = b""
            while size := int(self.rfile.readline().split(b";")[0], 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
        environment = {
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": str(root / "git"),
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("content-type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("content-encoding", ""),
            "GIT_PROTOCOL": self.headers.get("git-protocol", ""),
            "REMOTE_ADDR": "127.0.0.1",
        }
        if user is not None:
            environment["REMOTE_USER"] = user
        output = subprocess.run(["git", "http-backend"], input=body, env=environment, stdout=subprocess.PIPE, check=False).stdout
        head, _, body = output.partition(b"\r\n\r\n")
        fields = [line.split(": ", 1) for line in head.decode().split("\r\n")]
        code = next((int(value.split()[0]) for name, value in fields if name.lower() == "status"), 200)
        return self.answer(code, body, [field for field in fields if field[0].lower() != "status"])

    def do_GET(self):
        path, _, query = self.path.partition("?")
        if ".git/" in path:
            return self.git(path, query)
        file = (root / "files" / path.lstrip("/")).resolve()
        if not file.is_relative_to((root / "files").resolve()) or not file.is_file():
            return self.answer(404)
        return self.answer(200, file.read_bytes())

    do_POST = do_GET

    def log_message(self, *_):
        pass


http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()
