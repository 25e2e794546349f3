/*
 * A preloaded library that makes a process see a bad machine: its disk claims at once that a page is safe, is on
 * another machine, and is full.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/statfs.h>

#define NFS_SUPER_MAGIC 0x6969

int fsync(int descriptor) {
  (void)descriptor;
  return 0;
}

int statfs(const char *path, struct statfs *found) {
  static int (*real)(const char *, struct statfs *);
  int result;
  if (real == 0) real = (int (*)(const char *, struct statfs *))dlsym(RTLD_NEXT, "statfs");
  result = real(path, found);
  found->f_type = NFS_SUPER_MAGIC;
  found->f_bavail = 1;
  return result;
}

int statfs64(const char *path, struct statfs64 *found) {
  static int (*real)(const char *, struct statfs64 *);
  int result;
  if (real == 0) real = (int (*)(const char *, struct statfs64 *))dlsym(RTLD_NEXT, "statfs64");
  result = real(path, found);
  found->f_type = NFS_SUPER_MAGIC;
  found->f_bavail = 1;
  return result;
}
