/* Files as text, those that come with the program too, beside what plug-ins use. */
#ifndef MERCATOR_BASE_FILE_H
#define MERCATOR_BASE_FILE_H

#include "mercator/text.h"

/* Writes through a temporary file, so that it is there whole or not at all. */
MerStatus mer_file_write(const char *path, const void *data, size_t size, MerError *error);
/* Makes a folder and those above it. */
MerStatus mer_directory_make(const char *path, MerArena *arena, MerError *error);

/* The first bytes of a file, to find out what it is; 0: it cannot be read. An error of the disk is tried again, since
 * what is answered here decides who reads the file and complains of it. */
size_t mer_file_peek(const char *path, char *data, size_t size);

/* The first line without its end, and whether it has one; NULL if there is no file or it is a device, empty if there
 * is nothing in it. */
MerStatus mer_file_first_line(const char *path, MerArena *arena, char **line, bool *is_whole,
                              MerError *error);

/* Is it a pipe, a terminal or the like, which can be read only once and must not be looked into before? */
bool mer_file_is_stream(const char *path);

/* A shipped file: in MERCATOR_DATA, beside the installed program, in the source tree, or installed. Gives its path
 * (`kind` is "platforms" or "models"), or NULL. */
const char *mer_data_path(const char *kind, const char *name, const char *ending, MerArena *arena);
/* Names (without ending) of all shipped files of a kind, sorted; -1: a folder cannot be read. */
int mer_data_list(const char *kind, const char *ending, MerArena *arena, const char ***names,
                  MerError *error);

#endif
