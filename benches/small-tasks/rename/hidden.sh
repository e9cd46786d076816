! grep -rnw calc shop --include='*.py'
