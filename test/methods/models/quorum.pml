/*
 * The grants of a quorum: exclusion, and tokens that grow. The program is quorum-claim.ts and
 * hold.ts in src/layers/quorum.
 *
 * MEMBERS give one vote each. A vote may end at any time: the program knows before the member does
 * (its deadline is early), so in the same step the hold is over once fewer than a majority are left.
 * A member may be out of reach at any time, for anybody; an answer may be lost after the vote was
 * given; a release may reach some members and not others, whose votes then end by themselves. A
 * member may lose its memory: it gives no votes until all that it gave have ended, and by then its
 * clock, from which it takes its numbers, has passed every number that was given.
 *
 * Checked at each grant: nobody else holds, and no token was as great. To be broken by: HALF (half
 * of the members do), NO_RAISE, NO_QUARANTINE, COUNTER (numbers begin at 1 after a loss), REPLY (the
 * member may end a vote before the program knows), REVIVE (votes that are won back revive a hold
 * that is over), RAISE_ONE (one member less than a majority is raised).
 */
#ifndef MEMBERS
#define MEMBERS 3
#endif
#ifndef CLIENTS
#define CLIENTS 2
#endif
#ifndef GRANTS
#define GRANTS 2
#endif
#ifndef LOSSES
#define LOSSES 1
#endif
#ifdef HALF
#define MAJORITY (MEMBERS / 2)
#else
#define MAJORITY (MEMBERS / 2 + 1)
#endif
#ifdef RAISE_ONE
#define RAISED (MAJORITY - 1)
#else
#define RAISED MAJORITY
#endif
#define AT(c, m) ((c) * MEMBERS + (m))

byte voted[MEMBERS];                /* for whom, counted from 1; 0: nobody */
byte number[MEMBERS];               /* of the last vote */
bool quarantined[MEMBERS];
byte losses;

bool lives[CLIENTS * MEMBERS];      /* the vote that it counts on has not ended */
byte seen[CLIENTS * MEMBERS];       /* its number */
bool holds[CLIENTS];
byte token[CLIENTS];
byte last;                          /* the greatest token that was granted */

inline count(c, n) {
  n = 0;
  k = 0;
  do
  :: k < MEMBERS -> if :: lives[AT(c, k)] -> n++ :: else fi; k++
  :: else -> break
  od;
  k = 0
}

inline grantable(c) {
  k = 0;
  do
  :: k < CLIENTS -> assert(k == c || !holds[k]); k++
  :: else -> break
  od;
  k = 0
}

/* A try at member m; the answer may be lost. */
inline try(c, m) {
  if
  :: voted[m] == 0 && !quarantined[m] ->
    number[m]++;
    voted[m] = c + 1;
    if
    :: lives[AT(c, m)] = true; seen[AT(c, m)] = number[m]
    :: skip
    fi
  :: skip                           /* refused, or out of reach */
  fi
}

proctype Client(byte c) {
  byte m, k, n, high, raised, grants;
  do
  :: grants < GRANTS ->
    m = 0;
    do
    :: m < MEMBERS -> atomic { try(c, m) }; m++
    :: else -> break
    od;
    atomic {
      high = 0; n = 0; m = 0;
      do
      :: m < MEMBERS ->
        if
        :: lives[AT(c, m)] && n < MAJORITY ->
          n++;
          if :: seen[AT(c, m)] > high -> high = seen[AT(c, m)] :: else fi
        :: else
        fi;
        m++
      :: else -> break
      od;
      m = 0; raised = 0
    };
    if
    :: n >= MAJORITY ->
#ifndef NO_RAISE
      do
      :: m < MEMBERS ->
        atomic {
          if
          :: lives[AT(c, m)] && voted[m] == c + 1 ->
            if :: number[m] < high -> number[m] = high :: else fi;
            if :: raised++ :: skip fi       /* the answer may be lost */
          :: skip
          fi
        };
        m++
      :: else -> break
      od;
#else
      raised = MEMBERS;
#endif
      atomic {
        count(c, n);
        if
        :: raised >= RAISED && n >= MAJORITY ->
          grantable(c);
          assert(high > last);
          last = high;
          token[c] = high;
          holds[c] = true
        :: else
        fi;
        n = 0; high = 0; raised = 0
      }
    :: else -> n = 0; high = 0
    fi;
    /* While it holds, it may win back what it lacks. */
    atomic {
      select(m : 0 .. MEMBERS - 1);
      if
#ifdef REVIVE
      :: token[c] > 0 && !lives[AT(c, m)] ->
#else
      :: holds[c] && !lives[AT(c, m)] ->
#endif
        try(c, m);
        count(c, n);
        if
        :: n >= MAJORITY && !holds[c] ->
          grantable(c);
          assert(token[c] >= last);
          holds[c] = true
        :: else
        fi
      :: else
      fi;
      n = 0; m = 0
    };
    /* The end: each release arrives or is lost; what is lost ends by itself. */
    atomic {
      holds[c] = false;
      token[c] = 0;
      do
      :: m < MEMBERS ->
        lives[AT(c, m)] = false;
        seen[AT(c, m)] = 0;
        if
        :: voted[m] == c + 1 -> voted[m] = 0
        :: skip
        fi;
        m++
      :: else -> break
      od;
      m = 0
    };
    grants++
  :: else -> break
  od
}

/* The client can no longer count on its vote at member m. */
inline ends(c, m) {
  lives[AT(c, m)] = false;
  seen[AT(c, m)] = 0;
  count(c, n);
  if :: n < MAJORITY -> holds[c] = false :: else fi;
  n = 0
}

/* Whatever may happen to a member. */
proctype World() {
  byte m, c, k, n;
end:
  do
  :: atomic {
      select(m : 0 .. MEMBERS - 1);
      if
      :: voted[m] > 0 ->            /* its vote ends */
        c = voted[m] - 1;
        voted[m] = 0;
#ifndef REPLY
        ends(c, m);
#endif
        c = 0
      :: else
      fi;
      m = 0
    }
  :: atomic {                       /* all votes that it has forgotten have ended */
      select(m : 0 .. MEMBERS - 1);
      if
      :: quarantined[m] ->
      c = 0;
      do
      :: c < CLIENTS -> if :: lives[AT(c, m)] -> ends(c, m) :: else fi; c++
      :: else -> break
      od;
      c = 0;
      quarantined[m] = false;
#ifndef COUNTER
      k = 0;
      do
      :: k < MEMBERS -> if :: number[k] > number[m] -> number[m] = number[k] :: else fi; k++
      :: else -> break
      od;
      k = 0
#endif
      :: else
      fi;
      m = 0
    }
  :: atomic {
      losses < LOSSES ->            /* it loses its memory */
      losses++;
      select(m : 0 .. MEMBERS - 1);
      voted[m] = 0;
#ifdef COUNTER
      number[m] = 0;
#endif
#ifndef NO_QUARANTINE
      quarantined[m] = true;
#endif
      m = 0
    }
  od
}

init {
  byte i;
  atomic {
    do
    :: i < CLIENTS -> run Client(i); i++
    :: else -> break
    od;
    run World();
    i = 0
  }
}
