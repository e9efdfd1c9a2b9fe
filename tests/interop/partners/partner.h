/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two programs that carry out commands and report the outcome: "verbspartner" in the guest, on its
 * kernel's verbs, and "ndpartner" on libndclient. A case (op_cases.py, cm_cases.py) leads both, so
 * that each direction of a test is the same lines with the two of them exchanged. Commands and
 * answers do not use the network under test, so its faults can't hide in them. The last argument of
 * both is the size of their area in MiB.
 *
 * A line is a command and its words; the answer is one line, "ok ..." or "error ...". Queue pairs
 * and connections have names. Numbers in C's notation; keys are as they are in a RETH.
 *
 *	memory				ok ADDRESS KEY WEAK: the area, all rights; the same, none
 *	fill AT BYTES SEED		a pattern of that seed, in the area
 *	wipe AT BYTES			what no pattern begins with, and so beyond it
 *	look AT BYTES SEED		the pattern is there, and nothing was written beyond it
 *	word AT [VALUE]			ok VALUE: eight bytes, set before if so told
 *
 *	qp NAME				ok NUMBER PSN: a queue pair for "up"
 *	up NAME ADDRESS NUMBER PSN MTU TIMEOUT RETRIES RNR-RETRIES RNR-TIMER RIGHTS
 *					by the numbers of the other end; RIGHTS: of r, w, a, or -
 *	receive NAME AT BYTES [bad]	post one; bad: with a key of nothing
 *	post NAME OP AT BYTES [ADDRESS KEY [A [B]]]
 *					OP: send, send-imm (A: immediate, as a number in the order
 *					of the wire), send-inv (A: key), write, write-imm, read,
 *					swap (A: compare, B: swap), add (A)
 *	window NAME AT BYTES		ok KEY: bind one for the other end
 *	take MS				ok STATUS WHAT BYTES EXTRA: the next result; WHAT is OP, or
 *					receive, receive-imm, receive-inv, written-imm; EXTRA the
 *					immediate or the key; "ok none" after that time
 *	state NAME			ok RTS and so on
 *	drop NAME			destroy it, or the connection
 *
 *	listen PORT
 *	ask NAME ADDRESS PORT BYTES SEED	begin to connect, with so much private data
 *	asked NAME MS			ok HEX: a request came and is named so; its private data
 *	accept NAME BYTES SEED
 *	reject NAME BYTES SEED
 *	outcome NAME MS			of ask and accept: ok established HEX, ok refused REASON
 *					HEX, or another word
 *	leave NAME			begin to disconnect
 *	left NAME MS			ok: the connection has ended, by either side
 *
 *	serve PORT COUNT		take so many connections, a message on each, and their ends
 *	call ADDRESS PORT COUNT AT-ONCE	ok US: make them; the median from connect to established
 */
#ifndef PARTNER_H
#define PARTNER_H

#include <stddef.h>
#include <stdint.h>

#define MEGABYTE     (1u << 20)
#define WORDS_MAX    12
#define DEPTH	     64
#define PRIVATE_MAX  256
#define BULK_MESSAGE 64

extern uint8_t *partner_area;
extern size_t partner_area_bytes; /* before partner_start() */

/* Each program starts in its own way, and has its own of these commands. */
void partner_start(int argc, char **argv);
void run_memory(char **words);
void run_qp(char **words);
void run_up(char **words);
void run_receive(char **words);
void run_post(char **words);
void run_window(char **words);
void run_take(char **words);
void run_state(char **words);
void run_drop(char **words);
void run_listen(char **words);
void run_ask(char **words);
void run_asked(char **words);
void run_accept(char **words);
void run_reject(char **words);
void run_outcome(char **words);
void run_leave(char **words);
void run_left(char **words);
void run_serve(char **words);
void run_call(char **words);

/* The answer of this command, once. */
void partner_ok(const char *format, ...) __attribute__((format(printf, 1, 2)));
void partner_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* It can't go on: says why and ends the program. */
void partner_die(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

uint64_t number_of(const char *word);
/* What no word was given for is 0. */
uint64_t optional(char **words, int index);
void pattern(uint8_t *to, size_t bytes, uint64_t seed);
/* "-" for none. */
const char *hex(const uint8_t *data, size_t bytes);
uint64_t now_us(void);
uint64_t median(uint64_t *values, size_t count);

#endif
