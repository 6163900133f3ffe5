#!/usr/bin/env python3
"""A hook of the git server that refuses what GitHub refuses.

- The workflow's own token may write no ref whose workflow files are on no branch yet, or move one to other workflow files
  (mkb79/Audible#882, Tracer-Cloud/opensre#3594); no permission of a workflow changes that (github/docs#41140).
- A tag vX.Y.Z never moves (a ruleset that the release page recommends).
"""

import os
import re
import subprocess
import sys

NONE = "0" * 40


def git(*arguments):
    return subprocess.run(["git", *arguments], stdout=subprocess.PIPE, text=True, check=False).stdout.strip()


def workflows(commit):
    return git("rev-parse", "--quiet", "--verify", f"{commit}:.github/workflows")


for line in sys.stdin:
    old, new, ref = line.split()
    if re.fullmatch(r"refs/tags/v\d+\.\d+\.\d+", ref) and old != NONE:
        sys.exit(f"refusing to move the protected tag {ref}")
    if new == NONE or os.environ.get("REMOTE_USER") == "maintainer":
        continue
    heads = git("for-each-ref", "--format=%(objectname)", "refs/heads").split()
    known = [workflows(head) for head in heads] if old == NONE else [workflows(old)]
    if workflows(new) not in known:
        sys.exit("refusing to allow a GitHub App to create or update workflow `.github/workflows/ci.yml` without `workflows` permission")
