#!/bin/sh
# The licences of everything in an environment, as a table and a CycloneDX bill of materials: sbom.sh VENV FOLDER
# Below the table are notes on packages without a named licence, or with a proprietary one.
# The tools are installed into an environment of their own, so that they are not listed.
set -eu
venv=$1 folder=$2
tools=$folder/sbom-tools
mkdir -p "$folder"
[ -x "$tools/bin/cyclonedx-py" ] || {
  "$venv/bin/python" -m venv "$tools"
  "$tools/bin/python" -m pip install --quiet --disable-pip-version-check 'cyclonedx-bom>=7' 'pip-licenses>=5'
}
"$tools/bin/pip-licenses" --python "$venv/bin/python" --format markdown --order license | tee "$folder/licences.md"
"$venv/bin/python" "$(dirname "$0")/licence_notes.py" | tee -a "$folder/licences.md"
"$tools/bin/cyclonedx-py" environment --output-reproducible --output-file "$folder/sbom.json" "$venv/bin/python"
echo "Written: $folder/licences.md, $folder/sbom.json (CycloneDX)"
