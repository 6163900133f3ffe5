#!/usr/bin/env bash
# Renders Markdown comments as GitHub shows them, light and dark: cmark-gfm, GitHub's own style sheet (npm github-markdown-css) and a
# headless Chromium. The pictures of docs/story.md come from its test:
#   GOLDGATE_STORY=DIR cargo test --test it -- "story of" && docs/pictures/render.sh DIR docs/pictures/story
# usage: render.sh FOLDER-OF-MD FOLDER-OF-PNG
set -euo pipefail
from=${1:?the folder of the comments}
into=${2:?the folder of the pictures}
tools=${GOLDGATE_TOOLS:-$HOME/.cache/goldgate-tools}/pictures
for program in cmark-gfm chromium npm python3; do
    command -v "$program" > /dev/null || { echo "skipped: the pictures need $program"; exit 0; }
done
[[ -d $tools/node_modules/github-markdown-css ]] ||
    npm install --silent --no-fund --no-audit --ignore-scripts --prefix "$tools" github-markdown-css@5
css=$tools/node_modules/github-markdown-css
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$into"

# cmark-gfm knows no alerts, so a quote that begins with one becomes what GitHub makes of it.
alerts='import re, sys
def alert(match):
    name = match.group(1)
    return f"<div class=\"markdown-alert markdown-alert-{name.lower()}\"><p class=\"markdown-alert-title\">{name.capitalize()}</p><p>{match.group(2)}</div>"
text = sys.stdin.read()
sys.stdout.write(re.sub(r"<blockquote>\s*<p>\[!(\w+)\]\s*(.*?)</blockquote>", alert, text, flags=re.S))'

# page COMMENT SHADE: the whole page.
page() {
    local ink=1f2328 ground=ffffff bar=ddf4ff line=54aeff66
    if [[ $2 == dark ]]; then ink=f0f6fc ground=0d1117 bar=121d2f line=388bfd66; fi
    printf '<!doctype html><meta charset=utf-8><title>0</title><style>'
    cat "$css/github-markdown-$2.css"
    cat <<STYLE
body { margin: 0; padding: 16px; background: #$ground; font: 14px -apple-system, "Segoe UI", "Noto Sans", Helvetica, Arial, sans-serif; }
.box { border: 1px solid #$line; border-radius: 6px; }
.bar { background: #$bar; color: #$ink; padding: 8px 16px; border-bottom: 1px solid #$line; border-radius: 6px 6px 0 0; }
.bar span { border: 1px solid #$line; border-radius: 1em; padding: 0 7px; font-size: 12px; }
.markdown-body { padding: 16px; font-size: 14px; border-radius: 0 0 6px 6px; }
</style><div class=box><div class=bar><b>github-actions</b> <span>bot</span></div><article class=markdown-body>
STYLE
    cmark-gfm --unsafe -e table -e strikethrough -e autolink -e tasklist -e tagfilter "$1" | python3 -c "$alerts"
    printf '</article></div><script>document.title = document.documentElement.offsetHeight</script>'
}

browse() {
    chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$work/profile" "$@" 2> "$work/browser.log"
}

for comment in "$from"/*.md; do
    for shade in light dark; do
        name=$(basename "$comment" .md)-$shade
        page "$comment" "$shade" > "$work/$name.html"
        height=$(browse --window-size=960,800 --dump-dom "file://$work/$name.html" | sed -n 's/.*<title>\([0-9]*\)<.*/\1/p' | head -1)
        browse --window-size="960,${height:-1200}" --screenshot="$into/$name.png" "file://$work/$name.html"
        echo "$into/$name.png"
    done
done
