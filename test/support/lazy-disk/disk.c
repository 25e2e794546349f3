/* The model of the disk, without FUSE: it lives in memory and is used by one thread. */
#include "disk.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A write, or a new size. */
struct change { struct change *next; int is_size; size_t offset, length; unsigned char bytes[]; };

struct names { struct entry entries[ENTRIES]; };

static struct file **files;
static size_t file_count;
/* The folder as it was synced, and after each change since; the last one is the current state. Like a journal, it
   keeps the changes in their order. */
static struct names *history;
static size_t history_length;
static uint64_t random_state;

static void *enough(void *memory) {
  if (memory == NULL) abort();
  return memory;
}

/* SplitMix64. */
static uint64_t below(uint64_t limit) {
  uint64_t mixed = random_state += 0x9e3779b97f4a7c15;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
  return (mixed ^ (mixed >> 31)) % limit;
}

static void resize(struct content *content, size_t size) {
  if (size > content->room) {
    size_t room = size * 2;
    content->bytes = enough(realloc(content->bytes, room));
    memset(content->bytes + content->room, 0, room - content->room);
    content->room = room;
  }
  if (size < content->size) memset(content->bytes + size, 0, content->size - size);
  content->size = size;
}

/* Applies a part of a write. */
static void put(struct content *content, const struct change *change, size_t from, size_t length) {
  size_t offset = change->offset + from;
  if (offset + length > content->size) resize(content, offset + length);
  memcpy(content->bytes + offset, change->bytes + from, length);
}

static void apply(struct content *content, const struct change *change) {
  if (change->is_size) resize(content, change->offset);
  else put(content, change, 0, change->length);
}

/* Applies a random selection of the sectors of a write that was in progress. */
static void apply_torn(struct content *content, const struct change *change, size_t sector) {
  size_t from, length;
  for (from = 0; from < change->length; from += length) {
    length = sector - (change->offset + from) % sector;
    if (length > change->length - from) length = change->length - from;
    if (below(2) == 0) put(content, change, from, length);
  }
}

static void add_change(struct file *file, int is_size, size_t offset, const void *bytes, size_t length) {
  struct change *change = enough(malloc(sizeof *change + length));
  *change = (struct change){.is_size = is_size, .offset = offset, .length = length};
  if (length > 0) memcpy(change->bytes, bytes, length);
  *file->last = change;
  file->last = &change->next;
  apply(&file->now, change);
  clock_gettime(CLOCK_REALTIME, &file->changed);
}

static void drop_changes(struct file *file) {
  struct change *change, *next;
  for (change = file->first; change != NULL; change = next) {
    next = change->next;
    free(change);
  }
  file->first = NULL;
  file->last = &file->first;
}

static struct names *now(void) { return &history[history_length - 1]; }

static struct names *change_names(void) {
  history = enough(realloc(history, (history_length + 1) * sizeof *history));
  history[history_length] = history[history_length - 1];
  history_length += 1;
  return now();
}

static struct entry *find(struct names *names, const char *name) {
  struct entry *entry;
  for (entry = names->entries; entry < names->entries + ENTRIES; entry += 1)
    if (entry->file != NULL && strcmp(entry->name, name) == 0) return entry;
  return NULL;
}

/* The entry of a name, or a free one for it; NULL if there is no room. */
static struct entry *place(struct names *names, const char *name) {
  struct entry *entry = find(names, name);
  if (entry != NULL || strlen(name) >= NAME_BYTES) return entry;
  for (entry = names->entries; entry < names->entries + ENTRIES; entry += 1)
    if (entry->file == NULL) return entry;
  return NULL;
}

static size_t names_in(const struct names *names, const struct file *file) {
  const struct entry *entry;
  size_t count = 0;
  for (entry = names->entries; entry < names->entries + ENTRIES; entry += 1) count += entry->file == file;
  return count;
}

/* Frees every file that no name refers to, now or after a cut, and that the kernel does not know. */
static void sweep(void) {
  size_t at, step;
  for (at = 0; at < file_count; at += 1) {
    struct file *file = files[at];
    int is_used = file == NULL || file->lookups > 0;
    for (step = 0; !is_used && step < history_length; step += 1) is_used = names_in(&history[step], file) > 0;
    if (is_used) continue;
    drop_changes(file);
    free(file->now.bytes);
    free(file->synced.bytes);
    free(file);
    files[at] = NULL;
  }
}

static void keep_names(size_t step) {
  history[0] = history[step];
  history_length = 1;
  sweep();
}

void make_disk(void) {
  history = enough(calloc(1, sizeof *history));
  history_length = 1;
}

struct file *file_numbered(size_t number) { return files[number]; }

const struct entry *entry_at(size_t at) { return &now()->entries[at]; }

struct file *file_named(const char *name) {
  struct entry *entry = find(now(), name);
  return entry == NULL ? NULL : entry->file;
}

size_t names_of(const struct file *file) { return names_in(now(), file); }

int link_file(struct file *file, const char *name) {
  struct entry *entry;
  if (place(now(), name) == NULL) return 0;
  entry = place(change_names(), name);
  strcpy(entry->name, name);
  entry->file = file;
  return 1;
}

struct file *create_file(const char *name) {
  struct file *file;
  if (place(now(), name) == NULL) return NULL;
  file = enough(calloc(1, sizeof *file));
  file->number = file_count;
  file->last = &file->first;
  clock_gettime(CLOCK_REALTIME, &file->changed);
  files = enough(realloc(files, (file_count + 1) * sizeof *files));
  files[file_count] = file;
  file_count += 1;
  link_file(file, name);
  return file;
}

int rename_file(const char *from, const char *to) {
  struct file *file = file_named(from);
  struct names *names;
  struct entry *entry;
  if (place(now(), to) == NULL) return 0;
  names = change_names();
  find(names, from)->file = NULL;
  entry = place(names, to);
  strcpy(entry->name, to);
  entry->file = file;
  return 1;
}

void unlink_file(const char *name) { find(change_names(), name)->file = NULL; }

void write_file(struct file *file, size_t offset, const void *bytes, size_t length) {
  add_change(file, 0, offset, bytes, length);
}

void resize_file(struct file *file, size_t size) { add_change(file, 1, size, NULL, 0); }

void sync_file(struct file *file) {
  const struct change *change;
  for (change = file->first; change != NULL; change = change->next) apply(&file->synced, change);
  drop_changes(file);
}

void sync_folder(void) { keep_names(history_length - 1); }

void forget_file(struct file *file, uint64_t lookups) {
  file->lookups -= lookups;
  if (file->lookups == 0) sweep();
}

/* Half of the cuts leave nothing that was not synced. */
void lose_unsynced(uint64_t seed) {
  int keeps_some;
  size_t sector, step, at;
  random_state = seed;
  keeps_some = below(2) == 0;
  sector = below(2) == 0 ? 512 : 4096;
  step = keeps_some ? below(history_length) : 0;
  printf("%zu", history_length - 1 - step);
  for (at = 0; at < file_count; at += 1)
    if (files[at] != NULL) files[at]->lookups = 0;
  keep_names(step);
  for (at = 0; at < ENTRIES; at += 1) {
    struct file *file = history[0].entries[at].file;
    struct change *change;
    size_t lost = 0;
    if (file == NULL) continue;
    for (change = file->first; change != NULL; change = change->next) {
      int is_kept = keeps_some && below(2) == 0, is_torn = !change->is_size && below(4) == 0;
      if (is_kept && !is_torn) apply(&file->synced, change);
      else lost += 1;
      if (is_kept && is_torn) apply_torn(&file->synced, change, sector);
    }
    drop_changes(file);
    resize(&file->now, 0);
    resize(&file->now, file->synced.size);
    if (file->synced.size > 0) memcpy(file->now.bytes, file->synced.bytes, file->synced.size);
    printf(" %s %zu", history[0].entries[at].name, lost);
  }
  printf("\n");
}
