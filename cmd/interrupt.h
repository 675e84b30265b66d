/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ^C for a recording: the first stops it, the second skips what is still under way (core/hurry.h),
 * the third ends weft at once. SIGTERM and SIGHUP count as ^C, unless weft was started with them
 * ignored (nohup). Where SIGINT was ignored, as shells do for what runs in the background, a typed
 * ^C is not meant for weft, but a SIGINT that somebody sends is. An unfinished file goes with weft.
 */
#ifndef CMD_INTERRUPT_H
#define CMD_INTERRUPT_H

#include <stdbool.h>

void interrupt_catch(void);
/* For who writes without recording: the first one ends weft, and the unfinished file too. */
void interrupt_clean_up(void);
/* Signals as they were before interrupt_catch(): for a child that becomes another program. */
void interrupt_restore(void);
int interrupt_count(void);
/* Was the last one typed on the terminal? Then the command we started has got it too. */
bool interrupt_was_typed(void);

#endif
