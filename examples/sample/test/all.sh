status=0
for test in clip slug pages; do
    sh "test/$test.sh" || status=1
done
exit $status
