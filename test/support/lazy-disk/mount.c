/* Mounts a lazy disk as a FUSE file system: `mount FOLDER`, until stdin ends. A line `cut SEED` on stdin cuts its power: pending calls
   get no answer, and the disk is mounted again with what the cut left of it. */
#define FUSE_USE_VERSION 314
#include "disk.h"
#include <errno.h>
#include <fcntl.h>
#include <fuse_lowlevel.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK_BYTES 4096
#define DISK_BLOCKS (1 << 18)
/* As long as a slow disk needs, so that the power usually goes during a sync. */
#define SYNC_MS 5
/* Nobody else changes the disk, so the kernel need not ask again. */
#define CACHE_SECONDS 3600

/* The kernel knows the folder as FUSE_ROOT_ID, and the files by the numbers after it. */
static struct file *file_of(fuse_ino_t inode) { return file_numbered(inode - FUSE_ROOT_ID - 1); }

static struct stat stat_of(const struct file *file) {
  return (struct stat){
    .st_ino = file->number + FUSE_ROOT_ID + 1, .st_mode = file->mode, .st_nlink = (nlink_t)names_of(file), .st_uid = file->owner,
    .st_gid = file->group, .st_size = (off_t)file->now.size, .st_blocks = (blkcnt_t)((file->now.size + 511) / 512),
    .st_atim = file->changed, .st_mtim = file->changed, .st_ctim = file->changed};
}

static struct fuse_entry_param entry_of(struct file *file) {
  file->lookups += 1;
  return (struct fuse_entry_param){.ino = file->number + FUSE_ROOT_ID + 1, .attr = stat_of(file), .attr_timeout = CACHE_SECONDS,
    .entry_timeout = CACHE_SECONDS};
}

/* False if the power goes before everything is on the disk. */
static int has_time_to_sync(void) {
  struct pollfd command = {.fd = STDIN_FILENO, .events = POLLIN};
  return poll(&command, 1, SYNC_MS) == 0;
}

static void on_init(void *data, struct fuse_conn_info *connection) {
  (void)data;
  /* Mapped pages must stay valid whenever a file was changed. */
  connection->want &= ~(unsigned)FUSE_CAP_AUTO_INVAL_DATA;
}

static void on_lookup(fuse_req_t request, fuse_ino_t folder, const char *name) {
  struct file *file = file_named(name);
  struct fuse_entry_param found;
  (void)folder;
  if (file == NULL) {
    fuse_reply_err(request, ENOENT);
    return;
  }
  found = entry_of(file);
  fuse_reply_entry(request, &found);
}

static void on_forget(fuse_req_t request, fuse_ino_t inode, uint64_t lookups) {
  if (inode != FUSE_ROOT_ID) forget_file(file_of(inode), lookups);
  fuse_reply_none(request);
}

static void on_getattr(fuse_req_t request, fuse_ino_t inode, struct fuse_file_info *open) {
  struct stat found = {.st_ino = inode, .st_mode = S_IFDIR | 0700, .st_nlink = 2, .st_uid = getuid(), .st_gid = getgid()};
  (void)open;
  if (inode != FUSE_ROOT_ID) found = stat_of(file_of(inode));
  fuse_reply_attr(request, &found, CACHE_SECONDS);
}

static void on_setattr(fuse_req_t request, fuse_ino_t inode, struct stat *wanted, int what, struct fuse_file_info *open) {
  struct file *file;
  if (inode == FUSE_ROOT_ID) {
    fuse_reply_err(request, EPERM);
    return;
  }
  file = file_of(inode);
  if (what & FUSE_SET_ATTR_SIZE) resize_file(file, (size_t)wanted->st_size);
  if (what & FUSE_SET_ATTR_MODE) file->mode = wanted->st_mode;
  if (what & FUSE_SET_ATTR_UID) file->owner = wanted->st_uid;
  if (what & FUSE_SET_ATTR_GID) file->group = wanted->st_gid;
  on_getattr(request, inode, open);
}

static void on_open(fuse_req_t request, fuse_ino_t inode, struct fuse_file_info *open) {
  if (open->flags & O_TRUNC) resize_file(file_of(inode), 0);
  open->keep_cache = 1;
  fuse_reply_open(request, open);
}

static void on_create(fuse_req_t request, fuse_ino_t folder, const char *name, mode_t mode, struct fuse_file_info *open) {
  struct file *file = create_file(name);
  struct fuse_entry_param made;
  (void)folder;
  if (file == NULL) {
    fuse_reply_err(request, ENOSPC);
    return;
  }
  file->mode = S_IFREG | (mode & 07777);
  file->owner = fuse_req_ctx(request)->uid;
  file->group = fuse_req_ctx(request)->gid;
  made = entry_of(file);
  open->keep_cache = 1;
  fuse_reply_create(request, &made, open);
}

static void on_read(fuse_req_t request, fuse_ino_t inode, size_t length, off_t at, struct fuse_file_info *open) {
  const struct content *content = &file_of(inode)->now;
  size_t from = (size_t)at < content->size ? (size_t)at : content->size, left = content->size - from;
  (void)open;
  fuse_reply_buf(request, left > 0 ? (const char *)content->bytes + from : NULL, length < left ? length : left);
}

static void on_write(fuse_req_t request, fuse_ino_t inode, const char *bytes, size_t length, off_t at, struct fuse_file_info *open) {
  (void)open;
  write_file(file_of(inode), (size_t)at, bytes, length);
  fuse_reply_write(request, length);
}

static void on_fsync(fuse_req_t request, fuse_ino_t inode, int only_data, struct fuse_file_info *open) {
  int is_done = has_time_to_sync();
  (void)only_data, (void)open;
  if (is_done) sync_file(file_of(inode));
  fuse_reply_err(request, is_done ? 0 : EIO);
}

static void on_fsyncdir(fuse_req_t request, fuse_ino_t folder, int only_data, struct fuse_file_info *open) {
  int is_done = has_time_to_sync();
  (void)folder, (void)only_data, (void)open;
  if (is_done) sync_folder();
  fuse_reply_err(request, is_done ? 0 : EIO);
}

static void on_link(fuse_req_t request, fuse_ino_t inode, fuse_ino_t folder, const char *name) {
  struct file *file = file_of(inode);
  struct fuse_entry_param linked;
  (void)folder;
  if (!link_file(file, name)) {
    fuse_reply_err(request, ENOSPC);
    return;
  }
  linked = entry_of(file);
  fuse_reply_entry(request, &linked);
}

static void on_unlink(fuse_req_t request, fuse_ino_t folder, const char *name) {
  (void)folder;
  unlink_file(name);
  fuse_reply_err(request, 0);
}

static void on_rename(fuse_req_t request, fuse_ino_t from_folder, const char *from, fuse_ino_t to_folder, const char *to, unsigned flags) {
  (void)from_folder, (void)to_folder;
  if (flags != 0) fuse_reply_err(request, EINVAL);
  else fuse_reply_err(request, rename_file(from, to) ? 0 : ENOSPC);
}

static void on_readdir(fuse_req_t request, fuse_ino_t folder, size_t room, off_t at, struct fuse_file_info *open) {
  char listed[BLOCK_BYTES];
  size_t used = 0;
  (void)folder, (void)open;
  if (room > sizeof listed) room = sizeof listed;
  for (; at < ENTRIES; at += 1) {
    const struct entry *entry = entry_at((size_t)at);
    struct stat found;
    size_t needed;
    if (entry->file == NULL) continue;
    found = stat_of(entry->file);
    needed = fuse_add_direntry(request, listed + used, room - used, entry->name, &found, at + 1);
    if (needed > room - used) break;
    used += needed;
  }
  fuse_reply_buf(request, listed, used);
}

static void on_statfs(fuse_req_t request, fuse_ino_t inode) {
  struct statvfs found = {.f_bsize = BLOCK_BYTES, .f_frsize = BLOCK_BYTES, .f_blocks = DISK_BLOCKS, .f_bfree = DISK_BLOCKS,
    .f_bavail = DISK_BLOCKS, .f_namemax = NAME_BYTES - 1};
  (void)inode;
  fuse_reply_statfs(request, &found);
}

static const struct fuse_lowlevel_ops OPERATIONS = {
  .init = on_init, .lookup = on_lookup, .forget = on_forget, .getattr = on_getattr, .setattr = on_setattr, .open = on_open,
  .create = on_create, .read = on_read, .write = on_write, .fsync = on_fsync, .fsyncdir = on_fsyncdir, .link = on_link,
  .unlink = on_unlink, .rename = on_rename, .readdir = on_readdir, .statfs = on_statfs,
};

static struct fuse_session *mount_at(const char *folder) {
  char *arguments[] = {"mount", "-o", "fsname=lazy-disk,default_permissions", NULL};
  struct fuse_args args = FUSE_ARGS_INIT(3, arguments);
  struct fuse_session *session = fuse_session_new(&args, &OPERATIONS, sizeof OPERATIONS, NULL);
  if (session == NULL || fuse_session_mount(session, folder) != 0) exit(1);
  fuse_opt_free_args(&args);
  /* A request may be withdrawn after poll(2) has reported it. */
  fcntl(fuse_session_fd(session), F_SETFL, O_NONBLOCK);
  return session;
}

static void unmount(struct fuse_session *session) {
  fuse_session_unmount(session);
  fuse_session_destroy(session);
}

int main(int count, char **arguments) {
  struct fuse_buf received = {0};
  struct fuse_session *session;
  char command[64];
  if (count != 2) return 2;
  setvbuf(stdin, NULL, _IONBF, 0);
  setvbuf(stdout, NULL, _IOLBF, 0);
  make_disk();
  session = mount_at(arguments[1]);
  printf("mounted\n");
  for (;;) {
    struct pollfd waiting[] = {{.fd = STDIN_FILENO, .events = POLLIN}, {.fd = fuse_session_fd(session), .events = POLLIN}};
    if (poll(waiting, 2, -1) < 0) continue;
    if (waiting[0].revents != 0) {
      if (fgets(command, sizeof command, stdin) == NULL) break;
      unmount(session);
      session = mount_at(arguments[1]);
      lose_unsynced(strtoull(command + strlen("cut "), NULL, 10));
    } else {
      int length = fuse_session_receive_buf(session, &received);
      if (length > 0) fuse_session_process_buf(session, &received);
      else if (length != -EAGAIN && length != -EINTR) break;
    }
  }
  unmount(session);
  return 0;
}
