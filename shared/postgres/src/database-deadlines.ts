/** Milliseconds after which a wait for the database ends. */
export interface DatabaseDeadlines {
  /** To open a connection, with the authentication. */
  connect: number;
  /** Statement time of a request that only reads; then its statement is cancelled. */
  read: number;
  /** Any other statement; then the server cancels it. */
  statement: number;
  /** Added to `statement`: a server that has not responded by then is not able to. */
  statementMargin: number;
  /** For a statement to end after its cancellation, before its connection is destroyed. */
  cancel: number;
  /** Without a response on any connection although statements wait, before the server is probed. */
  silence: number;
  /** For the server to respond to a probe; otherwise all connections to it are destroyed. */
  probe: number;
  /** After which an unused connection has to prove that it works before it is used. */
  unused: number;
  /** For a connection to prove that. */
  proof: number;
  /** Without anything finished although statements wait, after which the pool counts as stuck. */
  stuck: number;
}

export const DATABASE_DEADLINES: DatabaseDeadlines = {
  connect: 3_000,
  read: 2_000,
  statement: 10_000,
  statementMargin: 1_000,
  cancel: 1_000,
  silence: 1_000,
  probe: 2_000,
  unused: 5_000,
  proof: 1_000,
  stuck: 60_000,
};
