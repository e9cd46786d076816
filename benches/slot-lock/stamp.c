/* Says when it starts and ends, for measuring the hand-over of a slot.
 *
 *   stamp FILE MS   appends "START END" in nanoseconds, the end taken right before it ends
 *   stamp start     prints how long its own start takes
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

static int started(const char *self)
{
	int ends[2];
	char text[64] = "";
	if (pipe(ends) != 0)
		return 1;
	long before = now();
	if (vfork() == 0) {
		dup2(ends[1], 1);
		execl(self, self, (char *)0);
		_exit(1);
	}
	wait(0);
	if (read(ends[0], text, sizeof text - 1) <= 0)
		return 1;
	printf("%ld\n", atol(text) - before);
	return 0;
}

int main(int count, char **words)
{
	char text[64];
	long start = now();
	if (count == 2)
		return started(words[0]);
	if (count == 1) {
		int length = sprintf(text, "%ld\n", start);
		return write(1, text, length) != length;
	}
	int file = open(words[1], O_WRONLY | O_CREAT | O_APPEND, 0600);
	long ms = atol(words[2]);
	struct timespec pause = {ms / 1000, ms % 1000 * 1000000L};
	nanosleep(&pause, 0);
	int length = sprintf(text, "%ld %ld\n", start, now());
	_exit(write(file, text, length) != length);
}
