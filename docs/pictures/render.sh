#!/usr/bin/env bash
# Draws what a reader sees, with a headless Chromium:
#   *.md    comments as GitHub shows them, light and dark (cmark-gfm, GitHub's own style sheet from npm github-markdown-css)
#   *.ansi  screens of a terminal; the width is the number in the name
#   *.html  the HTML report, light and dark
# The pictures of docs/story.md and of docs/results.md come from tests:
#   GOLDGATE_STORY=DIR cargo test --test it -- "story of" && docs/pictures/render.sh DIR docs/pictures/story
#   GOLDGATE_BROKEN=DIR cargo test --test it -- "another argument" && PHONE=yes docs/pictures/render.sh DIR docs/pictures/reading
# The picture in README.md is the top of a comment on three broken cases of an agent with tools. The signs need a font such as Noto Color Emoji.
# usage: [PHONE=yes] render.sh FOLDER FOLDER-OF-PNG
set -euo pipefail
from=${1:?the folder of the texts}
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

# The colours of a terminal as HTML.
screens='import html, re, sys
colours = {"8": "#8b949e", "9": "#ff7b72", "10": "#7ee787", "11": "#e3b341"}
out, style = [], {}
for number, part in enumerate(re.split("\x1b\\[([0-9;]*)m", sys.stdin.read())):
    if number % 2 == 0:
        css = ";".join(f"{key}:{value}" for key, value in style.items())
        out.append(f"<span style=\"{css}\">{html.escape(part)}</span>" if css else html.escape(part))
    elif part in ("", "0"):
        style = {}
    elif part == "1":
        style["font-weight"] = "bold"
    elif part == "39":
        style.pop("color", None)
    elif part.startswith("38;5;"):
        style["color"] = colours[part[5:]]
    else:
        sys.exit(f"unknown style {part}")
sys.stdout.write("".join(out))'

# screen FILE COLUMNS: a terminal with a ruler line at its right edge.
screen() {
    printf '<!doctype html><meta charset=utf-8><title>0</title><style>'
    cat <<STYLE
body { margin: 0; background: #0d1117; color: #e6edf3; }
pre { margin: 0; padding: 12px; width: ${2}ch; border-right: 1px solid #30363d; font: 14px/1.35 "DejaVu Sans Mono", "Liberation Mono", monospace;
      white-space: pre-wrap; overflow-wrap: anywhere; }
</style><pre>
STYLE
    python3 -c "$screens" < "$1"
    printf '</pre><script>document.title = document.querySelector("pre").offsetHeight + " " + document.querySelector("pre").offsetWidth</script>'
}

# shoot PAGE WIDTH PICTURE [FLAG…]: the whole page at this width.
shoot() {
    local height
    height=$(browse "${@:4}" --window-size="$2,800" --dump-dom "file://$1" | sed -n 's/.*<title>\([0-9]*\).*/\1/p' | head -1)
    browse "${@:4}" --window-size="$2,${height:-1200}" --screenshot="$3" "file://$1"
    echo "$3"
}

shopt -s nullglob
for comment in "$from"/*.md; do
    name=$(basename "$comment" .md)
    for shade in light dark; do
        page "$comment" "$shade" > "$work/$name.html"
        shoot "$work/$name.html" 960 "$into/$name-$shade.png"
        # Chromium opens no window below 500 pixels, so a phone is a frame.
        if [[ ${PHONE:-} == yes ]]; then
            printf '<!doctype html><meta charset=utf-8><title>0</title><body style="margin:0"><iframe src="%s.html" style="width:390px;border:0"></iframe><script>const frame = document.querySelector("iframe"); frame.onload = () => { const height = frame.contentDocument.documentElement.scrollHeight; frame.style.height = height + "px"; document.title = height }</script>' "$name" > "$work/phone.html"
            shoot "$work/phone.html" 390 "$into/$name-$shade-phone.png" --allow-file-access-from-files
        fi
    done
done
for text in "$from"/*.ansi; do
    name=$(basename "$text" .ansi)
    columns=${name##*-}
    screen "$text" "$columns" > "$work/screen.html"
    shoot "$work/screen.html" $((columns * 843 / 100 + 30)) "$into/terminal-$columns.png"
done
for report in "$from"/*.html; do
    name=$(basename "$report" .html)
    browse --window-size=1280,1600 --screenshot="$into/report-light.png" "file://$report"
    browse --window-size=1280,1600 --blink-settings=preferredColorScheme=0 --screenshot="$into/report-dark.png" "file://$report"
done
