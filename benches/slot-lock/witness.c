/* An observer outside of slot-lock that costs next to nothing: the command that holds a slot locks a
 * file of its own for as long as it lives, and looks who else does. The kernel ends these locks with
 * the process, before anybody can learn of its death, and asking for them disturbs nobody.
 *
 *   witness FOLDER LIMIT MS
 *
 * In FOLDER/$BATON_PROVIDER it locks LIMIT bytes of the file of $BATON_SLOT. It adds a byte to
 * FOLDER/count, and a line to FOLDER/violations when it meets somebody in its own slot, or more than
 * the largest limit of those present allows. (The one of them that came last had all others counted,
 * by its own limit.)
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MOST_SLOTS = 16 };

static void append(const char *folder, const char *name, const char *text)
{
	char path[4096];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	int file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
	if (file < 0 || write(file, text, strlen(text)) < 0)
		_exit(90);
	close(file);
}

static int slot_file(const char *folder, int slot)
{
	const char *provider = getenv("BATON_PROVIDER");
	char path[4096];
	snprintf(path, sizeof path, "%s/%s", folder, provider ? provider : "k");
	mkdir(path, 0700);
	snprintf(path, sizeof path, "%s/%s/%d", folder, provider ? provider : "k", slot);
	return open(path, O_RDWR | O_CREAT, 0600);
}

int main(int count, char **words)
{
	const char *slot_text = getenv("BATON_SLOT");
	char text[256];
	if (count != 4 || !slot_text)
		return 91;
	int slot = atoi(slot_text), limit = atoi(words[2]), present = 1, allowed = limit;
	struct flock own = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = limit};
	if (fcntl(slot_file(words[1], slot), F_SETLK, &own) != 0) {
		snprintf(text, sizeof text, "two in slot %d\n", slot);
		append(words[1], "violations", text);
	}
	for (int other = 0; other < MOST_SLOTS; other++) {
		if (other == slot)
			continue;
		struct flock found = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 0};
		int file = slot_file(words[1], other);
		if (file < 0 || fcntl(file, F_GETLK, &found) != 0)
			return 92;
		close(file);
		if (found.l_type != F_UNLCK) {
			present++;
			allowed = found.l_len > allowed ? (int)found.l_len : allowed;
		}
	}
	if (present > allowed) {
		snprintf(text, sizeof text, "%d of %d\n", present, allowed);
		append(words[1], "violations", text);
	}
	append(words[1], "count", ".");
	long ms = atol(words[3]);
	struct timespec pause = {ms / 1000, ms % 1000 * 1000000L};
	nanosleep(&pause, 0);
	_exit(0);
}
