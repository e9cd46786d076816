#!/bin/sh
# Usage: backup.sh FROM TO
for f in $1/*.txt; do
    cp $f $2/
done
