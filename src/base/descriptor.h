/* Files by their descriptors, where a signal or a short write is no failure. What fails leaves errno. */
#ifndef MERCATOR_BASE_DESCRIPTOR_H
#define MERCATOR_BASE_DESCRIPTOR_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* As open(2), for this process alone; what it makes everybody may read and write whom the umask lets. -1: errno. */
int   mer_descriptor_open(const char *path, int flags);
FILE *mer_file_open(const char *path); /* to read */
DIR  *mer_folder_open(const char *path);

bool mer_descriptor_write(int descriptor, const void *data, size_t size);
/* Lets the disk begin with what was written, and waits for nothing. */
void mer_descriptor_begin_sync(int descriptor);
/* Waits until what was written is on the disk. True where there is no disk behind it (a pipe, a device). */
bool mer_descriptor_sync(int descriptor);
/* The same for the name of the file: of the folder it is in. */
bool mer_folder_sync(const char *path);

#endif
