/* A disk with one folder: its current content, the part of it that is synced, and what a power cut leaves. */
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#define NAME_BYTES 64
#define ENTRIES 32

/* Bytes from `size` up to `room` are 0. */
struct content { unsigned char *bytes; size_t size, room; };

struct change;

struct file {
  /* Counts from 0, and is never reused. */
  size_t number;
  mode_t mode;
  uid_t owner;
  gid_t group;
  struct timespec changed;
  /* How often the kernel was told of the file; the file is kept while the kernel knows it. */
  uint64_t lookups;
  struct content now, synced;
  /* The changes that lead from `synced` to `now`, in order. */
  struct change *first, **last;
};

struct entry { char name[NAME_BYTES]; struct file *file; };

void make_disk(void);

struct file *file_numbered(size_t number);

/* The current folder; `file` is NULL if an entry is free. */
const struct entry *entry_at(size_t at);
/* NULL if there is no such name. */
struct file *file_named(const char *name);
size_t names_of(const struct file *file);

/* NULL if the folder has no room. */
struct file *create_file(const char *name);
/* Gives the file another name. False if the folder has no room. */
int link_file(struct file *file, const char *name);
/* False if the folder has no room. */
int rename_file(const char *from, const char *to);
void unlink_file(const char *name);
void write_file(struct file *file, size_t offset, const void *bytes, size_t length);
void resize_file(struct file *file, size_t size);

void sync_file(struct file *file);
void sync_folder(void);
void forget_file(struct file *file, uint64_t lookups);

/* Prints how many changes of the folder were lost, and for each remaining file how many writes were lost. */
void lose_unsynced(uint64_t seed);
