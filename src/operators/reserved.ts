/** Names that begin with this are not locks of a program: `list` leaves them out. */
export const RESERVED = 'holdfast waits ';
