#!/usr/bin/env bash
# docs.sh SITE: builds the site from docs/ into SITE and checks that its pages load nothing
# from elsewhere. PYTHON has what docs/requirements.txt names; without it a virtual
# environment is made beside SITE.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
site=$1
python=${PYTHON:-python3}
if ! "$python" -c 'import sphinx, myst_parser, furo, sphinx_copybutton, latex2mathml' 2>/dev/null; then
	[ -d "$site.venv" ] || "$python" -m venv "$site.venv"
	python=$site.venv/bin/python
	"$python" -m pip install -q -r "$root/docs/requirements.txt"
fi
rm -rf "$site"
"$python" -m sphinx -q -W --keep-going -c "$root/docs/site" "$root/docs" "$site"
# What a browser fetches by itself: scripts, styles, pictures, fonts, frames. Links may lead anywhere.
loads='<(script|img|iframe|source|video|audio|embed|object)[^>]*(src|srcset|data)="(https?:)?//|<link[^>]*rel="(stylesheet|preload|icon|preconnect|dns-prefetch|modulepreload)"[^>]*href="(https?:)?//|<link[^>]*href="(https?:)?//[^"]*"[^>]*rel="(stylesheet|preload|icon|preconnect)"'
if grep -rEn --include='*.html' "$loads" "$site" || grep -rEn --include='*.css' '(url\(|@import) *["'\'']?(https?:)?//' "$site"; then
	echo "docs: the lines above load something from elsewhere"
	exit 1
fi
echo "docs: $(find "$site" -name '*.html' | wc -l) pages in $site, which load nothing from elsewhere: open $site/index.html"
