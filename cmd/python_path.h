/* SPDX-License-Identifier: Apache-2.0 */
/* Where a file of Python's lies, as short as a person needs it. */
#ifndef CMD_PYTHON_PATH_H
#define CMD_PYTHON_PATH_H

/* What follows the folder of packages or of the standard library, a part of path:
   "asyncio/runners.py". Other paths are whole. */
const char *python_path_short(const char *path);

#endif
