/* A preloaded library that allows unsynced writes to be taken back. Beside each database file, in FILE.unsynced, it records the bytes
   that every write replaced and the bytes that it wrote, and drops these notes when the file is synced. test/support/power-cut.ts
   takes writes back. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#define SUFFIX ".unsynced"

#define REAL(type, name, parameters) \
  static type(*real) parameters; \
  if (real == NULL) real = (type(*) parameters)dlsym(RTLD_NEXT, name)

/* The header of a note; the replaced bytes and the written bytes follow it. */
struct note {
  uint64_t offset;
  uint64_t size_before;
  uint64_t size_after;
  uint64_t old_length;
  uint64_t new_length;
};

static ssize_t real_pread(int descriptor, void *bytes, size_t length, off64_t at) {
  REAL(ssize_t, "pread64", (int, void *, size_t, off64_t));
  return real(descriptor, bytes, length, at);
}

static int ends_with(const char *text, const char *end) {
  size_t length = strlen(text), wanted = strlen(end);
  return length >= wanted && strcmp(text + length - wanted, end) == 0;
}

/* The path of the notes of a database file; 0 for every other file. The index of a write-ahead log is never synced:
   it is rebuilt. */
static int notes_of(int descriptor, char *path, size_t room) {
  char link[64];
  ssize_t length;
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  length = readlink(link, path, room - sizeof SUFFIX);
  if (length < 0) return 0;
  path[length] = 0;
  if (!ends_with(path, ".db") && !ends_with(path, ".db-wal") && !ends_with(path, ".db-journal")) return 0;
  strcat(path, SUFFIX);
  return 1;
}

/* Appends a note with a single writev, so that the notes of several processes do not mix. */
static void note_change(int descriptor, uint64_t offset, uint64_t size_after, const void *bytes, size_t length) {
  char path[4096];
  struct stat found;
  struct note note;
  struct iovec parts[3];
  uint64_t old_end;
  void *old = NULL;
  int notes, saved = errno;
  if (notes_of(descriptor, path, sizeof path) && fstat(descriptor, &found) == 0) {
    note.offset = offset;
    note.size_before = (uint64_t)found.st_size;
    note.size_after = size_after > note.size_before || length == 0 ? size_after : note.size_before;
    old_end = length == 0 ? note.size_before : offset + length;
    if (old_end > note.size_before) old_end = note.size_before;
    note.old_length = old_end > offset ? old_end - offset : 0;
    note.new_length = length;
    if (note.old_length > 0) {
      old = malloc(note.old_length);
      if (old == NULL || real_pread(descriptor, old, note.old_length, (off64_t)offset) != (ssize_t)note.old_length) abort();
    }
    parts[0].iov_base = &note, parts[0].iov_len = sizeof note;
    parts[1].iov_base = old, parts[1].iov_len = note.old_length;
    parts[2].iov_base = (void *)bytes, parts[2].iov_len = length;
    notes = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (notes < 0 || writev(notes, parts, 3) < 0) abort();
    close(notes);
    free(old);
  }
  errno = saved;
}

static int forget(int descriptor, int result) {
  char path[4096];
  int saved = errno;
  if (result == 0 && notes_of(descriptor, path, sizeof path)) truncate(path, 0);
  errno = saved;
  return result;
}

int fsync(int descriptor) {
  REAL(int, "fsync", (int));
  return forget(descriptor, real(descriptor));
}

int fdatasync(int descriptor) {
  REAL(int, "fdatasync", (int));
  return forget(descriptor, real(descriptor));
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t length, off64_t at) {
  REAL(ssize_t, "pwrite64", (int, const void *, size_t, off64_t));
  note_change(descriptor, (uint64_t)at, (uint64_t)at + length, bytes, length);
  return real(descriptor, bytes, length, at);
}

ssize_t pwrite(int descriptor, const void *bytes, size_t length, off_t at) { return pwrite64(descriptor, bytes, length, at); }

ssize_t write(int descriptor, const void *bytes, size_t length) {
  off64_t at;
  REAL(ssize_t, "write", (int, const void *, size_t));
  at = lseek64(descriptor, 0, SEEK_CUR);
  if (at >= 0 && length > 0) note_change(descriptor, (uint64_t)at, (uint64_t)at + length, bytes, length);
  return real(descriptor, bytes, length);
}

int ftruncate64(int descriptor, off64_t size) {
  REAL(int, "ftruncate64", (int, off64_t));
  note_change(descriptor, (uint64_t)size, (uint64_t)size, NULL, 0);
  return real(descriptor, size);
}

int ftruncate(int descriptor, off_t size) { return ftruncate64(descriptor, size); }
