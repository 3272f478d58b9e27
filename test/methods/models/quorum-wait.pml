/*
 * Waiting for a quorum ends: src/layers/quorum/quorum-claim.ts is the program, which has the argument.
 *
 * Each client reaches some of three members, a majority at least. It tries them all; if the lowest
 * that it reaches, its room, refused it, it gives the others back and waits there. Admitted, it tries
 * the others again; if that is no majority, it gives back what it has above the lowest that refused
 * it, and waits there, and so on. A queue is modelled by its admitting anybody, which is more than it
 * does. Nobody may wait for ever: an invalid end state is a circle. To be broken by KEEP: votes above
 * the room are kept.
 */
#ifndef CLIENTS
#define CLIENTS 3
#endif
#define MEMBERS 3
#define MAJORITY 2

byte voted[MEMBERS];
byte done;

inline try(c) {
  m = 0;
  do
  :: m < MEMBERS ->
    atomic { if :: reach[m] && voted[m] == 0 -> voted[m] = c + 1 :: else fi };
    m++
  :: else -> break
  od;
  m = 0
}

inline letGo(c, from) {
#ifndef KEEP
  m = from;
  do
  :: m < MEMBERS -> if :: voted[m] == c + 1 -> voted[m] = 0 :: else fi; m++
  :: else -> break
  od;
  m = 0
#else
  skip
#endif
}

proctype Client(byte c) {
  bool reach[MEMBERS];
  byte m, room, n, next;
  atomic {
    if
    :: reach[0] = true; reach[1] = true; reach[2] = true
    :: reach[0] = true; reach[1] = true
    :: reach[0] = true; reach[2] = true
    :: reach[1] = true; reach[2] = true
    fi;
    do
    :: !reach[room] -> room++
    :: else -> break
    od
  };
  try(c);
  if
  :: voted[room] != c + 1 -> atomic { letGo(c, room + 1) }
  :: else
  fi;
  do
  :: true ->
    atomic { voted[room] == 0 || voted[room] == c + 1 -> voted[room] = c + 1 };
    try(c);
    atomic {
      n = 0; m = 0; next = MEMBERS;
      do
      :: m < MEMBERS ->
        if
        :: voted[m] == c + 1 -> n++
        :: else ->
          if :: reach[m] && m > room && next == MEMBERS -> next = m :: else fi
        fi;
        m++
      :: else -> break
      od;
      m = 0
    };
    if
    :: n >= MAJORITY -> break
    :: else ->
      assert(next < MEMBERS);       /* somebody else stands at a higher one */
      atomic {
        room = next;
        letGo(c, room + 1)
      }
    fi
  od;
  m = 0;
  do
  :: m < MEMBERS -> atomic { if :: voted[m] == c + 1 -> voted[m] = 0 :: else fi }; m++
  :: else -> break
  od;
  done++
}

init {
  byte i;
  atomic {
    do
    :: i < CLIENTS -> run Client(i); i++
    :: else -> break
    od
  };
  done == CLIENTS                   /* everybody has held */
}
