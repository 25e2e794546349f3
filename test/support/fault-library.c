/* A preloaded library that makes the system calls on an SQLite database fail, deletes the database during one, or
   makes every file system look like NFS. The file that FAULT_FILE names says which. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Whether the control file contains the name of the fault. */
static int is_wanted(const char *fault) {
  static ssize_t (*real_read)(int, void *, size_t);
  const char *control = getenv("FAULT_FILE");
  char wanted[256];
  ssize_t length;
  int file, saved = errno;
  if (control == NULL) return 0;
  if (real_read == NULL) real_read = (ssize_t (*)(int, void *, size_t))dlsym(RTLD_NEXT, "read");
  file = open(control, O_RDONLY);
  if (file < 0) { errno = saved; return 0; }
  length = real_read(file, wanted, sizeof wanted - 1);
  close(file);
  errno = saved;
  if (length <= 0) return 0;
  wanted[length] = 0;
  return strstr(wanted, fault) != NULL;
}

/* Whether `call` must fail on this descriptor: the control file contains the name of the call, and the descriptor
   belongs to a database. */
static int fails(const char *call, int descriptor) {
  char link[64], path[4096];
  ssize_t length;
  int saved = errno;
  if (getenv("FAULT_FILE") == NULL) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  length = readlink(link, path, sizeof path - 1);
  errno = saved;
  if (length < 0) return 0;
  path[length] = 0;
  return strstr(path, ".db") != NULL && is_wanted(call);
}

#define REAL(type, name, parameters) \
  static type(*real) parameters; \
  if (real == NULL) real = (type(*) parameters)dlsym(RTLD_NEXT, name)
#define FAIL(call, descriptor, number) \
  if (fails(call, descriptor)) { errno = number; return -1; }

/* Deletes the database while its write-ahead log is being synced, which a commit waits for. */
static void delete_if_told(int descriptor) {
  char link[64], path[4096];
  char *suffix;
  ssize_t length;
  if (!fails("delete", descriptor)) return;
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  length = readlink(link, path, sizeof path - 1);
  if (length < 0) return;
  path[length] = 0;
  suffix = strstr(path, "-wal");
  if (suffix == NULL) return;
  *suffix = 0;
  unlink(path);
}

int fsync(int descriptor) {
  REAL(int, "fsync", (int));
  FAIL("fsync", descriptor, EIO);
  delete_if_told(descriptor);
  return real(descriptor);
}

int fdatasync(int descriptor) {
  REAL(int, "fdatasync", (int));
  FAIL("fsync", descriptor, EIO);
  delete_if_told(descriptor);
  return real(descriptor);
}

ssize_t write(int descriptor, const void *bytes, size_t length) {
  REAL(ssize_t, "write", (int, const void *, size_t));
  FAIL("write", descriptor, EIO);
  FAIL("full", descriptor, ENOSPC);
  FAIL("quota", descriptor, EDQUOT);
  return real(descriptor, bytes, length);
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t length, off64_t at) {
  REAL(ssize_t, "pwrite64", (int, const void *, size_t, off64_t));
  FAIL("write", descriptor, EIO);
  FAIL("full", descriptor, ENOSPC);
  FAIL("quota", descriptor, EDQUOT);
  return real(descriptor, bytes, length, at);
}

ssize_t pwrite(int descriptor, const void *bytes, size_t length, off_t at) { return pwrite64(descriptor, bytes, length, at); }

ssize_t pread64(int descriptor, void *bytes, size_t length, off64_t at) {
  REAL(ssize_t, "pread64", (int, void *, size_t, off64_t));
  FAIL("read", descriptor, EIO);
  return real(descriptor, bytes, length, at);
}

ssize_t pread(int descriptor, void *bytes, size_t length, off_t at) { return pread64(descriptor, bytes, length, at); }

ssize_t read(int descriptor, void *bytes, size_t length) {
  REAL(ssize_t, "read", (int, void *, size_t));
  FAIL("read", descriptor, EIO);
  return real(descriptor, bytes, length);
}

int statfs64(const char *path, struct statfs64 *found) {
  int result;
  REAL(int, "statfs64", (const char *, struct statfs64 *));
  result = real(path, found);
  if (result == 0 && is_wanted("network")) found->f_type = 0x6969;
  return result;
}

int statfs(const char *path, struct statfs *found) {
  int result;
  REAL(int, "statfs", (const char *, struct statfs *));
  result = real(path, found);
  if (result == 0 && is_wanted("network")) found->f_type = 0x6969;
  return result;
}
